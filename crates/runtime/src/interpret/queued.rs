//! What a run does otherwise where memory is a device's own: overlapping copies, transfers, launches by a queue,
//! runtime kernels on copies of their buffers, times by the device's clock, and runs that are recorded once and repeated.

use super::{Run, native_args};
use crate::bind::Launch;
use crate::memory::{Block, Range};
use crate::native::Native;
use crate::queue::{Call, Mark, Recorder};
use crate::replay::Replay;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// The run of a binding that is recorded: errors of a first run name their step.
const RECORDED_RUN: u64 = 2;

/// The launch in a profile that lies between two marks of the home.
pub(crate) struct Timed {
    launch: usize,
    start: Mark,
    end: Mark,
}

impl Run<'_> {
    /// All steps; from the second run of a binding on as one piece of work, where the home records and no step needs the
    /// host.
    pub(crate) fn all_steps(&mut self) -> Result<(), Diagnostic> {
        let bound = self.bound;
        if self.kernels.home_is_local() {
            return self.steps(&bound.ops);
        }
        self.cx.runs += 1;
        let home = Arc::clone(&self.cx.queues[0]);
        match home.recorder() {
            Some(recorder) if self.profile.is_none() && bound.is_straight && self.kernels.all_queued => {
                self.recorded_steps(recorder)
            }
            _ => self.steps(&bound.ops),
        }
    }

    fn recorded_steps(&mut self, recorder: &dyn Recorder) -> Result<(), Diagnostic> {
        let bound = self.bound;
        match self.cx.replay.take() {
            Some(replay) if !replay.is_stale && self.cx.fits(&replay.of) => {
                recorder.replay()?;
                self.cx.graphs.launched += 1;
                self.cx.launches.clone_from(&replay.launches);
                self.cx.replay = Some(replay);
            }
            stale if self.cx.runs < RECORDED_RUN => {
                self.cx.replay = stale;
                self.steps(&bound.ops)?;
            }
            _ => {
                let is_new = recorder.record(&mut || self.steps(&bound.ops))?;
                self.cx.graphs.captured += 1;
                self.cx.graphs.made += u64::from(is_new);
                recorder.replay()?;
                self.cx.graphs.launched += 1;
                let launches = self.cx.launches.clone();
                self.cx.replay = self.cx.bound().map(|of| Replay { of, launches, is_stale: false });
            }
        }
        Ok(())
    }

    /// `src` and `dst` are of the same length and device, and may overlap.
    pub(super) fn copy(&mut self, device: usize, src: Range, dst: Range) -> Result<(), Diagnostic> {
        let queue = &self.cx.queues[device];
        if queue.is_local() || !src.overlaps(&dst) {
            // SAFETY: memory of this run, `dst` writable (`check_program`), and kernels have returned.
            return unsafe { queue.copy(src, dst) };
        }
        let queue = Arc::clone(queue);
        let between = self.cx.take_spare(device, src.bytes)?;
        let whole = Range { bytes: src.bytes, ..between.range() };
        // SAFETY: memory of this run, `dst` writable (`check_program`); what lies between is nobody else's.
        unsafe {
            queue.copy(src, whole)?;
            queue.copy(whole, dst)?;
        }
        self.cx.give_spare(between);
        Ok(())
    }

    /// `src` and `dst` are of the same length, each on its device.
    pub(super) fn transfer(
        &mut self,
        from: usize,
        src: Range,
        to: usize,
        dst: Range,
    ) -> Result<(), Diagnostic> {
        let (from, to) = (&self.cx.queues[from], &self.cx.queues[to]);
        if from.is_local() {
            // SAFETY: memory of this run in this process; its kernels have returned.
            let bytes = unsafe { src.as_slice() };
            // SAFETY: memory of this run, writable (`check_program`), and of another device than `bytes`.
            return unsafe { to.write(dst, bytes) };
        }
        if to.is_local() {
            // SAFETY: memory of this run in this process, writable (`check_program`); its kernels have returned.
            let bytes = unsafe { dst.as_mut_slice() };
            // SAFETY: memory of this run, as long.
            return unsafe { from.read(src, bytes) };
        }
        let mut between = Block::new(src.bytes)?;
        let bytes = &mut between.bytes_mut()[..src.bytes];
        // SAFETY: memory of this run, as long as the block; `dst` is writable (`check_program`).
        unsafe {
            from.read(src, bytes)?;
            to.write(dst, bytes)
        }
    }

    /// Gives a launch to its device's queue, with its buffers where the kernel wants them.
    pub(super) fn launch_queued(
        &mut self,
        kernel: usize,
        launch: &Launch,
        units: u64,
        buffers: &[Range],
    ) -> Result<(), Diagnostic> {
        let facts = &self.program.kernels[launch.kernel as usize];
        let queue = &self.cx.queues[self.program.device_of(facts).index()];
        // Marks of one clock: the home's.
        let is_home = Arc::ptr_eq(queue, &self.cx.queues[0]);
        let recorder = queue.recorder().filter(|_| is_home && self.profile.is_some());
        let start = recorder.map(Recorder::mark).transpose()?;
        let call = Call { kernel, words: &self.cx.words[launch.words.clone()], units, buffers };
        // SAFETY: the package's code obeys the ABI for these arguments (the compiler's promise, kept from damage by the
        // checksum); all buffers are the run's, whose end waits for the queue.
        unsafe { queue.launch(&call) }.map_err(|error| {
            let named = error.at(format!("kernel `{}`", facts.name));
            facts.source.iter().fold(named, |error, node| error.at(format!("node \"{node}\"")))
        })?;
        let end = recorder.map(Recorder::mark).transpose()?;
        if let (Some((profile, _)), Some(start), Some(end)) = (&self.profile, start, end) {
            self.timed.push(Timed { launch: profile.launches.len(), start, end });
        }
        Ok(())
    }

    /// Runs a runtime kernel on copies of its buffers, and brings its results back.
    pub(super) fn run_native_away(
        &mut self,
        launch: &Launch,
        native: &Native,
        ranges: &[Range],
        sizes: &[i64],
    ) -> Result<(), Diagnostic> {
        let home = Arc::clone(&self.cx.queues[0]);
        let mut blocks = Vec::with_capacity(ranges.len());
        let mut local = Vec::with_capacity(ranges.len());
        for range in ranges {
            let mut block = Block::new(range.bytes)?;
            // SAFETY: a buffer of this run.
            unsafe { home.read(*range, &mut block.bytes_mut()[..range.bytes])? };
            local.push(Range { address: block.address(), ..*range });
            blocks.push(block);
        }
        let args = native_args(native, &local, sizes, self.running);
        args.and_then(|args| native.kernel.run(args))
            .map_err(|reason| self.kernel_failed(launch, &reason))?;
        let operands = native.signature.operands.len();
        for (block, range) in blocks.iter_mut().zip(ranges).skip(operands) {
            // SAFETY: a writable buffer of this run.
            unsafe { home.write(*range, &block.bytes_mut()[..range.bytes])? };
        }
        Ok(())
    }

    /// Waits for the home and fills in the times that its marks took.
    pub(crate) fn take_times(&mut self) -> Result<(), Diagnostic> {
        let home = &self.cx.queues[0];
        home.finish()?;
        let timed = std::mem::take(&mut self.timed);
        let (Some((profile, _)), Some(first), Some(recorder)) =
            (&mut self.profile, timed.first(), home.recorder())
        else {
            return Ok(());
        };
        for Timed { launch, start, end } in &timed {
            if let Some(time) = profile.launches.get_mut(*launch) {
                time.start_ns = recorder.ns_between(first.start, *start)?;
                time.ns = recorder.ns_between(*start, *end)?;
            }
        }
        recorder.forget_marks();
        Ok(())
    }
}
