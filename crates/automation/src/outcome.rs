//! What a check ends with: `RESULT <name> pass|fail|skip key=value ...` and exit status 0, 1 or 3.

use std::fmt::{self, Display};
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Pass,
    Fail,
    /// The machine lacks what the check needs; the facts name it.
    Skip,
}

impl Status {
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Pass => 0,
            Status::Fail => 1,
            Status::Skip => 3,
        }
    }

    pub fn from_exit_code(code: Option<i32>) -> Status {
        match code {
            Some(0) => Status::Pass,
            Some(3) => Status::Skip,
            _ => Status::Fail,
        }
    }
}

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Skip => "skip",
        })
    }
}

/// A check's verdict with the figures it was reached by, in the order they were noted.
#[derive(Debug)]
pub struct Outcome {
    pub status: Status,
    facts: Vec<(String, String)>,
}

impl Outcome {
    pub fn new(status: Status) -> Outcome {
        Outcome { status, facts: Vec::new() }
    }

    pub fn pass() -> Outcome {
        Outcome::new(Status::Pass)
    }

    pub fn fail() -> Outcome {
        Outcome::new(Status::Fail)
    }

    pub fn skip(reason: &str) -> Outcome {
        Outcome::new(Status::Skip).with("reason", reason)
    }

    pub fn pass_if(holds: bool) -> Outcome {
        if holds { Outcome::pass() } else { Outcome::fail() }
    }

    /// Notes one figure; blanks in the value become `_`, so that the line splits at blanks.
    pub fn with(mut self, key: &str, value: impl Display) -> Outcome {
        let value = value.to_string().split_whitespace().collect::<Vec<_>>().join("_");
        self.facts.push((key.to_string(), value));
        self
    }

    pub fn line(&self, name: &str) -> String {
        let mut line = format!("RESULT {name} {}", self.status);
        for (key, value) in &self.facts {
            line.push_str(&format!(" {key}={value}"));
        }
        line
    }
}

/// Prints the result line; an error of the check itself is a failure with its cause printed before.
pub fn finish(name: &str, outcome: anyhow::Result<Outcome>) -> ExitCode {
    let outcome = outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        Outcome::fail().with("error", error)
    });
    println!("{}", outcome.line(name));
    ExitCode::from(outcome.status.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_line_splits_at_blanks() {
        let outcome = Outcome::pass_if(true).with("cases", 3).with("worst", "a b");
        assert_eq!(outcome.line("demo"), "RESULT demo pass cases=3 worst=a_b");
        assert_eq!(Outcome::skip("no mlir-opt").line("mlir-opt"), "RESULT mlir-opt skip reason=no_mlir-opt");
        assert_eq!(Status::from_exit_code(Some(3)), Status::Skip);
        assert_eq!(Status::from_exit_code(None), Status::Fail);
    }
}
