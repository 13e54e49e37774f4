//! Memory of a device that has none but this process's: for devices that are a simulator or a test.

use super::{DeviceMemory, MemoryBlock};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tegula_base::Diagnostic;

/// Blocks of zeros in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainMemory;

struct PlainBlock(Mutex<Vec<u8>>);

impl DeviceMemory for PlainMemory {
    fn allocate(&self, bytes: usize) -> Result<Arc<dyn MemoryBlock>, Diagnostic> {
        let mut block = Vec::new();
        block.try_reserve_exact(bytes).map_err(|error| {
            Diagnostic::error("out-of-memory", format!("a device needs a block of {bytes} bytes"))
                .note(error.to_string())
        })?;
        block.resize(bytes, 0);
        Ok(Arc::new(PlainBlock(Mutex::new(block))))
    }
}

impl PlainBlock {
    /// A poisoned lock is fine: bytes have no invariant.
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryBlock for PlainBlock {
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Diagnostic> {
        let bytes = self.bytes();
        let part = offset.checked_add(into.len()).and_then(|end| bytes.get(offset..end));
        into.copy_from_slice(part.ok_or_else(outside)?);
        Ok(())
    }

    fn write(&self, offset: usize, from: &[u8]) -> Result<(), Diagnostic> {
        let mut bytes = self.bytes();
        let part = offset.checked_add(from.len()).and_then(|end| bytes.get_mut(offset..end));
        part.ok_or_else(outside)?.copy_from_slice(from);
        Ok(())
    }
}

fn outside() -> Diagnostic {
    Diagnostic::internal("an access leaves its block of a device's memory")
}
