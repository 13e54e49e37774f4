//! The time of a run on a card, by the card's own clock: launches back to back, over several copies of all buffers, so
//! that none finds its data in the cache that the one before it left.

use super::Session;
use crate::context::Context;
use crate::queue::Queue;
use crate::tensors::TensorView;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};

/// Launches between two waits.
const BATCH: usize = 64;

/// Runs on inputs that are on the card, ready to be repeated.
pub struct CardTimer {
    /// In one order with those of the contexts.
    queue: Arc<dyn Queue>,
    contexts: Vec<Context>,
}

impl Session {
    /// Brings inputs to the card, `copies` times, with buffers of each copy's own.
    /// Errors: those of a run; no card; a model whose steps need the host.
    pub fn timer_on_card(&self, inputs: &[TensorView<'_>], copies: usize) -> Result<CardTimer, Diagnostics> {
        let no_card = || Diagnostic::error("no-device", "times are taken on a GPU, and none runs this whole");
        let [home] = self.kernels.queues.as_slice() else { return Err(no_card().into()) };
        let queue = Arc::clone(home).queue()?;
        let bound = self.bind(inputs, false)?;
        let mut contexts = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..copies.max(1) {
            let mut context = Context::on(vec![queue.recorder().ok_or_else(no_card)?.twin()]);
            // The second run makes the graph.
            for _ in 0..2 {
                self.run_bound(self.stops.begin(), inputs, &mut outputs, &bound, &mut context, None)?;
            }
            contexts.push(context);
        }
        Ok(CardTimer { queue, contexts })
    }
}

impl CardTimer {
    /// Nanoseconds of each of `runs` runs, which go round the copies. Copies between host and card are not in it.
    /// Errors: those of a run.
    pub fn times(&self, runs: usize) -> Result<Vec<u64>, Diagnostics> {
        let recorder = self.queue.recorder();
        let recorder = recorder.ok_or_else(|| Diagnostic::internal("a card's queue takes no times"))?;
        let mut times = Vec::with_capacity(runs);
        while times.len() < runs {
            let mut marks = vec![recorder.mark()?];
            for turn in times.len()..runs.min(times.len() + BATCH) {
                self.contexts[turn % self.contexts.len()].repeat()?;
                marks.push(recorder.mark()?);
            }
            self.queue.finish()?;
            for pair in marks.windows(2) {
                times.push(recorder.ns_between(pair[0], pair[1])?);
            }
            recorder.forget_marks();
        }
        Ok(times)
    }
}
