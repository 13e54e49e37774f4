//! Memory of the card: blocks of the host's, each with its length, so that what goes astray is an error.
//! What was never written is 0xff everywhere: no number as floats.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tegula_package::{Memory, OutOfBounds};

use crate::settings::settings;

/// As the driver aligns blocks.
const ALIGN: usize = 256;
const POISON: u8 = 0xff;

/// Bytes of each block by its address.
static BLOCKS: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

fn blocks() -> MutexGuard<'static, BTreeMap<u64, usize>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALIGN).ok()
}

/// `None`: the card has not that much left.
pub fn allocate(bytes: usize) -> Option<u64> {
    let mut blocks = blocks();
    let used: usize = blocks.values().sum();
    if used as u64 + bytes as u64 > settings().memory {
        return None;
    }
    // SAFETY: the layout is of at least one byte.
    let at = unsafe { alloc(layout(bytes)?) };
    if at.is_null() {
        return None;
    }
    // SAFETY: that many bytes were just allocated.
    unsafe { at.write_bytes(POISON, bytes) };
    blocks.insert(at as u64, bytes);
    Some(at as u64)
}

/// Whether there was such a block.
pub fn free(address: u64) -> bool {
    let Some(bytes) = blocks().remove(&address) else { return false };
    let Some(layout) = layout(bytes) else { return false };
    // SAFETY: allocated with this layout, and no longer in the table.
    unsafe { dealloc(address as *mut u8, layout) };
    true
}

/// The blocks as they are now: work of one stream touches no block that is freed meanwhile.
pub struct Card(Vec<(u64, usize)>);

impl Card {
    pub fn new() -> Card {
        Card(blocks().iter().map(|(at, bytes)| (*at, *bytes)).collect())
    }

    /// Errors: the range is not within one block.
    pub fn check(&self, address: u64, len: usize) -> Result<(), OutOfBounds> {
        let after = self.0.partition_point(|(at, _)| *at <= address);
        let holds = after.checked_sub(1).is_some_and(|i| {
            let (at, bytes) = self.0[i];
            (address - at).checked_add(len as u64).is_some_and(|end| end <= bytes as u64)
        });
        if holds { Ok(()) } else { Err(OutOfBounds { address, len }) }
    }

    pub fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<(), OutOfBounds> {
        self.check(from, bytes)?;
        self.check(to, bytes)?;
        // SAFETY: both ranges are within blocks; the driver's user orders what touches them.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    pub fn fill(&self, at: u64, value: u8, bytes: usize) -> Result<(), OutOfBounds> {
        self.check(at, bytes)?;
        // SAFETY: as above.
        unsafe { (at as *mut u8).write_bytes(value, bytes) };
        Ok(())
    }
}

impl Memory for Card {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        self.check(address, into.len())?;
        // SAFETY: the range is within a block; the driver's user orders what touches it.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), OutOfBounds> {
        self.check(address, bytes.len())?;
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
