//! Memory of a launch in tests.

use std::sync::Mutex;
use tegula_package::{Memory, OutOfBounds};

/// Buffers at addresses far from each other.
#[derive(Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

const STRIDE: u64 = 1 << 28;

impl Buffers {
    /// Its address.
    pub fn add(&self, bytes: Vec<u8>) -> u64 {
        let mut buffers = self.0.lock().expect("no thread panicked");
        buffers.push(bytes);
        buffers.len() as u64 * STRIDE
    }

    pub fn bytes(&self, address: u64) -> Vec<u8> {
        self.0.lock().expect("no thread panicked")[(address / STRIDE) as usize - 1].clone()
    }

    fn access(&self, address: u64, len: usize, f: impl FnOnce(&mut [u8])) -> Result<(), OutOfBounds> {
        let mut buffers = self.0.lock().expect("no thread panicked");
        let buffer = (address / STRIDE).checked_sub(1).and_then(|i| buffers.get_mut(i as usize));
        let from = (address % STRIDE) as usize;
        buffer.and_then(|buffer| buffer.get_mut(from..from + len)).map(f).ok_or(OutOfBounds { address, len })
    }
}

impl Memory for Buffers {
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
