//! The peak of a process's anonymous memory: resident minus shared pages of /proc/PID/statm, read in a tight loop.
//! The system keeps no such peak, and who watches may lose the processor while it comes and goes: a run tells for what
//! share of its time nobody looked, and is repeated until a moment of it has next to no chance to have been missed each time.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tegula_automation::shell::Shell;

/// For longer without a look a process is unseen. In this time it can fault in some 5 MB, at 10 GB/s.
const BLINK: Duration = Duration::from_micros(500);
/// The chance of a moment to be unseen in every run.
const MISSED: f64 = 0.01;
const RUNS: usize = 100;

/// What runs of a process were seen to hold at most, in bytes, and what the last of them gave. `run` starts the process,
/// and looks at it all the time.
/// Errors: a run's own; too little was seen.
pub fn peak<T>(mut run: impl FnMut(&mut Watch) -> Result<T>) -> Result<(T, u64)> {
    let page: u64 = Shell::new("getconf").arg("PAGESIZE").read()?.trim().parse()?;
    let (mut pages, mut missed) = (0, 1.0);
    for _ in 0..RUNS {
        let mut watch = Watch::start();
        let result = run(&mut watch)?;
        pages = pages.max(watch.pages);
        missed *= watch.unseen_share();
        if missed <= MISSED {
            return Ok((result, pages * page));
        }
    }
    bail!("{RUNS} runs were watched too little: a moment of them has a chance of {missed:.2} to be in none")
}

/// One run under the eyes of a loop.
pub struct Watch {
    started: Instant,
    last: Instant,
    unseen: Duration,
    pages: u64,
    is_over: bool,
}

impl Watch {
    /// From before the process is started on.
    fn start() -> Watch {
        let now = Instant::now();
        Watch { started: now, last: now, unseen: Duration::ZERO, pages: 0, is_over: false }
    }

    /// Looks at the process until it has ended, and once more, so that its last moments are counted.
    pub fn until_end(&mut self, child: &mut Child) -> Result<()> {
        while child.try_wait()?.is_none() {
            self.look(child);
        }
        self.look(child);
        Ok(())
    }

    /// Looks at what the process holds now.
    pub fn look(&mut self, child: &Child) {
        if self.is_over {
            return;
        }
        let pages = anonymous_pages(child);
        let now = Instant::now();
        let gap = now.duration_since(self.last);
        if gap > BLINK {
            self.unseen += gap;
        }
        self.last = now;
        match pages {
            Some(pages) => self.pages = self.pages.max(pages),
            None => self.is_over = true,
        }
    }

    fn unseen_share(&self) -> f64 {
        let whole = self.last.duration_since(self.started).as_secs_f64();
        if whole > 0.0 { self.unseen.as_secs_f64() / whole } else { 1.0 }
    }
}

/// Fields of statm, in pages: size, resident, shared (file-backed), ...; of a process that ends all are 0.
fn anonymous_pages(child: &Child) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
    let mut fields = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (resident > 0).then(|| resident.saturating_sub(shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;
    use tegula_automation::shell::own_program;

    const HELD: usize = 64_000_000;

    /// What `transient_memory_is_seen` watches: holds memory for a moment, and is a process of its own.
    #[test]
    #[ignore = "the process of another test"]
    fn holds_memory_for_a_moment() {
        drop(std::hint::black_box(vec![1u8; HELD]));
        sleep(Duration::from_millis(2));
    }

    /// A run, watched from its start or only when it is over.
    fn run_of_a_moment(watch: &mut Watch, late: bool) -> Result<()> {
        let name = "peak_memory::tests::holds_memory_for_a_moment";
        let mut child = Shell::new(own_program()?).args(["--exact", name, "--ignored"]).converse()?;
        drop(child.stdin.take());
        while late && anonymous_pages(&child).is_some() {
            sleep(Duration::from_millis(1));
        }
        watch.until_end(&mut child)
    }

    #[test]
    fn transient_memory_is_seen() {
        let ((), bytes) = peak(|watch| run_of_a_moment(watch, false)).unwrap();
        assert!((HELD as u64..2 * HELD as u64).contains(&bytes), "{bytes} bytes of {HELD}");
    }

    /// Who comes back when the process is over has seen nothing, however often an ended process is looked at.
    #[test]
    fn lost_time_is_unseen() {
        let mut watch = Watch::start();
        run_of_a_moment(&mut watch, true).unwrap();
        assert_eq!((watch.pages, watch.unseen_share()), (0, 1.0));
        let error = peak(|watch| {
            watch.unseen = Duration::from_secs(1);
            watch.last = watch.started + watch.unseen;
            Ok(())
        });
        assert!(error.unwrap_err().to_string().contains("watched too little"));
    }
}
