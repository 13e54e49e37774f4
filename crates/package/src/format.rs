//! The bytes of a package: a header, then sections at multiples of 64.
//!
//! ```text
//! 0    magic "\x89TGL\r\n\x1a\n"     (as PNG's: catches text-mode and 7-bit transfers)
//! 8    u32 format version, u32 number of sections
//! 16   u64 length of the file
//! 24   per section: u32 kind, u32 zero, u64 offset, u64 length, u64 checksum (see `hash.rs`)
//! ..   u64 checksum of all header bytes before it
//! ```
//! All numbers are little-endian. Sections stand in the order of [`SectionKind::ALL`], each once, without overlap;
//! the bytes between them are zero. The checksum of the constants is checked only on request.

use crate::hash::hash;
use std::cmp::Ordering;
use tegula_base::Diagnostic;

pub const MAGIC: [u8; 8] = *b"\x89TGL\r\n\x1a\n";

/// Raised by every change that an older reader cannot read, a longer function table excepted. No other is read: a model
/// is compiled again.
pub const FORMAT_VERSION: u32 = 4;

/// Alignment of sections, images, machine code and constants, bytes.
pub const ALIGN: u64 = 64;

const FIXED: usize = 24;
const ENTRY: usize = 32;

/// Bytes of the header.
pub const HEADER: usize = FIXED + ENTRY * SectionKind::ALL.len() + 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionKind {
    Manifest,
    Program,
    Costs,
    Sources,
    MemoryPlan,
    Images,
    Constants,
}

impl SectionKind {
    /// File order: small and always read first, constants last.
    pub const ALL: [SectionKind; 7] = [
        SectionKind::Manifest,
        SectionKind::Program,
        SectionKind::Costs,
        SectionKind::Sources,
        SectionKind::MemoryPlan,
        SectionKind::Images,
        SectionKind::Constants,
    ];

    pub fn name(self) -> &'static str {
        match self {
            SectionKind::Manifest => "manifest",
            SectionKind::Program => "host program",
            SectionKind::Costs => "cost records",
            SectionKind::Sources => "source names",
            SectionKind::MemoryPlan => "memory plan",
            SectionKind::Images => "images",
            SectionKind::Constants => "constants",
        }
    }

    /// The number in the file.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }
}

/// One row of the section table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    pub offset: u64,
    pub len: u64,
    pub checksum: u64,
}

impl Section {
    pub fn end(&self) -> u64 {
        self.offset + self.len
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub file_len: u64,
    /// In the order of [`SectionKind::ALL`].
    pub sections: [Section; SectionKind::ALL.len()],
}

impl Header {
    /// Places sections of these lengths one after the other; checksums are 0.
    pub fn layout(lengths: [u64; SectionKind::ALL.len()]) -> Header {
        let mut end = HEADER as u64;
        let sections = lengths.map(|len| {
            let offset = end.next_multiple_of(ALIGN);
            end = offset + len;
            Section { offset, len, checksum: 0 }
        });
        Header { file_len: end, sections }
    }

    pub fn section(&self, kind: SectionKind) -> Section {
        self.sections[kind as usize]
    }

    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(SectionKind::ALL.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.file_len.to_le_bytes());
        for (kind, section) in SectionKind::ALL.iter().zip(&self.sections) {
            bytes.extend_from_slice(&u64::from(kind.number()).to_le_bytes());
            for number in [section.offset, section.len, section.checksum] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&hash(&bytes).to_le_bytes());
        bytes.try_into().expect("invariant: the header's length is fixed")
    }

    /// Reads and checks the header; afterwards every section lies inside `bytes`, in order, aligned.
    pub fn decode(bytes: &[u8]) -> Result<Header, Diagnostic> {
        if bytes.is_empty() {
            return Err(Diagnostic::error("package-truncated", "the package is empty"));
        }
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic != &MAGIC[..magic.len()] {
            return Err(Diagnostic::error("package-foreign", "the file is not a Tegula package")
                .help("packages are made by `tegula compile` and start with the bytes 89 54 47 4c"));
        }
        if bytes.len() >= 12 {
            check_version(u32_at(bytes, 8))?;
        }
        if bytes.len() < HEADER {
            return Err(truncated(bytes.len() as u64, None));
        }
        if u64_at(bytes, HEADER - 8) != hash(&bytes[..HEADER - 8]) {
            return Err(damaged("the header"));
        }
        let header = Header {
            file_len: u64_at(bytes, 16),
            sections: std::array::from_fn(|i| {
                let at = FIXED + ENTRY * i;
                Section {
                    offset: u64_at(bytes, at + 8),
                    len: u64_at(bytes, at + 16),
                    checksum: u64_at(bytes, at + 24),
                }
            }),
        };
        header.check(bytes)?;
        Ok(header)
    }

    fn check(&self, bytes: &[u8]) -> Result<(), Diagnostic> {
        let count_fits = u32_at(bytes, 12) as usize == SectionKind::ALL.len();
        let kinds_fit = SectionKind::ALL
            .iter()
            .enumerate()
            .all(|(i, kind)| u64_at(bytes, FIXED + ENTRY * i) == u64::from(kind.number()));
        if !count_fits || !kinds_fit {
            return Err(damaged("the section table"));
        }
        let actual = bytes.len() as u64;
        if actual < self.file_len {
            return Err(truncated(actual, Some(self.file_len)));
        }
        if actual > self.file_len {
            return Err(damaged("the file's length")
                .note(format!("it has {actual} bytes, {} were written", self.file_len)));
        }
        let mut end = HEADER as u64;
        for (kind, section) in SectionKind::ALL.into_iter().zip(&self.sections) {
            let in_order = section.offset >= end && section.offset.is_multiple_of(ALIGN);
            let section_end = section.offset.checked_add(section.len);
            match section_end.filter(|section_end| in_order && *section_end <= actual) {
                Some(section_end) => {
                    if bytes[end as usize..section.offset as usize].iter().any(|byte| *byte != 0) {
                        return Err(damaged(&format!("the space before the {}", kind.name())));
                    }
                    end = section_end;
                }
                None => return Err(damaged(&format!("the place of the {}", kind.name()))),
            }
        }
        if end != actual {
            return Err(damaged("the section table"));
        }
        Ok(())
    }
}

/// Makes all checksums right, as far as the section table makes sense: for tests and fuzzers, which want to get
/// past them.
pub fn repair_checksums(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    for i in 0..SectionKind::ALL.len() {
        let at = FIXED + ENTRY * i;
        let (offset, len) = (u64_at(bytes, at + 8), u64_at(bytes, at + 16));
        let range =
            usize::try_from(offset).ok().zip(offset.checked_add(len).and_then(|end| end.try_into().ok()));
        if let Some(section) = range.and_then(|(start, end)| bytes.get(start..end)) {
            let checksum = hash(section);
            bytes[at + 24..at + 32].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    let checksum = hash(&bytes[..HEADER - 8]);
    bytes[HEADER - 8..HEADER].copy_from_slice(&checksum.to_le_bytes());
}

fn check_version(version: u32) -> Result<(), Diagnostic> {
    if version == 0 {
        return Err(damaged("the format version"));
    }
    let (code, help) = match version.cmp(&FORMAT_VERSION) {
        Ordering::Equal => return Ok(()),
        Ordering::Less => ("package-older", "compile the model again with this version"),
        Ordering::Greater => ("package-newer", "update Tegula, or compile the model again with this version"),
    };
    let message = format!("the package has format {version}, this Tegula reads format {FORMAT_VERSION}");
    Err(Diagnostic::error(code, message).help(help))
}

/// The one diagnostic for bytes that are not what was written.
pub fn damaged(what: &str) -> Diagnostic {
    Diagnostic::error("package-damaged", format!("the package is damaged in {what}"))
        .help("copy the file again, or compile the model again")
}

fn truncated(actual: u64, expected: Option<u64>) -> Diagnostic {
    let message = match expected {
        Some(expected) => format!("the package is cut off: {actual} of {expected} bytes are there"),
        None => format!("the package is cut off after {actual} bytes, inside its header"),
    };
    Diagnostic::error("package-truncated", message).help("copy the file again, or compile the model again")
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("invariant: four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("invariant: eight bytes"))
}
