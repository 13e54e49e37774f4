//! Reads a package: header, checksums, JSON, then the program's own rules. Nothing is copied but the JSON.
//! After [`Package::parse`] every offset in the program is inside its section; constants are unverified until
//! [`Package::verify_constants`].

use crate::check::{Extents, check_program};
use crate::format::{Header, SectionKind, damaged};
use crate::functions::Function;
use crate::hash::hash;
use crate::host::{CostRecord, HostProgram};
use crate::image::{CodeKind, Entry, Image, KernelCode};
use crate::manifest::{Manifest, MemoryFacts};
use crate::ptx::PtxKernel;
use crate::size;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tegula_base::{Diagnostic, Diagnostics};

/// A checked package over its bytes.
#[derive(Clone, Debug)]
pub struct Package {
    bytes: Bytes,
    header: Header,
    pub manifest: Manifest,
    pub program: HostProgram,
    pub memory: MemoryFacts,
}

impl Package {
    /// Errors, by code: `package-foreign` (no package), `package-newer`, `package-older`, `package-truncated`,
    /// `package-damaged` (a checksum or the structure), `package-invalid` (the program breaks its rules).
    pub fn parse(bytes: Bytes) -> Result<Package, Diagnostics> {
        size::read_once(|| Package::read(bytes))
    }

    fn read(bytes: Bytes) -> Result<Package, Diagnostics> {
        let header = Header::decode(&bytes)?;
        for (kind, section) in SectionKind::ALL.into_iter().zip(&header.sections) {
            if kind != SectionKind::Constants && hash(slice(&bytes, &header, kind)) != section.checksum {
                return Err(damaged(&format!("the {}", kind.name())).into());
            }
        }
        let manifest: Manifest = parse_json(&bytes, &header, SectionKind::Manifest)?;
        if manifest.functions as usize > Function::ALL.len() {
            return Err(Diagnostic::error(
                "package-newer",
                format!(
                    "the package needs {} scalar functions, this Tegula has {}",
                    manifest.functions,
                    Function::ALL.len()
                ),
            )
            .help("update Tegula, or compile the model again with this version")
            .into());
        }
        let program = parse_program(&bytes, &header)?;
        let memory = parse_json(&bytes, &header, SectionKind::MemoryPlan)?;
        let extents = Extents {
            images: header.section(SectionKind::Images).len,
            constants: header.section(SectionKind::Constants).len,
        };
        check_program(&program, &manifest.about, extents)?;
        let package = Package { bytes, header, manifest, program, memory };
        for kernel in &package.program.kernels {
            if package.program.code_kind(&kernel.code) == CodeKind::Ptx
                && std::str::from_utf8(package.kernel_code(&kernel.code)).is_err()
            {
                let message = format!("the PTX of kernel `{}` is no text", kernel.name);
                return Err(Diagnostic::error("package-invalid", message).into());
            }
        }
        Ok(package)
    }

    /// The checksum of the constants, as the header has it.
    pub fn constants_checksum(&self) -> u64 {
        self.header.section(SectionKind::Constants).checksum
    }

    /// A package that the writer made; `header` is that of `bytes`.
    pub(crate) fn from_parts(
        bytes: Bytes,
        header: Header,
        manifest: Manifest,
        program: HostProgram,
        memory: MemoryFacts,
    ) -> Package {
        Package { bytes, header, manifest, program, memory }
    }

    /// Whether reading its bytes gives the same package.
    pub(crate) fn is_as_read(&self) -> bool {
        let parts = |package: &Package| (package.header, package.manifest.clone(), package.program.clone());
        let read = Package::parse(self.bytes.clone());
        read.is_ok_and(|read| parts(&read) == parts(self) && read.memory == self.memory)
    }

    /// The whole file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content of a section.
    pub fn section(&self, kind: SectionKind) -> &[u8] {
        slice(&self.bytes, &self.header, kind)
    }

    /// The content of a section, sharing the package's memory.
    pub fn section_bytes(&self, kind: SectionKind) -> Bytes {
        let section = self.header.section(kind);
        self.bytes.slice(section.offset as usize..section.end() as usize)
    }

    /// The bytes of an image of this package.
    pub fn image_bytes(&self, image: &Image) -> &[u8] {
        &self.section(SectionKind::Images)[image.offset as usize..(image.offset + image.len) as usize]
    }

    /// The bytes of a kernel's code: the part of its image that it names, or all; none of a runtime kernel.
    pub fn kernel_code(&self, code: &KernelCode) -> &[u8] {
        match (code, self.program.image(code)) {
            (KernelCode::Image { entry, .. }, Some(image)) => match entry.range() {
                Some((offset, len)) => &self.image_bytes(image)[offset as usize..(offset + len) as usize],
                None => self.image_bytes(image),
            },
            _ => &[],
        }
    }

    /// The kernel for GPUs that `code` names; `None` where it names another kind.
    pub fn ptx_kernel(&self, code: &KernelCode) -> Option<PtxKernel> {
        let KernelCode::Image { entry: Entry::Ptx { launch, .. }, .. } = code else { return None };
        let text = String::from_utf8_lossy(self.kernel_code(code)).into_owned();
        Some(PtxKernel { text, launch: launch.clone() })
    }

    pub fn constants(&self) -> &[u8] {
        self.section(SectionKind::Constants)
    }

    /// Where everything lies, for `inspect`.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads all constants and compares their checksum.
    pub fn verify_constants(&self) -> Result<(), Diagnostic> {
        let expected = self.header.section(SectionKind::Constants).checksum;
        if hash(self.constants()) == expected { Ok(()) } else { Err(damaged("the constants")) }
    }
}

fn slice<'a>(bytes: &'a [u8], header: &Header, kind: SectionKind) -> &'a [u8] {
    let section = header.section(kind);
    &bytes[section.offset as usize..section.end() as usize]
}

fn parse_json<T: DeserializeOwned>(
    bytes: &[u8],
    header: &Header,
    kind: SectionKind,
) -> Result<T, Diagnostic> {
    serde_json::from_slice(slice(bytes, header, kind)).map_err(|error| {
        Diagnostic::error("package-invalid", format!("the package's {} cannot be read", kind.name()))
            .note(error.to_string())
    })
}

/// The program with the cost records and source names back in its kernels.
fn parse_program(bytes: &[u8], header: &Header) -> Result<HostProgram, Diagnostic> {
    let mut program: HostProgram = parse_json(bytes, header, SectionKind::Program)?;
    let costs: Vec<CostRecord> = parse_json(bytes, header, SectionKind::Costs)?;
    let sources: Vec<Vec<String>> = parse_json(bytes, header, SectionKind::Sources)?;
    if costs.len() != program.kernels.len() || sources.len() != program.kernels.len() {
        return Err(Diagnostic::error(
            "package-invalid",
            "the package has not one cost record and one list of source names for each kernel",
        ));
    }
    for ((kernel, cost), source) in program.kernels.iter_mut().zip(costs).zip(sources) {
        kernel.cost = cost.into();
        kernel.source = source.into();
    }
    Ok(program)
}
