//! The border between the runtime and whoever can execute portable kernel code: the runtime owns memory, the
//! executor owns the meaning of the bytes. Neither knows the other; a face introduces them.

use std::sync::Arc;

/// Turns the opaque bytes of a portable kernel into something that runs.
pub trait PortableExecutor: Send + Sync {
    /// Errors: why these bytes are no kernel, in plain words. Must not panic on any bytes.
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String>;
}

/// Runs machine code without its processor: a simulator.
pub trait MachineExecutor: Send + Sync {
    /// The instruction set, as packages name it.
    fn isa(&self) -> &'static str;
    /// A kernel that is entered at its first byte, its constants behind it.
    /// Errors: why these bytes are no kernel, in plain words. Must not panic on any bytes.
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String>;
}

/// A kernel by the convention of `docs/abi.md`.
pub trait PortableKernel: Send + Sync {
    /// Does the work units `[begin, end)`. `args` is the argument block (word 0 is the function table, use
    /// [`crate::functions::Function::call`] instead); `scratch` is the address of private memory.
    /// Errors: what went wrong, in plain words (only for code that breaks its own promises).
    fn run(
        &self,
        args: &[u64],
        scratch: u64,
        memory: &dyn Memory,
        begin: u64,
        end: u64,
    ) -> Result<(), String>;
}

/// The memory of one launch: the buffers of its arguments and the thread's scratch, by address.
/// Every access is checked; it must stay within one buffer.
pub trait Memory: Sync {
    /// Errors: some byte of `[address, address + into.len())` is in no buffer of the launch.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds>;
    /// Errors: as `read`, or the buffer is read-only (constants).
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), OutOfBounds>;
    /// Whether somebody stopped the run: a kernel asks within its loops and then returns, work undone.
    fn is_stopped(&self) -> bool;
}

/// An access outside of the launch's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    pub address: u64,
    pub len: usize,
}

impl std::fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "access to {} bytes at {:#x}, outside of the launch's buffers", self.len, self.address)
    }
}

impl std::error::Error for OutOfBounds {}

/// In a kernel's plain words.
impl From<OutOfBounds> for String {
    fn from(access: OutOfBounds) -> String {
        access.to_string()
    }
}
