//! What streams and graphs do: launches, copies and fills, at once or when the graph is launched.

use std::sync::{Arc, Mutex};

use tegula_sim_ptx::{Given, Launch, Stopped, run_in_order};

use crate::card::Card;
use crate::code::Function;
use crate::settings::settings;

/// `CUDA_ERROR_ILLEGAL_ADDRESS`, `CUDA_ERROR_LAUNCH_FAILED`.
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const LAUNCH_FAILED: u32 = 719;

#[derive(Clone)]
pub enum Work {
    /// `early`: it may begin before the one ahead of it has ended.
    Launch {
        function: Arc<Function>,
        launch: Launch,
        early: bool,
    },
    Copy {
        from: u64,
        to: u64,
        bytes: usize,
    },
    Fill {
        at: u64,
        value: u8,
        bytes: usize,
    },
}

/// Does steps in order, launches that follow each other as the card does: a later one may begin early. The status; what
/// the simulator says goes to stderr, as there is no debugger to ask.
fn run(steps: &[Work]) -> u32 {
    let card = Card::new();
    let mut rest = steps;
    while let Some(first) = rest.first() {
        let (status, done) = match first {
            Work::Copy { from, to, bytes } => {
                (card.copy(*from, *to, *bytes).map_or(ILLEGAL_ADDRESS, |()| 0), 1)
            }
            Work::Fill { at, value, bytes } => {
                (card.fill(*at, *value, *bytes).map_or(ILLEGAL_ADDRESS, |()| 0), 1)
            }
            Work::Launch { .. } => {
                let launches: Vec<Given> = rest.iter().map_while(Work::given).collect();
                let status = match run_in_order(&launches, &card) {
                    Ok(_) => 0,
                    Err(Stopped::ByCaller) => LAUNCH_FAILED,
                    Err(Stopped::Failed(problem)) => {
                        eprintln!("fake driver: {problem}");
                        LAUNCH_FAILED
                    }
                };
                (status, launches.len())
            }
        };
        if status != 0 {
            return status;
        }
        rest = &rest[done..];
    }
    0
}

impl Work {
    /// Whether it may begin before the one ahead of it has ended.
    pub fn is_early(&self) -> bool {
        matches!(self, Work::Launch { early: true, .. })
    }

    fn given(&self) -> Option<Given<'_>> {
        match self {
            Work::Launch { function, launch, early } => {
                Some(Given { kernel: &function.kernel, launch, early: *early })
            }
            Work::Copy { .. } | Work::Fill { .. } => None,
        }
    }

    /// Whether a graph with this step can be given the other one's sizes.
    fn is_like(&self, other: &Work) -> bool {
        match (self, other) {
            (
                Work::Launch { function, early, .. },
                Work::Launch { function: other, early: other_early, .. },
            ) => Arc::ptr_eq(function, other) && early == other_early,
            (Work::Copy { .. }, Work::Copy { .. }) | (Work::Fill { .. }, Work::Fill { .. }) => true,
            _ => false,
        }
    }
}

/// Steps of a graph.
pub type Steps = Vec<Work>;

pub fn are_alike(steps: &Steps, others: &Steps) -> bool {
    steps.len() == others.len() && steps.iter().zip(others).all(|(step, other)| step.is_like(other))
}

#[derive(Default)]
pub struct Stream(Mutex<State>);

#[derive(Default)]
struct State {
    captured: Option<Steps>,
    /// The first status of work that went wrong: all later calls give it, as a lost context does.
    lost: u32,
}

impl Stream {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn is_capturing(&self) -> bool {
        self.state().captured.is_some()
    }

    pub fn lost(&self) -> u32 {
        self.state().lost
    }

    pub fn begin_capture(&self) {
        self.state().captured = Some(Vec::new());
    }

    pub fn end_capture(&self) -> Option<Steps> {
        self.state().captured.take()
    }

    /// Does the work, or keeps it for a graph; what goes wrong is told by a later call.
    pub fn give(&self, work: &[Work]) -> u32 {
        let mut state = self.state();
        if let Some(steps) = &mut state.captured {
            steps.extend_from_slice(work);
            return 0;
        }
        if state.lost == 0 {
            state.lost = run(work);
        }
        0
    }
}

/// A launch as the settings want it.
pub fn launch(grid: [u32; 3], block: [u32; 3], dynamic_shared: u32, params: Vec<u8>) -> Launch {
    Launch { grid, block, dynamic_shared, params, options: settings().options }
}
