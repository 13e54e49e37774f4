//! Images: the code of a package, each for one instruction set and device; a kernel names an image and an entry.
//!
//! ```text
//! isa               entry                      what it is
//! x86-64            Range                      one image with all machine code; an entry starts at its first byte
//! tegula-portable   Range                      one image with all code for the interpreter
//! ptx               Ptx                        one image with all texts for an NVIDIA GPU, and their launch facts
//! any other         Name                       one region of a model, run as one launch on whole buffers
//! ```

use crate::device::DeviceId;
use crate::host::{HostProgram, Kernel};
use crate::ptx::PtxLaunch;
use serde::{Deserialize, Serialize};

/// Instruction sets that have entries of their own kinds, or a simulator, as packages name them.
pub mod isa {
    pub const X86_64: &str = "x86-64";
    pub const PTX: &str = "ptx";
    /// Of streaming chips.
    pub const LPU: &str = "lpu";
    /// What the interpreter reads; of the home, beside its own instruction set.
    pub const PORTABLE: &str = "tegula-portable";
}

/// An index into [`HostProgram::images`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImageId(pub u32);

impl ImageId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of the images section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub isa: String,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "DeviceId::is_home")]
    pub device: DeviceId,
    /// A multiple of 64.
    pub offset: u64,
    pub len: u64,
}

/// What a kernel runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelCode {
    Image {
        image: ImageId,
        entry: Entry,
    },
    /// A runtime kernel; `attrs` is JSON, see `docs/abi.md`.
    Native {
        name: String,
        attrs: String,
    },
}

/// Where a kernel is in its image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Bytes of the image; machine code is entered at the first, a multiple of 64.
    Range { offset: u64, len: u64 },
    /// PTX text in the image, and what its launch needs beside it.
    Ptx { offset: u64, len: u64, launch: PtxLaunch },
    /// A name that means something to the image's device.
    Name(String),
}

impl Entry {
    /// The part of the image; `None` is the whole.
    pub fn range(&self) -> Option<(u64, u64)> {
        match self {
            Entry::Range { offset, len } | Entry::Ptx { offset, len, .. } => Some((*offset, *len)),
            Entry::Name(_) => None,
        }
    }
}

/// The kinds of code that launches differ by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// Machine code of a processor.
    Machine,
    Portable,
    Ptx,
    /// A region of the model, compiled whole.
    Graph,
    Native,
}

impl HostProgram {
    /// The image of a kernel that is no runtime kernel.
    pub fn image(&self, code: &KernelCode) -> Option<&Image> {
        match code {
            KernelCode::Image { image, .. } => self.images.get(image.index()),
            KernelCode::Native { .. } => None,
        }
    }

    pub fn code_kind(&self, code: &KernelCode) -> CodeKind {
        match code {
            KernelCode::Native { .. } => CodeKind::Native,
            KernelCode::Image { entry: Entry::Name(_), .. } => CodeKind::Graph,
            KernelCode::Image { entry: Entry::Ptx { .. }, .. } => CodeKind::Ptx,
            KernelCode::Image { entry: Entry::Range { .. }, .. } => match self.image(code) {
                Some(image) if image.isa == isa::PORTABLE => CodeKind::Portable,
                _ => CodeKind::Machine,
            },
        }
    }

    /// The device that a kernel runs on: its image's, of a runtime kernel the home.
    pub fn device_of(&self, kernel: &Kernel) -> DeviceId {
        self.image(&kernel.code).map_or(DeviceId::HOME, |image| image.device)
    }
}
