//! Blocks of memory that kernels may write, and checked access to the memory of one launch.

use crate::stop::Running;
use memmap2::MmapMut;
use tegula_base::Diagnostic;
use tegula_package::{Memory, OutOfBounds};

/// Blocks of at least this many bytes ask for huge pages: fewer misses in the translation buffers.
const HUGE_PAGE_MIN: usize = 4 << 20;

/// Zeroed anonymous memory, page-aligned; the system provides pages when they are first touched.
#[derive(Default)]
pub(crate) struct Block {
    map: Option<MmapMut>,
}

impl Block {
    /// Errors: the system has not that much memory.
    pub(crate) fn new(bytes: usize) -> Result<Block, Diagnostic> {
        if bytes == 0 {
            return Ok(Block::default());
        }
        let map = MmapMut::map_anon(bytes).map_err(|error| {
            Diagnostic::error("out-of-memory", format!("the run needs a block of {bytes} bytes"))
                .note(error.to_string())
        })?;
        #[cfg(target_os = "linux")]
        if bytes >= HUGE_PAGE_MIN {
            // Advice: where the system does not follow it, runs are only slower.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        Ok(Block { map: Some(map) })
    }

    pub(crate) fn len(&self) -> usize {
        self.map.as_ref().map_or(0, |map| map.len())
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or_default()
    }

    /// Start of the block; of an empty one, an aligned address that must not be followed.
    pub(crate) fn address(&mut self) -> u64 {
        self.map.as_mut().map_or(EMPTY, |map| map.as_mut_ptr() as u64)
    }
}

/// Stands for the address of memory without bytes.
pub(crate) const EMPTY: u64 = 64;

/// A range of bytes by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    pub(crate) writable: bool,
}

impl Range {
    pub(crate) fn overlaps(&self, other: &Range) -> bool {
        self.bytes > 0
            && other.bytes > 0
            && self.address < other.address + other.bytes as u64
            && other.address < self.address + self.bytes as u64
    }

    /// # Safety
    /// The range is live memory, initialised, and nobody writes to it during `'a`.
    pub(crate) unsafe fn as_slice<'a>(self) -> &'a [u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.bytes) }
    }

    /// # Safety
    /// The range is live, writable memory that nobody else accesses during `'a`.
    pub(crate) unsafe fn as_mut_slice<'a>(self) -> &'a mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, self.bytes) }
    }
}

/// Copies bytes between ranges that may overlap.
///
/// # Safety
/// Both ranges are live memory of this run, `dst` writable, and no kernel runs meanwhile.
pub(crate) unsafe fn copy(src: u64, dst: u64, bytes: usize) {
    if bytes > 0 {
        // SAFETY: promised by the caller.
        unsafe { std::ptr::copy(src as *const u8, dst as *mut u8, bytes) }
    }
}

/// The memory of one thread of one launch.
pub(crate) struct LaunchMemory<'a> {
    buffers: &'a [Range],
    scratch: Range,
    running: Running<'a>,
}

impl<'a> LaunchMemory<'a> {
    /// # Safety
    /// All ranges stay live memory for `'a`, and only kernels of this launch touch them.
    pub(crate) unsafe fn new(buffers: &'a [Range], scratch: Range, running: Running<'a>) -> LaunchMemory<'a> {
        LaunchMemory { buffers, scratch, running }
    }

    fn check(&self, address: u64, len: usize, write: bool) -> Result<(), OutOfBounds> {
        let inside = |range: &Range| {
            (range.writable || !write)
                && address >= range.address
                && (address - range.address).saturating_add(len as u64) <= range.bytes as u64
        };
        if len == 0 || self.buffers.iter().any(inside) || inside(&self.scratch) {
            Ok(())
        } else {
            Err(OutOfBounds { address, len })
        }
    }
}

impl Memory for LaunchMemory<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        self.check(address, into.len(), false)?;
        // SAFETY: the bytes lie in live memory of the launch; other threads of the launch write only to bytes
        // that this one does not read (any split of the grid gives the same result).
        unsafe { copy(address, into.as_mut_ptr() as u64, into.len()) };
        Ok(())
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), OutOfBounds> {
        self.check(address, bytes.len(), true)?;
        // SAFETY: as in `read`; the range is writable.
        unsafe { copy(bytes.as_ptr() as u64, address, bytes.len()) };
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.running.is_stopped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_must_stay_within_one_writable_buffer() {
        let mut block = Block::new(128).unwrap();
        let base = block.address();
        let constant = [1u8, 2, 3, 4];
        let buffers = [
            Range { address: base, bytes: 64, writable: true },
            Range { address: constant.as_ptr() as u64, bytes: 4, writable: false },
        ];
        let scratch = Range { address: EMPTY, bytes: 0, writable: true };
        // SAFETY: all live until the end of the test.
        let memory = unsafe { LaunchMemory::new(&buffers, scratch, Running::to_the_end()) };
        let mut word = [0u8; 4];
        assert_eq!(memory.write(base + 60, &[9; 4]), Ok(()));
        assert_eq!(memory.read(base + 60, &mut word), Ok(()));
        assert_eq!(word, [9; 4]);
        assert_eq!(memory.read(constant.as_ptr() as u64, &mut word), Ok(()));
        assert_eq!(word, constant);
        assert_eq!(
            memory.write(constant.as_ptr() as u64, &[0]),
            Err(OutOfBounds { address: constant.as_ptr() as u64, len: 1 })
        );
        assert!(memory.read(base + 61, &mut word).is_err());
        assert!(memory.read(u64::MAX, &mut word).is_err());
    }
}
