//! The memory of one run: arena, scratch, states, late blocks, argument blocks with addresses.
//! A context serves one run at a time and is kept for the next one; only a change of shapes rebuilds it.

use crate::bind::{Base, Bound};
use crate::cuda::{Device, Stream};
use crate::interpret::Replay;
use crate::memory::{Block, EMPTY, Range};
use crate::profile::GraphCounters;
use crate::queue::{Queue, Region};
use crate::staging::Ports;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// Scratch areas of two threads stay this far apart, bytes: no two on one pair of prefetched lines.
const SCRATCH_ALIGN: usize = 128;

/// Elements that a branch's lists have room for at least.
const BRANCH_ROOM: usize = 128;

/// Alone on its cache lines, as branches that run at once have one each.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Context {
    /// Who holds all but the scratch.
    pub(crate) queue: Queue,
    bound: Option<Arc<Bound>>,
    /// Runs of `bound` so far.
    pub(crate) runs: u64,
    arena: Region,
    states: Vec<Region>,
    /// The next run begins with states of zeros.
    restarts: bool,
    scratch: Block,
    /// Of inputs and outputs on a card.
    pub(crate) ports: Ports,
    /// Inputs that outputs share their memory with are as the run before left them, and stay where they are.
    pub(crate) keeps_shared: bool,
    pub(crate) replay: Option<Replay>,
    /// Since this was last asked for.
    pub(crate) graphs: GraphCounters,
    pub(crate) words: Vec<u64>,
    /// Addresses and lengths of the caller's tensors in this run.
    pub(crate) inputs: Vec<Range>,
    pub(crate) outputs: Vec<Range>,
    pub(crate) constants: Option<Range>,
    /// Values of the symbols so far.
    pub(crate) symbols: Vec<Option<i64>>,
    /// Bounds of the symbols as long as `symbols` stays.
    pub(crate) bounds: Option<Vec<(i64, i64)>>,
    pub(crate) late: Vec<Option<Region>>,
    /// Late blocks that nobody uses now.
    spare: Vec<Region>,
    late_bytes: usize,
    pub(crate) late_peak: usize,
    /// Launches per kernel in this run.
    pub(crate) launches: Vec<u64>,
    /// Of branches that run at once, kept for the next time.
    branches: Vec<Context>,
}

impl Context {
    /// A context whose work goes to that stream.
    pub(crate) fn on(stream: &Arc<Stream>) -> Context {
        Context { queue: Queue::Cuda(Arc::clone(stream)), ..Context::default() }
    }

    /// Gives the run that was captured last to the card once more.
    /// Errors: none was, as the steps need the host.
    pub(crate) fn repeat(&self) -> Result<(), Diagnostic> {
        match &self.replay {
            Some(replay) => replay.launch(),
            None => Err(Diagnostic::error("gpu-failed", "the model's steps need the host between launches")),
        }
    }

    /// Fills the memory of results and intermediate values on a card with ones.
    pub(crate) fn poison(&mut self) -> Result<(), Diagnostic> {
        if let Queue::Cuda(_) = self.queue {
            for region in self.ports.outputs_mut().chain([&mut self.arena]) {
                // SAFETY: this context's own memory; what runs on it was given to the same stream.
                unsafe { self.queue.fill(region.range(), 0xff)? };
            }
        }
        Ok(())
    }

    /// Whether the context was last used for `bound`, so that preparing it costs nothing.
    pub(crate) fn fits(&self, bound: &Arc<Bound>) -> bool {
        self.bound.as_ref().is_some_and(|own| Arc::ptr_eq(own, bound))
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.clone()
    }

    /// Makes memory for `bound`, on the card if there is one; states keep their content when their sizes are the same.
    pub(crate) fn prepare(
        &mut self,
        bound: &Arc<Bound>,
        kernels: usize,
        card: Option<&Arc<Device>>,
    ) -> Result<(), Diagnostic> {
        if let Some(card) = card {
            card.enter()?;
            if matches!(self.queue, Queue::Host) {
                self.queue = Queue::Cuda(card.stream()?);
            }
        }
        if !self.fits(bound) {
            self.runs = 0;
            self.replay.iter_mut().for_each(Replay::make_stale);
            // Given up first, so that the old and the new arena never exist at once.
            self.bound = None;
            if self.arena.len() < bound.arena_bytes || self.arena.len() / 4 > bound.arena_bytes {
                self.arena = Region::default();
                self.arena = self.queue.region(bound.arena_bytes)?;
            }
            self.words.clone_from(&bound.words);
            for address in bound.addresses.iter().filter(|address| address.base == Base::Arena) {
                self.words[address.word as usize] = self.arena.address() + address.offset;
            }
            self.prepare_states(bound)?;
            self.bound = Some(Arc::clone(bound));
        }
        if std::mem::take(&mut self.restarts) {
            for state in &mut self.states {
                // SAFETY: this context's own memory; no run is in progress.
                unsafe { self.queue.fill(state.range(), 0)? };
            }
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
        self.states.resize_with(bound.states.len(), Region::default);
        for (state, size) in self.states.iter_mut().zip(&bound.states) {
            let bytes = size.known().and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
                crate::bind::invalid("the size of a state depends on computed values".to_string())
            })?;
            if state.len() != bytes {
                *state = self.queue.region(bytes)?;
                // SAFETY: this context's own memory; no run is in progress.
                unsafe { self.queue.fill(state.range(), 0)? };
            }
        }
        Ok(())
    }

    /// The next run begins with states of zeros, as at the start of a stream.
    pub(crate) fn restart(&mut self) {
        self.restarts = true;
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
            Base::Arena => self.arena.range(),
            Base::State(state) => self.states[state as usize].range(),
            Base::Late(slot) => match &mut self.late[slot as usize] {
                Some(block) => block.range(),
                None => Range { address: EMPTY, bytes: 0, writable: true },
            },
        }
    }

    /// Makes a late block at least `bytes` long; what it held stays.
    pub(crate) fn grow_late(&mut self, slot: u32, bytes: usize) -> Result<(), Diagnostic> {
        let held = self.late[slot as usize].as_ref().map_or(0, Region::len);
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
            // SAFETY: this run's own memory, two blocks; kernels on the host have returned.
            unsafe { self.queue.copy(old.range(), block.range())? };
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
    pub(crate) fn take_spare(&mut self, bytes: usize) -> Result<Region, Diagnostic> {
        let fits = |block: &Region| block.len() >= bytes && block.len() <= 4 * bytes.max(1024);
        let best =
            (0..self.spare.len()).filter(|i| fits(&self.spare[*i])).min_by_key(|i| self.spare[*i].len());
        match best {
            Some(index) => Ok(self.spare.swap_remove(index)),
            None => self.queue.region(bytes),
        }
    }

    pub(crate) fn give_spare(&mut self, block: Region) {
        self.spare.push(block);
    }

    /// Contexts for branches that run at once, on this one's memory but for their scratch. They go back to
    /// [`Context::join`], and nobody uses the memory through this one before. `None`: memory is of a card, or
    /// found while running.
    pub(crate) fn fork(&mut self, n: usize) -> Option<Vec<Context>> {
        if !matches!(self.queue, Queue::Host) || !self.late.is_empty() {
            return None;
        }
        let mut branches = std::mem::take(&mut self.branches);
        branches.resize_with(n, Context::default);
        for branch in &mut branches {
            branch.arena = Region::Lent(self.arena.range());
            branch.states.clear();
            branch.states.extend(self.states.iter_mut().map(|state| Region::Lent(state.range())));
            branch.words.clone_from(&self.words);
            branch.inputs.clone_from(&self.inputs);
            branch.outputs.clone_from(&self.outputs);
            branch.constants = self.constants;
            // Small lists of two branches would share cache lines, which each step of both changes.
            branch.symbols.reserve(BRANCH_ROOM);
            branch.launches.reserve(BRANCH_ROOM);
            branch.symbols.clone_from(&self.symbols);
            branch.bounds = None;
            branch.launches.clear();
            branch.launches.resize(self.launches.len(), 0);
        }
        Some(branches)
    }

    /// Takes over what branches have done.
    pub(crate) fn join(&mut self, branches: Vec<Context>) {
        let before = self.symbols.clone();
        for branch in &branches {
            for (launches, own) in self.launches.iter_mut().zip(&branch.launches) {
                *launches += own;
            }
            // Each symbol is bound in one branch at most.
            for (symbol, (own, before)) in branch.symbols.iter().zip(&before).enumerate() {
                if own != before {
                    self.symbols[symbol] = *own;
                }
            }
        }
        self.bounds = None;
        self.branches = branches;
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
        self.scratch.len() + self.branches.iter().map(Context::scratch_bytes).sum::<usize>()
    }
}
