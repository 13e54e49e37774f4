//! The memory of one run: arena, scratch, states, late blocks, argument blocks with addresses.
//! A context serves one run at a time and is kept for the next one; only a change of shapes rebuilds it.

use crate::bind::{Base, Bound};
use crate::memory::{Block, EMPTY, Range};
use crate::ports::Ports;
use crate::profile::GraphCounters;
use crate::queue::{Queue, Queues, Region};
use crate::replay::Replay;
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
    /// By the package's devices, the home first: who holds all but the scratch. Empty until the first run is prepared.
    pub(crate) queues: Vec<Arc<dyn Queue>>,
    bound: Option<Arc<Bound>>,
    /// Runs of `bound` so far.
    pub(crate) runs: u64,
    /// By device.
    arenas: Vec<Region>,
    states: Vec<Region>,
    /// The next run begins with states of zeros.
    restarts: bool,
    scratch: Block,
    /// Of inputs and outputs that are not in this process's memory.
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
    /// By device.
    pub(crate) constants: Vec<Range>,
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
    /// A context whose work goes to these queues.
    pub(crate) fn on(queues: Vec<Arc<dyn Queue>>) -> Context {
        Context { queues, ..Context::default() }
    }

    /// The queue of inputs and outputs, in a context that was prepared.
    pub(crate) fn home(&self) -> &dyn Queue {
        &*self.queues[0]
    }

    /// Gives the run that was recorded last to the home once more.
    /// Errors: none was, as the steps need the host.
    pub(crate) fn repeat(&self) -> Result<(), Diagnostic> {
        match self.queues.first().and_then(|home| home.recorder()) {
            Some(recorder) if self.replay.is_some() => recorder.replay(),
            _ => Err(Diagnostic::error("gpu-failed", "the model's steps need the host between launches")),
        }
    }

    /// Fills the memory of results and intermediate values on a card with ones.
    pub(crate) fn poison(&mut self) -> Result<(), Diagnostic> {
        for region in self.ports.outputs.iter().chain(&self.arenas) {
            let queue = &self.queues[region.device];
            if !queue.is_local() {
                // SAFETY: this context's own memory; what runs on it was given to the same queue.
                unsafe { queue.fill(region.range(), 0xff)? };
            }
        }
        Ok(())
    }

    /// Waits for all work on all devices. Errors: the first of a device; all are waited for.
    pub(crate) fn finish(&self) -> Result<(), Diagnostic> {
        self.queues.iter().map(|queue| queue.finish()).fold(Ok(()), Result::and)
    }

    /// Whether the context was last used for `bound`, so that preparing it costs nothing.
    pub(crate) fn fits(&self, bound: &Arc<Bound>) -> bool {
        self.bound.as_ref().is_some_and(|own| Arc::ptr_eq(own, bound))
    }

    pub(crate) fn bound(&self) -> Option<Arc<Bound>> {
        self.bound.clone()
    }

    /// Makes memory for `bound` on its devices; states keep their content when their sizes are the same.
    pub(crate) fn prepare(
        &mut self,
        bound: &Arc<Bound>,
        kernels: usize,
        devices: &[Arc<dyn Queues>],
    ) -> Result<(), Diagnostic> {
        if self.queues.is_empty() {
            let queues = devices.iter().map(|device| Arc::clone(device).queue());
            self.queues = queues.collect::<Result<_, Diagnostic>>()?;
        }
        self.queues.iter().try_for_each(|queue| queue.enter())?;
        if !self.fits(bound) {
            self.runs = 0;
            self.replay.iter_mut().for_each(|replay| replay.is_stale = true);
            // Given up first, so that an old and a new arena never exist at once.
            self.bound = None;
            self.arenas.resize_with(bound.arena_bytes.len(), Region::default);
            for (device, (arena, bytes)) in self.arenas.iter_mut().zip(&bound.arena_bytes).enumerate() {
                if arena.len() < *bytes || arena.len() / 4 > *bytes {
                    *arena = Region::default();
                    *arena = Region::new(&*self.queues[device], device, *bytes)?;
                }
            }
            self.words.clone_from(&bound.words);
            for address in &bound.addresses {
                if let Base::Arena(device) = address.base {
                    self.words[address.word as usize] =
                        self.arenas[device as usize].address() + address.offset;
                }
            }
            self.prepare_states(bound)?;
            self.bound = Some(Arc::clone(bound));
        }
        if std::mem::take(&mut self.restarts) {
            for state in &self.states {
                // SAFETY: this context's own memory; no run is in progress.
                unsafe { self.queues[state.device].fill(state.range(), 0)? };
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
        for (state, (size, device)) in self.states.iter_mut().zip(&bound.states) {
            let bytes = size.known().and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| {
                crate::bind::invalid("the size of a state depends on computed values".to_string())
            })?;
            if state.len() != bytes {
                let queue = &self.queues[*device];
                *state = Region::new(&**queue, *device, bytes)?;
                // SAFETY: this context's own memory; no run is in progress.
                unsafe { queue.fill(state.range(), 0)? };
            }
        }
        Ok(())
    }

    /// The next run begins with states of zeros, as at the start of a stream.
    pub(crate) fn restart(&mut self) {
        self.restarts = true;
    }

    /// Writes this run's addresses of everything but the arenas into the argument blocks.
    pub(crate) fn patch(&mut self, bound: &Bound) {
        for address in &bound.addresses {
            if !matches!(address.base, Base::Arena(_)) {
                let base = self.range(address.base).address;
                self.words[address.word as usize] = base + address.offset;
            }
        }
    }

    pub(crate) fn range(&self, base: Base) -> Range {
        match base {
            Base::Input(input) => self.inputs[input as usize],
            Base::Output(output) => self.outputs[output as usize],
            Base::Constants(device) => self.constants[device as usize],
            Base::Arena(device) => self.arenas[device as usize].range(),
            Base::State(state) => self.states[state as usize].range(),
            Base::Late(slot) => match &self.late[slot as usize] {
                Some(block) => block.range(),
                None => Range { address: EMPTY, bytes: 0, writable: true },
            },
        }
    }

    /// Makes a late block of a device at least `bytes` long; what it held stays.
    pub(crate) fn grow_late(&mut self, slot: u32, device: usize, bytes: usize) -> Result<(), Diagnostic> {
        let held = self.late[slot as usize].as_ref().map_or(0, Region::len);
        if held >= bytes && self.late[slot as usize].is_some() {
            return Ok(());
        }
        let mut block = self.take_spare(device, bytes)?;
        if let Some(old) = self.late[slot as usize].take() {
            // Doubling, so that a buffer which grows in a loop is copied rarely.
            if block.len() < 2 * held {
                self.spare.push(block);
                block = self.take_spare(device, 2 * held)?;
            }
            // SAFETY: this run's own memory, two blocks; kernels on the host have returned.
            unsafe { self.queues[device].copy(old.range(), Range { bytes: held, ..block.range() })? };
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

    /// The smallest spare block of a device that fits and is not wastefully large, or a new one.
    pub(crate) fn take_spare(&mut self, device: usize, bytes: usize) -> Result<Region, Diagnostic> {
        let fits = |block: &Region| {
            block.device == device && block.len() >= bytes && block.len() <= 4 * bytes.max(1024)
        };
        let best =
            (0..self.spare.len()).filter(|i| fits(&self.spare[*i])).min_by_key(|i| self.spare[*i].len());
        match best {
            Some(index) => Ok(self.spare.swap_remove(index)),
            None => Region::new(&*self.queues[device], device, bytes),
        }
    }

    pub(crate) fn give_spare(&mut self, block: Region) {
        self.spare.push(block);
    }

    /// Contexts for branches that run at once, on this one's memory but for their scratch. They go back to
    /// [`Context::join`], and nobody uses the memory through this one before. `None`: memory is of another
    /// device, or found while running.
    pub(crate) fn fork(&mut self, n: usize) -> Option<Vec<Context>> {
        if !self.queues.iter().all(|queue| queue.is_local()) || !self.late.is_empty() {
            return None;
        }
        let mut branches = std::mem::take(&mut self.branches);
        branches.resize_with(n, Context::default);
        for branch in &mut branches {
            if branch.queues.is_empty() {
                branch.queues.clone_from(&self.queues);
            }
            branch.arenas.clear();
            branch.arenas.extend(self.arenas.iter().map(Region::lent));
            branch.states.clear();
            branch.states.extend(self.states.iter().map(Region::lent));
            branch.words.clone_from(&self.words);
            branch.inputs.clone_from(&self.inputs);
            branch.outputs.clone_from(&self.outputs);
            branch.constants.clone_from(&self.constants);
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
