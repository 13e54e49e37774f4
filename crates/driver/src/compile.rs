//! From a model to a package: the one list of what happens.
//!
//! Before: any bytes and options.  After: a package that the runtime takes, or one report.
//! The package depends on the model, the machine description and the options alone: not on the number of compile
//! threads, the clock or the host.

use crate::levers::with_levers;
use crate::lpu::check_images;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target::{self, Chosen, Form};
use std::collections::BTreeMap;
use tegula_backend::Targets;
use tegula_base::face::Clock;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_ir::pass::{Changed, PassRecord};
use tegula_ir::pipeline::Outcome;
use tegula_ir::{PassCx, PassState, Pipeline, PrintOptions, RunOptions, Trace, print_program};
use tegula_opt::fork_loops::fork_loops;
use tegula_opt::lower_to_host::{HostModule, Kernels, compile_kernels, lower_to_host, to_package};
use tegula_opt::passes::Precision;
use tegula_opt::plan_memory::{Lifetimes, plan_memory};
use tegula_opt::update_in_place::{Alias, aliases, update_in_place};
use tegula_package::About;
use tegula_package::writer::Draft;
use tegula_tensor::TensorProgram;
use tegula_tiling::tuning::TunedTile;
use tegula_tiling::{Contract, TileMachine, contract_of};

/// What the options of a package begin with that say which tile of a record a contraction has.
const TILE: &str = "tile.";

/// A compiled model.
pub struct Compiled {
    pub stages: Stages,
    /// `None` when the compilation stopped early.
    pub package: Option<Draft>,
    /// Tiles of the tuning record that are of other contractions than the model's.
    pub unmet_tiles: usize,
}

/// What the levels look like at the end.
pub struct Stages {
    /// The last state of the tensor level: kernels, unless stopped before.
    pub tensor: TensorProgram,
    /// Between the passes that make and take them.
    kernels: Option<Kernels>,
    pub host: Option<HostModule>,
    pub lifetimes: Lifetimes,
}

impl Stages {
    /// The contraction that each launch is, with its title.
    pub(crate) fn contractions(&self, machine: &dyn TileMachine) -> Vec<Option<(String, Contract)>> {
        let (func, symbols) = (self.tensor.entry(), &self.tensor.symbols);
        let kernels = self.host.iter().flat_map(|host| &host.kernels);
        let contractions = kernels.map(|kernel| {
            let contract = contract_of(func, kernel.op?, machine, symbols)?;
            Some((contract.title(), contract))
        });
        contractions.collect()
    }
}

/// The host pipeline's state prints the level it has reached.
impl PassState for Stages {
    fn print(&self) -> String {
        match &self.host {
            Some(host) => print_program(&host.program, &PrintOptions::default()),
            None => print_program(&self.tensor, &PrintOptions::default()),
        }
    }

    fn verify(&self) -> Result<(), Diagnostics> {
        match &self.host {
            Some(host) => tegula_ir::verify_program(&host.program),
            None => tegula_ir::verify_program(&self.tensor),
        }
    }
}

/// Compiles a model. Times of import, passes and packaging are in `cx.records` when there is a clock.
/// Errors: those of its passes; what does not fit a chip names what would.
pub fn compile(
    model: &Model,
    options: &CompileOptions,
    clock: Option<&dyn Clock>,
    cx: &mut PassCx,
) -> Result<Compiled, Diagnostics> {
    let tensor = model.import_timed(&options.dims, clock, cx)?;
    let defaults = model.defaults(&options.dims)?;
    compile_with_defaults(tensor, &model.name, defaults, options, clock, cx)
        .map_err(|found| with_levers(model, options, found))
}

/// Compiles a tensor program; `name` is the model's in the manifest.
pub fn compile_program(
    tensor: TensorProgram,
    name: &str,
    options: &CompileOptions,
    clock: Option<&dyn Clock>,
    cx: &mut PassCx,
) -> Result<Compiled, Diagnostics> {
    compile_with_defaults(tensor, name, vec![], options, clock, cx)
}

/// As [`compile_program`]; `defaults` are tensors of inputs that callers may leave out.
fn compile_with_defaults(
    tensor: TensorProgram,
    name: &str,
    defaults: Vec<(String, HostTensor)>,
    options: &CompileOptions,
    clock: Option<&dyn Clock>,
    cx: &mut PassCx,
) -> Result<Compiled, Diagnostics> {
    let chosen = target::target(options)?;
    let stages = compile_tensor(tensor, chosen.targets(), options, cx)?;
    let Some(host) = &stages.host else { return Ok(Compiled { stages, package: None, unmet_tiles: 0 }) };
    if options.verify && options.machine.lpu().is_some() {
        check_images(host, &options.machine)?;
    }
    let about = about(name, options, &stages, &chosen);
    let met = about.options.keys().filter(|name| name.starts_with(TILE)).count();
    let unmet_tiles = options.tuning.as_ref().map_or(0, |tuning| tuning.contractions.len() - met);
    let package =
        timed(clock, cx, "package", "write", || to_package(host, &stages.lifetimes, about, defaults))?;
    Ok(Compiled { stages, package: Some(package), unmet_tiles })
}

/// The tensor and host pipelines. `host` is absent from the result when a pass was to be the last.
pub fn compile_tensor(
    mut tensor: TensorProgram,
    targets: Targets,
    options: &CompileOptions,
    cx: &mut PassCx,
) -> Result<Stages, Diagnostics> {
    let pipeline = tegula_opt::pipeline::tensor_pipeline(targets, options.precision);
    let aliases = aliases(tensor.entry(), &options.aliases)?;
    let host = host_pipeline(targets, options.threads, &aliases);
    let known = pass_names(targets);
    let mut found = Diagnostics::default();
    let mut find = |name: &Option<String>| {
        let name = name.as_deref()?;
        find_pass(name, &known).map_err(|unknown| found.push(unknown)).ok()
    };
    let (stop_after, start_from) = (find(&options.stop_after), find(&options.start_from));
    found.into_result(())?;
    let pass_of = |name: &str, place: Option<(&str, &str)>| {
        place.filter(|(pipeline, _)| *pipeline == name).map(|(_, pass)| pass.to_string())
    };
    let run = RunOptions {
        stop_after: pass_of(pipeline.name(), stop_after),
        start_from: start_from.map(|(_, pass)| pass.to_string()),
        verify: options.verify,
        check_claims: false,
    };
    let outcome = pipeline.run(&mut tensor, &run, cx)?;
    let mut stages = Stages { tensor, kernels: None, host: None, lifetimes: Lifetimes::default() };
    if outcome == Outcome::Stopped {
        return Ok(stages);
    }
    let run = RunOptions {
        stop_after: pass_of(host.name(), stop_after),
        start_from: None,
        verify: options.verify,
        check_claims: false,
    };
    host.run(&mut stages, &run, cx)?;
    Ok(stages)
}

/// From the kernel graph to a planned host program.
pub fn host_pipeline<'a>(targets: Targets<'a>, threads: usize, aliases: &'a [Alias]) -> Pipeline<'a, Stages> {
    Pipeline::new("host")
        // Before kernels are compiled: one that works in place is another kernel.
        .pass("update_in_place", |stages: &mut Stages, cx| {
            Ok(update_in_place(&mut stages.tensor, aliases, cx))
        })
        // Equal kernels are found and compiled together, before launches of them are written down.
        .pass("compile_kernels", move |stages: &mut Stages, cx| {
            let kernels = compile_kernels(&stages.tensor, targets, threads.max(1))?;
            cx.count("distinct", kernels.len() as u64);
            for (node, remark) in kernels.remarks(stages.tensor.entry()) {
                cx.remark_with(node, || remark.clone());
            }
            stages.kernels = Some(kernels);
            Ok(Changed::No)
        })
        .pass("lower_to_host", move |stages: &mut Stages, _| {
            let Some(kernels) = stages.kernels.take() else {
                return Err(Diagnostic::internal("no kernels were compiled").into());
            };
            stages.host = Some(lower_to_host(&stages.tensor, targets, kernels, aliases)?);
            Ok(Changed::Yes)
        })
        // Of threads; what a GPU does at once is its own affair.
        .pass("fork_loops", move |stages: &mut Stages, cx| match &mut stages.host {
            Some(host) if targets.host.machine().cpu().is_some() => {
                Ok(fork_loops(host.program.entry_mut(), cx))
            }
            _ => Ok(Changed::No),
        })
        // Last: a lifetime is a range of step numbers, which every other pass would move.
        .pass("plan_memory", |stages: &mut Stages, _| {
            if let Some(host) = &stages.host {
                stages.lifetimes = plan_memory(host.program.entry());
            }
            Ok(Changed::No)
        })
}

/// The passes in order, `(pipeline, pass)`.
pub fn pass_names(targets: Targets) -> Vec<(&'static str, &'static str)> {
    let tensor = tegula_opt::pipeline::tensor_pipeline(targets, Precision::F32);
    let host = host_pipeline(targets, 1, &[]);
    let (first, second) = (tensor.name(), host.name());
    let names = tensor.pass_names().map(|pass| (first, pass));
    names.chain(host.pass_names().map(|pass| (second, pass))).collect()
}

/// Errors: `unknown-pass`, where a rule of the trace names a pipeline or a pass that there is not.
pub fn check_trace(trace: &Trace, options: &CompileOptions) -> Result<(), Diagnostics> {
    if trace.names().all(|(pipeline, pass)| pipeline.or(pass).is_none()) {
        return Ok(());
    }
    let known = pass_names(target::target(options)?.targets());
    let mut found = Diagnostics::default();
    for (pipeline, pass) in trace.names() {
        let fits = |row: &(&str, &str)| {
            pipeline.is_none_or(|name| name == row.0) && pass.is_none_or(|name| name == row.1)
        };
        if known.iter().any(fits) {
            continue;
        }
        let place = |(pipeline, pass): &(&str, &str)| format!("{pipeline}:{pass}");
        let asked = match (pipeline, pass) {
            (Some(pipeline), None) => format!("no pipeline `{pipeline}`"),
            (pipeline, pass) => format!("no pass `{}:{}`", pipeline.unwrap_or(""), pass.unwrap_or("")),
        };
        let names: Vec<String> = known.iter().map(place).collect();
        found.push(
            Diagnostic::error("unknown-pass", format!("`--trace` names {asked}"))
                .note(format!("the pipelines and their passes are {}", names.join(", "))),
        );
    }
    found.into_result(())
}

/// The pass that `PASS` or `PIPELINE:PASS` names, out of those of [`pass_names`].
/// Errors: `unknown-pass`.
pub(crate) fn find_pass(
    name: &str,
    known: &[(&'static str, &'static str)],
) -> Result<(&'static str, &'static str), Diagnostic> {
    let (pipeline, pass) =
        name.split_once(':').map_or((None, name), |(pipeline, pass)| (Some(pipeline), pass));
    let fits = |row: &&(&str, &str)| row.1 == pass && pipeline.is_none_or(|asked| asked == row.0);
    known.iter().find(fits).copied().ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(_, pass)| *pass).collect();
        Diagnostic::error("unknown-pass", format!("there is no pass `{name}`"))
            .note(format!("the passes are {}", names.join(", ")))
    })
}

fn about(model: &str, options: &CompileOptions, stages: &Stages, chosen: &Chosen) -> About {
    let mut given = BTreeMap::new();
    for (dim, value) in &options.dims {
        given.insert(format!("dim.{dim}"), value.to_string());
    }
    for (input, output) in &options.aliases {
        given.insert(format!("alias.{output}"), input.clone());
    }
    if let Some(tier) = &options.tier {
        given.insert("tier".to_string(), tier.clone());
    }
    if let Some(device) = &options.device {
        given.insert("device".to_string(), device.clone());
    }
    if options.precision != Precision::F32 {
        given.insert("precision".to_string(), options.precision.to_string());
    }
    if let Some(tuning) = &options.tuning {
        for (title, contract) in stages.contractions(chosen.tiles()).into_iter().flatten() {
            let Some(tuned) = tuning.tile(&contract) else { continue };
            let TunedTile { rows, columns, row_tiles } = tuned.tile();
            given.insert(format!("{TILE}{title}"), format!("{rows} x {columns}, {row_tiles} a block"));
        }
    }
    if options.form == Form::Portable {
        given.insert("form".to_string(), "portable".to_string());
    }
    About {
        devices: chosen.package_device().into_iter().collect(),
        model: model.to_string(),
        tegula: env!("CARGO_PKG_VERSION").to_string(),
        machine: target::machine_id(chosen.host()),
        options: given,
    }
}

/// Runs a stage that is no pass and records its time.
fn timed<T, E>(
    clock: Option<&dyn Clock>,
    cx: &mut PassCx,
    pipeline: &str,
    pass: &str,
    stage: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let start = clock.map(Clock::now_ns);
    let result = stage()?;
    let end = clock.map(Clock::now_ns);
    cx.records.push(PassRecord {
        pipeline: pipeline.to_string(),
        pass: pass.to_string(),
        changed: Changed::Yes,
        time_ns: start.zip(end).map(|(start, end)| end.saturating_sub(start)),
        counters: BTreeMap::new(),
    });
    Ok(result)
}
