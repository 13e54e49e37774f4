//! What a package should take on its machine: the one prediction that all commands tell.
//!
//! Before: a package, and sizes of its open dims or the profile of a run.  After: time, bytes and bound of each launch, with
//! the model that they come from and why it is that one.
//! Method: machine code goes through the model of a core (`perf::cpu`) where the machine file describes cores; an image of a
//! streaming chip takes the cycles of its proof, and the way there and back; all else has the roofline that the compiler
//! recorded for its machine.

use crate::lpu::{self, OnChip, on_chips};
use crate::predict::{launches_at, predict};
use crate::sizes::AtSizes;
use crate::target::machine_of;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tegula_base::{Diagnostic, Diagnostics, Dim};
use tegula_machine::{Core, Cpu, Kind, Machine};
use tegula_package::{CodeKind, Origin, Package, SizeExpr, Step};
use tegula_runtime::RunProfile;

/// Where predicted times come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeModel {
    /// Machine code through a model of one core.
    Core,
    /// Operations over peak rate, bytes over bandwidth.
    Roofline,
}

impl TimeModel {
    pub const fn name(self) -> &'static str {
        match self {
            TimeModel::Core => "core",
            TimeModel::Roofline => "roofline",
        }
    }
}

/// The model of a forecast.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    pub machine: String,
    /// How much of the machine times are of: `one core`, or `all`.
    pub part: &'static str,
    pub model: TimeModel,
    /// Why it is this model, and what it leaves out.
    pub why: String,
}

/// As `core model of one core of zen5: its file describes the cores`.
impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} model of {} of {}: {}", self.model.name(), self.part, self.machine, self.why)
    }
}

/// What one launch should take at one thread of a CPU, or on a whole GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchForecast {
    pub kernel: u32,
    pub ns: f64,
    /// Of a streaming chip, which a run takes exactly.
    pub cycles: Option<u64>,
    /// Of memory traffic.
    pub bytes: f64,
    pub flops: f64,
    pub bound: String,
}

/// A package's launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub basis: Basis,
    /// In program order.
    pub launches: Vec<LaunchForecast>,
    /// Sizes of the inputs that were not given; 1 was taken.
    pub made_up: BTreeSet<String>,
    /// Why the model does not run at these sizes, where that is known.
    pub refusal: Option<String>,
}

/// What all launches of one kernel should take together.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelForecast {
    /// The kernel's place in the package's list.
    pub kernel: u32,
    pub launches: usize,
    pub ns: f64,
    /// Of a streaming chip.
    pub cycles: Option<u64>,
    pub bytes: f64,
    pub flops: f64,
    /// What holds the longest launch back.
    pub bound: String,
}

impl Forecast {
    /// Nanoseconds of all launches.
    pub fn ns(&self) -> f64 {
        self.launches.iter().map(|launch| launch.ns).sum()
    }

    /// Cycles of all launches on streaming chips; `None` without any.
    pub fn cycles(&self) -> Option<u64> {
        self.launches.iter().filter_map(|launch| launch.cycles).reduce(u64::saturating_add)
    }

    /// Launches summed by kernel, the longest kernel first; one that is not launched has no row.
    pub fn by_kernel(&self) -> Vec<KernelForecast> {
        let mut kernels: BTreeMap<u32, (f64, KernelForecast)> = BTreeMap::new();
        for launch in &self.launches {
            let none = || KernelForecast {
                kernel: launch.kernel,
                launches: 0,
                ns: 0.0,
                cycles: None,
                bytes: 0.0,
                flops: 0.0,
                bound: String::new(),
            };
            let (longest, kernel) = kernels.entry(launch.kernel).or_insert_with(|| (f64::MIN, none()));
            kernel.launches += 1;
            kernel.ns += launch.ns;
            if let Some(cycles) = launch.cycles {
                kernel.cycles = Some(kernel.cycles.unwrap_or(0).saturating_add(cycles));
            }
            kernel.bytes += launch.bytes;
            kernel.flops += launch.flops;
            if launch.ns > *longest {
                *longest = launch.ns;
                kernel.bound.clone_from(&launch.bound);
            }
        }
        let mut rows: Vec<KernelForecast> = kernels.into_values().map(|(_, kernel)| kernel).collect();
        rows.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        rows
    }
}

/// Predicts each launch step of a package at the sizes in `dims`, without a run; steps in branches and loops stand once.
/// Errors: internal, code that kernels do not have.
pub fn forecast(package: &Package, dims: &BTreeMap<String, i64>) -> Result<Forecast, Diagnostic> {
    let mut sizes = AtSizes::new(dims);
    let mut launches = Vec::new();
    Step::for_each(&package.program.steps, 0, &mut |_, step| {
        if let Step::Launch { kernel, .. } = step {
            launches.push(recorded(package, *kernel, &mut |dim| sizes.number(dim)));
        }
    });
    let run = RunProfile {
        launches: launches_at(package, &mut |size: &SizeExpr| Ok(sizes.number(size)))?,
        ..RunProfile::default()
    };
    let once = if is_straight(package) { "" } else { "; branches and loops count once" };
    let refusal = refusal(package, &mut sizes);
    // A user gives the sizes of inputs; the others are known to a run alone.
    let of_inputs = |name: &String| {
        let own = package.program.symbols.iter().find(|symbol| symbol.name == *name);
        own.is_some_and(|symbol| matches!(symbol.origin, Origin::Input { .. }))
    };
    sizes.made_up.retain(of_inputs);
    let chips = chips(package, &mut |dim| sizes.number(dim))?;
    let forecast = with_model(package, launches, &run, &chips, once, sizes.made_up)?;
    Ok(Forecast { refusal, ..forecast })
}

/// Predicts the launches of a run at its sizes. A program without branches, loops and computed sizes has the launches that
/// [`forecast`] knows, and so its times. Errors: as [`forecast`].
pub fn forecast_run(
    package: &Package,
    run: &RunProfile,
    dims: &BTreeMap<String, i64>,
) -> Result<Forecast, Diagnostic> {
    if is_straight(package) {
        return forecast(package, dims);
    }
    // What data decides is not known here and counts as nothing.
    let mut number = |dim: &Dim| dim.eval(&|name| dims.get(name).copied()).unwrap_or(0);
    let launches = run.launches.iter().map(|launch| recorded(package, launch.kernel, &mut number)).collect();
    let chips = chips(package, &mut number)?;
    with_model(package, launches, run, &chips, "; branches and loops count as they ran", BTreeSet::new())
}

/// What the launches on streaming chips take, by kernel. Errors: an image that is not proved, the first reason.
fn chips(
    package: &Package,
    number: &mut dyn FnMut(&Dim) -> i64,
) -> Result<BTreeMap<u32, OnChip>, Diagnostic> {
    on_chips(package, number).map_err(|found| {
        found.0.into_iter().next().unwrap_or_else(|| Diagnostic::internal("images fail without a word"))
    })
}

/// The first of the program's assertions that fails; those in branches and loops may not be reached.
fn refusal(package: &Package, sizes: &mut AtSizes) -> Option<String> {
    package.program.steps.iter().find_map(|step| match step {
        Step::Assert { cond, message } => {
            let holds = cond.op.holds(sizes.number(&cond.lhs), sizes.number(&cond.rhs));
            (!holds).then(|| message.clone())
        }
        _ => None,
    })
}

/// Whether all launches and their sizes follow from the inputs' sizes.
fn is_straight(package: &Package) -> bool {
    let mut straight = true;
    Step::for_each(&package.program.steps, 0, &mut |_, step| {
        straight &= !matches!(step, Step::If { .. } | Step::Loop { .. } | Step::Bind { .. });
    });
    straight
}

/// A launch as the compiler predicted it.
fn recorded(package: &Package, kernel: u32, number: &mut dyn FnMut(&Dim) -> i64) -> LaunchForecast {
    let cost = &package.program.kernels[kernel as usize].cost;
    let mut number = |dim: &Dim| number(dim) as f64;
    LaunchForecast {
        kernel,
        ns: number(&cost.predicted_ns),
        cycles: None,
        bytes: number(&cost.bytes),
        flops: number(&cost.flops),
        bound: cost.bound.clone(),
    }
}

fn with_model(
    package: &Package,
    mut launches: Vec<LaunchForecast>,
    run: &RunProfile,
    chips: &BTreeMap<u32, OnChip>,
    once: &str,
    made_up: BTreeSet<String>,
) -> Result<Forecast, Diagnostic> {
    let about = &package.manifest.about;
    let machine = machine_of(about);
    let is_gpu = matches!(&machine, Ok(machine) if machine.cpu().is_none());
    let on_chip = match launches.iter().filter(|launch| chips.contains_key(&launch.kernel)).count() {
        0 => String::new(),
        n => format!("; {n} launches on the chip by the cycles of their proofs, and its host link"),
    };
    let basis = |model, why: String| Basis {
        part: if is_gpu { "all" } else { "one core" },
        machine: match about.devices.iter().find(|device| device.machine.isa == lpu::ISA) {
            Some(chip) => format!("{} beside {}", about.machine.class, chip.name),
            None => about.machine.class.clone(),
        },
        model,
        why: why + &on_chip + once,
    };
    for launch in &mut launches {
        if let Some(chip) = chips.get(&launch.kernel) {
            launch.ns = chip.ns();
            launch.cycles = Some(chip.cycles);
            launch.bound = chip.bound().to_string();
        }
    }
    let kinds: Vec<CodeKind> =
        package.program.kernels.iter().map(|kernel| package.program.code_kind(&kernel.code)).collect();
    let basis = match core_of(machine.as_ref(), &kinds) {
        Err(why) => basis(TimeModel::Roofline, why),
        Ok((cpu, core)) => {
            let timed = predict(package, run, cpu, core)?;
            for (launch, timed) in launches.iter_mut().zip(timed) {
                if let Some(timed) = timed {
                    launch.ns = timed.time.0;
                    launch.bound = timed.bound.to_string();
                }
            }
            let others = launches.iter().filter(|launch| {
                launch.cycles.is_none() && kinds[launch.kernel as usize] != CodeKind::Machine
            });
            let why = match others.count() {
                0 => "its file describes the cores".to_string(),
                n => format!("its file describes the cores; {n} launches of no machine code by the roofline"),
            };
            basis(TimeModel::Core, why)
        }
    };
    let basis = Basis { why: basis.why + &idle_facts(machine.as_ref().ok(), basis.model), ..basis };
    Ok(Forecast { basis, launches, made_up, refusal: None })
}

/// Facts of a file that differ from the class of its name and change no prediction.
fn idle_facts(machine: Option<&Machine>, model: TimeModel) -> String {
    let Some((machine, class)) = machine.and_then(|own| Some((own, Machine::class(&own.name)?))) else {
        return String::new();
    };
    let own = machine
        .facts
        .iter()
        .filter(|(name, fact)| class.facts.get(*name).is_none_or(|of_class| of_class.value != fact.value));
    let idle = own.filter_map(|(name, _)| Some((name, without_effect(machine, model, name)?)));
    idle.map(|(name, why)| format!("; `{name}` has no effect: {why}")).collect()
}

/// What the model of a core needs. Errors: why there is the roofline alone.
fn core_of<'a>(
    machine: Result<&'a Machine, &Diagnostics>,
    kinds: &[CodeKind],
) -> Result<(&'a Cpu, &'a Core), String> {
    let machine = machine.map_err(|found| match found.0.first() {
        Some(first) => first.message.clone(),
        None => "its machine is not known".to_string(),
    })?;
    match &machine.kind {
        Kind::Gpu(_) => Err("a GPU has no model of its cores".to_string()),
        Kind::Lpu(_) => Err("a streaming chip has no cores".to_string()),
        Kind::Cpu(_) if !kinds.contains(&CodeKind::Machine) => Err("no launch is machine code".to_string()),
        Kind::Cpu(cpu) => {
            let core = cpu.core.as_ref().ok_or("its file has no `core_*` facts")?;
            Ok((cpu, core))
        }
    }
}

/// Why no prediction on a machine of the kind by this model reads a fact, of those that none reads.
pub fn without_effect(machine: &Machine, model: TimeModel, fact: &str) -> Option<&'static str> {
    match (&machine.kind, model) {
        (Kind::Cpu(_), _) if matches!(fact, "cores" | "launch_overhead") => {
            Some("a prediction is of one core")
        }
        (Kind::Cpu(_), TimeModel::Core) => match fact {
            "frequency" | "flops_f32" | "flops_f64" | "flops_bf16" | "flops_i8" | "l2_bandwidth"
            | "memory_bandwidth" => Some("the core model has `core_*` facts in its place"),
            _ => None,
        },
        (Kind::Gpu(_), _) => match fact {
            "tensor_tf32" | "tensor_f64" => Some("no code uses the tensor cores on this type"),
            "flops_f16" => Some("code computes 16-bit floats as `f32`"),
            "memory_bandwidth" => Some("the roofline has `copy_bandwidth` in its place"),
            "tensor_clock" => Some("the roofline has `sustained_clock` in its place"),
            "max_clock"
            | "max_cluster"
            | "read_bandwidth"
            | "l2_latency"
            | "memory_latency"
            | "shared_bandwidth"
            | "shared_memory_per_cta"
            | "registers"
            | "special_rate"
            | "conversion_rate" => Some("it decides between schedules; the roofline does not read it"),
            "shuffle_rate" | "threads" | "ctas" | "shared_memory" | "memory" => {
                Some("neither schedules nor the roofline read it")
            }
            _ => None,
        },
        (Kind::Lpu(_), _) => None,
        (Kind::Cpu(_), TimeModel::Roofline) => match fact {
            "dispatch" => Some("the roofline does not read it"),
            _ if fact.starts_with("core_") => Some("the roofline does not read it"),
            _ => None,
        },
    }
}
