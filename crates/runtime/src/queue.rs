//! The memory of a device and the work on it, in order: what a run gives to each device of its package.
//!
//! An address is the device's own, and means nothing to another. The host's work is done when a call returns; another
//! device may do it later, but in the order in which it was given, and `finish` waits for all.

use crate::memory::{self, Block, EMPTY, Range};
use std::sync::Arc;
use tegula_base::Diagnostic;

/// Makes queues for the kernels of one package on one device.
pub(crate) trait Queues: Send + Sync {
    /// Whether memory is this process's own, and work is done by the session's threads.
    fn is_local(&self) -> bool;
    /// A queue for one run at a time. Errors: what the device says.
    fn queue(self: Arc<Self>) -> Result<Arc<dyn Queue>, Diagnostic>;
}

/// One launch on a device with memory of its own.
pub(crate) struct Call<'a> {
    /// Among the device's kernels.
    pub(crate) kernel: usize,
    /// The argument block.
    pub(crate) words: &'a [u64],
    pub(crate) units: u64,
    /// The buffers among the words, for kernels that want them (`Prepared::Whole`).
    pub(crate) buffers: &'a [Range],
}

pub(crate) trait Queue: Send + Sync {
    fn is_local(&self) -> bool;

    /// Makes the calling thread one that may give it work.
    fn enter(&self) -> Result<(), Diagnostic>;

    /// Memory as long as the region lives; the host's is zeroed. Errors: `out-of-memory`.
    fn allocate(&self, bytes: usize) -> Result<Memory, Diagnostic>;

    /// Copies the bytes of `src` to the start of `dst`; the two overlap on the host alone.
    ///
    /// # Safety
    /// Both are live memory of this queue, `dst` writable and as long; on the host no kernel that uses it runs.
    unsafe fn copy(&self, src: Range, dst: Range) -> Result<(), Diagnostic>;

    /// # Safety
    /// Live, writable memory of this queue; on the host no kernel that uses it runs.
    unsafe fn fill(&self, dst: Range, value: u8) -> Result<(), Diagnostic>;

    /// Waits for all work so far and reads the first `into.len()` bytes.
    ///
    /// # Safety
    /// Live memory of this queue, at least as long, written before; on the host no kernel that uses it runs.
    unsafe fn read(&self, src: Range, into: &mut [u8]) -> Result<(), Diagnostic>;

    /// Writes bytes to the start of a range; they may change when this returns.
    ///
    /// # Safety
    /// Live, writable memory of this queue, at least as long; on the host no kernel that uses it runs.
    unsafe fn write(&self, dst: Range, bytes: &[u8]) -> Result<(), Diagnostic>;

    /// As [`Queue::write`], of several tensors at once.
    ///
    /// # Safety
    /// As `write`, of each.
    unsafe fn send(&self, parts: &[(Range, &[u8])]) -> Result<(), Diagnostic>;

    /// As [`Queue::read`], of several tensors at once.
    ///
    /// # Safety
    /// As `read`, of each.
    unsafe fn receive(&self, parts: &mut [(Range, &mut [u8])]) -> Result<(), Diagnostic>;

    /// Starts a kernel. Errors: what the device refuses, without the kernel's name.
    ///
    /// # Safety
    /// The code obeys `docs/abi.md` for this argument block, whose buffers are live memory of this queue until the next
    /// `finish` returns.
    unsafe fn launch(&self, call: &Call<'_>) -> Result<(), Diagnostic>;

    /// Waits for all work. Errors: what went wrong since the last wait.
    fn finish(&self) -> Result<(), Diagnostic>;

    /// Where the device repeats work and takes times by itself.
    fn recorder(&self) -> Option<&dyn Recorder>;
}

/// A point in a queue's work, by its number.
pub(crate) type Mark = usize;

/// What some devices do by themselves: repeat a run as one piece of work, and take times.
pub(crate) trait Recorder {
    /// Notes down what `work` gives to the queue, which is not done now, in place of what was noted before. Whether the
    /// record is new: if not, the earlier one was given new sizes. Errors: those of `work`, and what cannot be recorded.
    fn record(&self, work: &mut dyn FnMut() -> Result<(), Diagnostic>) -> Result<bool, Diagnostic>;

    /// Does what was recorded last.
    fn replay(&self) -> Result<(), Diagnostic>;

    /// Another queue, whose work is in one order with this one's.
    fn twin(&self) -> Arc<dyn Queue>;

    /// A mark behind all work so far.
    fn mark(&self) -> Result<Mark, Diagnostic>;

    /// Nanoseconds between two marks that are past.
    fn ns_between(&self, earlier: Mark, later: Mark) -> Result<u64, Diagnostic>;

    /// Makes all marks void.
    fn forget_marks(&self);
}

/// Memory of a device, given back when dropped.
pub(crate) struct Memory {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    /// Gives it back.
    pub(crate) owner: Box<dyn Send + Sync>,
}

/// Memory that a run's work is on, by its device's place in the package.
pub(crate) struct Region {
    address: u64,
    bytes: usize,
    pub(crate) device: usize,
    /// `None`: empty, or another's, who keeps it as long as this is used.
    _owner: Option<Box<dyn Send + Sync>>,
}

impl Default for Region {
    fn default() -> Region {
        Region { address: EMPTY, bytes: 0, device: 0, _owner: None }
    }
}

impl Region {
    /// Errors: `out-of-memory`.
    pub(crate) fn new(queue: &dyn Queue, device: usize, bytes: usize) -> Result<Region, Diagnostic> {
        let Memory { address, bytes, owner } = queue.allocate(bytes)?;
        Ok(Region { address, bytes, device, _owner: Some(owner) })
    }

    /// A view of memory that lives longer.
    pub(crate) fn lent(other: &Region) -> Region {
        Region { address: other.address, bytes: other.bytes, device: other.device, _owner: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn range(&self) -> Range {
        Range { address: self.address, bytes: self.bytes, writable: true }
    }
}

/// The calling thread's work on this process's memory; kernels are run by the session's threads.
pub(crate) struct HostQueue;

impl Queues for HostQueue {
    fn is_local(&self) -> bool {
        true
    }

    fn queue(self: Arc<Self>) -> Result<Arc<dyn Queue>, Diagnostic> {
        Ok(self)
    }
}

impl From<Block> for Memory {
    fn from(mut block: Block) -> Memory {
        Memory { address: block.address(), bytes: block.len(), owner: Box::new(block) }
    }
}

impl Queue for HostQueue {
    fn is_local(&self) -> bool {
        true
    }

    fn enter(&self) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Diagnostic> {
        Block::new(bytes).map(Memory::from)
    }

    unsafe fn copy(&self, src: Range, dst: Range) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        unsafe { memory::copy(src.address, dst.address, src.bytes) };
        Ok(())
    }

    unsafe fn fill(&self, dst: Range, value: u8) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        unsafe { dst.as_mut_slice() }.fill(value);
        Ok(())
    }

    unsafe fn read(&self, src: Range, into: &mut [u8]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        into.copy_from_slice(unsafe { Range { bytes: into.len(), ..src }.as_slice() });
        Ok(())
    }

    unsafe fn write(&self, dst: Range, bytes: &[u8]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        unsafe { Range { bytes: bytes.len(), ..dst }.as_mut_slice() }.copy_from_slice(bytes);
        Ok(())
    }

    unsafe fn send(&self, parts: &[(Range, &[u8])]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        parts.iter().try_for_each(|(range, bytes)| unsafe { self.write(*range, bytes) })
    }

    unsafe fn receive(&self, parts: &mut [(Range, &mut [u8])]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        parts.iter_mut().try_for_each(|(range, into)| unsafe { self.read(*range, into) })
    }

    unsafe fn launch(&self, _call: &Call<'_>) -> Result<(), Diagnostic> {
        Err(Diagnostic::internal("a kernel of the host is given to a queue"))
    }

    fn finish(&self) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn recorder(&self) -> Option<&dyn Recorder> {
        None
    }
}
