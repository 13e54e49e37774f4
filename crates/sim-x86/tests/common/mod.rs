//! The memory of these tests.
#![allow(dead_code)] // Each test file uses its part.

use std::sync::Mutex;
use tegula_package::{Memory, OutOfBounds};

/// Where the buffer of these tests lies.
pub const BUFFER: u64 = 0x1_0000;

/// One buffer; a run may ask a number of times before it is stopped.
pub struct Bytes {
    bytes: Mutex<Vec<u8>>,
    pub questions: Mutex<u32>,
}

impl Bytes {
    pub fn new(bytes: Vec<u8>) -> Bytes {
        Bytes { bytes: Mutex::new(bytes), questions: Mutex::new(50) }
    }

    pub fn words(&self) -> Vec<u32> {
        let bytes = self.bytes.lock().unwrap();
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn access(&self, address: u64, len: usize, f: impl FnOnce(&mut [u8])) -> Result<(), OutOfBounds> {
        let mut bytes = self.bytes.lock().unwrap();
        let from = address.checked_sub(BUFFER).and_then(|from| usize::try_from(from).ok());
        let part = from.and_then(|from| bytes.get_mut(from..from.checked_add(len)?));
        part.map(f).ok_or(OutOfBounds { address, len })
    }
}

impl Memory for Bytes {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        self.access(address, into.len(), |bytes| into.copy_from_slice(bytes))
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), OutOfBounds> {
        self.access(address, from.len(), |bytes| bytes.copy_from_slice(from))
    }

    fn is_stopped(&self) -> bool {
        let mut left = self.questions.lock().unwrap();
        *left = left.saturating_sub(1);
        *left == 0
    }
}
