//! Which part of its cases a check takes in turn: by the number of commits, so that a commit has the same part everywhere.

use anyhow::{Context, Result};

use crate::shell::Shell;

/// Commits up to the one checked out.
pub fn count() -> Result<usize> {
    let text = Shell::new("git").args(["rev-list", "--count", "HEAD"]).read()?;
    text.trim().parse().context("`git rev-list --count` printed no number")
}

/// Every `parts`-th of the cases, from the one that is next.
pub fn part<T: Clone>(cases: &[T], parts: usize) -> Result<Vec<T>> {
    let turn = count()? % parts;
    println!("part {} of {parts}", turn + 1);
    Ok(cases.iter().skip(turn).step_by(parts).cloned().collect())
}
