//! Shared memory of a CTA: bytes, and which of them were ever written.

use std::collections::BTreeMap;

use crate::lanes::ones;
use crate::mbarrier::Mbarrier;
use crate::problem::{Problem, Run};
use crate::program::SHARED_START;

pub struct Shared {
    /// By address; those below [`SHARED_START`] are never used.
    bytes: Vec<u8>,
    /// A bit a byte.
    written: Vec<u64>,
    /// By address; their bytes count as unwritten.
    barriers: BTreeMap<u32, Mbarrier>,
    version: u64,
}

impl Shared {
    /// With addresses from [`SHARED_START`] up to `end`.
    pub fn new(end: u32) -> Shared {
        Shared {
            bytes: vec![0; end as usize],
            written: vec![0; (end as usize).div_ceil(64)],
            barriers: BTreeMap::new(),
            version: 0,
        }
    }

    /// Changes with each write.
    pub fn version(&self) -> u64 {
        self.version
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

    /// Errors: outside, or an mbarrier is there.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Run<()> {
        self.check(address, bytes.len())?;
        if !self.barriers.is_empty()
            && let Some((at, _)) =
                self.barriers.range(address.saturating_sub(7)..address + bytes.len() as u32).next()
        {
            return Err(Problem::new("sim-mbarrier", format!("overwrites the mbarrier at {at:#x}")));
        }
        self.version += 1;
        let start = address as usize;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        for_words(start, bytes.len(), |word, mask| {
            self.written[word] |= mask;
            true
        });
        Ok(())
    }

    /// Errors: outside, or there is one already.
    pub fn add_barrier(&mut self, address: u32, barrier: Mbarrier) -> Run<()> {
        self.check(address, 8)?;
        if self.barriers.insert(address, barrier).is_some() {
            return Err(Problem::new(
                "sim-mbarrier",
                format!("the mbarrier at {address:#x} is initialised already"),
            ));
        }
        for_words(address as usize, 8, |word, mask| {
            self.written[word] &= !mask;
            true
        });
        Ok(())
    }

    /// Errors: there is none.
    pub fn remove_barrier(&mut self, address: u32) -> Run<()> {
        self.barrier(address)?;
        self.barriers.remove(&address);
        Ok(())
    }

    /// Errors: there is none.
    pub fn barrier(&mut self, address: u32) -> Run<&mut Mbarrier> {
        let none = || Problem::new("sim-mbarrier", format!("no mbarrier was initialised at {address:#x}"));
        self.barriers.get_mut(&address).ok_or_else(none)
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
