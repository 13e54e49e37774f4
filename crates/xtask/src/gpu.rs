//! `gpu [--part correctness|gemm|attention|memory|decode] [--seconds N] [--small] [--fake] [--driver FILE] [--out DIR]
//! [--kernels DIR] [--only PREFIX]`: the kernel list, and whole steps of decoding, on an NVIDIA GPU. Results against the evaluator in f64 with a bound for
//! each element, on fresh random data and poisoned memory; then times, interleaved with those of PyTorch where it is
//! installed. Each row is written when it is done, and a later call goes on where this one stopped, for the same card and code.
//! Bar: every result within its bound, and some are. `--fake`: on the simulator behind a driver without a card; `--small`: small sizes.

mod baseline;
mod correctness;
mod decoding;
mod rows;
mod speed;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use bytes::Bytes;
use tegula_driver::compile::compile_program;
use tegula_driver::probe::fitting_gpu;
use tegula_driver::{CompileOptions, PassCx, session_options};
use tegula_machine::Machine;
use tegula_runtime::cuda::{Cuda, CudaOptions, Device};
use tegula_runtime::{Hardware, Session, SessionOptions};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use crate::outcome::Outcome;
use crate::workspace;
use rows::Rows;

/// Under the nine minutes that a session with a card has.
const SECONDS: u64 = 500;
const PARTS: [&str; 5] = ["correctness", "gemm", "attention", "memory", "decode"];

/// What all parts need.
struct Bench {
    device: Arc<Device>,
    machine: Machine,
    /// Packages by the kernel's name; what is not there is compiled.
    kernels: Option<PathBuf>,
    small: bool,
    prefix: String,
    seed: u64,
    until: Instant,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)).cloned();
    let is_given = |flag: &str| args.iter().any(|arg| arg == flag);
    let driver = if is_given("--fake") { Some(fake_driver()?) } else { value("--driver").map(PathBuf::from) };
    let out = value("--out").map_or_else(|| workspace::target().join("gpu"), PathBuf::from);
    let cuda = match Cuda::open(&CudaOptions { driver, cache: Some(out.join("cache")) }) {
        Ok(cuda) => cuda,
        Err(error) => return Ok(Outcome::skip(&error.message)),
    };
    let device = cuda.device(0).map_err(|error| anyhow!("{error}"))?;
    let facts = device.facts().clone();
    let machine = fitting_gpu(&facts.name, facts.capability);
    let seconds =
        value("--seconds").map_or(Ok(SECONDS), |text| text.parse()).context("`--seconds` is no number")?;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
    println!("{}, driver for CUDA {}, seed {seed}", facts.name, facts.driver);
    let bench = Bench {
        machine: machine.with_context(|| format!("no code is made for {}", facts.name))?,
        kernels: value("--kernels").map(PathBuf::from),
        small: is_given("--small"),
        prefix: value("--only").unwrap_or_default(),
        seed,
        until: Instant::now() + Duration::from_secs(seconds),
        device,
    };
    let mut rows = Rows::open(&out, &facts.name, is_given("--fake"))?;
    let asked = value("--part");
    if let Some(part) = asked.as_deref().filter(|part| !PARTS.contains(part)) {
        bail!("there is no part `{part}`; the parts are {}", PARTS.join(", "));
    }
    for part in PARTS.iter().filter(|part| asked.as_deref().is_none_or(|asked| asked == **part)) {
        match *part {
            "correctness" => correctness::run(&bench, &mut rows)?,
            part => {
                speed::run(&bench, &mut rows, part)?;
                if part == "decode" {
                    decoding::run(&bench, &mut rows)?;
                }
            }
        }
    }
    bench.finish(rows)
}

/// A driver over the simulator, built as the tests have it.
fn fake_driver() -> Result<PathBuf> {
    workspace::build_library("tegula-fake-cuda")?;
    let name = format!("{}tegula_fake_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Ok(workspace::target().join("release").join(name))
}

impl Bench {
    fn is_over(&self) -> bool {
        Instant::now() > self.until
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

    /// Errors: why the package is refused.
    fn session(&self, package: &Result<Bytes, String>) -> Result<Session, String> {
        let options = session_options(2, Hardware::Cuda(Arc::clone(&self.device)));
        let options = SessionOptions { poison: true, ..options };
        Session::from_bytes(package.clone()?, options).map_err(|found| found.to_string())
    }

    /// The table and the verdict, of rows whose code is today's.
    fn finish(&self, mut rows: Rows) -> Result<Outcome> {
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
