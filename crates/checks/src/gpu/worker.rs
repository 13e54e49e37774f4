//! Processes that run rows. A kernel that fails on the card takes its context along, and one that never ends keeps its
//! process: either is written down as a wrong row, its process ends, and another one goes on with the next row. A fault
//! of this program itself ends the part.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use serde_json::{Value, json};
use tegula_automation::shell::own_program;
use tegula_driver::session_options;
use tegula_runtime::cuda::Device;
use tegula_runtime::{Hardware, Session, SessionOptions};

use super::rows::{Rows, Subject, append};
use super::{Plan, correctness, decoding, speed};

/// Processes for results at once: each computes what is expected on a core.
const MOST_WORKERS: usize = 12;
/// What a process says that another one must go on after (`EX_TEMPFAIL` of sysexits.h).
const GO_ON: u8 = 75;
/// Seconds of a row that does not end; the simulator is slower.
const LONGEST_ROW: u64 = 60;
const LONGEST_SIMULATED_ROW: u64 = 900;

/// A process with a card, and its share of a part's rows.
pub struct Worker<'a> {
    pub plan: &'a Plan,
    pub device: Arc<Device>,
    pub seed: u64,
    /// Its number, and how many there are.
    share: (usize, usize),
}

/// Runs all rows of a part in processes of their own.
pub fn start(plan: &Plan, part: &str, args: &[String]) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // Times are taken alone.
    let workers = if part == "correctness" { cores.min(MOST_WORKERS) } else { 1 };
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let one = |number| move || until_done(plan, part, args, number, workers);
        let all: Vec<_> = (0..workers).map(|number| scope.spawn(one(number))).collect();
        all.into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(anyhow!("a worker panicked"))))
            .collect()
    });
    results.into_iter().collect()
}

fn until_done(plan: &Plan, part: &str, args: &[String], number: usize, of: usize) -> Result<()> {
    while !plan.is_over() {
        let left = plan.until.saturating_duration_since(Instant::now()).as_secs() + 1;
        let mut command = Command::new(own_program()?);
        // The first of several values counts.
        command.args(["gpu", "--worker", &format!("{number}/{of}"), "--part", part]);
        command.args(["--seconds", &left.to_string()]).args(args).stdin(Stdio::null());
        let status = command.status().context("cannot start a worker")?;
        match status.code() {
            Some(0) => return Ok(()),
            Some(code) if code == i32::from(GO_ON) => {}
            _ => return Err(anyhow!("a worker for `{part}` ended with {status}")),
        }
    }
    Ok(())
}

/// The worker's side.
pub fn run(plan: &Plan, part: &str, share: &str) -> Result<()> {
    let numbers = share.split_once('/').and_then(|(n, of)| Some((n.parse().ok()?, of.parse().ok()?)));
    let share = numbers.filter(|(n, of): &(usize, usize)| n < of).context("a share is N/OF, N below OF")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    let seed = plan.seed.unwrap_or(now);
    let worker =
        Worker { plan, device: plan.cuda.device(0).map_err(|error| anyhow!("{error}"))?, seed, share };
    let mut rows = Rows::open(&plan.out, &plan.facts.name, false)?;
    match part {
        "correctness" => correctness::run(&worker, &mut rows)?,
        part => speed::run(&worker, &mut rows, part)?,
    }
    if part == "decode" {
        decoding::run(&worker, &mut rows)?;
    }
    Ok(())
}

/// Counts a row's seconds until it is dropped, but for those of others' work.
pub struct Watch {
    others: Arc<AtomicBool>,
    _ended: Sender<()>,
}

impl Watch {
    fn start(limit: u64, overdue: impl FnOnce() + Send + 'static) -> Watch {
        let (ended, waits) = channel();
        let others = Arc::new(AtomicBool::new(false));
        let watched = Arc::clone(&others);
        thread::spawn(move || {
            let mut seconds = 0;
            while waits.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                seconds += u64::from(!watched.load(Ordering::Relaxed));
                if seconds > limit {
                    return overdue();
                }
            }
        });
        Watch { others, _ended: ended }
    }

    /// Work that is none of the row's own.
    pub fn beside<T>(&self, work: impl FnOnce() -> T) -> T {
        self.others.store(true, Ordering::Relaxed);
        let done = work();
        self.others.store(false, Ordering::Relaxed);
        done
    }
}

impl Worker<'_> {
    /// Whether the row with this number is one of this process.
    pub fn is_own(&self, number: usize) -> bool {
        number % self.share.1 == self.share.0
    }

    /// Errors: why the package is refused.
    pub fn session(&self, package: &Result<Bytes, String>, poison: bool) -> Result<Session, String> {
        let options = session_options(2, Hardware::Cuda(Arc::clone(&self.device)));
        let options = SessionOptions { poison, ..options };
        Session::from_bytes(package.clone()?, options).map_err(|found| found.to_string())
    }

    /// Runs a row and writes it. Ends the process where the row does not end, or leaves a card that does not work.
    pub fn row(&self, rows: &mut Rows, subject: &Subject, work: impl FnOnce(&Watch) -> Value) -> Result<()> {
        let limit = if self.plan.fake { LONGEST_SIMULATED_ROW } else { LONGEST_ROW };
        let why = format!("it did not end within {limit} s");
        let late = rows.facts(subject, self.seed, json!({ "verdict": "wrong", "why": why }));
        let file = rows.path();
        let watch = Watch::start(limit, move || {
            // Without the row, the next process waits for it once more.
            let _ = append(&file, &late);
            std::process::exit(i32::from(GO_ON));
        });
        let facts = work(&watch);
        drop(watch);
        rows.add(subject, self.seed, facts)?;
        if !self.device.works() {
            std::process::exit(i32::from(GO_ON));
        }
        Ok(())
    }
}
