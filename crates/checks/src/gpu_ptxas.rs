//! `gpu-ptxas [--seed S] [--random N] [--only PREFIX]`: NVIDIA's assembler takes what `isa-ptx` prints, and makes of the
//! kernel list what it should (`kernels.rs`); with `--only` just those rows of it.
//! For each target every kind of instruction, every word of its opcode and every sort of its operands, each in a module
//! of the lowest version that is said to do; the PTX files of the tests; and N random instructions, read only.

mod kernels;
pub mod tools;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;
use tegula_base::random::SplitMix64;
use tegula_isa_ptx::key::Key;
use tegula_isa_ptx::{Module, Target, print, sample};

use tools::{PTXAS_VERSION, Tools};

const N_RANDOM: usize = 2_000;

/// A file for the assembler, and whether code is made of it or it is only read.
struct Job {
    file: PathBuf,
    target: String,
    reads_only: bool,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let part = Part::asked(args)?;
    let seed = number(args, "--seed")?.unwrap_or(1);
    let n_random = number(args, "--random")?.map_or(N_RANDOM, |count| count as usize);
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(error) => {
            println!("no ptxas: {error:#}");
            return Ok(Outcome::skip(&format!("no ptxas {PTXAS_VERSION}")));
        }
    };
    let folder = workspace::target().join("gpu-ptxas");
    fs::create_dir_all(&folder)?;
    let prefix = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    let of_list = kernels::check(&tools, &folder.join("kernels"), prefix.map_or("", String::as_str), part)?;
    let with_list = |outcome: Outcome| {
        let outcome = outcome.with("ptxas", PTXAS_VERSION).with("kernels", of_list.kernels);
        let outcome = outcome
            .with("rows_refused", of_list.refused)
            .with("broken", of_list.broken)
            .with("open", of_list.open);
        outcome.with("changed", of_list.changed)
    };
    let list_holds = of_list.kernels > 0 && of_list.refused + of_list.broken + of_list.changed == 0;
    if prefix.is_some() {
        return Ok(with_list(Outcome::pass_if(list_holds)));
    }
    println!("seed {seed}");
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
    let jobs = part.take(jobs);
    let mut refused = 0;
    for job in &jobs {
        refused += usize::from(!assembles(&tools.ptxas, job)?);
    }
    Ok(with_list(Outcome::pass_if(refused == 0 && n_forms > 0 && list_holds))
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
