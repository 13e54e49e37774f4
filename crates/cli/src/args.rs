//! What can be asked on the command line.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;
use tegula::device::Target;
use tegula_base::Diagnostic;

/// Deep-learning inference: compiles a model to one small package and runs it.
#[derive(Parser)]
#[command(name = "tegula", version, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a model or package once and show its outputs.
    Run(RunArgs),
    /// Compile a model to a package, or show it on one level.
    Compile(CompileArgs),
    /// Time a model or package, whole and by kernel.
    Bench(BenchArgs),
    /// Measure other tiles for a model's contractions on this processor, and record what is faster.
    Tune(TuneArgs),
    /// Compare the compiled model with the reference evaluator, then kernel by kernel.
    Check(CheckArgs),
    /// Find the pass, and the rewrite in it, that changes what a model means.
    Bisect(BisectArgs),
    /// Make a model small on which a command still fails as it does on the whole.
    Reduce(ReduceArgs),
    /// Say what differs between two packages or models, and what it costs.
    Diff(DiffArgs),
    /// Show what a package holds.
    Inspect(InspectArgs),
    /// Run passes on a program given as text and print it.
    Opt(OptArgs),
    /// Say why the model was compiled as it was.
    Explain(ExplainArgs),
    /// Check a package whole, weights included.
    Verify(PackageArgs),
    /// Describe machines.
    Machine(MachineArgs),
    /// List what there is to run kernels on.
    Targets(TargetsArgs),
}

/// How a model is compiled, by the commands that compile it whole. A command has only the switches that it honours.
#[derive(ClapArgs, Clone, Default)]
pub struct CompileOptions {
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub dims: DimOptions,
    #[command(flatten)]
    pub passes: PassOptions,
    #[command(flatten)]
    pub build: BuildOptions,
}

/// What to compile for.
#[derive(ClapArgs, Clone, Default)]
pub struct TargetOptions {
    /// Who runs the kernels: `cpu`; `cuda` or `gpu`, the first NVIDIA GPU; `sim-ptx`, an NVIDIA GPU (`--machine`, default
    /// `h200`) that is interpreted; or `sim-x86`, an x86-64 processor (default `avx512-bf16-generic`) that is interpreted.
    #[arg(long, value_name = "cpu|cuda|sim-ptx|sim-x86", value_parser = parse_target)]
    pub target: Option<Target>,
    /// A machine class, or a machine file; default: the class that fits this processor or GPU.
    #[arg(long, value_name = "CLASS|FILE")]
    pub machine: Option<String>,
    /// Instruction set tier of the machine: `avx2` or `avx512`.
    #[arg(long)]
    pub tier: Option<String>,
    /// Compile kernels for the interpreter instead of machine code.
    #[arg(long)]
    pub portable: bool,
    /// What products of 32-bit floats are computed in: `f32`, or `bf16`, which rounds factors to 16 bits as far as the
    /// machine multiplies such, weights of matrix products elsewhere, and keeps sums.
    #[arg(long, value_name = "TYPE", value_parser = ["f32", "bf16"])]
    pub precision: Option<String>,
    /// Tiles of contractions that `tegula tune` measured, in place of those chosen without measuring.
    #[arg(long, value_name = "FILE.toml")]
    pub tuning: Option<PathBuf>,
}

/// Which part of the model, and sizes that are known.
#[derive(ClapArgs, Clone, Default)]
pub struct DimOptions {
    /// Compute this value of the model instead of its outputs, by its ONNX name. May be repeated.
    #[arg(long = "result", value_name = "NAME")]
    pub results: Vec<String>,
    /// Fix a named dim: `seq=128`. May be repeated.
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub dims: Vec<(String, i64)>,
}

/// Where passes start, and how much they tell.
#[derive(ClapArgs, Clone, Default)]
pub struct PassOptions {
    /// Say what passes do: `pass`, `remark`, `ir`, `tensor=pass`, `tensor:cse=ir`, several by comma.
    #[arg(long, value_name = "RULES", num_args = 0..=1, default_missing_value = "pass")]
    pub trace: Option<String>,
    /// The first pass to run; the model is what the passes before it leave.
    #[arg(long, value_name = "PASS")]
    pub start_from: Option<String>,
}

/// How kernels and a package are made.
#[derive(ClapArgs, Clone, Default)]
pub struct BuildOptions {
    /// Threads that compile; default: as many as the process may use.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub compile_threads: Option<usize>,
    /// Verify the program after each pass.
    #[arg(long)]
    pub verify_passes: bool,
    /// Keep an output in the memory of an input, which is then written: `past.0.key=present.0.key`. May be repeated.
    #[arg(long = "alias", value_name = "INPUT=OUTPUT", value_parser = parse_alias)]
    pub aliases: Vec<(String, String)>,
}

impl CompileOptions {
    /// Without the name of who runs the kernels, which a package may be given, too.
    pub fn without_target(&self) -> CompileOptions {
        let target = TargetOptions { target: None, ..self.target.clone() };
        CompileOptions { target, ..self.clone() }
    }

    /// Errors: switches that were given where nothing is compiled, for the reason given. Dims are none of them: a
    /// package's inputs and an imported model have sizes too.
    pub fn refuse(&self, reason: &str) -> Result<(), Diagnostic> {
        let CompileOptions { target, dims: _, passes, build } = self;
        let switches = [
            ("--target", target.target.is_some()),
            ("--machine", target.machine.is_some()),
            ("--tier", target.tier.is_some()),
            ("--portable", target.portable),
            ("--precision", target.precision.is_some()),
            ("--tuning", target.tuning.is_some()),
            ("--compile-threads", build.compile_threads.is_some()),
            ("--trace", passes.trace.is_some()),
            ("--start-from", passes.start_from.is_some()),
            ("--verify-passes", build.verify_passes),
            ("--alias", !build.aliases.is_empty()),
        ];
        refuse(reason, &switches)
    }
}

/// Errors: the switches that were given.
pub fn refuse(reason: &str, switches: &[(&str, bool)]) -> Result<(), Diagnostic> {
    let given: Vec<String> =
        switches.iter().filter(|(_, given)| *given).map(|(name, _)| format!("`{name}`")).collect();
    match given.is_empty() {
        true => Ok(()),
        false => {
            Err(Diagnostic::error("bad-option", format!("{reason}: {} cannot change it", given.join(", "))))
        }
    }
}

/// Where inputs come from.
#[derive(ClapArgs, Clone, Default)]
pub struct InputOptions {
    /// `NAME=FILE.npy`, `NAME=random`, `NAME=zeros`, `NAME=ones` or `NAME=NUMBER`, which all elements are; inputs that are not named are random.
    #[arg(long = "input", value_name = "NAME=SOURCE", value_parser = parse_named)]
    pub inputs: Vec<(String, String)>,
}

#[derive(ClapArgs)]
pub struct RunArgs {
    /// A model (`.onnx`, `.mlir`) or a package (`.tgl`).
    pub file: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Write passes and launches as Chrome trace events, for Perfetto.
    #[arg(long, value_name = "FILE.json")]
    pub trace_file: Option<PathBuf>,
    /// Write `/tmp/perf-PID.map`, by which Linux's `perf` names kernels.
    #[arg(long)]
    pub perf_map: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Write each output here as `.npy`.
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Evaluate the model by the reference evaluator instead of compiling it.
    #[arg(long, conflicts_with_all = ["trace_file", "perf_map", "threads"])]
    pub evaluator: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct CompileArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// The package to write.
    #[arg(short, long, value_name = "FILE.tgl")]
    pub output: Option<PathBuf>,
    /// Print one level instead: tensor, kernels, tile, host, schedule, asm, tileir, mlir.
    #[arg(long, value_name = "LEVEL", conflicts_with = "debug_plan")]
    pub emit: Option<String>,
    /// How kernels for a GPU are made: `ptx`, or `tileir`: CUDA Tile IR, and cubins where `tileiras` is in PATH, each
    /// kernel a file of the folder `-o`.
    #[arg(long, value_name = "NAME", value_parser = ["ptx", "tileir"], conflicts_with_all = ["emit", "debug_plan", "stop_after", "trace_file", "json"])]
    pub gpu_backend: Option<String>,
    /// Print buffers, their lifetimes and places.
    #[arg(long)]
    pub debug_plan: bool,
    /// The last pass to run, `cse` or `tensor:cse`; what it leaves is printed where no output is named.
    #[arg(long, value_name = "PASS")]
    pub stop_after: Option<String>,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Write passes as Chrome trace events, for Perfetto.
    #[arg(long, value_name = "FILE.json")]
    pub trace_file: Option<PathBuf>,
    /// Print JSON about the package that is written.
    #[arg(long, conflicts_with_all = ["emit", "debug_plan"], requires = "output")]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Threads {
    /// Threads that share a run; default: one a core that the process may use, of one NUMA node.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    threads: Option<usize>,
}

impl Threads {
    pub fn count(&self) -> usize {
        self.threads.unwrap_or_else(tegula::default_threads)
    }
}

#[derive(ClapArgs)]
pub struct BenchArgs {
    /// A model or a package.
    pub file: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Write passes and launches as Chrome trace events, for Perfetto.
    #[arg(long, value_name = "FILE.json")]
    pub trace_file: Option<PathBuf>,
    /// Write `/tmp/perf-PID.map`, by which Linux's `perf` names kernels.
    #[arg(long)]
    pub perf_map: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Timed runs.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 30)]
    pub runs: usize,
    /// Say `ready NS` (nanoseconds from the file to a session), then answer each line `run N` on stdin with N run times.
    #[arg(long, conflicts_with_all = ["runs", "json", "trace_file"])]
    pub serve_rounds: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct TuneArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// The record to write, for `--tuning`.
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: PathBuf,
    /// A machine class or a machine file of this processor; default: the class that fits it.
    #[arg(long, value_name = "CLASS|FILE")]
    pub machine: Option<String>,
    /// Instruction set tier of the machine: `avx2` or `avx512`.
    #[arg(long)]
    pub tier: Option<String>,
    /// What products of 32-bit floats are computed in: `f32` or `bf16`.
    #[arg(long, value_name = "TYPE", value_parser = ["f32", "bf16"])]
    pub precision: Option<String>,
    #[command(flatten)]
    pub dims: DimOptions,
    #[command(flatten)]
    pub build: BuildOptions,
    #[command(flatten)]
    pub inputs: InputOptions,
    #[command(flatten)]
    pub threads: Threads,
    /// Runs of each package that is tried, in turns with the usual one.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 15)]
    pub rounds: usize,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct CheckArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Compare with `NAME.npy` files of this folder instead of the evaluator's outputs.
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct BisectArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    #[command(flatten)]
    pub inputs: InputOptions,
    /// Write the program before the pass that is found here.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct ReduceArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// The shell command that shows the fault by failing: `{}` in it stands for the file of a program as text, which is
    /// put at its end where there is none. A smaller program shows the fault where the command ends in the same way:
    /// with that exit status, and the same `error[...]` if it prints one. Default: `tegula check {}`.
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,
    /// What the command must also print, so that no other fault takes the place of this one.
    #[arg(long, value_name = "TEXT")]
    pub says: Option<String>,
    /// The program to write; default: it is printed.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
    /// Programs to try at most.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 1000)]
    pub attempts: usize,
    #[command(flatten)]
    pub dims: DimOptions,
}

#[derive(ClapArgs)]
pub struct DiffArgs {
    /// A package (`.tgl`), or a model (`.onnx`, `.mlir`), which is compiled.
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// Likewise.
    #[arg(value_name = "B")]
    pub right: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Show every group of launches that differs, not the costliest 20.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct InspectArgs {
    /// A package (`.tgl`).
    pub package: PathBuf,
    /// Write one page for a browser: launches and what flows between them, memory over time, kernels and their bounds.
    #[arg(long, value_name = "FILE.html", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// The size of a named dim for the page: `seq=128`. May be repeated.
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim, requires = "html")]
    pub dims: Vec<(String, i64)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct PackageArgs {
    /// A package (`.tgl`).
    pub package: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct OptArgs {
    /// A program as text, or a model; `--list` reads none.
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// A pass to run, by name; may be repeated. Default: the whole tensor pipeline.
    #[arg(long = "pass", value_name = "PASS", conflicts_with_all = ["start_from", "stop_after"])]
    pub passes: Vec<String>,
    /// Write here instead of printing.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
    /// List the passes and stop.
    #[arg(long, conflicts_with_all = ["passes", "start_from", "stop_after", "trace", "dims", "results"])]
    pub list: bool,
    /// The last pass to run.
    #[arg(long, value_name = "PASS")]
    pub stop_after: Option<String>,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub dims: DimOptions,
    #[command(flatten)]
    pub pass_options: PassOptions,
}

#[derive(ClapArgs)]
pub struct ExplainArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// Only the kernel of this node, or the kernel of this name as `bench` and `inspect` print it.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct MachineArgs {
    #[command(subcommand)]
    pub command: MachineCommand,
}

#[derive(ClapArgs)]
pub struct TargetsArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Subcommand)]
pub enum MachineCommand {
    /// Say what this processor is and which class fits it.
    Probe {
        /// Measure its clock, its arithmetic on registers alone and its reads of memory as well (a second).
        #[arg(long)]
        measure: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the machine classes.
    List,
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number, 1 or more, is expected".into()),
        Ok(count) => Ok(count),
    }
}

fn parse_named(text: &str) -> Result<(String, String), String> {
    // Names may hold `=`; files seldom do.
    match text.rsplit_once('=') {
        Some((name, source)) if !name.is_empty() && !source.is_empty() => Ok((name.into(), source.into())),
        _ => Err("`NAME=FILE.npy|random|zeros|ones|NUMBER` is expected".into()),
    }
}

/// `past.0.key=present.0.key`.
fn parse_alias(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((input, output)) if !input.is_empty() && !output.is_empty() => {
            Ok((input.to_string(), output.to_string()))
        }
        _ => Err("an alias is INPUT=OUTPUT".to_string()),
    }
}

/// Who asks for a GPU means the first NVIDIA one.
fn parse_target(text: &str) -> Result<Target, String> {
    if text == "gpu" {
        return Ok(Target::Cuda);
    }
    text.parse().map_err(|_| format!("the targets are {} (or gpu)", Target::ALL.map(Target::name).join(", ")))
}

fn parse_dim(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("`NAME=N` is expected")?;
    let value: i64 = value.trim().parse().map_err(|_| format!("`{value}` is no size"))?;
    if name.trim().is_empty() || value < 0 {
        return Err("`NAME=N` with N at least 0 is expected".into());
    }
    Ok((name.trim().into(), value))
}
