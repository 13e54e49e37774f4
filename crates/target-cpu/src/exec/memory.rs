//! Buffers of plain bytes at chosen addresses: the memory of tests and of single kernels.

use std::sync::{Mutex, MutexGuard};
use tegula_package::{Memory, OutOfBounds};

/// Distance between the starts of buffers, at least; what lies between is out of bounds.
const GUARD: u64 = 4096;

/// Buffers at 64-byte aligned addresses that never touch each other.
#[derive(Debug, Default)]
pub struct VecMemory {
    buffers: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl VecMemory {
    pub fn new() -> VecMemory {
        VecMemory::default()
    }

    /// Adds a buffer; its address.
    pub fn add(&self, bytes: Vec<u8>) -> u64 {
        let mut buffers = self.lock();
        let end = buffers.last().map_or(GUARD, |(address, bytes)| address + bytes.len() as u64);
        let address = (end + GUARD).next_multiple_of(64);
        buffers.push((address, bytes));
        address
    }

    /// The bytes of the buffer at an address that [`VecMemory::add`] gave; empty for any other.
    pub fn bytes(&self, address: u64) -> Vec<u8> {
        self.lock().iter().find(|(at, _)| *at == address).map(|(_, bytes)| bytes.clone()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Vec<u8>)>> {
        // Bytes are never half-written by a panic.
        self.buffers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn access(&self, address: u64, len: usize, f: impl FnOnce(&mut [u8])) -> Result<(), OutOfBounds> {
        let mut buffers = self.lock();
        let after = buffers.partition_point(|(start, _)| *start <= address);
        let found = after.checked_sub(1).and_then(|i| {
            let (start, bytes) = &mut buffers[i];
            let from = usize::try_from(address - *start).ok()?;
            bytes.get_mut(from..from.checked_add(len)?)
        });
        found.map(f).ok_or(OutOfBounds { address, len })
    }
}

impl Memory for VecMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        self.access(address, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), OutOfBounds> {
        self.access(address, from.len(), |bytes| bytes.copy_from_slice(from))
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
