//! The built `tegula` binary as the checks use it: every flag and JSON key they rely on is named here.
//! A run that fails says which way: refused (status 1, a diagnostic), or crashed (anything else).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::shell::{Finished, Shell};
use crate::workspace;

/// Longer than any check may need; a run beyond it counts as hung.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// How a run ended without outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// With a diagnostic, whose first line this is.
    Refused(String),
    /// By a signal, a panic, a time limit.
    Crashed(String),
}

/// The binary as it was built.
#[derive(Clone)]
pub struct Tegula {
    binary: PathBuf,
    /// What models are compiled for; none: the processor's own tier and class.
    tier: Option<String>,
    machine: Option<String>,
    /// Kernels run on the simulator: this processor lacks instructions.
    simulated: bool,
    /// What models' products of floats are computed in; none: as they say.
    precision: Option<String>,
}

/// How one run differs from the default.
#[derive(Clone, Copy, Default)]
pub struct RunOptions {
    /// 0: the program's own choice.
    pub threads: usize,
    /// The reference evaluator instead of compiled code.
    pub evaluator: bool,
    /// Seconds after which the run counts as hung; 0: `TIME_LIMIT`.
    pub limit_s: u64,
}

/// What `run --json` reports of itself.
#[derive(Debug, Deserialize)]
pub struct RunReport {
    pub outputs: Vec<RunOutput>,
    /// Bytes of the arena of intermediate values at the bound sizes.
    #[serde(default)]
    pub arena_bytes: u64,
    #[serde(default)]
    pub compile_ns: u64,
    #[serde(default)]
    pub load_ns: u64,
    #[serde(default)]
    pub run_ns: u64,
    pub launches: Option<Launches>,
}

/// How the launches of a run were carried out, counted while it ran.
#[derive(Debug, Deserialize)]
pub struct Launches {
    /// As machine code of the package.
    pub emitted: u64,
    /// By the interpreter of schedules.
    pub portable: u64,
    /// As native Rust, by the kernel's name.
    pub native: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
pub struct RunOutput {
    pub name: String,
    /// Where `--output-dir` put it.
    pub file: Option<PathBuf>,
}

impl RunOutput {
    /// Where the output lies: as reported, or by the rule for names.
    pub fn path_in(&self, output_dir: &Path) -> PathBuf {
        self.file.clone().unwrap_or_else(|| output_dir.join(format!("{}.npy", safe_name(&self.name))))
    }
}

/// What `compile --json` reports.
#[derive(Debug, Deserialize)]
pub struct CompileReport {
    pub passes: Vec<PassTime>,
}

#[derive(Debug, Deserialize)]
pub struct PassTime {
    pub name: String,
    pub ns: u64,
}

/// What `bench --json` reports.
#[derive(Debug, Deserialize)]
pub struct BenchReport {
    /// From the model's bytes to the package's.
    pub compile_ns: u64,
    /// From the package's bytes to a session that is ready to launch.
    pub load_ns: u64,
    pub kernels: Vec<BenchKernel>,
}

/// All launches of one kernel in a run.
#[derive(Debug, Deserialize)]
pub struct BenchKernel {
    pub name: String,
    pub nodes: Vec<String>,
    pub class: String,
    pub launches: usize,
    pub ns: f64,
    pub bytes: f64,
    pub flops: f64,
    pub predicted_ns: f64,
    pub bound: String,
}

impl Tegula {
    pub fn build() -> Result<Tegula> {
        let binary = workspace::build_tegula()?;
        Ok(Tegula { binary, tier: None, machine: None, simulated: false, precision: None })
    }

    /// Models are compiled for a tier below the processor's.
    pub fn for_tier(self, tier: Option<String>) -> Tegula {
        Tegula { tier, ..self }
    }

    /// Models are compiled for products in a type of floats.
    pub fn with_precision(&self, precision: &str) -> Tegula {
        Tegula { precision: Some(precision.to_string()), ..self.clone() }
    }

    /// Models are compiled for a machine class, whose instructions are simulated where this processor lacks some.
    pub fn for_class(&self, class: &str, simulated: bool) -> Tegula {
        Tegula { machine: Some(class.to_string()), simulated, ..self.clone() }
    }

    pub fn command(&self) -> Shell {
        Shell::new(&self.binary)
    }

    /// A verb on a model or package; packages are compiled already.
    fn compiling(&self, verb: &str, file: &Path) -> Shell {
        let mut command = self.command().arg(verb).arg(file);
        if file.extension().is_none_or(|extension| extension != "tgl") {
            for (option, value) in
                [("--tier", &self.tier), ("--machine", &self.machine), ("--precision", &self.precision)]
            {
                if let Some(value) = value {
                    command = command.arg(option).arg(value);
                }
            }
        }
        command
    }

    pub fn compile(&self, model: &Path, package: &Path) -> Result<CompileReport> {
        let args = self.compiling("compile", model).arg("-o").arg(package).arg("--json");
        let text = args.read().with_context(|| format!("compiling {}", model.display()))?;
        serde_json::from_str(&text).context("`tegula compile --json` lacks a key")
    }

    /// Runs a model or package once on inputs in files; the outputs lie in `output_dir` afterwards.
    pub fn run_files(
        &self,
        model: &Path,
        inputs: &BTreeMap<String, PathBuf>,
        output_dir: &Path,
        options: RunOptions,
    ) -> Result<RunReport, RunError> {
        // Outputs of an earlier run must not pass for those of this one.
        let _ = fs::remove_dir_all(output_dir);
        fs::create_dir_all(output_dir).map_err(|error| RunError::Crashed(error.to_string()))?;
        let command = self.run_command(model, inputs, output_dir, options);
        let limit = if options.limit_s == 0 { TIME_LIMIT } else { Duration::from_secs(options.limit_s) };
        let finished =
            command.finish(Some(limit)).map_err(|error| RunError::Crashed(format!("{error:#}")))?;
        outcome(&finished)?;
        serde_json::from_str(&finished.stdout)
            .map_err(|error| RunError::Crashed(format!("`tegula run --json` printed no report: {error}")))
    }

    pub fn run_command(
        &self,
        model: &Path,
        inputs: &BTreeMap<String, PathBuf>,
        output_dir: &Path,
        options: RunOptions,
    ) -> Shell {
        let mut command =
            self.command().arg("run").arg(model).arg("--json").arg("--output-dir").arg(output_dir);
        for (name, file) in inputs {
            command = command.arg("--input").arg(format!("{name}={}", file.display()));
        }
        if options.threads > 0 {
            command = command.arg("--threads").arg(options.threads.to_string());
        }
        if options.evaluator {
            command = command.arg("--evaluator");
        }
        if self.simulated && !options.evaluator {
            command = command.args(["--target", "sim-x86"]);
        }
        command
    }

    /// One compile, load and some runs, timed from inside.
    pub fn bench(
        &self,
        model: &Path,
        inputs: &BTreeMap<String, PathBuf>,
        threads: usize,
        runs: usize,
    ) -> Result<BenchReport> {
        let mut command = self.command().arg("bench").arg(model).args(["--json", "--threads"]);
        command = command.arg(threads.to_string()).arg("--runs").arg(runs.to_string());
        for (name, file) in inputs {
            command = command.arg("--input").arg(format!("{name}={}", file.display()));
        }
        serde_json::from_str(&command.read()?).context("`tegula bench --json` lacks a key")
    }

    /// A process that answers each line `run N` with N run times in nanoseconds, after `ready NS`; see `race.rs`.
    pub fn serve_rounds(&self, model: &Path, inputs: &BTreeMap<String, PathBuf>, threads: usize) -> Shell {
        let mut command = self.compiling("bench", model).args(["--serve-rounds", "--threads"]);
        command = command.arg(threads.to_string());
        for (name, file) in inputs {
            command = command.arg("--input").arg(format!("{name}={}", file.display()));
        }
        command
    }
}

/// Splits the ways a `tegula` process can end; the reason is the diagnostic's first line.
pub fn outcome(finished: &Finished) -> Result<(), RunError> {
    match finished.code() {
        Some(0) => Ok(()),
        Some(1) => Err(RunError::Refused(first_error(&finished.stderr))),
        Some(code) => Err(RunError::Crashed(format!("status {code}: {}", first_error(&finished.stderr)))),
        None if finished.status.is_none() => Err(RunError::Crashed("time limit".to_string())),
        None => Err(RunError::Crashed("killed by a signal".to_string())),
    }
}

/// The first line that says `error`, else the first line.
pub fn first_error(stderr: &str) -> String {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or("(nothing on stderr)");
    lines.find(|line| line.starts_with("error") || line.contains("panicked")).unwrap_or(first).to_string()
}

/// How an output's name becomes a file's name.
pub fn safe_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}
