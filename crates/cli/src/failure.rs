//! Why a command did not do what was asked.

use std::fmt;
use std::process::ExitCode;
pub use tegula::files::failure as io_failure;
use tegula_base::{Diagnostic, Diagnostics};

#[derive(Debug)]
pub enum Failure {
    Found(Diagnostics),
    /// There is nothing to find: the command's answer, printed already, is no, or nothing was asked. The text is for stderr.
    No(String),
}

impl Failure {
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Found(found) if found.0.iter().any(Diagnostic::is_internal) => ExitCode::from(2),
            Failure::Found(_) | Failure::No(_) => ExitCode::from(1),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Found(found) => write!(f, "{found}"),
            Failure::No(message) => f.write_str(message),
        }
    }
}

impl From<Diagnostics> for Failure {
    fn from(found: Diagnostics) -> Failure {
        Failure::Found(found)
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::Found(diagnostic.into())
    }
}

/// For calls of the driver that only find things.
impl From<Failure> for Diagnostics {
    fn from(failure: Failure) -> Diagnostics {
        match failure {
            Failure::Found(found) => found,
            Failure::No(message) => Diagnostic::internal(message).into(),
        }
    }
}
