//! The memory of one run: arena, scratch, states, late blocks, argument blocks with addresses.
//! A context serves one run at a time and is kept for the next one; only a change of shapes rebuilds it.

use crate::bind::{Base, Bound};
use crate::memory::{Block, EMPTY, Range};
use std::sync::Arc;
use tegula_base::Diagnostic;

/// Scratch areas of two threads stay this far apart, bytes: no two on one pair of prefetched lines.
const SCRATCH_ALIGN: usize = 128;

#[derive(Default)]
pub(crate) struct Context {
    bound: Option<Arc<Bound>>,
    arena: Block,
    states: Vec<Block>,
    scratch: Block,
    pub(crate) words: Vec<u64>,
    /// Addresses and lengths of the caller's tensors in this run.
    pub(crate) inputs: Vec<Range>,
    pub(crate) outputs: Vec<Range>,
    pub(crate) constants: Option<Range>,
    /// Values of the symbols so far.
    pub(crate) symbols: Vec<Option<i64>>,
    /// Bounds of the symbols as long as `symbols` stays.
    pub(crate) bounds: Option<Vec<(i64, i64)>>,
    pub(crate) late: Vec<Option<Block>>,
    /// Late blocks that nobody uses now.
    spare: Vec<Block>,
    late_bytes: usize,
    pub(crate) late_peak: usize,
    /// Launches per kernel in this run.
    pub(crate) launches: Vec<u64>,
}

impl Context {
    /// Whether the context was last used for `bound`, so that preparing it costs nothing.
    pub(crate) fn fits(&self, bound: &Arc<Bound>) -> bool {
        self.bound.as_ref().is_some_and(|own| Arc::ptr_eq(own, bound))
    }

    /// Makes memory for `bound`; states keep their content when their sizes are the same.
    pub(crate) fn prepare(&mut self, bound: &Arc<Bound>, kernels: usize) -> Result<(), Diagnostic> {
        if !self.fits(bound) {
            // Given up first, so that the old and the new arena never exist at once.
            self.bound = None;
            if self.arena.len() < bound.arena_bytes || self.arena.len() / 4 > bound.arena_bytes {
                self.arena = Block::default();
                self.arena = Block::new(bound.arena_bytes)?;
            }
            self.words.clone_from(&bound.words);
            for address in bound.addresses.iter().filter(|address| address.base == Base::Arena) {
                self.words[address.word as usize] = self.arena.address() + address.offset;
            }
            self.prepare_states(bound)?;
            self.bound = Some(Arc::clone(bound));
        }
        self.symbols.clone_from(&bound.symbols);
        self.bounds = None;
        self.late.clear();
        self.late.resize_with(bound.late_blocks.len(), || None);
        (self.late_bytes, self.late_peak) = (0, 0);
        self.launches.clear();
        self.launches.resize(kernels, 0);
        Ok(())
    }

    fn prepare_states(&mut self, bound: &Bound) -> Result<(), Diagnostic> {
        self.states.resize_with(bound.states.len(), Block::default);
        for (state, size) in self.states.iter_mut().zip(&bound.states) {
            let bytes = size.known().and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
                crate::bind::invalid("the size of a state depends on computed values".to_string())
            })?;
            if state.len() != bytes {
                *state = Block::new(bytes)?;
            }
        }
        Ok(())
    }

    /// Sets all states to zero, as at the start of a stream.
    pub(crate) fn reset_states(&mut self) {
        self.states.iter_mut().for_each(|state| state.bytes_mut().fill(0));
    }

    /// Writes this run's addresses of everything but the arena into the argument blocks.
    pub(crate) fn patch(&mut self, bound: &Bound) {
        for address in &bound.addresses {
            if address.base != Base::Arena {
                let base = self.range(address.base).address;
                self.words[address.word as usize] = base + address.offset;
            }
        }
    }

    pub(crate) fn range(&mut self, base: Base) -> Range {
        match base {
            Base::Input(input) => self.inputs[input as usize],
            Base::Output(output) => self.outputs[output as usize],
            Base::Constants => self.constants.expect("invariant: set before the run"),
            Base::Arena => block_range(&mut self.arena),
            Base::State(state) => block_range(&mut self.states[state as usize]),
            Base::Late(slot) => match &mut self.late[slot as usize] {
                Some(block) => block_range(block),
                None => Range { address: EMPTY, bytes: 0, writable: true },
            },
        }
    }

    /// Makes a late block at least `bytes` long; what it held stays.
    pub(crate) fn grow_late(&mut self, slot: u32, bytes: usize) -> Result<(), Diagnostic> {
        let held = self.late[slot as usize].as_ref().map_or(0, Block::len);
        if held >= bytes && self.late[slot as usize].is_some() {
            return Ok(());
        }
        let mut block = self.take_spare(bytes)?;
        if let Some(mut old) = self.late[slot as usize].take() {
            // Doubling, so that a buffer which grows in a loop is copied rarely.
            if block.len() < 2 * held {
                self.spare.push(block);
                block = self.take_spare(2 * held)?;
            }
            block.bytes_mut()[..held].copy_from_slice(old.bytes_mut());
            self.late_bytes -= held;
            self.spare.push(old);
        }
        self.late_bytes += block.len();
        self.late_peak = self.late_peak.max(self.late_bytes);
        self.late[slot as usize] = Some(block);
        Ok(())
    }

    pub(crate) fn release_late(&mut self, slot: u32) {
        if let Some(block) = self.late[slot as usize].take() {
            self.late_bytes -= block.len();
            self.spare.push(block);
        }
    }

    /// Ends a run: late blocks wait for the next one.
    pub(crate) fn release_all(&mut self) {
        for slot in 0..self.late.len() {
            self.release_late(slot as u32);
        }
    }

    /// The smallest spare block that fits and is not wastefully large, or a new one.
    fn take_spare(&mut self, bytes: usize) -> Result<Block, Diagnostic> {
        let fits = |block: &Block| block.len() >= bytes && block.len() <= 4 * bytes.max(1024);
        let best =
            (0..self.spare.len()).filter(|i| fits(&self.spare[*i])).min_by_key(|i| self.spare[*i].len());
        match best {
            Some(index) => Ok(self.spare.swap_remove(index)),
            None => Block::new(bytes),
        }
    }

    /// The scratch of thread 0 and the distance between threads.
    pub(crate) fn scratch(&mut self, bytes: usize, threads: usize) -> Result<(u64, usize), Diagnostic> {
        let stride = bytes.next_multiple_of(SCRATCH_ALIGN);
        let total = stride.checked_mul(threads).ok_or_else(|| {
            Diagnostic::error("out-of-memory", "the run needs more scratch memory than can be addressed")
        })?;
        if self.scratch.len() < total {
            self.scratch = Block::default();
            self.scratch = Block::new(total)?;
        }
        Ok((self.scratch.address(), stride))
    }

    pub(crate) fn scratch_bytes(&self) -> usize {
        self.scratch.len()
    }
}

fn block_range(block: &mut Block) -> Range {
    Range { address: block.address(), bytes: block.len(), writable: true }
}
