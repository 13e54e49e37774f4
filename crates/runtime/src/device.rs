//! Devices: what runs the images of a package. A session has one for each device of its package, found by its
//! instruction set among those that its caller brings and those of [`crate::Hardware`].
//!
//! ```text
//!   Device ─load─► Loaded ─┬─► kernels that the session's threads run (host.rs, simulated.rs)
//!                         └─► kernels that a queue takes (cuda/, brought.rs)
//! ```
//! A device of the caller's own is safe code: it gives memory by [`DeviceMemory`], and a kernel by [`DeviceKernel`], which
//! sees each buffer of its launch as bytes.

mod brought;
mod host;
mod plain;
mod simulated;

use crate::cpu::{CodePages, EntryPoint};
use crate::native::Native;
use crate::queue::Queues;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{Entry, ImageId, MachineId, PortableKernel, PtxKernel};

pub(crate) use host::Host;
pub use plain::PlainMemory;
pub(crate) use simulated::{OwnOrSimulatedCpu, SimulatedCpu, SimulatedGpu};

/// Alignment of buffers that kernels for GPUs may count on, bytes (`docs/abi.md`).
pub(crate) const GPU_ALIGN: u64 = 64;

/// A machine that runs images of one instruction set.
pub trait Device: Send + Sync {
    /// The instruction set, as packages name it.
    fn isa(&self) -> &str;

    /// Makes kernels ready, one for each of `code.kernels` and in their order.
    /// Errors: images for another machine than this, or that cannot be read; all of them.
    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics>;
}

/// What a package has for one device.
#[derive(Clone)]
pub struct DeviceCode<'a> {
    /// What it was compiled for.
    pub machine: &'a MachineId,
    pub kernels: Vec<KernelImage<'a>>,
    /// Threads that loading may use.
    pub threads: usize,
}

/// A kernel in its image.
#[derive(Clone, Copy)]
pub struct KernelImage<'a> {
    pub name: &'a str,
    /// Kernels of the same number are of the same image.
    pub image: ImageId,
    pub isa: &'a str,
    /// Those of the whole image.
    pub bytes: &'a [u8],
    pub entry: &'a Entry,
}

impl<'a> KernelImage<'a> {
    /// The kernel's part of the image.
    pub fn code(&self) -> &'a [u8] {
        match self.entry.range() {
            Some((offset, len)) => &self.bytes[offset as usize..(offset + len) as usize],
            None => self.bytes,
        }
    }

    /// Errors: it is of another kind, which `check_program` refuses.
    pub(crate) fn ptx(&self) -> Result<PtxKernel, Diagnostic> {
        match self.entry {
            Entry::Ptx { launch, .. } => {
                let text = String::from_utf8_lossy(self.code()).into_owned();
                Ok(PtxKernel { text, launch: launch.clone() })
            }
            _ => Err(Diagnostic::internal(format!("kernel `{}` is no PTX", self.name))),
        }
    }
}

/// Kernels that are ready, and where their buffers are.
pub struct Loaded {
    pub(crate) kernels: Vec<Prepared>,
    pub(crate) queues: Arc<dyn Queues>,
    /// Alignment that they expect of inputs and outputs beyond that of their elements, bytes.
    pub(crate) align: u64,
    /// What cost time or will.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Keeps machine code mapped.
    pub(crate) pages: Vec<CodePages>,
}

impl Loaded {
    /// Kernels of a device that a caller brings; each runs on whole buffers in the device's own memory.
    pub fn new(memory: Arc<dyn DeviceMemory>, kernels: Vec<Arc<dyn DeviceKernel>>) -> Loaded {
        Loaded {
            kernels: (0..kernels.len()).map(Prepared::Whole).collect(),
            queues: Arc::new(brought::Brought::new(memory, kernels)),
            align: 1,
            warnings: vec![],
            pages: vec![],
        }
    }
}

/// A kernel, ready to run.
pub(crate) enum Prepared {
    /// In this process, by the session's threads.
    Machine(EntryPoint),
    Interpreted(Arc<dyn PortableKernel>),
    Native(Native),
    /// By the device's queue, which has it under this number and wants its argument block ...
    Queued(usize),
    /// ... or its buffers.
    Whole(usize),
}

/// Gives memory of a device.
pub trait DeviceMemory: Send + Sync {
    /// Errors: `out-of-memory`.
    fn allocate(&self, bytes: usize) -> Result<Arc<dyn MemoryBlock>, Diagnostic>;
}

/// A block of a device's memory, given back when dropped. Many buffers may be in one, and several threads at it, but no
/// byte is written while another thread reads or writes it.
pub trait MemoryBlock: Send + Sync {
    /// Reads from `offset`, after all work so far. Errors: what the device says.
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Diagnostic>;
    /// Writes from `offset`, behind all work so far. Errors: what the device says.
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Diagnostic>;
}

/// A kernel of a device that a caller brings.
pub trait DeviceKernel: Send + Sync {
    /// One launch; sessions run several at once where their callers do. Errors: what went wrong, in plain words.
    fn run(&self, launch: &DeviceLaunch<'_>) -> Result<(), String>;
}

/// The arguments of one launch.
pub struct DeviceLaunch<'a> {
    /// Operands, then results, in the program's order; no dtypes, the kernel knows them.
    pub buffers: Vec<DeviceBuffer<'a>>,
    pub sizes: Vec<i64>,
    /// Work units; never 0.
    pub grid: u64,
}

/// A buffer of a launch.
#[derive(Clone, Copy)]
pub struct DeviceBuffer<'a> {
    /// The block and where in it; `None` when it has no bytes.
    place: Option<(&'a dyn MemoryBlock, usize)>,
    len: usize,
    is_writable: bool,
}

impl DeviceBuffer<'_> {
    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes. Errors: what the device says.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.len];
        if let Some((block, offset)) = self.place {
            block.read(offset, &mut bytes).map_err(|error| error.message)?;
        }
        Ok(bytes)
    }

    /// Replaces the first bytes. Errors: the buffer is shorter, or read only; what the device says.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        let room = if self.is_writable { self.len } else { 0 };
        if bytes.len() > room {
            return Err(format!("{} bytes are written to a buffer that takes {room}", bytes.len()));
        }
        match self.place {
            Some((block, offset)) => block.write(offset, bytes).map_err(|error| error.message),
            None => Ok(()),
        }
    }
}
