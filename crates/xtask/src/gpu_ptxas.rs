//! `gpu-ptxas [--seed S] [--random N]`: NVIDIA's assembler takes what `isa-ptx` prints.
//! For each target every kind of instruction, every word of its opcode and every sort of its operands, each in a module
//! of the lowest version that is said to do; the PTX files of the tests; and N random instructions, read only.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tegula_base::random::SplitMix64;
use tegula_isa_ptx::key::Key;
use tegula_isa_ptx::{Module, Target, print, sample};

use crate::outcome::Outcome;
use crate::python;
use crate::shell::Shell;
use crate::workspace;

/// What the driver of the cards that we measure on comes with.
const PACKAGE: &str = "nvidia-cuda-nvcc";
const VERSION: &str = "13.0.88";

const N_RANDOM: usize = 2_000;

/// A file for the assembler, and whether code is made of it or it is only read.
struct Job {
    file: PathBuf,
    target: String,
    reads_only: bool,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let seed = number(args, "--seed")?.unwrap_or(1);
    let n_random = number(args, "--random")?.map_or(N_RANDOM, |count| count as usize);
    let ptxas = match ptxas() {
        Ok(ptxas) => ptxas,
        Err(error) => {
            println!("no ptxas: {error:#}");
            return Ok(Outcome::skip(&format!("no {PACKAGE} {VERSION}")));
        }
    };
    println!("seed {seed}");
    let folder = workspace::target().join("gpu-ptxas");
    fs::create_dir_all(&folder)?;
    let mut jobs = Vec::new();
    let mut n_forms = 0;
    for target in Target::ALL {
        let forms = sample::covering(seed, *target);
        n_forms += forms.len();
        for module in sample::modules_of(*target, forms) {
            jobs.push(job(&folder, "forms", &module, false)?);
        }
        let mut random = SplitMix64::new(seed);
        let insts = (0..n_random).map(|_| sample::random_inst(&mut random, *target)).collect();
        for module in sample::modules_of(*target, insts) {
            jobs.push(job(&folder, "random", &module, true)?);
        }
    }
    jobs.extend(test_files()?);
    let mut refused = 0;
    for job in &jobs {
        refused += usize::from(!assembles(&ptxas, job)?);
    }
    Ok(Outcome::pass_if(refused == 0 && n_forms > 0)
        .with("ptxas", VERSION)
        .with("forms", n_forms)
        .with("random", n_random * Target::ALL.len())
        .with("modules", jobs.len())
        .with("refused", refused)
        .with("seed", seed))
}

fn number(args: &[String], flag: &str) -> Result<Option<u64>> {
    let value = args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    value.map(|value| value.parse().with_context(|| format!("`{flag} {value}` is no number"))).transpose()
}

/// The assembler from the Python environment. Errors: it cannot be installed or does not run here.
fn ptxas() -> Result<PathBuf> {
    let python = python::interpreter()?;
    let wanted = format!("{PACKAGE}=={VERSION}");
    let installed = Shell::new(&python).args(["-m", "pip", "show", PACKAGE]).finish(None)?;
    if !installed.stdout.lines().any(|line| line == format!("Version: {VERSION}")) {
        println!("installing {wanted}");
        Shell::new(&python).args(["-m", "pip", "install", "--quiet", &wanted]).run()?;
    }
    let program = "import nvidia, pathlib; print(pathlib.Path(list(nvidia.__path__)[0]) / 'cu13/bin/ptxas')";
    let ptxas = PathBuf::from(Shell::new(&python).args(["-c", program]).read()?.trim());
    Shell::new(&ptxas).args(["--version"]).read()?;
    Ok(ptxas)
}

fn job(folder: &Path, kind: &str, module: &Module, reads_only: bool) -> Result<Job> {
    let target = module.target.text().to_string();
    let file = folder.join(format!("{kind}_{target}_{}.ptx", module.version()));
    fs::write(&file, print(module)?)?;
    Ok(Job { file, target, reads_only })
}

/// The files that the tests of `isa-ptx` read and print.
fn test_files() -> Result<Vec<Job>> {
    let folder = workspace::root().join("crates/isa-ptx/tests/ptx");
    let mut jobs = Vec::new();
    for file in workspace::files_with_extension(&folder, "ptx")? {
        let text = fs::read_to_string(&file)?;
        let target = text.lines().find_map(|line| line.strip_prefix(".target "));
        let target = target.with_context(|| format!("{} has no `.target`", file.display()))?.to_string();
        jobs.push(Job { file, target, reads_only: false });
    }
    Ok(jobs)
}

fn assembles(ptxas: &Path, job: &Job) -> Result<bool> {
    // A virtual architecture is read and checked, and no code is made.
    let arch = if job.reads_only { job.target.replace("sm_", "compute_") } else { job.target.clone() };
    let finished =
        Shell::new(ptxas).args(["-O0", "-o", "/dev/null", "-arch", &arch]).arg(&job.file).finish(None)?;
    if !finished.success() {
        println!("{}: {}", job.file.display(), finished.stderr.trim());
    }
    Ok(finished.success())
}
