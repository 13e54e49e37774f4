//! Races of processes that each time their own runs: rounds take turns, so that what slows the machine down for a
//! while slows all of them, and a ratio is taken round by round.
//! Protocol: a racer says `ready NS` (from its file to a session) or `failed REASON`; each line `run N` is answered with
//! N run times in nanoseconds.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tegula_automation::shell::Shell;
use tegula_automation::statistics::median;

/// A round lasts about this long on each side, so that the clock's and the scheduler's noise are small in it.
const ROUND_NS: u64 = 25_000_000;
/// Worker threads of the side that just ran spin for a while; the next side waits for them to park. After 5 ms
/// ONNX Runtime's still took a core from the run that was timed.
const SETTLE: Duration = Duration::from_millis(60);
/// One thread has no workers.
const SETTLE_ALONE: Duration = Duration::from_millis(5);
const WARM_UP_RUNS: u64 = 3;

pub struct Racer {
    name: String,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// From the file to a session.
    pub ready_ns: f64,
    runs_per_round: u64,
    settle: Duration,
}

impl Racer {
    /// Starts a process that shares each run between `threads` threads. Errors: it does not come to a session; why.
    pub fn start(name: &str, command: Shell, threads: usize) -> Result<Racer> {
        let mut child = command.converse()?;
        let stdin = child.stdin.take().context("the process has no stdin")?;
        let stdout = child.stdout.take().context("the process has no stdout")?;
        let settle = if threads == 1 { SETTLE_ALONE } else { SETTLE };
        let lines = BufReader::new(stdout).lines();
        let mut racer =
            Racer { name: name.into(), child, stdin, lines, ready_ns: 0.0, runs_per_round: 1, settle };
        let first = racer.line()?;
        racer.ready_ns = match first.split_once(' ') {
            Some(("ready", ns)) => ns.parse().with_context(|| format!("`{name}` said `{first}`"))?,
            Some(("failed", reason)) => bail!("{reason}"),
            _ => bail!("`{name}` said `{first}` where `ready NS` is expected"),
        };
        Ok(racer)
    }

    /// Warms up, and finds out how many runs fill a round.
    pub fn warm_up(&mut self) -> Result<()> {
        let first = self.runs(WARM_UP_RUNS)?;
        let once = if first as u64 > ROUND_NS { first } else { self.runs(WARM_UP_RUNS)? };
        self.runs_per_round = (ROUND_NS / (once as u64).max(1)).clamp(1, 10_000);
        Ok(())
    }

    /// Median run time of one round in nanoseconds.
    pub fn round(&mut self) -> Result<f64> {
        thread::sleep(self.settle);
        self.runs(self.runs_per_round)
    }

    fn runs(&mut self, runs: u64) -> Result<f64> {
        writeln!(self.stdin, "run {runs}")?;
        self.stdin.flush()?;
        let line = self.line()?;
        let times: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let times = times.with_context(|| format!("`{}` said `{line}`", self.name))?;
        ensure!(times.len() as u64 == runs, "`{}` gave {} times for {runs} runs", self.name, times.len());
        Ok(median(times))
    }

    fn line(&mut self) -> Result<String> {
        match self.lines.next() {
            Some(line) => Ok(line?.trim().to_string()),
            None => bail!("`{}` ended early with {}", self.name, self.child.wait()?),
        }
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        // Harmless where the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Times of each racer in nanoseconds, one a round; each goes first in its turn.
pub fn race(racers: &mut [Racer], rounds: usize) -> Result<Vec<Vec<f64>>> {
    for racer in racers.iter_mut() {
        racer.warm_up()?;
    }
    let mut times = vec![Vec::with_capacity(rounds); racers.len()];
    for round in 0..rounds {
        for turn in 0..racers.len() {
            let at = (round + turn) % racers.len();
            times[at].push(racers[at].round()?);
        }
    }
    Ok(times)
}

/// Round by round, the first's time over the second's.
pub fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A racer whose runs all take so long, in nanoseconds.
    fn constant(ns: u64) -> Racer {
        let script = format!(
            "echo ready 7; while read word runs; do yes {ns} | head -n $runs | tr '\\n' ' '; echo; done"
        );
        Racer::start("constant", Shell::new("sh").arg("-c").arg(script), 1).unwrap()
    }

    #[test]
    fn rounds_are_filled_and_ratios_are_of_the_same_round() {
        let mut racers = [constant(2_000_000), constant(500_000)];
        assert_eq!(racers[0].ready_ns, 7.0);
        let times = race(&mut racers, 3).unwrap();
        assert_eq!(times, [vec![2e6; 3], vec![5e5; 3]]);
        assert_eq!(racers.each_ref().map(|racer| racer.runs_per_round), [12, 50]);
        assert_eq!(ratios(&times[0], &times[1]), [4.0; 3]);
    }

    #[test]
    fn a_refusal_is_told_in_the_engines_words() {
        let start = |said: &str| Racer::start("engine", Shell::new("echo").arg(said), 1).err().unwrap();
        assert_eq!(start("failed no such op").to_string(), "no such op");
        assert!(start("hello").to_string().contains("`engine` said `hello`"));
    }
}
