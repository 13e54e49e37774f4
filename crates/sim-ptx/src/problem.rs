//! What stops a run: a plain sentence with a code; the machine adds where it happened.

use tegula_package::OutOfBounds;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub code: &'static str,
    pub message: String,
    pub notes: Vec<String>,
}

pub type Run<T> = Result<T, Problem>;

impl Problem {
    pub fn new(code: &'static str, message: impl Into<String>) -> Problem {
        Problem { code, message: message.into(), notes: Vec::new() }
    }
}

/// An access that no buffer of the launch holds.
pub fn outside(access: OutOfBounds, lane: usize) -> Problem {
    Problem::new(
        "sim-out-of-bounds",
        format!(
            "lane {lane} accesses {} bytes at {:#x}, outside of the launch's buffers",
            access.len, access.address
        ),
    )
}

/// Says of which lane.
pub fn of_lane(problem: Problem, lane: usize) -> Problem {
    Problem { message: format!("lane {lane}: {}", problem.message), ..problem }
}
