//! What a run does otherwise where its memory is on a card: overlapping copies, native kernels on copies of their
//! buffers, times by events, and runs that are captured once and repeated.

use super::{Run, native_args};
use crate::bind::{Bound, Launch, Op};
use crate::cuda::{Event, Function, Graph, Stream};
use crate::memory::{Block, Range};
use crate::native::Native;
use crate::queue::Queue;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// A run as one piece of work, good for one binding and the memory of one context.
pub(crate) struct Replay {
    of: Arc<Bound>,
    graph: Graph,
    /// Launches per kernel.
    launches: Vec<u64>,
    /// The context has had another binding since, and perhaps other memory: good for an update, not to be run.
    is_stale: bool,
}

/// The run of a binding that is captured: errors of a first run name their step.
const CAPTURED_RUN: u64 = 2;

/// The launch in a profile that lies between two events.
pub(crate) struct Timed {
    launch: usize,
    start: Event,
    end: Event,
}

impl Replay {
    /// The context's memory may have moved.
    pub(crate) fn make_stale(&mut self) {
        self.is_stale = true;
    }

    pub(crate) fn launch(&self) -> Result<(), Diagnostic> {
        self.graph.launch()
    }
}

impl Run<'_> {
    /// All steps; from the second run of a binding on as one graph, where no step needs the host.
    pub(crate) fn all_steps(&mut self) -> Result<(), Diagnostic> {
        let bound = self.bound;
        let Queue::Cuda(stream) = self.cx.queue.clone() else { return self.steps(&bound.ops) };
        self.cx.runs += 1;
        if self.profile.is_some() || !bound.is_straight || !self.kernels.all_on_card {
            return self.steps(&bound.ops);
        }
        match self.cx.replay.take() {
            Some(replay) if !replay.is_stale && self.cx.fits(&replay.of) => {
                replay.launch()?;
                self.cx.graphs.launched += 1;
                self.cx.launches.clone_from(&replay.launches);
                self.cx.replay = Some(replay);
            }
            stale if self.cx.runs < CAPTURED_RUN => {
                self.cx.replay = stale;
                self.steps(&bound.ops)?;
            }
            stale => {
                let earlier = stale.map(|replay| replay.graph);
                let graph = Graph::capture(&stream, earlier, || self.steps(&bound.ops))?;
                self.cx.graphs.captured += 1;
                self.cx.graphs.made += u64::from(graph.is_new);
                graph.launch()?;
                self.cx.graphs.launched += 1;
                let launches = self.cx.launches.clone();
                self.cx.replay = self.cx.bound().map(|of| Replay { of, graph, launches, is_stale: false });
            }
        }
        Ok(())
    }

    /// `src` and `dst` are of the same length and may overlap.
    pub(super) fn copy(&mut self, src: Range, dst: Range) -> Result<(), Diagnostic> {
        let queue = self.cx.queue.clone();
        if matches!(queue, Queue::Cuda(_)) && src.overlaps(&dst) {
            let mut between = self.cx.take_spare(src.bytes)?;
            let whole = Range { bytes: src.bytes, ..between.range() };
            // SAFETY: memory of this run, `dst` writable (`check_program`); what lies between is nobody else's.
            unsafe {
                queue.copy(src, whole)?;
                queue.copy(whole, dst)?;
            }
            self.cx.give_spare(between);
            return Ok(());
        }
        // SAFETY: memory of this run, `dst` writable (`check_program`), and kernels have returned.
        unsafe { queue.copy(src, dst) }
    }

    pub(super) fn launch_on_card(
        &mut self,
        function: &Function,
        launch: &Launch,
        units: u64,
    ) -> Result<(), Diagnostic> {
        let stream = self.stream()?;
        let start = self.profile.is_some().then(|| Event::record(&stream)).transpose()?;
        let words = &self.cx.words[launch.words.clone()];
        // SAFETY: the package's code obeys the ABI for these arguments (the compiler's promise, kept from damage by the
        // checksum); all buffers are the run's, whose end waits for the stream.
        unsafe { function.launch(&stream, words, units) }.map_err(|error| {
            let kernel = &self.program.kernels[launch.kernel as usize];
            kernel.source.iter().fold(error.at(format!("kernel `{}`", kernel.name)), |error, node| {
                error.at(format!("node \"{node}\""))
            })
        })?;
        if let (Some((profile, _)), Some(start)) = (&self.profile, start) {
            self.timed.push(Timed { launch: profile.launches.len(), start, end: Event::record(&stream)? });
        }
        Ok(())
    }

    /// Runs a native kernel on copies of its buffers, and brings its results back.
    pub(super) fn run_native_on_card(
        &mut self,
        launch: &Launch,
        native: &Native,
        ranges: &[Range],
        sizes: &[i64],
    ) -> Result<(), Diagnostic> {
        let queue = self.cx.queue.clone();
        let mut blocks = Vec::with_capacity(ranges.len());
        let mut local = Vec::with_capacity(ranges.len());
        for range in ranges {
            let mut block = Block::new(range.bytes)?;
            // SAFETY: a buffer of this run.
            unsafe { queue.read(*range, &mut block.bytes_mut()[..range.bytes])? };
            local.push(Range { address: block.address(), ..*range });
            blocks.push(block);
        }
        let args = native_args(native, &local, sizes, self.running);
        args.and_then(|args| native.kernel.run(args))
            .map_err(|reason| self.kernel_failed(launch, &reason))?;
        let operands = native.signature.operands.len();
        for (block, range) in blocks.iter_mut().zip(ranges).skip(operands) {
            // SAFETY: a writable buffer of this run.
            unsafe { queue.write(*range, &block.bytes_mut()[..range.bytes])? };
        }
        Ok(())
    }

    /// Waits for the card and fills in the times that its events took.
    pub(crate) fn take_times(&mut self) -> Result<(), Diagnostic> {
        self.cx.queue.finish()?;
        let timed = std::mem::take(&mut self.timed);
        let (Some((profile, _)), Some(first)) = (&mut self.profile, timed.first()) else { return Ok(()) };
        for Timed { launch, start, end } in &timed {
            if let Some(time) = profile.launches.get_mut(*launch) {
                time.start_ns = start.ns_since(&first.start)?;
                time.ns = end.ns_since(start)?;
            }
        }
        Ok(())
    }

    pub(crate) fn stream(&self) -> Result<Arc<Stream>, Diagnostic> {
        match &self.cx.queue {
            Queue::Cuda(stream) => Ok(Arc::clone(stream)),
            Queue::Host => Err(Diagnostic::internal("a kernel for a GPU is launched without one")),
        }
    }
}

/// Whether the steps are the same in every run of a binding, none of them needing the host.
pub(crate) fn is_straight(ops: &[Op]) -> bool {
    ops.iter().all(|op| match op {
        Op::Launch(launch) => launch.late.is_empty() && launch.grid.known().is_some(),
        Op::Copy { src_offset, dst_offset, bytes, .. } => {
            [src_offset, dst_offset, bytes].iter().all(|size| size.known().is_some())
        }
        Op::Fill { bytes, .. } => bytes.known().is_some(),
        Op::Assert { lhs, rhs, .. } => lhs.known().is_some() && rhs.known().is_some(),
        Op::Bind { .. } | Op::If { .. } | Op::Loop { .. } | Op::Fork(_) | Op::Release(_) => false,
    })
}
