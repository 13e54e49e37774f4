//! Programs, ONNX cases and models on the simulated GPU: one job each, in worker processes, judged by the evaluator.
//! In: jobs.  Out: a verdict a job; a program that the target refuses is `NotClaimed`, with the reason.
//! Bound: `docs/numerics.md`, element by element (`driver`, `bound.rs`).

mod model;
mod node;
mod program;

pub use model::MODELS;
pub use node::cases;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, own_program};
use tegula_automation::tegula_cli::first_error;
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::bound::{Agreement, Bounded, compare};
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, Compiled, Model, PassCx, compile};
use tegula_machine::Machine;
use tegula_runtime::{Hardware, Session};
use tegula_sim_ptx::{Options, Simulator};
use tegula_tensor::TensorProgram;
use tegula_testkit::random::products::product;
use tegula_testkit::random::{Choices, generate};

use crate::in_process::{guarded, keep_panics};
use crate::worker_pool::{self, Answer};

const N_WORKERS: usize = 2;
const JOB_LIMIT: Duration = Duration::from_secs(400);

/// What to run, and how the simulator goes about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Job {
    pub subject: Subject,
    /// A machine class.
    pub chip: String,
    /// Report accesses that nothing orders.
    #[serde(default)]
    pub races: bool,
    /// Asynchronous work is done at random times, warps take turns at random.
    #[serde(default)]
    pub seed: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// A random tensor program by its seed.
    Program(u64),
    /// A random product of matrices by its seed.
    Product(u64),
    /// A row of the kernel list, at the small sizes of this number.
    Kernel(String, usize),
    /// A node case of the onnx package.
    Node(String),
    /// A row of [`MODELS`].
    Model(String),
}

impl std::fmt::Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match &self.subject {
            Subject::Program(seed) => write!(f, "program {seed}")?,
            Subject::Product(seed) => write!(f, "product {seed}")?,
            Subject::Kernel(name, sizes) => write!(f, "kernel {name}/{sizes}")?,
            Subject::Node(name) | Subject::Model(name) => write!(f, "{name}")?,
        }
        write!(f, " on {}", self.chip)?;
        self.seed.map_or(Ok(()), |seed| write!(f, ", completion seed {seed}"))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    Holds(Held),
    /// The target, or the import, refuses the program.
    NotClaimed(String),
    Wrong(String),
    /// A fault of ours: a panic, an internal error, no end in time.
    Crashed(String),
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Elements that had to have the same bits, and those that had to be within a bound.
    pub exact: u64,
    pub bounded: u64,
    pub unchecked: u64,
    /// The largest share of a bound that was used.
    pub used: f64,
    /// Launches of PTX, and of runtime kernels on the host.
    pub simulated: u64,
    pub native: u64,
}

impl Held {
    pub fn add(&mut self, other: Held) {
        self.exact += other.exact;
        self.bounded += other.bounded;
        self.unchecked += other.unchecked;
        self.used = self.used.max(other.used);
        self.simulated += other.simulated;
        self.native += other.native;
    }

    fn agree(&mut self, part: Agreement) {
        let Agreement { exact, bounded, unchecked, used } = part;
        self.add(Held { exact, bounded, unchecked, used, ..Held::default() });
    }
}

// --- the pool ------------------------------------------------------------------------------------------

/// The verdicts in the order of the jobs.
pub fn run_jobs(jobs: Vec<Job>) -> Result<Vec<(Job, Verdict)>> {
    let lines = jobs.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>()?;
    let verdicts = Mutex::new(BTreeMap::new());
    let exe = own_program()?;
    let start = || Shell::new(&exe).args(["gpu-sim", "--worker"]);
    let record = |line: String, answer: Answer| {
        let verdict = match answer {
            Answer::Line(answer) => serde_json::from_str(&answer)
                .unwrap_or_else(|error| Verdict::Crashed(format!("the worker said `{answer}`: {error}"))),
            Answer::TimedOut => Verdict::Crashed(format!("no end within {} s", JOB_LIMIT.as_secs())),
            Answer::Died(end) => Verdict::Crashed(end),
        };
        verdicts.lock().expect("invariant: no thread panics with the verdicts").insert(line, verdict);
    };
    worker_pool::run_jobs(lines.clone(), N_WORKERS, JOB_LIMIT, &start, &record)?;
    let mut verdicts = verdicts.into_inner().expect("invariant: no thread panics with the verdicts");
    let mut verdict = |line: &String| verdicts.remove(line).context("a job was asked for twice");
    jobs.into_iter().zip(&lines).map(|(job, line)| Ok((job, verdict(line)?))).collect::<Result<_>>()
}

/// Answers each job on stdin with its verdict as one line of JSON.
pub fn worker() -> Result<Outcome> {
    keep_panics();
    let cases = node::cases()?;
    for line in io::stdin().lock().lines() {
        let job: Job = serde_json::from_str(&line?)?;
        let verdict = guarded(|| match &job.subject {
            Subject::Program(seed) => {
                program::judge(&Device::of(&job), &generate(*seed, &Choices::default()))
            }
            Subject::Product(seed) => program::judge(&Device::of(&job), &product(*seed)),
            Subject::Kernel(name, sizes) => program::judge_kernel(&Device::of(&job), name, *sizes),
            Subject::Node(name) => node::judge(&Device::of(&job), &cases, name),
            Subject::Model(name) => model::judge(&Device::of(&job), name),
        });
        let verdict = verdict.unwrap_or_else(Verdict::Crashed);
        println!("{}", serde_json::to_string(&verdict)?);
        io::stdout().flush()?;
    }
    Ok(Outcome::pass())
}

// --- a program on the device ---------------------------------------------------------------------------

/// The simulated GPU of a job.
struct Device<'a> {
    chip: &'a str,
    hardware: Hardware,
}

impl Device<'_> {
    fn of(job: &Job) -> Device<'_> {
        let options = Options { races: job.races, seed: job.seed, ..Options::default() };
        Device { chip: &job.chip, hardware: Hardware::SimulatedGpu(Arc::new(Simulator { options })) }
    }

    /// Errors: the verdict, where there is nothing to run.
    fn compile(&self, model: &Model, dims: &BTreeMap<String, i64>) -> Result<Compiled, Verdict> {
        let options = CompileOptions { dims: dims.clone(), ..self.options()? };
        compile(model, &options, None, &mut PassCx::default()).map_err(|found| refused(&found))
    }

    fn compile_program(&self, program: TensorProgram) -> Result<Compiled, Verdict> {
        let compiled = compile_program(program, "program", &self.options()?, None, &mut PassCx::default());
        compiled.map_err(|found| refused(&found))
    }

    fn options(&self) -> Result<CompileOptions, Verdict> {
        let machine = Machine::class(self.chip)
            .ok_or_else(|| Verdict::Crashed(format!("no machine class `{}`", self.chip)))?;
        Ok(CompileOptions { verify: true, ..CompileOptions::new(machine) })
    }

    /// Runs the whole program.
    fn run(&self, compiled: &Compiled, inputs: &[HostTensor]) -> Result<(Vec<HostTensor>, Held), Verdict> {
        let draft = compiled.package.as_ref();
        let bytes = draft.ok_or_else(|| Verdict::Crashed("there is no package".to_string()))?.to_bytes();
        let options = tegula_driver::session_options(1, self.hardware.clone());
        let session = Session::from_bytes(bytes, options).map_err(|found| wrong(&found))?;
        let outputs = session.run(inputs).map_err(|found| wrong(&found))?;
        let counters = session.counters();
        let native = counters.native.values().sum();
        Ok((outputs, Held { simulated: counters.gpu, native, ..Held::default() }))
    }
}

/// Holds results against the reference's.
fn agree(held: &mut Held, outputs: &[HostTensor], expected: &[Bounded]) -> Result<(), Verdict> {
    for (i, (got, want)) in outputs.iter().zip(expected).enumerate() {
        let part = compare(got, want).map_err(|error| Verdict::Wrong(format!("result {i} {error}")))?;
        held.agree(part);
    }
    Ok(())
}

fn settle(judged: Result<Held, Verdict>) -> Verdict {
    judged.map_or_else(|verdict| verdict, Verdict::Holds)
}

fn wrong(found: &Diagnostics) -> Verdict {
    Verdict::Wrong(found.to_string())
}

/// A refusal is no claim; a fault of ours counts as a crash.
fn refused(found: &Diagnostics) -> Verdict {
    match found.0.iter().find(|one| one.is_internal()) {
        Some(fault) => Verdict::Crashed(fault.to_string()),
        None => Verdict::NotClaimed(first_error(&found.to_string())),
    }
}
