//! Ending runs from another thread: a counter of requests, compared with what it was when a run began.
//! A request therefore ends the runs in progress and none that begins later, and nothing needs to be reset.

use std::sync::atomic::{AtomicU64, Ordering};
use tegula_base::Diagnostic;

/// The requests to stop, of one session.
#[derive(Debug, Default)]
pub(crate) struct Stops(AtomicU64);

impl Stops {
    /// Ends all runs in progress.
    pub(crate) fn stop(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// A run that begins now.
    pub(crate) fn begin(&self) -> Running<'_> {
        Running { stops: self, began: self.0.load(Ordering::Relaxed) }
    }
}

/// A run in progress, as those see it who may have to end it early.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    stops: &'a Stops,
    began: u64,
}

impl Running<'_> {
    /// A run that nobody stops.
    pub fn to_the_end() -> Running<'static> {
        static NONE: Stops = Stops(AtomicU64::new(0));
        NONE.begin()
    }

    /// Whether somebody asked to stop; a loop that may be long asks now and then.
    pub fn is_stopped(self) -> bool {
        self.stops.0.load(Ordering::Relaxed) != self.began
    }

    /// Errors: somebody asked to stop.
    pub(crate) fn check(self) -> Result<(), Diagnostic> {
        if self.is_stopped() {
            return Err(Diagnostic::error("run-stopped", "the run was stopped"));
        }
        Ok(())
    }
}
