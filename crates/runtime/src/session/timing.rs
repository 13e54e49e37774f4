//! The time of a run on a card, by the card's own clock: launches back to back, over several copies of all buffers, so
//! that none finds its data in the cache that the one before it left.

use super::Session;
use crate::context::Context;
use crate::cuda::Event;
use crate::tensors::TensorView;
use tegula_base::{Diagnostic, Diagnostics};

/// Launches between two waits.
const BATCH: usize = 64;

impl Session {
    /// Nanoseconds of each of `runs` runs on these inputs, which rotate over `copies` copies of them and of all other
    /// buffers. Copies between host and card are not in it.
    /// Errors: those of a run; no card; a model whose steps need the host.
    pub fn time_on_card(
        &self,
        inputs: &[TensorView<'_>],
        copies: usize,
        runs: usize,
    ) -> Result<Vec<u64>, Diagnostics> {
        let Some(card) = &self.card else {
            return Err(Diagnostic::error("no-device", "times are taken on a GPU, and none runs this").into());
        };
        let stream = card.stream()?;
        let bound = self.bind(inputs, false)?;
        let mut contexts = Vec::new();
        let mut outputs = Vec::new();
        for _ in 0..copies.max(1) {
            let mut context = Context::on(&stream);
            // The second run makes the graph.
            for _ in 0..2 {
                self.run_bound(self.stops.begin(), inputs, &mut outputs, &bound, &mut context, None)?;
            }
            contexts.push(context);
        }
        let mut times = Vec::with_capacity(runs);
        while times.len() < runs {
            let mut events = vec![Event::record(&stream)?];
            for turn in times.len()..runs.min(times.len() + BATCH) {
                contexts[turn % contexts.len()].repeat()?;
                events.push(Event::record(&stream)?);
            }
            stream.finish()?;
            for pair in events.windows(2) {
                times.push(pair[1].ns_since(&pair[0])?);
            }
        }
        Ok(times)
    }
}
