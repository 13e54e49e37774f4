//! Which part of its cases a check takes in turn: by the number of commits, so that a commit has the same part everywhere.

use std::fmt::{self, Display};

use anyhow::{Context, Result, ensure};

use crate::shell::Shell;

/// Commits up to the one checked out.
pub fn count() -> Result<usize> {
    let text = Shell::new("git").args(["rev-list", "--count", "HEAD"]).read()?;
    text.trim().parse().context("`git rev-list --count` printed no number")
}

/// One of `of` parts of a check's cases: every `of`-th, from case `turn` on. `--part K/N` on a command line counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub turn: usize,
    pub of: usize,
}

impl Part {
    /// All cases.
    pub const WHOLE: Part = Part { turn: 0, of: 1 };

    /// The part whose turn it is at a number of commits.
    pub fn at(commits: usize, of: usize) -> Part {
        Part { turn: commits % of.max(1), of: of.max(1) }
    }

    /// What `--part K/N` asks for; all cases where it is not given. Errors: it is no part.
    pub fn asked(args: &[String]) -> Result<Part> {
        let Some(at) = args.iter().position(|arg| arg == "--part") else { return Ok(Part::WHOLE) };
        let text = args.get(at + 1).map_or("", String::as_str);
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        let (k, of): (usize, usize) = numbers.with_context(|| format!("`--part {text}` is not K/N"))?;
        ensure!((1..=of).contains(&k), "`--part {text}`: K is from 1 to N");
        let part = Part { turn: k - 1, of };
        println!("part {part}");
        Ok(part)
    }

    /// As [`asked`](Part::asked), and the arguments without it.
    pub fn taken(args: &[String]) -> Result<(Part, Vec<String>)> {
        let part = Part::asked(args)?;
        let mut rest = args.to_vec();
        if let Some(at) = rest.iter().position(|arg| arg == "--part") {
            rest.drain(at..at + 2);
        }
        Ok((part, rest))
    }

    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Whether the case with this number is in it.
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.turn
    }

    /// Its cases, in their order.
    pub fn take<T>(self, cases: impl IntoIterator<Item = T>) -> Vec<T> {
        cases.into_iter().skip(self.turn).step_by(self.of).collect()
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.turn + 1, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_turn() {
        let cases: Vec<usize> = (0..20).collect();
        let mut seen: Vec<usize> =
            (100..106).flat_map(|commits| Part::at(commits, 6).take(cases.clone())).collect();
        seen.sort_unstable();
        assert_eq!(seen, cases);
        assert_eq!(Part::WHOLE.take(cases.clone()), cases);
        assert!(cases.iter().filter(|case| Part::at(3, 4).has(**case)).all(|case| case % 4 == 3));
    }

    #[test]
    fn parts_are_read_as_they_are_shown() {
        let asked = |words: &str| Part::asked(&words.split(' ').map(str::to_string).collect::<Vec<_>>());
        assert_eq!(asked("--seeds 5 --part 2/6").unwrap(), Part { turn: 1, of: 6 });
        assert_eq!(Part { turn: 1, of: 6 }.to_string(), "2/6");
        assert_eq!(asked("--seeds 5").unwrap(), Part::WHOLE);
        for wrong in ["--part", "--part 0/3", "--part 4/3", "--part 1", "--part a/b"] {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }
}
