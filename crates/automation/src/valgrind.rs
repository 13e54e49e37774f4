//! Programs under valgrind. Its callgrind counts instructions: a count does not depend on what else the machine does, and
//! hardly on which machine it is, since valgrind shows every program the same processor.

use std::ffi::OsStr;

use anyhow::{Context, Result};

use crate::shell::{Shell, have};

/// Says how to get it where it is not.
pub fn is_installed() -> bool {
    let is_installed = have("valgrind");
    if !is_installed {
        println!("valgrind is not installed (Debian, Ubuntu: apt-get install valgrind)");
    }
    is_installed
}

/// A program whose instructions are counted, to be given its arguments.
pub fn counting(program: impl AsRef<OsStr>) -> Shell {
    let flags = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"];
    Shell::new("valgrind").args(flags).arg(program)
}

/// The instructions, from what such a program printed. Errors: it says no number.
pub fn count(printed: &str) -> Result<u64> {
    let count = printed.lines().find_map(|line| line.split_once("Collected :")).map(|(_, n)| n.trim());
    count.and_then(|n| n.parse().ok()).with_context(|| format!("callgrind told no count: {printed}"))
}
