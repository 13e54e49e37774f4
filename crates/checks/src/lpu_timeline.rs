//! `lpu-timeline [--quick] [--part K/N]`: trace files of runs on a streaming chip, `tsp1`, against the simulator's own counters.
//!
//! Bar: the file is Trace Event JSON; bars of a unit do not overlap, and last as many cycles in all as the simulator counts words
//! of the unit; each has a flow and a node of the model; each arrow leads from a bar to a later one. `--quick` takes models that
//! run in seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use tegula_automation::baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;
use tegula_isa_lpu::{BindingKind, decode};
use tegula_machine::Machine;
use tegula_package::{Entry, KernelCode, Package};
use tegula_sim_lpu::Rack;

/// A model with options of its compilation, and whether a quick run takes it.
type Row = (&'static str, &'static [&'static str], bool);

const ROWS: [Row; 4] = [
    ("wakeword-head", &["--precision", "f16"], true),
    ("magika", &["--precision", "f16", "--dim", "unk__214=1"], false),
    ("minilm-int8-qdq", &["--dim", "batch=1", "--dim", "seq=6"], true),
    ("minilm-int8-qdq", &["--dim", "batch=1", "--dim", "seq=16"], false),
];

/// The machine that models are compiled for.
const MACHINE: &str = "tsp1";

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let rows = part.take(ROWS.iter().filter(|row| row.2 || !is_quick).collect::<Vec<&Row>>());
    let mut ids: Vec<String> = rows.iter().map(|row| row.0.to_string()).collect();
    ids.dedup();
    let baselines = baseline::prepare(&Catalog::load()?, &ids)?;
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("lpu-timeline");
    fs::create_dir_all(&folder)?;
    let (mut bars, mut failed) = (0, 0);
    for (id, options, _) in &rows {
        let model = baselines.iter().find(|baseline| baseline.id == *id).context("there is no baseline")?;
        match row(&tegula, &folder, &model.model, options) {
            Ok(own) => {
                println!("{id:16} {options:?}: {own} bars");
                bars += own;
            }
            Err(error) => {
                failed += 1;
                println!("FAIL {id} {options:?}: {error:#}");
            }
        }
    }
    let holds = failed == 0 && bars > 0;
    Ok(Outcome::pass_if(holds).with("models", rows.len()).with("bars", bars).with("failed", failed))
}

/// The number of bars of chips.
fn row(tegula: &Tegula, folder: &Path, model: &Path, options: &[&str]) -> Result<usize> {
    let (package, file) = (folder.join("model.tgl"), folder.join("trace.json"));
    let compile = tegula.command().arg("compile").arg(model).args(["--machine", MACHINE]).args(options);
    let compiled = compile.arg("-o").arg(&package).finish(None)?;
    ensure!(compiled.success(), "{}", compiled.stderr.trim());
    let run = tegula.command().arg("run").arg(&package).args(["--target", "sim-lpu", "--trace-file"]);
    let ran = run.arg(&file).finish(None)?;
    ensure!(ran.success(), "{}", ran.stderr.trim());
    let trace: Value = serde_json::from_slice(&fs::read(&file)?)?;
    let events = trace["traceEvents"].as_array().context("the file has no list of events")?;
    let package = Package::parse(fs::read(&package)?.into()).map_err(|found| anyhow!("{found}"))?;
    let units = units(events)?;
    let launches = launches(events);
    ensure!(
        busy(&units) == simulated(&package, &launches)?,
        "bars of a unit are not what the simulator counts"
    );
    names(events, &package)?;
    arrows(events, &units)?;
    Ok(units.values().map(Vec::len).sum())
}

fn text<'a>(event: &'a Value, key: &str) -> Result<&'a str> {
    event[key].as_str().with_context(|| format!("an event has no {key}: {event}"))
}

/// A whole number of cycles.
fn cycles(event: &Value, key: &str) -> Result<u64> {
    let number = event[key].as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
    Ok(number.with_context(|| format!("an event has no whole {key}: {event}"))? as u64)
}

fn place(event: &Value) -> Result<(u64, u64)> {
    let number = |key: &str| event[key].as_u64().with_context(|| format!("an event has no {key}: {event}"));
    Ok((number("pid")?, number("tid")?))
}

fn is_on_chip(event: &Value) -> bool {
    !matches!(event["cat"].as_str(), Some("compile" | "run"))
}

/// First and end of each bar.
type Bars = Vec<(u64, u64)>;

/// The bars of each thread of chips, in order. Errors: those that overlap.
fn units(events: &[Value]) -> Result<BTreeMap<(u64, u64), Bars>> {
    let mut units: BTreeMap<(u64, u64), Bars> = BTreeMap::new();
    for event in events {
        let phase = text(event, "ph")?;
        ensure!(matches!(phase, "X" | "M" | "s" | "f"), "an event of phase {phase}");
        if phase == "X" && is_on_chip(event) {
            let first = cycles(event, "ts")?;
            units.entry(place(event)?).or_default().push((first, first + cycles(event, "dur")?));
        }
    }
    for ((process, thread), bars) in &mut units {
        bars.sort_unstable();
        let overlap = bars.windows(2).find(|pair| pair[0].1 > pair[1].0);
        ensure!(overlap.is_none(), "bars of thread {thread} of {process} overlap: {overlap:?}");
    }
    let threads: BTreeSet<u64> = units.keys().map(|(process, _)| *process).collect();
    ensure!(threads.len() == 1, "bars are of {} chips", threads.len());
    let named = |event: &&Value| event["ph"] == "M" && event["name"] == "thread_name";
    let mut by_name = BTreeMap::new();
    for event in events.iter().filter(named) {
        ensure!(
            by_name.insert(text(&event["args"], "name")?, place(event)?).is_none(),
            "a unit has two threads"
        );
    }
    let unnamed = units.keys().find(|unit| !by_name.values().any(|named| named == *unit));
    ensure!(unnamed.is_none(), "the thread {unnamed:?} has no name");
    Ok(units)
}

/// Cycles of each unit, by its name.
fn busy(units: &BTreeMap<(u64, u64), Bars>) -> BTreeMap<u64, u64> {
    let cycles = |bars: &Bars| bars.iter().map(|(first, end)| end - first).sum();
    units.iter().map(|((_, thread), bars)| (*thread, cycles(bars))).collect()
}

/// How often each kernel ran.
fn launches(events: &[Value]) -> BTreeMap<String, u64> {
    let mut launches = BTreeMap::new();
    for event in events.iter().filter(|event| event["cat"] == "run") {
        *launches.entry(event["name"].as_str().unwrap_or_default().to_string()).or_default() += 1;
    }
    launches
}

/// Words of each unit, by its place among the queues of a chip, that the simulator counts in so many launches. Which words a
/// chip issues does not depend on data: inputs are 0.
fn simulated(package: &Package, launches: &BTreeMap<String, u64>) -> Result<BTreeMap<u64, u64>> {
    let machine = Machine::class(MACHINE).context("there is no such class")?;
    let lpu = machine.lpu().context("the machine is no streaming chip")?;
    let queues = tegula_isa_lpu::QueueId::all(lpu);
    let mut busy = BTreeMap::new();
    for kernel in &package.program.kernels {
        let KernelCode::Image { entry: Entry::Name(program), .. } = &kernel.code else { continue };
        let image = decode(package.kernel_code(&kernel.code)).map_err(|error| anyhow!("{error}"))?;
        let mut rack = Rack::load(image, &machine).map_err(|error| anyhow!("{error}"))?;
        let zeros: Vec<(String, Vec<u8>)> = rack
            .bindings(BindingKind::Input)
            .map(|(name, bytes)| (name.to_string(), vec![0; bytes]))
            .collect();
        let inputs = zeros.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        let outcome = rack.run(program, &inputs).map_err(|error| anyhow!("{error}"))?;
        let times = launches.get(&kernel.name).copied().unwrap_or(0);
        for ((_, queue), cycles) in outcome.busy {
            let at = queues.iter().position(|own| *own == queue).context("an unknown queue")?;
            *busy.entry(1 + at as u64).or_default() += times * cycles;
        }
    }
    ensure!(!busy.is_empty(), "nothing ran on the chip");
    Ok(busy)
}

/// Errors: a bar without a flow, or without a node of the model.
fn names(events: &[Value], package: &Package) -> Result<()> {
    let nodes: BTreeSet<&str> =
        package.program.kernels.iter().flat_map(|kernel| kernel.source.iter().map(String::as_str)).collect();
    for event in events.iter().filter(|event| event["ph"] == "X" && is_on_chip(event)) {
        let (flow, node) = (text(&event["args"], "flow")?, text(&event["args"], "node")?);
        ensure!(flow.starts_with('%'), "a bar has no flow: {event}");
        ensure!(nodes.contains(node), "a bar has no node of the model: {event}");
    }
    Ok(())
}

/// Errors: an arrow without two ends, or whose end is in no bar, or before its start.
fn arrows(events: &[Value], units: &BTreeMap<(u64, u64), Bars>) -> Result<()> {
    let mut ends: BTreeMap<u64, [Option<u64>; 2]> = BTreeMap::new();
    for event in events {
        let side = match text(event, "ph")? {
            "s" => 0,
            "f" => 1,
            _ => continue,
        };
        let id = event["id"].as_u64().context("an arrow has no id")?;
        let at = cycles(event, "ts")?;
        let bars = units.get(&place(event)?).map_or(&[][..], Vec::as_slice);
        ensure!(
            bars.iter().any(|(first, end)| (*first..*end).contains(&at)),
            "an arrow ends in no bar: {event}"
        );
        let end = &mut ends.entry(id).or_default()[side];
        ensure!(end.replace(at).is_none(), "arrow {id} has two such ends");
    }
    ensure!(!ends.is_empty(), "there is no arrow");
    for (id, [from, to]) in ends {
        let (from, to) = from.zip(to).with_context(|| format!("arrow {id} has one end"))?;
        ensure!(from < to, "arrow {id} leads from cycle {from} to {to}");
    }
    Ok(())
}
