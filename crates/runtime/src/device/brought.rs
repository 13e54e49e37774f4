//! The queue of a device that a caller brings. The runtime's addresses of its memory are made up: each block has a range
//! of its own, from which it is found again.

use super::{DeviceBuffer, DeviceKernel, DeviceLaunch, DeviceMemory, MemoryBlock};
use crate::memory::{EMPTY, Range};
use crate::queue::{Call, Memory, Queue, Queues, Recorder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tegula_base::Diagnostic;

/// Distance of two blocks' addresses at least, and their alignment.
const ALIGN: u64 = 64;
/// Bytes that a copy within the device takes at once.
const PART: usize = 1 << 20;

pub(super) struct Brought {
    memory: Arc<dyn DeviceMemory>,
    kernels: Vec<Arc<dyn DeviceKernel>>,
    blocks: Arc<Mutex<Blocks>>,
}

/// Live blocks by their first address.
struct Blocks {
    next: u64,
    live: BTreeMap<u64, Arc<dyn MemoryBlock>>,
}

/// Gives a block back.
struct Held {
    blocks: Arc<Mutex<Blocks>>,
    address: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        // The block itself goes when the table is free again.
        let _block = lock(&self.blocks).live.remove(&self.address);
    }
}

/// A poisoned lock is fine: each change of the table is one call.
fn lock(blocks: &Mutex<Blocks>) -> MutexGuard<'_, Blocks> {
    blocks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Brought {
    pub(super) fn new(memory: Arc<dyn DeviceMemory>, kernels: Vec<Arc<dyn DeviceKernel>>) -> Brought {
        let blocks = Blocks { next: EMPTY + ALIGN, live: BTreeMap::new() };
        Brought { memory, kernels, blocks: Arc::new(Mutex::new(blocks)) }
    }

    /// The block that a range is in, and where.
    fn find(&self, range: Range) -> Result<(Arc<dyn MemoryBlock>, usize), Diagnostic> {
        let blocks = lock(&self.blocks);
        let found = blocks.live.range(..=range.address).next_back();
        let (start, block) =
            found.ok_or_else(|| Diagnostic::internal("a device is given memory that it has not"))?;
        Ok((Arc::clone(block), (range.address - start) as usize))
    }
}

impl Queues for Brought {
    fn is_local(&self) -> bool {
        false
    }

    fn queue(self: Arc<Self>) -> Result<Arc<dyn Queue>, Diagnostic> {
        Ok(self)
    }
}

/// Each access is checked by its block: the promises of the trait are not needed here.
impl Queue for Brought {
    fn is_local(&self) -> bool {
        false
    }

    fn enter(&self) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Diagnostic> {
        let block = self.memory.allocate(bytes)?;
        let mut blocks = lock(&self.blocks);
        let address = blocks.next;
        let end = (bytes as u64).checked_next_multiple_of(ALIGN).and_then(|bytes| address.checked_add(bytes));
        let next = end.and_then(|end| end.checked_add(ALIGN));
        blocks.next =
            next.ok_or_else(|| Diagnostic::error("out-of-memory", "a device has no more addresses"))?;
        blocks.live.insert(address, block);
        Ok(Memory { address, bytes, owner: Box::new(Held { blocks: Arc::clone(&self.blocks), address }) })
    }

    unsafe fn copy(&self, src: Range, dst: Range) -> Result<(), Diagnostic> {
        if src.bytes == 0 {
            return Ok(());
        }
        let ((from, at), (to, start)) = (self.find(src)?, self.find(dst)?);
        let mut part = vec![0; src.bytes.min(PART)];
        for done in (0..src.bytes).step_by(PART) {
            let part = &mut part[..PART.min(src.bytes - done)];
            from.read(at + done, part)?;
            to.write(start + done, part)?;
        }
        Ok(())
    }

    unsafe fn fill(&self, dst: Range, value: u8) -> Result<(), Diagnostic> {
        if dst.bytes == 0 {
            return Ok(());
        }
        let (to, start) = self.find(dst)?;
        let part = vec![value; dst.bytes.min(PART)];
        for done in (0..dst.bytes).step_by(PART) {
            to.write(start + done, &part[..PART.min(dst.bytes - done)])?;
        }
        Ok(())
    }

    unsafe fn read(&self, src: Range, into: &mut [u8]) -> Result<(), Diagnostic> {
        if into.is_empty() {
            return Ok(());
        }
        let (from, at) = self.find(src)?;
        from.read(at, into)
    }

    unsafe fn write(&self, dst: Range, bytes: &[u8]) -> Result<(), Diagnostic> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (to, at) = self.find(dst)?;
        to.write(at, bytes)
    }

    unsafe fn send(&self, parts: &[(Range, &[u8])]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        parts.iter().try_for_each(|(range, bytes)| unsafe { self.write(*range, bytes) })
    }

    unsafe fn receive(&self, parts: &mut [(Range, &mut [u8])]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        parts.iter_mut().try_for_each(|(range, into)| unsafe { self.read(*range, into) })
    }

    unsafe fn launch(&self, call: &Call<'_>) -> Result<(), Diagnostic> {
        let kernel = self.kernels.get(call.kernel);
        let kernel = kernel.ok_or_else(|| Diagnostic::internal("a device has not the kernel"))?;
        let places = call.buffers.iter().map(|range| match range.bytes {
            0 => Ok(None),
            _ => self.find(*range).map(Some),
        });
        let places = places.collect::<Result<Vec<_>, Diagnostic>>()?;
        let buffers = places.iter().zip(call.buffers).map(|(place, range)| DeviceBuffer {
            place: place.as_ref().map(|(block, offset)| (&**block, *offset)),
            len: range.bytes,
            is_writable: range.writable,
        });
        let sizes = call.words.iter().skip(1 + call.buffers.len()).map(|word| *word as i64);
        let launch = DeviceLaunch { buffers: buffers.collect(), sizes: sizes.collect(), grid: call.units };
        kernel.run(&launch).map_err(|reason| Diagnostic::error("kernel-failed", reason))
    }

    fn finish(&self) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn recorder(&self) -> Option<&dyn Recorder> {
        None
    }
}
