//! Builds a package: collect code and constants, then write everything once.
//!
//! Constants may be lazy, so that packed weights are produced straight into the file and live nowhere else.
//! The same parts give the same bytes, in memory or through a sink.

use crate::check::{Extents, check_program};
use crate::device::DeviceId;
use crate::format::{ALIGN, Header, SectionKind};
use crate::hash::{Hasher, hash};
use crate::host::{CostRecord, HostProgram, Place};
use crate::image::{Entry, Image, ImageId, KernelCode, isa};
use crate::manifest::{About, Manifest, MemoryFacts};
use crate::ptx::PtxKernel;
use crate::reader::Package;
use bytes::Bytes;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use tegula_base::HashMap;
use tegula_base::{Diagnostic, Diagnostics};

/// Writes a constant into its place.
pub type Fill = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

/// The bytes of one constant.
#[derive(Clone)]
pub enum ConstantData {
    Bytes(Bytes),
    /// `fill` gets a zeroed slice of `len` bytes and writes all that is not zero; same result at each call.
    Lazy {
        len: u64,
        fill: Fill,
    },
}

impl ConstantData {
    pub fn len(&self) -> u64 {
        match self {
            ConstantData::Bytes(bytes) => bytes.len() as u64,
            ConstantData::Lazy { len, .. } => *len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `out` is zeroed and `len()` long.
    fn write(&self, out: &mut [u8]) {
        match self {
            ConstantData::Bytes(bytes) => out.copy_from_slice(bytes),
            ConstantData::Lazy { fill, .. } => fill(out),
        }
    }
}

/// Collects what a host program refers to.
#[derive(Default)]
pub struct PackageBuilder {
    images: Vec<Growing>,
    constants: Vec<(u64, ConstantData)>,
    constants_len: u64,
    /// Equal machine code is stored once.
    seen_code: HashMap<Vec<u8>, u64>,
}

/// An image that is being put together.
struct Growing {
    isa: String,
    device: DeviceId,
    bytes: Vec<u8>,
}

impl PackageBuilder {
    pub fn new() -> PackageBuilder {
        PackageBuilder::default()
    }

    /// An image as a whole, for a device that runs `isa`. Its kernels are [`KernelCode::Image`] with entries that the
    /// device knows.
    pub fn add_image(&mut self, isa: &str, device: DeviceId, bytes: &[u8]) -> ImageId {
        self.images.push(Growing { isa: isa.to_string(), device, bytes: bytes.to_vec() });
        ImageId(self.images.len() as u32 - 1)
    }

    /// Position-independent machine code of x86-64 for the home, entered at its first byte.
    pub fn add_machine_code(&mut self, code: &[u8]) -> KernelCode {
        let image = self.collected(isa::X86_64);
        let len = code.len() as u64;
        let offset = match self.seen_code.get(code) {
            Some(offset) => *offset,
            None => {
                let offset = append_aligned(&mut self.images[image.index()].bytes, code);
                self.seen_code.insert(code.to_vec(), offset);
                offset
            }
        };
        KernelCode::Image { image, entry: Entry::Range { offset, len } }
    }

    /// Code for the home's interpreter.
    pub fn add_portable(&mut self, code: &[u8]) -> KernelCode {
        let image = self.collected(isa::PORTABLE);
        let offset = append_aligned(&mut self.images[image.index()].bytes, code);
        KernelCode::Image { image, entry: Entry::Range { offset, len: code.len() as u64 } }
    }

    /// A kernel for an NVIDIA GPU, which is the home.
    pub fn add_ptx(&mut self, kernel: &PtxKernel) -> KernelCode {
        let image = self.collected(isa::PTX);
        let text = kernel.text.as_bytes();
        let offset = append_aligned(&mut self.images[image.index()].bytes, text);
        let entry = Entry::Ptx { offset, len: text.len() as u64, launch: kernel.launch.clone() };
        KernelCode::Image { image, entry }
    }

    /// The home's one image of an instruction set, to which kernels are added.
    fn collected(&mut self, isa: &str) -> ImageId {
        let known = self.images.iter().position(|image| image.isa == isa && image.device.is_home());
        match known {
            Some(index) => ImageId(index as u32),
            None => self.add_image(isa, DeviceId::HOME, &[]),
        }
    }

    /// A constant buffer's place.
    pub fn add_constant(&mut self, data: ConstantData) -> Place {
        let offset = self.constants_len.next_multiple_of(ALIGN);
        let bytes = data.len();
        self.constants_len = offset + bytes;
        self.constants.push((offset, data));
        Place::Constant { offset, bytes }
    }

    /// Checks the program against what was added; its images are those of this builder.
    pub fn finish(self, about: About, mut program: HostProgram) -> Result<Draft, Diagnostics> {
        let mut images = Vec::new();
        program.images.clear();
        for Growing { isa, device, bytes } in self.images {
            let offset = append_aligned(&mut images, &bytes);
            program.images.push(Image { isa, device, offset, len: bytes.len() as u64 });
        }
        let extents = Extents { images: images.len() as u64, constants: self.constants_len };
        check_program(&program, &about, extents)?;
        let costs: Vec<&CostRecord> = program.kernels.iter().map(|kernel| &*kernel.cost).collect();
        let sources: Vec<&[String]> = program.kernels.iter().map(|kernel| &*kernel.source).collect();
        let manifest = Manifest::new(about, &program);
        let memory = MemoryFacts::new(&program, self.constants_len);
        let n_kernels = program.kernels.len();
        let sections = [
            json(&manifest, n_kernels, PrettyFormatter::new())?,
            json(&program, program.buffers.len() + n_kernels + program.steps.len(), CompactFormatter)?,
            json(&costs, n_kernels, CompactFormatter)?,
            json(&sources, n_kernels, CompactFormatter)?,
            json(&memory, 0, CompactFormatter)?,
            images,
        ];
        let header = layout(&sections, self.constants_len);
        Ok(Draft { header, sections, constants: self.constants, manifest, program, memory })
    }
}

/// More bytes than most entries of a section take.
const ENTRY_BYTES: usize = 192;

/// A section of so many entries; with room from the start, as text that outgrows its place is copied.
fn json(value: &impl Serialize, entries: usize, style: impl Formatter) -> Result<Vec<u8>, Diagnostics> {
    let mut bytes = Vec::with_capacity(entries * ENTRY_BYTES);
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, style));
    written.map_err(|error| Diagnostics::from(Diagnostic::internal(error.to_string())))?;
    Ok(bytes)
}

fn append_aligned(section: &mut Vec<u8>, code: &[u8]) -> u64 {
    let offset = section.len().next_multiple_of(ALIGN as usize);
    section.resize(offset, 0);
    section.extend_from_slice(code);
    offset as u64
}

/// A checked package that is not yet bytes.
pub struct Draft {
    /// Checksums of all sections but the constants.
    header: Header,
    /// All sections but the constants, in file order.
    sections: [Vec<u8>; SectionKind::ALL.len() - 1],
    /// Offset in the section, increasing.
    constants: Vec<(u64, ConstantData)>,
    manifest: Manifest,
    program: HostProgram,
    memory: MemoryFacts,
}

/// Places sections and takes the checksums of all but the constants.
fn layout(sections: &[Vec<u8>; SectionKind::ALL.len() - 1], constants_len: u64) -> Header {
    let lengths = std::array::from_fn(|i| sections.get(i).map_or(constants_len, |s| s.len() as u64));
    let mut header = Header::layout(lengths);
    for (section, bytes) in header.sections.iter_mut().zip(sections) {
        section.checksum = hash(bytes);
    }
    header
}

impl Draft {
    /// Bytes of the whole package.
    pub fn byte_len(&self) -> u64 {
        self.header.file_len
    }

    /// The package in memory, at an address that is a multiple of 64.
    pub fn to_bytes(&self) -> Bytes {
        self.assemble().1
    }

    /// The complete header and all bytes.
    fn assemble(&self) -> (Header, Bytes) {
        let mut owner = AlignedBytes::zeroed(self.header.file_len as usize);
        let bytes = owner.as_mut();
        let mut header = self.header;
        for (section, content) in header.sections.iter().zip(&self.sections) {
            bytes[section.offset as usize..section.end() as usize].copy_from_slice(content);
        }
        let constants = header.section(SectionKind::Constants);
        for (offset, data) in &self.constants {
            let start = (constants.offset + offset) as usize;
            data.write(&mut bytes[start..start + data.len() as usize]);
        }
        let checksum = hash(&bytes[constants.offset as usize..constants.end() as usize]);
        header.sections[SectionKind::Constants as usize].checksum = checksum;
        bytes[..crate::format::HEADER].copy_from_slice(&header.encode());
        (header, Bytes::from_owner(owner))
    }

    /// The package in memory as if read back: for running at once what was just compiled.
    pub fn into_package(self) -> Package {
        let (header, bytes) = self.assemble();
        let package = Package::from_parts(bytes, header, self.manifest, self.program, self.memory);
        debug_assert!(package.is_as_read(), "invariant: a package is read as it was made");
        package
    }

    /// Writes the package to a sink that stands at its start. The header is written last, so that a file cut
    /// off by a full disk is no package; give the file its name only after this returned.
    pub fn write_to(&self, sink: &mut (impl Write + Seek)) -> io::Result<()> {
        let mut header = self.header;
        let mut at = 0;
        pad_to(sink, &mut at, crate::format::HEADER as u64)?;
        for (section, content) in header.sections.iter().zip(&self.sections) {
            pad_to(sink, &mut at, section.offset)?;
            sink.write_all(content)?;
            at += content.len() as u64;
        }
        let constants = header.section(SectionKind::Constants);
        pad_to(sink, &mut at, constants.offset)?;
        let checksum = self.write_constants(sink)?;
        header.sections[SectionKind::Constants as usize].checksum = checksum;
        sink.seek(SeekFrom::Start(0))?;
        sink.write_all(&header.encode())?;
        sink.flush()
    }

    /// Returns the checksum of the section.
    fn write_constants(&self, sink: &mut impl Write) -> io::Result<u64> {
        let mut hasher = Hasher::default();
        let mut at = 0;
        let mut scratch = Vec::new();
        for (offset, data) in &self.constants {
            let padding = [0u8; ALIGN as usize];
            let padding = &padding[..(offset - at) as usize];
            hasher.update(padding);
            sink.write_all(padding)?;
            let bytes: &[u8] = match data {
                ConstantData::Bytes(bytes) => bytes,
                ConstantData::Lazy { len, .. } => {
                    scratch.clear();
                    scratch.resize(*len as usize, 0);
                    data.write(&mut scratch);
                    &scratch
                }
            };
            hasher.update(bytes);
            sink.write_all(bytes)?;
            at = offset + data.len();
        }
        Ok(hasher.finish())
    }
}

fn pad_to(sink: &mut impl Write, at: &mut u64, offset: u64) -> io::Result<()> {
    sink.write_all(&vec![0; (offset - *at) as usize])?;
    *at = offset;
    Ok(())
}

/// Bytes that start at a multiple of 64, without a special allocator: the slack is skipped.
struct AlignedBytes {
    data: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBytes {
    fn zeroed(len: usize) -> AlignedBytes {
        let data = vec![0; len + ALIGN as usize];
        let start = data.as_ptr().align_offset(ALIGN as usize).min(ALIGN as usize);
        AlignedBytes { data, start, len }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.data[self.start..self.start + self.len]
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.data[self.start..self.start + self.len]
    }
}
