//! What a context knows of the run that its device recorded last.

use crate::bind::Bound;
use std::sync::Arc;

/// Good for one binding and the memory of one context.
pub(crate) struct Replay {
    pub(crate) of: Arc<Bound>,
    /// Launches per kernel.
    pub(crate) launches: Vec<u64>,
    /// The context has had another binding since, and perhaps other memory: good for an update, not to be run.
    pub(crate) is_stale: bool,
}
