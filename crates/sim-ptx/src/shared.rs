//! Shared memory of a CTA: bytes, and which of them were ever written.

use crate::lanes::ones;
use crate::problem::{Problem, Run};
use crate::program::SHARED_START;

pub struct Shared {
    /// By address; those below [`SHARED_START`] are never used.
    bytes: Vec<u8>,
    /// A bit a byte.
    written: Vec<u64>,
}

impl Shared {
    /// With addresses from [`SHARED_START`] up to `end`.
    pub fn new(end: u32) -> Shared {
        Shared { bytes: vec![0; end as usize], written: vec![0; (end as usize).div_ceil(64)] }
    }

    pub fn end(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Errors: the range is not within the CTA's shared memory.
    pub fn check(&self, address: u32, len: usize) -> Run<()> {
        if address >= SHARED_START && address as usize + len <= self.bytes.len() {
            return Ok(());
        }
        Err(Problem::new(
            "sim-out-of-bounds",
            format!(
                "{len} bytes at {address:#x} are outside of shared memory, which goes from {SHARED_START:#x} to {:#x}",
                self.bytes.len()
            ),
        ))
    }

    /// Errors: outside, or some byte was never written.
    pub fn read(&self, address: u32, len: usize) -> Run<&[u8]> {
        self.check(address, len)?;
        let start = address as usize;
        if let Some(byte) = self.first_unwritten(start, len) {
            return Err(Problem::new(
                "sim-unwritten",
                format!(
                    "reads shared memory that was never written, at {byte:#x} (of {len} bytes at {address:#x})"
                ),
            ));
        }
        Ok(&self.bytes[start..start + len])
    }

    /// Errors: outside.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Run<()> {
        self.check(address, bytes.len())?;
        let start = address as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        for_words(start, bytes.len(), |word, mask| {
            self.written[word] |= mask;
            true
        });
        Ok(())
    }

    fn first_unwritten(&self, start: usize, len: usize) -> Option<usize> {
        let mut found = None;
        for_words(start, len, |word, mask| {
            let missing = mask & !self.written[word];
            if missing != 0 {
                found = Some(word * 64 + missing.trailing_zeros() as usize);
            }
            missing == 0
        });
        found
    }
}

/// Calls `f` with each word of a bit set and the bits of the range in it, until it is false.
fn for_words(start: usize, len: usize, mut f: impl FnMut(usize, u64) -> bool) {
    let end = start + len;
    let mut at = start;
    while at < end {
        let stop = end.min((at / 64 + 1) * 64);
        if !f(at / 64, ones((stop - at) as u32) << (at % 64)) {
            return;
        }
        at = stop;
    }
}
