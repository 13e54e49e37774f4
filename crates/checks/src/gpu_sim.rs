//! `gpu-sim [--all] [--only PREFIX] [--bless]`: the op suite, the node cases of the onnx package and the first layers of
//! real models as PTX on the simulator, on a chip with and one without the instructions of sm_90.
//! Without `--all`: every tenth case, fewer programs.  What is not claimed is listed by reason; the node cases that the
//! target refuses, and not the import (`data/onnx_refused.txt`), stand in `data/gpu_not_claimed.txt`, which is exact.
//! Bar: within the bounds of `docs/numerics.md`; none wrong, none crashed; of a whole run at most 2 % of the elements unchecked.

use std::collections::BTreeMap;

use anyhow::Result;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_testkit::random::coverage::Coverage;
use tegula_testkit::random::{Choices, generate};

use crate::random::is_checked;
use crate::refusals::Refusals;
use crate::simulated::{self, Held, Job, MODELS, Subject, Verdict};

/// The chip that everything runs on, and the one that a part runs on.
const CHIP: &str = "h200";
const OTHER_CHIP: &str = "a100";

/// One node case in this many, and which.
const ROTATION: (usize, usize) = (10, 3);

/// Random programs, with and without `--all`; a program has every op about as often as another.
const PROGRAMS: (u64, u64) = (1000, 100);
/// One program or node case in this many runs on the other chip too.
const OTHER_SHARE: usize = 5;

pub fn run(args: &[String]) -> Result<Outcome> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--worker") {
        return simulated::worker();
    }
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    let mut jobs = jobs(has("--all") || only.is_some())?;
    if let Some(prefix) = only {
        jobs.retain(|job| job.to_string().starts_with(prefix.as_str()));
    }
    let part = Part::asked(args)?;
    let verdicts = simulated::run_jobs(part.take(jobs))?;
    let import = Refusals::of("onnx_refused.txt", "onnx --all --bless")?;

    let mut held = Held::default();
    let mut coverage = Coverage::default();
    let mut reasons: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
    let mut refused = BTreeMap::new();
    let (mut holds, mut wrong, mut crashed) = (0, 0, 0);
    for (job, verdict) in &verdicts {
        match verdict {
            Verdict::Holds(part) => {
                held.add(*part);
                holds += 1;
                if let Subject::Program(seed) = job.subject {
                    coverage.count(&generate(seed, &Choices::default()));
                }
            }
            Verdict::NotClaimed(reason) => reasons.entry(reason).or_default().push(job),
            Verdict::Wrong(reason) => {
                println!("wrong    {job}: {reason}");
                wrong += 1;
            }
            Verdict::Crashed(reason) => {
                println!("crashed  {job}: {reason}");
                crashed += 1;
            }
        }
        if let (Subject::Node(name), CHIP) = (&job.subject, job.chip.as_str()) {
            let reason = match verdict {
                Verdict::NotClaimed(reason) if !import.lists(name, reason) => Some(reason.clone()),
                _ => None,
            };
            refused.insert(name.clone(), reason);
        }
    }
    for (reason, jobs) in &reasons {
        println!("not claimed, {:4} times: {reason}; first {}", jobs.len(), jobs[0]);
    }
    let record = Refusals::of("gpu_not_claimed.txt", "gpu-sim --all --bless")?;
    let all = simulated::cases()?;
    let is_case = |name: &str| all.contains_key(name);
    let unrecorded = match has("--bless") {
        true => record.bless(refused, is_case)?,
        false => record.differing(&refused, is_case),
    };
    let whole = only.is_none() && part.is_whole();
    let is_checked = !whole || is_checked(held.exact + held.bounded, held.unchecked);
    let missing = coverage.below(1);
    let all_seen = only.is_some() || !part.is_whole() || missing.is_empty();
    let not_claimed = reasons.values().map(Vec::len).sum::<usize>();
    Ok(Outcome::pass_if(wrong + crashed + unrecorded == 0 && all_seen && is_checked && holds > 0)
        .with("runs", verdicts.len())
        .with("hold", holds)
        .with("not_claimed", not_claimed)
        .with("wrong", wrong)
        .with("crashed", crashed)
        .with("unrecorded", unrecorded)
        .with("launches", held.simulated)
        .with("native", held.native)
        .with("exact", held.exact)
        .with("bounded", held.bounded)
        .with("unchecked", held.unchecked)
        .with("bound_used", format!("{:.2}", held.used))
        .with("ops_unseen", if missing.is_empty() { "none".to_string() } else { missing.join(",") }))
}

fn jobs(all: bool) -> Result<Vec<Job>> {
    let on = |chip: &str, subject: Subject| Job { subject, chip: chip.into(), races: false, seed: None };
    // Longest first.
    let mut jobs: Vec<Job> =
        MODELS.iter().map(|row| on(CHIP, Subject::Model(row.name.to_string()))).collect();
    let programs = (1..=if all { PROGRAMS.0 } else { PROGRAMS.1 }).map(Subject::Program);
    let (every, which) = if all { (1, 0) } else { ROTATION };
    crate::onnx::NODES.generate()?;
    let cases = simulated::cases()?;
    let nodes = cases.into_keys().enumerate().filter(|(i, _)| i % every == which);
    let subjects: Vec<Subject> = programs.chain(nodes.map(|(_, name)| Subject::Node(name))).collect();
    for (i, subject) in subjects.into_iter().enumerate() {
        if i % OTHER_SHARE == 0 {
            jobs.push(on(OTHER_CHIP, subject.clone()));
        }
        jobs.push(on(CHIP, subject));
    }
    Ok(jobs)
}
