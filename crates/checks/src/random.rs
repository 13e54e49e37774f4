//! `random [--seeds N] [--from S] [--seed S] [--part K/N]`: random programs on every executor, and one fresh seed that is printed, but in a part.
//! Bar: no executor beyond its bound (`docs/numerics.md`), every tensor op and element type at least 100 times in
//! 2,000 programs, of a thousand or more at most 2 % of the elements unchecked.  Failures are reduced and left in `target/random`.

mod executors;
mod tile;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, own_program};
use tegula_automation::workspace;
use tegula_driver::bound::Agreement;
use tegula_testkit::random::coverage::Coverage;
use tegula_testkit::random::{Case, Choices, generate, reduce};

use crate::in_process::keep_panics;
use crate::worker_pool::{self, Answer};
use executors::{Failure, judge};

const N_WORKERS: usize = 2;
const CASE_LIMIT: Duration = Duration::from_secs(60);

/// Failures that are reduced; the rest are listed.
const REDUCED: usize = 12;

/// Occurrences of each op and element type in this many programs.
const LEAST: u64 = 100;
const LEAST_PER: u64 = 2000;

/// A program to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Job {
    seed: u64,
    #[serde(default)]
    choices: Choices,
    /// Look for a smaller case that fails alike and leave it in a file.
    #[serde(default)]
    reduce: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Verdict {
    Pass { exact: u64, bounded: u64, unchecked: u64, used: f64 },
    Fail(Failure),
}

pub fn run(args: &[String]) -> Result<Outcome> {
    if args.iter().any(|arg| arg == "--worker") {
        return worker();
    }
    let number = |flag: &str| -> Result<Option<u64>> {
        match args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)) {
            Some(text) => text.parse().map(Some).with_context(|| format!("`{flag} {text}` is no number")),
            None => Ok(None),
        }
    };
    let part = Part::asked(args)?;
    let first = number("--from")?.unwrap_or(0);
    let seeds: Vec<u64> = match number("--seed")? {
        Some(seed) => {
            println!("{}", reduce::report(&generate(seed, &Choices::default()), "as generated"));
            vec![seed]
        }
        None => {
            let all = part.take(first..first + number("--seeds")?.unwrap_or(2000));
            // A part has the same seeds every time.
            all.into_iter().chain(part.is_whole().then(fresh_seed)).collect()
        }
    };
    let coverage = count(&seeds);
    println!("{}", coverage.table());
    let missing = match coverage.programs >= LEAST_PER {
        true => coverage.below(LEAST * coverage.programs / LEAST_PER),
        false => vec![],
    };
    if part.is_whole() {
        println!("fresh seed {}", seeds[seeds.len() - 1]);
    }

    let jobs =
        seeds.iter().map(|seed| Job { seed: *seed, choices: Choices::default(), reduce: false }).collect();
    let verdicts = run_jobs(jobs)?;
    let mut total = Agreement::default();
    let mut failures: Vec<(u64, Failure)> = vec![];
    for (seed, verdict) in verdicts {
        match verdict {
            Verdict::Pass { exact, bounded, unchecked, used } => {
                total.add(Agreement { exact, bounded, unchecked, used });
            }
            Verdict::Fail(failure) => failures.push((seed, failure)),
        }
    }
    list(&failures);
    if !args.iter().any(|arg| arg == "--no-reduce") {
        reduce_some(&failures)?;
    }
    let is_checked = seeds.len() < MANY || is_checked(total.exact + total.bounded, total.unchecked);
    let outcome = Outcome::pass_if(failures.is_empty() && missing.is_empty() && is_checked)
        .with("programs", seeds.len())
        .with("failed", failures.len())
        .with("exact", total.exact)
        .with("bounded", total.bounded)
        .with("unchecked", total.unchecked)
        .with("simulated", crate::in_process::simulated())
        .with("bound_used", format!("{:.2}", total.used));
    Ok(if missing.is_empty() { outcome } else { outcome.with("rare", missing.join(",")) })
}

/// Fewer programs than this say little about the share of unchecked elements.
const MANY: usize = 1000;
/// The share of elements that may lie where the bounds say nothing: near a step of a function, or past overflow.
const MOST_UNCHECKED: f64 = 0.02;

/// Whether few enough of the elements were left unchecked.
pub fn is_checked(checked: u64, unchecked: u64) -> bool {
    let share = unchecked as f64 / (checked + unchecked).max(1) as f64;
    if share > MOST_UNCHECKED {
        println!(
            "FAIL {:.1} % of the elements are unchecked, {:.0} % may be",
            100.0 * share,
            100.0 * MOST_UNCHECKED
        );
    }
    share <= MOST_UNCHECKED
}

/// Differs from run to run.
fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64 | 1 << 63)
}

fn count(seeds: &[u64]) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        coverage.count(&generate(*seed, &Choices::default()));
    }
    coverage
}

fn list(failures: &[(u64, Failure)]) {
    let mut alike: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (seed, failure) in failures {
        println!("FAIL seed {seed} {failure}");
        alike.entry(failure.class()).or_default().push(*seed);
    }
    for (class, seeds) in alike {
        println!("{:5} times {class}, first seed {}", seeds.len(), seeds[0]);
    }
}

/// One of each kind first.
fn reduce_some(failures: &[(u64, Failure)]) -> Result<()> {
    let mut firsts: BTreeMap<String, u64> = BTreeMap::new();
    for (seed, failure) in failures {
        firsts.entry(failure.class()).or_insert(*seed);
    }
    let jobs: Vec<Job> = firsts
        .into_values()
        .take(REDUCED)
        .map(|seed| Job { seed, choices: Choices::default(), reduce: true })
        .collect();
    for (seed, verdict) in run_jobs(jobs)? {
        if let Verdict::Fail(failure) = verdict {
            println!("reduced seed {seed}: {failure}");
        }
    }
    Ok(())
}

fn run_jobs(jobs: Vec<Job>) -> Result<BTreeMap<u64, Verdict>> {
    let verdicts = Mutex::new(BTreeMap::new());
    let exe = own_program()?;
    let start = || Shell::new(&exe).args(["random", "--worker"]);
    let lines = jobs.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>()?;
    let limit = if jobs.iter().any(|job| job.reduce) { CASE_LIMIT * 5 } else { CASE_LIMIT };
    let record = |line: String, answer: Answer| {
        let failed = |kind: &str, message: String| {
            Verdict::Fail(Failure { executor: "process".into(), kind: kind.into(), message })
        };
        let verdict = match answer {
            Answer::Line(line) => {
                serde_json::from_str(&line).unwrap_or_else(|error| failed("protocol", error.to_string()))
            }
            Answer::TimedOut => failed("hang", format!("no end within {} s", limit.as_secs())),
            Answer::Died(end) => failed("crash", end),
        };
        if let Ok(job) = serde_json::from_str::<Job>(&line) {
            verdicts.lock().expect("invariant: no thread panics with the verdicts").insert(job.seed, verdict);
        }
    };
    worker_pool::run_jobs(lines, N_WORKERS, limit, &start, &record)?;
    Ok(verdicts.into_inner().expect("invariant: no thread panics with the verdicts"))
}

/// Answers each job on stdin with its verdict as one line of JSON.
fn worker() -> Result<Outcome> {
    keep_panics();
    for line in io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let case = generate(job.seed, &job.choices);
        let verdict = if job.reduce { reduced(&case)? } else { verdict(&case) };
        println!("{}", serde_json::to_string(&verdict)?);
        io::stdout().flush()?;
    }
    Ok(Outcome::pass())
}

fn verdict(case: &Case) -> Verdict {
    match judge(case) {
        Ok(Agreement { exact, bounded, unchecked, used }) => {
            Verdict::Pass { exact, bounded, unchecked, used }
        }
        Err(failure) => Verdict::Fail(failure),
    }
}

/// The verdict of a smaller case that fails alike; it lies in `target/random/seed_<n>.mlir` then.
fn reduced(case: &Case) -> Result<Verdict> {
    let first = match in_process_of_its_own(case)? {
        Verdict::Fail(failure) => failure,
        pass => return Ok(pass),
    };
    let crashes = first.executor == "process";
    let class = first.class();
    let fails = |case: &Case| {
        let verdict = match crashes {
            // What ends the process can only be tried in another; cut cases cannot be sent there.
            true if case.choices.is_none() => return false,
            true => in_process_of_its_own(case).ok(),
            false => Some(verdict(case)),
        };
        matches!(verdict, Some(Verdict::Fail(failure)) if failure.class() == class)
    };
    let small = reduce::reduce(case, &fails);
    let last = match crashes {
        true => in_process_of_its_own(&small)?,
        false => verdict(&small),
    };
    let failure = if let Verdict::Fail(failure) = last { failure } else { first };
    let folder = workspace::target().join("random");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("seed_{}.mlir", case.seed));
    fs::write(&file, reduce::report(&small, &failure.to_string()))?;
    let message = format!("{} ops in {}: {}", small.op_count(), file.display(), failure.message);
    Ok(Verdict::Fail(Failure { message, ..failure }))
}

fn in_process_of_its_own(case: &Case) -> Result<Verdict> {
    let Some(choices) = case.choices.clone() else { return Ok(verdict(case)) };
    let verdicts = run_jobs(vec![Job { seed: case.seed, choices, reduce: false }])?;
    verdicts.into_values().next().context("the worker gave no verdict")
}
