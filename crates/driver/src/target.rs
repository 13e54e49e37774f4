//! The target that compile options ask for.

use crate::options::CompileOptions;
use tegula_backend::{Contractions, Target, Targets};
use tegula_base::{Diagnostic, Diagnostics, Symbols};
use tegula_machine::{Kind, Machine};
use tegula_opt::passes::Precision;
use tegula_package::{About, MachineId, PackageDevice};
use tegula_target_cpu::model::CpuTarget;
use tegula_target_cpu::tier::Tier;
use tegula_target_cpu::{exec, native};
use tegula_target_gpu::model::GpuTarget;
use tegula_target_lpu::{FloatFactors, LpuTarget};
use tegula_tile::TileKernel;
use tegula_tiling::{TileMachine, Tiled};

pub use tegula_target_cpu::model::Form;

/// What compile options name: the host's target, and a device that takes regions.
pub struct Chosen {
    host: Host,
    device: Option<Beside>,
}

/// A device that takes regions.
struct Beside {
    /// As manifests name it.
    name: String,
    target: Box<dyn Target>,
    contractions: Contractions,
}

/// Targets whose kernels are tile functions.
enum Host {
    Cpu(Box<Tiled<CpuTarget>>),
    Gpu(Box<Tiled<GpuTarget>>),
}

impl Chosen {
    pub fn targets(&self) -> Targets<'_> {
        match &self.device {
            None => Targets::host(self.host()),
            Some(Beside { target, contractions, .. }) => {
                Targets { contractions: *contractions, ..Targets::beside(self.host(), &**target) }
            }
        }
    }

    /// The device as the manifest says it.
    pub(crate) fn package_device(&self) -> Option<PackageDevice> {
        let Beside { name, target, .. } = self.device.as_ref()?;
        Some(package_device(name, target.machine(), target.isa()))
    }

    /// The target of all that no device takes.
    pub fn host(&self) -> &dyn Target {
        match &self.host {
            Host::Cpu(tiled) => &**tiled,
            Host::Gpu(tiled) => &**tiled,
        }
    }

    /// What recipes ask.
    pub fn tiles(&self) -> &dyn TileMachine {
        match &self.host {
            Host::Cpu(tiled) => tiled.tiles(),
            Host::Gpu(tiled) => tiled.tiles(),
        }
    }
}

/// Errors: `bad-option`, `unknown-tier`, `unknown-device`, `machine-file`, `tuning-record`.
pub fn target(options: &CompileOptions) -> Result<Chosen, Diagnostics> {
    check_precision(options)?;
    let machine = host_machine(options)?;
    let device = beside(options, &machine)?;
    let host = match (&machine.kind, &options.tuning) {
        (Kind::Cpu(_), _) => Host::Cpu(Box::new(Tiled::new(cpu_target(machine, options)?))),
        (Kind::Gpu(_), _) if options.form == Form::Portable => {
            let message = format!("`--portable` kernels are for any CPU, and `{}` is a GPU", machine.name);
            return Err(Diagnostic::error("bad-option", message).into());
        }
        (Kind::Gpu(_), None) => Host::Gpu(Box::new(Tiled::new(GpuTarget::new(machine)?))),
        (Kind::Gpu(_), Some(_)) => {
            let message = format!("a tuning record is of a processor, and `{}` is a GPU", machine.name);
            return Err(Diagnostic::error("tuning-record", message).into());
        }
        (Kind::Lpu(_), _) => return Err(Diagnostic::internal("a streaming chip is no host").into()),
    };
    Ok(Chosen { host, device })
}

/// Errors: `bad-option`, the machine does not round factors to it.
fn check_precision(options: &CompileOptions) -> Result<(), Diagnostic> {
    let (machine, precision) = (&options.machine, options.precision);
    let (is_honoured, rule) = match (precision, machine.lpu()) {
        (Precision::F32, _) | (Precision::Bf16, None) => return Ok(()),
        (Precision::F16 | Precision::F16x2, Some(_)) => return Ok(()),
        (Precision::Bf16, Some(_)) => ("processors and GPUs", "a streaming chip has `f16` and `f16x2`"),
        (Precision::F16 | Precision::F16x2, None) => ("streaming chips", "other machines have `bf16`"),
    };
    let message = format!("`--precision {precision}` is for {is_honoured}, and `{}` is none", machine.name);
    Err(Diagnostic::error("bad-option", message).help(rule))
}

/// The device that options name, or the chip that they compile for. Errors: `unknown-device`, `bad-option`.
fn beside(options: &CompileOptions, host: &Machine) -> Result<Option<Beside>, Diagnostic> {
    let machine = &options.machine;
    match (machine.lpu(), options.device.as_deref()) {
        (None, None) => Ok(None),
        (None, Some(name)) => {
            let contractions = Contractions::Anywhere;
            Ok(Some(Beside { name: name.to_string(), target: device(name, host)?, contractions }))
        }
        (Some(_), None) => {
            let factors = match options.precision {
                Precision::F32 | Precision::Bf16 => FloatFactors::Refuse,
                Precision::F16 => FloatFactors::F16,
                Precision::F16x2 => FloatFactors::F16x2,
            };
            let target = Box::new(LpuTarget::new(machine.clone(), factors)?);
            Ok(Some(Beside { name: machine.name.clone(), target, contractions: Contractions::Device }))
        }
        (Some(_), Some(name)) => {
            let message = format!("device `{name}` cannot stand beside `{}`, a device itself", machine.name);
            Err(Diagnostic::error("bad-option", message))
        }
    }
}

/// Makes a graph target beside a host; its argument is what follows the name's colon.
type MakeDevice = fn(&Machine, Option<&str>) -> Result<Box<dyn Target>, Diagnostic>;

/// Graph targets by name.
const DEVICES: &[(&str, MakeDevice)] = &[
    #[cfg(feature = "null")]
    ("null", tegula_testkit::null::beside),
];

/// Errors: `unknown-device`.
fn device(name: &str, host: &Machine) -> Result<Box<dyn Target>, Diagnostic> {
    let (name, argument) = name.split_once(':').map_or((name, None), |(name, rest)| (name, Some(rest)));
    match DEVICES.iter().find(|(known, _)| *known == name) {
        Some((_, make)) => make(host, argument),
        None => {
            let names: Vec<&str> = DEVICES.iter().map(|(name, _)| *name).collect();
            let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
            Err(Diagnostic::error("unknown-device", format!("there is no device `{name}`"))
                .note(format!("devices that take regions: {known}")))
        }
    }
}

fn cpu_target(machine: Machine, options: &CompileOptions) -> Result<CpuTarget, Diagnostics> {
    let target = CpuTarget::new(machine, options.form)?;
    match &options.tuning {
        Some(tuning) => target.with_tuning(tuning.clone()),
        None => Ok(target),
    }
}

/// The host's machine at the tier asked for; a lower tier of the same machine has narrower vectors and lower rates.
fn host_machine(options: &CompileOptions) -> Result<Machine, Diagnostic> {
    match &options.machine.kind {
        Kind::Lpu(_) => at_tier(&processor_of(&options.machine)?, options.tier.as_deref()),
        Kind::Cpu(_) | Kind::Gpu(_) => at_tier(&options.machine, options.tier.as_deref()),
    }
}

/// The class of the processor beside a streaming chip. Errors: `bad-option`, the machine is none; `machine-file`.
pub(crate) fn processor_of(machine: &Machine) -> Result<Machine, Diagnostic> {
    let Some(lpu) = machine.lpu() else {
        return Err(Diagnostic::error("bad-option", format!("`{}` is no streaming chip", machine.name)));
    };
    Machine::class(&lpu.processor).filter(|processor| processor.cpu().is_some()).ok_or_else(|| {
        let message = format!("`host` of `{}` is `{}`, which is no processor", machine.name, lpu.processor);
        Diagnostic::error("machine-file", message)
    })
}

fn at_tier(machine: &Machine, asked: Option<&str>) -> Result<Machine, Diagnostic> {
    let Some(asked) = asked else { return Ok(machine.clone()) };
    if machine.tier == asked {
        return Ok(machine.clone());
    }
    let tier = |name: &str| Tier::ALL.into_iter().find(|tier| tier.name() == name);
    let names: Vec<&str> = Tier::ALL.iter().map(|tier| tier.name()).collect();
    match (tier(asked), tier(&machine.tier)) {
        (None, _) => {
            Err(Diagnostic::error("unknown-tier", format!("there is no instruction set tier `{asked}`"))
                .note(format!("the tiers are {}", names.join(", "))))
        }
        (Some(lower), Some(own)) if lower < own => {
            // What the lower tier needs and how wide it is stands in the generic class of that tier.
            let generic = Machine::class(&format!("{asked}-generic")).ok_or_else(|| {
                Diagnostic::internal(format!("there is no generic machine class of tier `{asked}`"))
            })?;
            let mut machine = machine.clone();
            machine.tier = generic.tier;
            if let (Kind::Cpu(cpu), Kind::Cpu(generic)) = (&mut machine.kind, generic.kind) {
                cpu.features = generic.features;
                cpu.vector = generic.vector;
                cpu.vector_registers = generic.vector_registers;
                cpu.flops_per_cycle = generic.flops_per_cycle;
            }
            Ok(machine)
        }
        _ => Err(Diagnostic::error(
            "unknown-tier",
            format!("machine `{}` has tier `{}`, not `{asked}`", machine.name, machine.tier),
        )),
    }
}

/// What the manifest says of a target's machine.
pub(crate) fn machine_id(target: &dyn Target) -> MachineId {
    id_of(target.machine(), target.isa())
}

/// A device beside the home, as the manifest says it.
pub(crate) fn package_device(name: &str, machine: &Machine, isa: &str) -> PackageDevice {
    PackageDevice { name: name.to_string(), machine: id_of(machine, isa) }
}

/// A machine as the manifest says it, by the instruction set of its images: empty for code that any host runs.
pub(crate) fn id_of(machine: &Machine, isa: &str) -> MachineId {
    let features = match (isa, &machine.kind) {
        ("", _) | (_, Kind::Lpu(_)) => vec![],
        (_, Kind::Cpu(cpu)) => cpu.features.clone(),
        (_, Kind::Gpu(_)) => vec![machine.tier.clone()],
    };
    MachineId {
        class: machine.name.clone(),
        hash: machine.hash().to_string(),
        isa: isa.to_string(),
        features,
        file: (!machine.is_class()).then(|| machine.text().to_string()),
    }
}

/// The machine that a package was compiled for, at the package's tier.
/// Errors: `machine-differs`, where this Tegula has no such class, or has another one of the name; `machine-file`.
pub fn machine_of(about: &About) -> Result<Machine, Diagnostics> {
    let machine = machine_of_id(&about.machine)?;
    Ok(at_tier(&machine, about.options.get("tier").map(String::as_str))?)
}

/// The machine that a package names. Errors: as [`machine_of`].
pub(crate) fn machine_of_id(id: &MachineId) -> Result<Machine, Diagnostics> {
    let MachineId { class, hash, file, .. } = id;
    let machine = match file {
        Some(text) => Machine::parse(text, "the package's machine file")?,
        None => Machine::class(class).ok_or_else(|| {
            Diagnostic::error("machine-differs", format!("this Tegula has no machine class `{class}`"))
        })?,
    };
    if machine.hash() != hash {
        let message = format!("the package was compiled for another `{class}` than this Tegula knows");
        return Err(Diagnostic::error("machine-differs", message).into());
    }
    Ok(machine)
}

/// A kernel on the schedule level, or with `asm` as instructions. A GPU has PTX alone.
pub(crate) fn listing(
    options: &CompileOptions,
    name: &str,
    kernel: &TileKernel,
    symbols: &Symbols,
    asm: bool,
) -> Result<String, Diagnostic> {
    let machine = host_machine(options)?;
    if machine.gpu().is_some() {
        let (module, _) = GpuTarget::new(machine)?.module(name, kernel, symbols)?;
        return tegula_isa_ptx::print(&module).map_err(|errors| {
            Diagnostic::internal(format!("the PTX of kernel `{name}` is wrong: {errors}"))
        });
    }
    let target = CpuTarget::new(machine, options.form)?;
    let schedule = target.schedule(name, kernel, symbols);
    if asm {
        let code = native::compile(&schedule.func, target.instruction_set())?;
        return Ok(code.listing(&schedule.func));
    }
    Ok(String::from_utf8_lossy(&exec::encode(&schedule.func)).into_owned())
}
