//! What stops a run.

use std::fmt;
use tegula_package::OutOfBounds;

/// Why code was refused or a run ended: a plain sentence, and the instruction it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    /// The instruction's place in the code, bytes from its start, and its text.
    pub at: Option<(u64, String)>,
}

/// What an instruction gives.
pub type Run<T> = Result<T, Problem>;

impl Problem {
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), at: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some((place, text)) => write!(f, "`{text}` at byte {place:#x} of the code: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Problem {}

impl From<OutOfBounds> for Problem {
    fn from(access: OutOfBounds) -> Problem {
        Problem::new(access.to_string())
    }
}
