//! What can be asked on the command line.

use crate::predict::FactValue;
use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;
use tegula::device::Target;
use tegula::{Hardware, SessionOptions};
use tegula_base::Diagnostic;

/// Compiles deep-learning models for inference, and runs them.
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
    /// Compile a model to a package, or print one level of its IR.
    Compile(CompileArgs),
    /// Measure the run time of a model or package, and of each kernel.
    Bench(BenchArgs),
    /// Measure other tile sizes for matrix products and convolutions on this processor, and record the faster ones.
    Tune(TuneArgs),
    /// Compare the compiled model with the reference evaluator, as a whole and kernel by kernel.
    Check(CheckArgs),
    /// Find the compiler pass and the rewrite that change a model's results.
    Bisect(BisectArgs),
    /// Shrink a model to a small program on which a command still fails in the same way.
    Reduce(ReduceArgs),
    /// Compare two packages or models: the launches that differ, and their cost.
    Diff(DiffArgs),
    /// Show the contents of a package.
    Inspect(InspectArgs),
    /// Run compiler passes on a program or model, and print the result.
    Opt(OptArgs),
    /// Predict time, bytes and bounds of a model on machines that need not be here.
    Predict(PredictArgs),
    /// Explain each kernel: which ops are fused, with which layout, and why.
    Explain(ExplainArgs),
    /// Verify all checksums of a package, those of the weights included.
    Verify(PackageArgs),
    /// Show this processor, or the machine classes.
    Machine(MachineArgs),
    /// List the devices that can run kernels.
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
    /// Device that runs the kernels: `cpu`; `cuda` or `gpu` (the first NVIDIA GPU); `sim-ptx` (simulates the GPU of
    /// `--machine`, default `h200`); `sim-x86` (simulates the processor of `--machine`, default `avx512-bf16-generic`);
    /// `sim-lpu` (simulates the streaming chip of `--machine`, default `tsp1`).
    #[arg(long, value_name = "cpu|cuda|sim-ptx|sim-x86|sim-lpu", value_parser = parse_target)]
    pub target: Option<Target>,
    /// Machine to compile for: a class from `tegula machine list`, or a machine file. Default: this processor or GPU.
    #[arg(long, value_name = "CLASS|FILE")]
    pub machine: Option<String>,
    /// Instruction set to use: `avx2` or `avx512`. Default: the highest of the machine.
    #[arg(long)]
    pub tier: Option<String>,
    /// Compile for the interpreter, which runs on any processor, instead of machine code.
    #[arg(long)]
    pub portable: bool,
    /// Precision of `f32` matrix products and convolutions. `bf16` rounds their operands and accumulates in `f32`; on
    /// machines without `bf16` instructions it rounds only the weights of matrix products. Streaming chips have others:
    /// `f16` rounds operands likewise, and `f16x2` splits each into two `f16`, about 21 bits, at three times the products.
    /// Default: `f32`.
    #[arg(long, value_name = "TYPE", value_parser = ["f32", "bf16", "f16", "f16x2"])]
    pub precision: Option<String>,
    /// Use the tile sizes that `tegula tune` recorded in this file.
    #[arg(long, value_name = "FILE.toml")]
    pub tuning: Option<PathBuf>,
}

/// Which part of the model, and sizes that are known.
#[derive(ClapArgs, Clone, Default)]
pub struct DimOptions {
    /// Compute this intermediate value, by its ONNX name, instead of the model's outputs. May be repeated.
    #[arg(long = "result", value_name = "NAME")]
    pub results: Vec<String>,
    /// Fix a dynamic dim to a size: `seq=128`. May be repeated.
    #[arg(long = "dim", value_name = "NAME=N", value_parser = parse_dim)]
    pub dims: Vec<(String, i64)>,
    /// Make this initializer an input that callers may give; its value is the default. May be repeated.
    #[arg(long, value_name = "NAME")]
    pub overridable: Vec<String>,
    /// Stop a run at an index outside of its axis, with the node, the index and the extent; otherwise gathers and scatters
    /// take the nearest valid one.
    #[arg(long)]
    pub checked: bool,
}

/// Where passes start, and how much they tell.
#[derive(ClapArgs, Clone, Default)]
pub struct PassOptions {
    /// Print what passes do, to stderr. Rules, separated by commas: `pass`, `remark`, `ir`, `tensor=pass`, `tensor:cse=ir`.
    #[arg(long, value_name = "RULES", num_args = 0..=1, default_missing_value = "pass")]
    pub trace: Option<String>,
    /// Start at this pass. The input must be the result of the passes before it.
    #[arg(long, value_name = "PASS")]
    pub start_from: Option<String>,
}

/// How kernels and a package are made.
#[derive(ClapArgs, Clone, Default)]
pub struct BuildOptions {
    /// Number of compiler threads. Default: all cores that the process may use.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub compile_threads: Option<usize>,
    /// Verify the IR after each pass.
    #[arg(long)]
    pub verify_passes: bool,
    /// Write an output into the memory of an input, such as a KV cache: `past.0.key=present.0.key`. May be repeated.
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
    /// Value of an input: `NAME=FILE.npy`, or `random`, `zeros`, `ones` or a number for all elements. Default: `random`. May be repeated.
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
    /// Write `/tmp/perf-PID.map`, so that Linux's `perf` shows kernel names.
    #[arg(long)]
    pub perf_map: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Folder to write each output to, as `NAME.npy`.
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Run the model in the reference evaluator instead of compiling it.
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
    /// Print one level of the IR instead: tensor, kernels, tile, host, schedule, asm, tileir, mlir.
    #[arg(long, value_name = "LEVEL", conflicts_with = "debug_plan")]
    pub emit: Option<String>,
    /// Code for GPU kernels: `ptx`, or `tileir`. `tileir` writes a file of CUDA Tile IR per kernel to the folder `-o`,
    /// and cubins if `tileiras` is in `PATH`.
    #[arg(long, value_name = "NAME", value_parser = ["ptx", "tileir"], conflicts_with_all = ["emit", "debug_plan", "stop_after", "trace_file", "json"])]
    pub gpu_backend: Option<String>,
    /// Print the memory plan: buffers, lifetimes, offsets.
    #[arg(long)]
    pub debug_plan: bool,
    /// Stop after this pass, `cse` or `tensor:cse`. Without `-o`, print the program at that point.
    #[arg(long, value_name = "PASS")]
    pub stop_after: Option<String>,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Write passes as Chrome trace events, for Perfetto.
    #[arg(long, value_name = "FILE.json")]
    pub trace_file: Option<PathBuf>,
    /// Print package size and pass times as JSON.
    #[arg(long, conflicts_with_all = ["emit", "debug_plan"], requires = "output")]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Threads {
    /// Number of threads of a run. Default: the cores of one NUMA node that the process may use.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    threads: Option<usize>,
    /// Largest memory, in bytes, for tensors that grow in a loop if the model gives no bound. Default: 1 GiB.
    #[arg(long, value_name = "BYTES", value_parser = parse_count)]
    limit_growth: Option<usize>,
}

impl Threads {
    pub fn session_options(&self, hardware: Hardware) -> SessionOptions {
        let limit_growth = self.limit_growth.map(|bytes| bytes as u64);
        SessionOptions { limit_growth, ..tegula::session_options(self.count(), hardware) }
    }

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
    /// Write `/tmp/perf-PID.map`, so that Linux's `perf` shows kernel names.
    #[arg(long)]
    pub perf_map: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Number of timed runs.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 30)]
    pub runs: usize,
    /// For scripts that time runs on demand: print `ready NS` (nanoseconds until loaded), then for each line `run N` of stdin print N run times.
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
    /// The record to write, an input of `--tuning`.
    #[arg(short, long, value_name = "FILE.toml")]
    pub output: PathBuf,
    /// Machine class or machine file of this processor. Default: its class.
    #[arg(long, value_name = "CLASS|FILE")]
    pub machine: Option<String>,
    /// Instruction set to use: `avx2` or `avx512`. Default: the highest of the machine.
    #[arg(long)]
    pub tier: Option<String>,
    /// Precision of `f32` matrix products and convolutions, as for `tegula compile`.
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
    /// Runs of each candidate, interleaved with runs of the default.
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
    /// Compare with the `NAME.npy` files of this folder instead of the evaluator's outputs.
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
    /// Write the input of the guilty pass to this file.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct ReduceArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// Shell command that fails because of the fault; `{}` stands for the program's file, at the end if omitted. A smaller
    /// program counts if the command ends with the same exit status and the same `error[...]`. Default: `tegula check {}`.
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,
    /// Text that the command must also print; it excludes other faults.
    #[arg(long, value_name = "TEXT")]
    pub says: Option<String>,
    /// The file to write. Default: stdout.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
    /// Maximal number of programs to try.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value_t = 1000)]
    pub attempts: usize,
    #[command(flatten)]
    pub dims: DimOptions,
}

#[derive(ClapArgs)]
pub struct DiffArgs {
    /// A package (`.tgl`), or a model (`.onnx`, `.mlir`) to compile.
    #[arg(value_name = "A")]
    pub left: PathBuf,
    /// The package or model to compare with.
    #[arg(value_name = "B")]
    pub right: PathBuf,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Show every group of launches that differs, instead of the costliest 20.
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
    /// Write an HTML page: the graph of launches, memory over time, kernels with predicted times and bounds.
    #[arg(long, value_name = "FILE.html", conflicts_with = "json")]
    pub html: Option<PathBuf>,
    /// Size of a dynamic dim on the page: `seq=128`. May be repeated.
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
    /// A program as text (`.mlir`), or a model (`.onnx`).
    #[arg(required_unless_present = "list")]
    pub file: Option<PathBuf>,
    /// Run only this pass. May be repeated. Default: the whole tensor pipeline.
    #[arg(long = "pass", value_name = "PASS", conflicts_with_all = ["start_from", "stop_after"])]
    pub passes: Vec<String>,
    /// The file to write. Default: stdout.
    #[arg(short, long, value_name = "FILE.mlir")]
    pub output: Option<PathBuf>,
    /// List the passes instead.
    #[arg(long, conflicts_with_all = ["passes", "start_from", "stop_after", "trace", "dims", "results"])]
    pub list: bool,
    /// Stop after this pass.
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
    /// Show only the kernel of this name, or the one that computes this ONNX node.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    #[command(flatten)]
    pub compile: CompileOptions,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct PredictArgs {
    /// A model (`.onnx`), or a program as text (`.mlir`).
    pub model: PathBuf,
    /// Machines to predict for: classes from `tegula machine list`, or machine files. May be repeated. Default: this
    /// processor.
    #[arg(long = "machine", value_name = "CLASS|FILE", value_delimiter = ',')]
    pub machines: Vec<String>,
    /// Also predict with other values of facts of each machine: `l2=524288,2097152`, or `core_l2_line,core_l3_line=0.5x,2x`
    /// for so many times the machine's own. Facts before the `=` change together. May be repeated.
    #[arg(long, value_name = "FACT[,FACT]=A,B,C", value_parser = parse_vary)]
    pub vary: Vec<Vary>,
    /// Also show how the time changes with each fact of a machine. The model is compiled twice for each fact: a large model
    /// takes minutes.
    #[arg(long, conflicts_with = "csv")]
    pub sensitivities: bool,
    /// Precision of `f32` matrix products and convolutions, as for `tegula compile`.
    #[arg(long, value_name = "TYPE", value_parser = ["f32", "bf16", "f16", "f16x2"])]
    pub precision: Option<String>,
    #[command(flatten)]
    pub dims: DimOptions,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print a table of kernels as CSV.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a page for a browser: machines side by side, kernels, what each fact changes.
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["json", "csv"])]
    pub html: Option<PathBuf>,
}

/// Facts, and the values that they get one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    pub facts: Vec<String>,
    pub values: Vec<FactValue>,
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
    /// Show this processor and its machine class.
    Probe {
        /// Also measure clock, peak arithmetic and memory bandwidth (takes a second).
        #[arg(long)]
        measure: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the machine classes.
    List {
        /// Print JSON: also cores, caches and rates.
        #[arg(long)]
        json: bool,
    },
    /// Print the machine file of a class. To describe a machine of your own, copy it, give it another `name`, and change facts.
    Show {
        /// A class from `tegula machine list`, or a machine file.
        #[arg(value_name = "CLASS|FILE")]
        machine: String,
    },
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number of at least 1".into()),
        Ok(count) => Ok(count),
    }
}

fn parse_named(text: &str) -> Result<(String, String), String> {
    // Names may hold `=`; files seldom do.
    match text.rsplit_once('=') {
        Some((name, source)) if !name.is_empty() && !source.is_empty() => Ok((name.into(), source.into())),
        _ => Err("expected `NAME=FILE.npy|random|zeros|ones|NUMBER`".into()),
    }
}

fn parse_vary(text: &str) -> Result<Vary, String> {
    let (facts, values) = text.split_once('=').ok_or("expected `FACT=VALUE`")?;
    let value = |text: &str| {
        let (number, times) = text.strip_suffix('x').map_or((text, false), |number| (number, true));
        match number.parse::<f64>() {
            Ok(number) if number.is_finite() && times => Ok(FactValue::Times(number)),
            Ok(number) if number.is_finite() => Ok(FactValue::Is(number)),
            _ => Err(format!("`{text}` is no number, and no number with `x`")),
        }
    };
    Ok(Vary {
        facts: facts.split(',').map(|fact| fact.trim().to_string()).collect(),
        values: values.split(',').map(|text| value(text.trim())).collect::<Result<_, _>>()?,
    })
}

/// `past.0.key=present.0.key`.
fn parse_alias(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((input, output)) if !input.is_empty() && !output.is_empty() => {
            Ok((input.to_string(), output.to_string()))
        }
        _ => Err("expected `INPUT=OUTPUT`".to_string()),
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
    let (name, value) = text.split_once('=').ok_or("expected `NAME=N`")?;
    let value: i64 = value.trim().parse().map_err(|_| format!("`{value}` is not a size"))?;
    if name.trim().is_empty() || value < 0 {
        return Err("expected `NAME=N` with N at least 0".into());
    }
    Ok((name.trim().into(), value))
}
