//! `gpu [--part correctness|gemm|attention|memory|decode] [--seconds N] [--small] [--seed S] [--fake] [--driver FILE] [--out DIR]
//! [--kernels DIR] [--only NAME,...]`: the kernel list, and whole steps of decoding, on an NVIDIA GPU. Results against the evaluator in f64 with a bound for
//! each element, on fresh random data and poisoned memory; then times, interleaved with those of PyTorch where it is
//! installed. Each row is written when it is done, and a later call goes on where this one stopped, for the same card and code.
//! Bar: every result within its bound, and some are. `--fake`: on the simulator behind a driver without a card; `--small`: small sizes.
//!
//! Rows run in processes of their own (`worker.rs`), those of results in several at once: what fails on a card takes
//! its process along. `--only` names kernels, with a star what their names begin with.

mod baseline;
mod correctness;
mod decoding;
mod rows;
mod speed;
mod worker;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;
use tegula_driver::compile::compile_program;
use tegula_driver::probe::fitting_gpu;
use tegula_driver::{CompileOptions, PassCx};
use tegula_machine::Machine;
use tegula_runtime::cuda::{Cuda, DeviceFacts};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use rows::Rows;

/// Under the nine minutes that a session with a card has.
const SECONDS: u64 = 500;
const PARTS: [&str; 5] = ["correctness", "gemm", "attention", "memory", "decode"];

/// What was asked for, on which card.
struct Plan {
    cuda: Cuda,
    facts: DeviceFacts,
    machine: Machine,
    /// Packages by the kernel's name; what is not there is compiled.
    kernels: Option<PathBuf>,
    out: PathBuf,
    small: bool,
    fake: bool,
    /// Names of kernels, or with a star what they begin with; none: all.
    only: Vec<String>,
    until: Instant,
    /// Of the data of results; another one each time where none is given.
    seed: Option<u64>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)).cloned();
    let is_given = |flag: &str| args.iter().any(|arg| arg == flag);
    let asked = value("--part");
    if let Some(part) = asked.as_deref().filter(|part| !PARTS.contains(part)) {
        bail!("there is no part `{part}`; the parts are {}", PARTS.join(", "));
    }
    let driver = if is_given("--fake") { Some(fake_driver()?) } else { value("--driver").map(PathBuf::from) };
    let cuda = match Cuda::open(driver.as_deref()) {
        Ok(cuda) => cuda,
        Err(error) => return Ok(Outcome::skip(&error.message)),
    };
    let Some(facts) = cuda.devices()?.into_iter().next() else {
        return Ok(Outcome::skip("the NVIDIA driver finds no GPU"));
    };
    let seconds =
        value("--seconds").map_or(Ok(SECONDS), |text| text.parse()).context("`--seconds` is no number")?;
    let machine = fitting_gpu(&facts.name, facts.capability);
    let plan = Plan {
        machine: machine.with_context(|| format!("no code is made for {}", facts.name))?,
        cuda,
        facts,
        kernels: value("--kernels").map(PathBuf::from),
        out: value("--out").map_or_else(|| workspace::target().join("gpu"), PathBuf::from),
        small: is_given("--small"),
        fake: is_given("--fake"),
        only: value("--only").iter().flat_map(|names| names.split(',')).map(str::to_string).collect(),
        seed: value("--seed").map(|text| text.parse()).transpose().context("`--seed` is no number")?,
        until: Instant::now() + Duration::from_secs(seconds),
    };
    if let Some(share) = value("--worker") {
        worker::run(&plan, &asked.context("a worker has a part")?, &share)?;
        // Its verdict is the rows that it wrote.
        std::process::exit(0);
    }
    println!("{}, driver for CUDA {}", plan.facts.name, plan.facts.driver);
    Rows::open(&plan.out, &plan.facts.name, plan.fake)?;
    for part in PARTS.iter().filter(|part| asked.as_deref().is_none_or(|asked| asked == **part)) {
        worker::start(&plan, part, args)?;
    }
    plan.finish()
}

/// A driver over the simulator, built as the tests have it.
fn fake_driver() -> Result<PathBuf> {
    workspace::build_library("tegula-fake-cuda")?;
    let name = format!("{}tegula_fake_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok(workspace::built().join(name))
}

impl Plan {
    fn is_over(&self) -> bool {
        Instant::now() > self.until
    }

    fn asks(&self, name: &str) -> bool {
        let is_one = |only: &String| match only.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == only,
        };
        self.only.is_empty() || self.only.iter().any(is_one)
    }

    /// A row's package, sizes open but for those that are fixed. Errors: why the row is refused.
    fn package(&self, kernel: &GpuKernel, fixed: &Sizes) -> Result<Bytes, String> {
        match self.kernels.as_ref().map(|folder| folder.join(format!("{}.tgl", kernel.name))) {
            Some(file) if fixed.is_empty() && file.exists() => {
                Ok(std::fs::read(file).map_err(|error| error.to_string())?.into())
            }
            _ => compile(kernel, fixed, &self.machine),
        }
    }

    /// The table and the verdict, of rows whose code is today's.
    fn finish(&self) -> Result<Outcome> {
        let mut rows = Rows::open(&self.out, &self.facts.name, false)?;
        let list = gpu_kernels();
        rows.forget_older(|name, sizes, fixed| {
            if let Some(package) = decoding::package_of(self, name, sizes) {
                return Some(rows::code(&package));
            }
            let kernel = list.iter().find(|kernel| kernel.name == name)?;
            let none = Sizes::new();
            Some(rows::code(&self.package(kernel, if fixed { sizes } else { &none })))
        });
        rows.finish()
    }
}

/// A row's package, sizes open but for those that are fixed. Errors: why the row is refused.
pub fn compile(kernel: &GpuKernel, fixed: &Sizes, machine: &Machine) -> Result<Bytes, String> {
    let program = kernel.program(fixed)?;
    let options = CompileOptions::new(machine.clone());
    compile_program(program, &kernel.name, &options, None, &mut PassCx::default())
        .and_then(crate::in_process::package)
        .map_err(|found| found.to_string())
}
