//! `bench fit [--rounds N]`: fits what no manual says of a core (`core_*` of a machine file: cycles that lines take, what
//! a launch costs) on models of one op each (`tegula_tools.fit_models`), and writes it there; the clock and reads from L2 are
//! measured by loops of their own.
//! The scored set of `bench predictions` has none of these shapes.
//! Method: coordinate descent on the mean of |ln(predicted / measured)| over all launches.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::median;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::{cores, python, workspace};
use tegula_base::random::SplitMix64;
use tegula_base::{DType, Dim, HostTensor};
use tegula_checks::in_process;
use tegula_driver::Form;
use tegula_driver::predict::predict;
use tegula_machine::{Core, Cpu, Machine};
use tegula_runtime::peaks::{self, Arithmetic};
use tegula_runtime::{RunProfile, Session, TensorView};

use super::Options;
use super::host::{self, Host};
use super::predictions::KernelShape;
use super::report;

/// The part of L2 that is read for its rate: some times L1.
const L2_SHARE: u64 = 8;
/// Profiled runs of each model.
const RUNS: usize = 21;
/// Rounds over all models, some seconds apart: who shares a core with another guest for a while is slower for that while.
const ROUNDS: usize = 4;
/// Launches below this are mostly the clock's own time.
const LEAST_NS: f64 = 1500.0;
/// No launch counts for more than a factor of e.
const MOST: f64 = 1.0;
const STEPS: [f64; 4] = [0.7, 0.88, 1.14, 1.43];
const TURNS: usize = 2;

/// A fact that is fitted: its name, and where a core has it.
type Constant = (&'static str, fn(&mut Core) -> &mut f64);

const FITTED: [Constant; 10] = [
    ("core_divide", |core| &mut core.divide),
    ("core_sqrt", |core| &mut core.sqrt),
    ("core_l3_line", |core| &mut core.line[1]),
    ("core_memory_line", |core| &mut core.line[2]),
    ("core_written_line", |core| &mut core.written_line),
    ("core_l2_latency", |core| &mut core.latency[0]),
    ("core_l3_latency", |core| &mut core.latency[1]),
    ("core_memory_latency", |core| &mut core.latency[2]),
    ("core_ahead", |core| &mut core.ahead),
    ("core_launch", |core| &mut core.launch.0),
];

/// What a fit left: `fit.json` of `bench`, or of the folder of a machine class in it.
#[derive(Serialize, Deserialize)]
struct Fit {
    date: String,
    machine_class: String,
    error: f64,
    constants: Vec<(String, f64)>,
    launches: Vec<Launch>,
}

#[derive(Serialize, Deserialize)]
struct Launch {
    model: String,
    #[serde(flatten)]
    shape: KernelShape,
    measured_us: f64,
    predicted_us: f64,
}

/// A model that was run.
struct Measured {
    name: String,
    session: Session,
    inputs: Vec<HostTensor>,
    profile: RunProfile,
    /// Of each launch, the least of its rounds' medians.
    ns: Vec<f64>,
}

/// The shapes of kernels that constants were fitted on, on any machine. Errors: there are none.
pub fn shapes() -> Result<Vec<KernelShape>> {
    shapes_in(&workspace::root().join("bench"))
}

fn shapes_in(bench: &Path) -> Result<Vec<KernelShape>> {
    let read_dir = || format!("{} cannot be read", bench.display());
    let mut folders = vec![bench.to_path_buf()];
    for entry in fs::read_dir(bench).with_context(read_dir)? {
        folders.push(entry.with_context(read_dir)?.path());
    }
    let mut shapes = Vec::new();
    for path in folders.iter().map(|folder| folder.join("fit.json")).filter(|path| path.is_file()) {
        let text = fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let fit: Fit =
            serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
        shapes.extend(fit.launches.into_iter().map(|launch| launch.shape));
    }
    ensure!(!shapes.is_empty(), "no `fit.json` of {} has launches: run `bench fit`", bench.display());
    Ok(shapes)
}

pub fn run(options: &Options) -> Result<Outcome> {
    let load = host::load();
    let tegula = Tegula::build()?;
    let host = Host::describe(&tegula, load, options.refuse_loaded)?;
    let machine = Machine::class(&host.machine_class).context("the machine class is not checked in")?;
    let cpu = machine.cpu().context("the machine is no processor")?;
    let Some(mut core) = cpu.core.clone() else {
        return Ok(Outcome::skip("the machine class says nothing of its cores"));
    };
    let folder = workspace::target().join("fit");
    python::run_once(&["fit_models", "kernel_models"], &Catalog::load()?, &folder)?;
    // Not the clock of plain additions: cores take wide multiply-adds slower, and our kernels are those.
    let rate = cores::on(&cores::last(1), || peaks::operations_per_second(Arithmetic::F32));
    core.clock_hz = rate.context("the clock was not measured")? / cpu.flops_per_cycle.f32;
    core.line[0] = l2_line(cpu, core.clock_hz).context("reads from L2 were not measured")?;
    let mut measured = Vec::new();
    for model in workspace::files_with_extension(&folder, "onnx")? {
        measured.push(cores::on(&cores::last(1), || prepare(model, &host.machine_class))?);
    }
    for _ in 0..ROUNDS {
        for model in &mut measured {
            cores::on(&cores::last(1), || model.measure())?;
        }
    }
    let mut error = error_of(&measured, cpu, &core)?;
    println!("{} models, mean error before {error:.4}", measured.len());
    for turn in 0..TURNS {
        for (name, place) in FITTED {
            for step in STEPS {
                let mut tried = core.clone();
                // Later turns take smaller steps.
                *place(&mut tried) *= step.powf(1.0 / (1 << turn) as f64);
                let found = error_of(&measured, cpu, &tried)?;
                if found < error {
                    (core, error) = (tried, found);
                }
            }
            println!("turn {turn}: {name} = {:.3}, mean error {error:.4}", *place(&mut core));
        }
    }
    let constants: Vec<(String, f64)> =
        FITTED.iter().map(|(name, place)| (name.to_string(), *place(&mut core))).collect();
    write_facts(&host, &core, &constants)?;
    println!("core_l2_line = {:.3}, clock {:.3} GHz", core.line[0], core.clock_hz / 1e9);
    let launches = launches(&measured, cpu, &core)?;
    let count = launches.len();
    let fit = Fit { date: host.date.clone(), machine_class: host.machine_class, error, constants, launches };
    let path = report::folder(options)?.join("fit.json");
    fs::write(&path, serde_json::to_string_pretty(&fit)? + "\n")?;
    println!("\nreport: {}", path.display());
    Ok(Outcome::pass()
        .with("part", "fit")
        .with("loaded", if host.loaded { "yes" } else { "no" })
        .with("launches", count)
        .with("error", format!("{error:.3}")))
}

/// Cycles that a line takes from L2 where nothing else is done.
fn l2_line(cpu: &Cpu, clock_hz: f64) -> Option<f64> {
    let block = vec![1u8; (cpu.l2.0 / L2_SHARE) as usize];
    let rate = cores::on(&cores::last(1), || peaks::bytes_per_second(&block))?;
    Some(cpu.cache_line.0 as f64 * clock_hz / rate)
}

fn prepare(model: PathBuf, class: &str) -> Result<Measured> {
    let name = model.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let bytes = fs::read(&model)?;
    let failed = |found| anyhow!("{name}: {found}");
    let compiled = in_process::compile_bytes(&bytes, class, Form::Machine).map_err(failed)?;
    let session = in_process::package(compiled).and_then(|package| in_process::session(package, 1));
    let session = session.map_err(failed)?;
    let mut random = SplitMix64::new(bytes.len() as u64);
    let inputs: Vec<HostTensor> = session
        .inputs()
        .iter()
        .map(|port| made_up(port.dtype, &port.shape, &mut random))
        .collect::<Result<_>>()?;
    let views: Vec<TensorView> = inputs.iter().map(TensorView::from).collect();
    let profile = session.run_profiled(&views, &mut Vec::new()).map_err(failed)?;
    let ns = vec![f64::INFINITY; profile.launches.len()];
    Ok(Measured { name, session, inputs, profile, ns })
}

impl Measured {
    /// One round.
    fn measure(&mut self) -> Result<()> {
        let failed = |found| anyhow!("{}: {found}", self.name);
        let views: Vec<TensorView> = self.inputs.iter().map(TensorView::from).collect();
        let mut outputs = Vec::new();
        for _ in 0..3 {
            self.session.run_into(&views, &mut outputs).map_err(failed)?;
        }
        let mut profiles = Vec::new();
        for _ in 0..RUNS {
            profiles.push(self.session.run_profiled(&views, &mut outputs).map_err(failed)?);
        }
        for (i, least) in self.ns.iter_mut().enumerate() {
            *least = least.min(median(profiles.iter().map(|p| p.launches[i].ns as f64).collect()));
        }
        self.profile = profiles.pop().context("no profile")?;
        Ok(())
    }
}

/// Floats from 0.1 to 1.1, bytes of any value.
fn made_up(dtype: DType, shape: &[Dim], random: &mut SplitMix64) -> Result<HostTensor> {
    let extents: Option<Vec<usize>> =
        shape.iter().map(|dim| dim.as_const().and_then(|n| usize::try_from(n).ok())).collect();
    let extents = extents.context("a fit model has an open dim")?;
    let count: usize = extents.iter().product();
    Ok(match dtype {
        DType::F32 => {
            let mut value = |_| (random.next_u64() >> 40) as f32 / (1 << 24) as f32 + 0.1;
            HostTensor::from_elements(&extents, &(0..count).map(&mut value).collect::<Vec<f32>>())
        }
        DType::U8 => {
            let mut value = |_| random.next_u64() as u8;
            HostTensor::from_elements(&extents, &(0..count).map(&mut value).collect::<Vec<u8>>())
        }
        other => bail!("no fit model has inputs of {other}"),
    })
}

fn error_of(measured: &[Measured], cpu: &Cpu, core: &Core) -> Result<f64> {
    let launches = launches(measured, cpu, core)?;
    let off = |launch: &Launch| (launch.predicted_us / launch.measured_us).ln().abs().min(MOST);
    Ok(launches.iter().map(off).sum::<f64>() / launches.len().max(1) as f64)
}

fn launches(measured: &[Measured], cpu: &Cpu, core: &Core) -> Result<Vec<Launch>> {
    let mut launches = Vec::new();
    for model in measured {
        let package = model.session.package();
        let predictions = predict(package, &model.profile, cpu, core).map_err(|found| anyhow!("{found}"))?;
        for ((launch, prediction), ns) in model.profile.launches.iter().zip(predictions).zip(&model.ns) {
            let Some(prediction) = prediction.filter(|_| *ns >= LEAST_NS) else { continue };
            let cost = &package.program.kernels[launch.kernel as usize].cost;
            let eval = |dim: &Dim| dim.as_const().unwrap_or(0) as f64;
            launches.push(Launch {
                model: model.name.clone(),
                shape: KernelShape {
                    class: cost.class.clone(),
                    bytes: eval(&cost.bytes),
                    flops: eval(&cost.flops),
                },
                measured_us: ns / 1e3,
                predicted_us: prediction.time.0 / 1e3,
            });
        }
    }
    Ok(launches)
}

/// Puts the constants into the class's file, each with where it is from.
fn write_facts(host: &Host, core: &Core, constants: &[(String, f64)]) -> Result<()> {
    let path = workspace::root().join(format!("crates/machine/machines/{}.toml", host.machine_class));
    let mut text = fs::read_to_string(&path)?;
    let day = host.date.split(' ').next().unwrap_or_default();
    let fitted = format!("`cargo xtask bench fit` on {}, {day}", host.processor);
    for (name, value) in constants {
        text = with_fact(&text, name, &format!("{value:.2}"), &fitted)?;
    }
    let clock = format!("`cargo xtask bench fit`, its loop of multiply-adds, on {}, {day}", host.processor);
    let reads = format!("`cargo xtask bench fit`, reads of a part of L2, on {}, {day}", host.processor);
    text = with_fact(&text, "core_l2_line", &format!("{:.2}", core.line[0]), &reads)?;
    text = with_fact(&text, "core_clock", &format!("{:.3e}", core.clock_hz), &clock)?;
    fs::write(&path, text)?;
    Ok(())
}

fn with_fact(text: &str, name: &str, value: &str, source: &str) -> Result<String> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name));
    let line = line.with_context(|| format!("the machine file has no `{name}`"))?;
    let unit = line.split("unit = \"").nth(1).and_then(|rest| rest.split('"').next());
    let unit = unit.with_context(|| format!("`{name}` has no unit"))?;
    let new = format!("{name:<19} = {{ value = {value}, unit = \"{unit}\", source = \"{source}\" }}");
    Ok(text.replacen(line, &new, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That no scored kernel is a fitted one says something only where some are fitted.
    #[test]
    fn no_fitted_shapes_are_an_error() {
        assert!(!shapes().unwrap().is_empty());
        let folder = workspace::target().join("no-fit");
        fs::create_dir_all(folder.join("zen4")).unwrap();
        let refusal = || shapes_in(&folder).unwrap_err().to_string();
        assert!(refusal().contains("has launches"), "{}", refusal());
        fs::write(folder.join("zen4/fit.json"), "{}").unwrap();
        assert!(refusal().ends_with("fit.json is malformed"), "{}", refusal());
        fs::remove_dir_all(&folder).unwrap();
        assert!(refusal().ends_with("cannot be read"), "{}", refusal());
    }
}
