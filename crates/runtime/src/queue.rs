//! Where a run's memory is and who works on it, in order: the calling thread, or a stream of a GPU.

use crate::cuda::{DeviceBlock, Stream};
use crate::memory::{self, Block, EMPTY, Range};
use std::sync::Arc;
use tegula_base::Diagnostic;

#[derive(Clone, Default)]
pub(crate) enum Queue {
    #[default]
    Host,
    Cuda(Arc<Stream>),
}

/// Memory that a queue works on; a host's is zeroed.
pub(crate) enum Region {
    Host(Block),
    Cuda(DeviceBlock),
    /// Another's, who keeps it as long as this is used.
    Lent(Range),
}

impl Default for Region {
    fn default() -> Region {
        Region::Host(Block::default())
    }
}

impl Region {
    pub(crate) fn len(&self) -> usize {
        match self {
            Region::Host(block) => block.len(),
            Region::Cuda(block) => block.len(),
            Region::Lent(range) => range.bytes,
        }
    }

    pub(crate) fn address(&mut self) -> u64 {
        match self {
            Region::Host(block) => block.address(),
            Region::Cuda(block) if block.len() == 0 => EMPTY,
            Region::Cuda(block) => block.address(),
            Region::Lent(range) => range.address,
        }
    }

    pub(crate) fn range(&mut self) -> Range {
        Range { address: self.address(), bytes: self.len(), writable: true }
    }
}

impl Queue {
    /// Errors: `out-of-memory`.
    pub(crate) fn region(&self, bytes: usize) -> Result<Region, Diagnostic> {
        match self {
            Queue::Host => Block::new(bytes).map(Region::Host),
            Queue::Cuda(stream) => DeviceBlock::new(stream, bytes).map(Region::Cuda),
        }
    }

    /// Copies the bytes of `src` to the start of `dst`; on a GPU the two do not overlap.
    ///
    /// # Safety
    /// Both are live memory of this queue, `dst` writable and as long; on the host no kernel that uses it runs.
    pub(crate) unsafe fn copy(&self, src: Range, dst: Range) -> Result<(), Diagnostic> {
        match self {
            // SAFETY: promised by the caller.
            Queue::Host => unsafe { memory::copy(src.address, dst.address, src.bytes) },
            // SAFETY: promised by the caller.
            Queue::Cuda(stream) => unsafe { stream.copy(src.address, dst.address, src.bytes)? },
        }
        Ok(())
    }

    /// # Safety
    /// Live, writable memory of this queue; on the host no kernel that uses it runs.
    pub(crate) unsafe fn fill(&self, dst: Range, value: u8) -> Result<(), Diagnostic> {
        match self {
            // SAFETY: promised by the caller.
            Queue::Host => unsafe { dst.as_mut_slice() }.fill(value),
            // SAFETY: promised by the caller.
            Queue::Cuda(stream) => unsafe { stream.fill(dst.address, value, dst.bytes)? },
        }
        Ok(())
    }

    /// Waits for all work so far and reads the first `into.len()` bytes.
    ///
    /// # Safety
    /// Live memory of this queue, at least as long, written before; on the host no kernel that uses it runs.
    pub(crate) unsafe fn read(&self, src: Range, into: &mut [u8]) -> Result<(), Diagnostic> {
        match self {
            Queue::Host => {
                // SAFETY: promised by the caller.
                into.copy_from_slice(unsafe { Range { bytes: into.len(), ..src }.as_slice() });
                Ok(())
            }
            Queue::Cuda(stream) => {
                // SAFETY: promised by the caller; the wait below ends the copy before `into` is used.
                unsafe { stream.download(src.address, into)? };
                stream.finish()
            }
        }
    }

    /// Writes bytes to the start of a range; they may change when this returns.
    ///
    /// # Safety
    /// Live, writable memory of this queue, at least as long; on the host no kernel that uses it runs.
    pub(crate) unsafe fn write(&self, dst: Range, bytes: &[u8]) -> Result<(), Diagnostic> {
        match self {
            Queue::Host => {
                // SAFETY: promised by the caller.
                unsafe { Range { bytes: bytes.len(), ..dst }.as_mut_slice() }.copy_from_slice(bytes);
                Ok(())
            }
            Queue::Cuda(stream) => {
                // SAFETY: promised by the caller; the wait below ends the copy before `bytes` may change.
                unsafe { stream.upload(dst.address, bytes)? };
                stream.finish()
            }
        }
    }

    /// Waits for all work. Errors: what went wrong on a GPU since the last wait.
    pub(crate) fn finish(&self) -> Result<(), Diagnostic> {
        match self {
            Queue::Host => Ok(()),
            Queue::Cuda(stream) => stream.finish(),
        }
    }
}
