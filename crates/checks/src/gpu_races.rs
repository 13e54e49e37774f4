//! `gpu-races [--all]`: planted bugs that the simulator must name, then race mode over kernels that the target emits
//! (the kernel list, random products and programs, node cases, models), of which nothing may be reported whenever
//! asynchronous work is done; and over steps of decoding whose launches overlap.
//! Bar: every planted bug, at least 20, named; no false report.

use std::collections::BTreeMap;

use anyhow::Result;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::own_program;
use tegula_automation::workspace;
use tegula_testkit::gpu_kernels::{GpuKernel, gpu_kernels};
use tegula_testkit::planted;

use crate::simulated::{self, Held, Job, MODELS, Subject, Verdict};

const LEAST_BUGS: usize = 20;

const CHIP: &str = "h200";

/// Random programs and products, with and without `--all`.
const PROGRAMS: (u64, u64) = (400, 30);
const PRODUCTS: (u64, u64) = (200, 20);
/// Seeds of steps of decoding whose launches overlap.
const OVERLAPPING: (u64, u64) = (8, 2);
/// One node case in this many, and which, with and without `--all`.
const NODES: [(usize, usize); 2] = [(5, 1), (40, 17)];
/// Race mode takes several times as long: the models that CI has time for.
const CI_MODELS: [&str; 2] = ["yolov8n-c2f-64", "minilm-2-16"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let all = args.iter().any(|arg| arg == "--all");
    let bugs = planted::bugs(&workspace::root().join("crates/sim-ptx/tests/bugs"));
    let bugs = bugs.map_err(anyhow::Error::msg)?;
    let mut caught = 0;
    for bug in &bugs {
        match bug.judge() {
            Ok(()) => caught += 1,
            Err(reason) => println!("missed   {}: {reason}", bug.about),
        }
    }
    let overlapping = overlapping_steps(if all { OVERLAPPING.0 } else { OVERLAPPING.1 })?;
    let verdicts = simulated::run_jobs(Part::asked(args)?.take(jobs(all)?))?;
    let mut held = Held::default();
    let mut reasons: BTreeMap<&str, Vec<&Job>> = BTreeMap::new();
    let (mut quiet, mut reported, mut crashed) = (0, 0, 0);
    for (job, verdict) in &verdicts {
        match verdict {
            Verdict::Holds(part) => {
                held.add(*part);
                quiet += 1;
            }
            Verdict::NotClaimed(reason) => reasons.entry(reason).or_default().push(job),
            Verdict::Wrong(reason) => {
                println!("reported {job}: {reason}");
                reported += 1;
            }
            Verdict::Crashed(reason) => {
                println!("crashed  {job}: {reason}");
                crashed += 1;
            }
        }
    }
    for (reason, jobs) in &reasons {
        println!("not claimed, {:4} times: {reason}; first {}", jobs.len(), jobs[0]);
    }
    let holds =
        caught == bugs.len() && caught >= LEAST_BUGS && reported + crashed == 0 && quiet > 0 && overlapping;
    Ok(Outcome::pass_if(holds)
        .with("planted", format!("{caught}/{}", bugs.len()))
        .with("runs", verdicts.len())
        .with("quiet", quiet)
        .with("not_claimed", reasons.values().map(Vec::len).sum::<usize>())
        .with("false_reports", reported)
        .with("crashed", crashed)
        .with("launches", held.simulated)
        .with("overlapping_steps", if overlapping { "quiet" } else { "reported" }))
}

/// Steps of decoding as graphs whose launches begin early, in race mode and at random times; a process each, as the
/// driver reads its settings once.
fn overlapping_steps(seeds: u64) -> Result<bool> {
    let mut quiet = true;
    for seed in 1..=seeds {
        let out = workspace::target().join(format!("gpu-races-{seed}"));
        let mut command = std::process::Command::new(own_program()?);
        command.env("TEGULA_FAKE_CUDA", format!("races=1,seed={seed}"));
        command.args(["gpu", "--fake", "--small", "--part", "decode", "--only", "decode_step*", "--out"]);
        let output = command.arg(out).output()?;
        if !output.status.success() {
            println!("a step of decoding, seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
            quiet = false;
        }
    }
    Ok(quiet)
}

/// Every job has a completion seed of its own.
fn jobs(all: bool) -> Result<Vec<Job>> {
    let count = |counts: (u64, u64)| if all { counts.0 } else { counts.1 };
    let models = MODELS.iter().filter(|row| all || CI_MODELS.contains(&row.name));
    let models = models.map(|row| Subject::Model(row.name.to_string()));
    let (every, which) = NODES[usize::from(!all)];
    crate::onnx::NODES.generate()?;
    let nodes = simulated::cases()?.into_keys().enumerate().filter(|(i, _)| i % every == which);
    // Of CI, the smallest sizes of each kernel.
    let sizes = |kernel: &GpuKernel| if all { kernel.small.len() } else { kernel.small.len().min(1) };
    let list = gpu_kernels();
    let kernels = list
        .iter()
        .flat_map(|kernel| (0..sizes(kernel)).map(|number| Subject::Kernel(kernel.name.clone(), number)));
    let subjects = models
        .chain(kernels)
        .chain((1..=count(PRODUCTS)).map(Subject::Product))
        .chain((1..=count(PROGRAMS)).map(Subject::Program))
        .chain(nodes.map(|(_, name)| Subject::Node(name)));
    let job = |(i, subject)| Job { subject, chip: CHIP.into(), races: true, seed: Some(i as u64) };
    Ok(subjects.enumerate().map(job).collect())
}
