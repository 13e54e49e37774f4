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

    pub fn add_f32(&self, values: &[f32]) -> u64 {
        self.add(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub fn add_u32(&self, values: &[u32]) -> u64 {
        self.add(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub fn add_u16(&self, values: &[u16]) -> u64 {
        self.add(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    pub fn bytes(&self, address: u64) -> Vec<u8> {
        self.0.lock().expect("no thread panicked")[(address / STRIDE) as usize - 1].clone()
    }

    pub fn f32s(&self, address: u64) -> Vec<f32> {
        self.u32s(address).into_iter().map(f32::from_bits).collect()
    }

    pub fn u32s(&self, address: u64) -> Vec<u32> {
        self.bytes(address)
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("chunks of a whole word")))
            .collect()
    }

    pub fn u16s(&self, address: u64) -> Vec<u16> {
        self.bytes(address)
            .chunks(2)
            .map(|word| u16::from_le_bytes(word.try_into().expect("chunks of a whole word")))
            .collect()
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
