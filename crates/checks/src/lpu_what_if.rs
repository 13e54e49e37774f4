//! `lpu-what-if [--part K/N]`: `predict --vary` on a streaming chip, `tsp1`.
//!
//! Bar: each number of a sweep is that of a compilation for a machine file with these facts; the CSV has the numbers of the JSON;
//! slopes are those of neighbouring points. What the report says that binds is what gains most where there is twice as much of
//! it, or `latency`, where delays half as long do. Where another one gains more, the row says so, with its reason ([`OTHERS`]).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use tegula_automation::baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;
use tegula_machine::Machine;

use crate::lpu_fit::programs;

const MACHINE: &str = "tsp1";

/// A model with options, and what is varied.
struct Row {
    name: &'static str,
    options: &'static [&'static str],
    sweeps: &'static [&'static str],
}

const ROWS: [Row; 2] = [
    Row {
        name: "wakeword-head",
        options: &["--precision", "f16"],
        sweeps: &["streams_east,streams_west=24,32,48", "mxm_latency=10,19,38", "mem_read_delay=1,2,4"],
    },
    // Two layers, whose rows keep the planes busy.
    Row {
        name: "layers",
        options: &["--precision", "f16", "--dim", "rows=512"],
        sweeps: &["streams_east,streams_west=24,32,48", "mxm_planes=2,4", "vxm_alus=12,16"],
    },
];

/// What there can be twice as much of: the beginning of what a report calls it, and its facts.
const RESOURCES: [(&str, &[&str], f64); 6] = [
    ("outward streams", &["streams_east", "streams_west"], 2.0),
    ("planes", &["mxm_planes"], 2.0),
    ("ALUs", &["vxm_alus", "vxm_large"], 2.0),
    ("ports of SRAM", &["mem_banks"], 2.0),
    ("latency", &["mem_read_delay", "mxm_latency", "vxm_special_delay", "sxm_shift_delay"], 0.5),
    ("text", &["queue_words"], 2.0),
];

/// Rows whose report names another resource than the one that gains most, and why.
const OTHERS: [(&str, &str, &str); 0] = [];

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, _) = Part::taken(args)?;
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("lpu-what-if");
    fs::create_dir_all(&folder)?;
    let rows = part.take(ROWS.iter().collect::<Vec<&Row>>());
    let (mut points, mut failed) = (0, 0);
    for row in &rows {
        match row.judge(&tegula, &folder) {
            Ok(own) => points += own,
            Err(error) => {
                failed += 1;
                println!("FAIL {}: {error:#}", row.name);
            }
        }
    }
    let holds = failed == 0 && points > 0;
    Ok(Outcome::pass_if(holds).with("models", rows.len()).with("points", points).with("failed", failed))
}

impl Row {
    /// The number of points of all sweeps.
    fn judge(&self, tegula: &Tegula, folder: &Path) -> Result<usize> {
        let asked = Asked { row: self, tegula, folder, model: self.model(folder)? };
        let mut points = 0;
        for sweep in self.sweeps {
            points += asked.sweep(sweep)?;
        }
        asked.binding()?;
        Ok(points)
    }

    fn model(&self, folder: &Path) -> Result<PathBuf> {
        if self.name != "layers" {
            let found = baseline::prepare(&Catalog::load()?, &[self.name.to_string()])?;
            return Ok(found.into_iter().next().context("there is no baseline")?.model);
        }
        let file = folder.join("layers.mlir");
        fs::write(&file, programs::layers(2, 320)?)?;
        Ok(file)
    }
}

struct Asked<'a> {
    row: &'a Row,
    tegula: &'a Tegula,
    folder: &'a Path,
    model: PathBuf,
}

impl Asked<'_> {
    fn told(&self, machine: &str, more: &[&str]) -> Result<String> {
        let predict = self.tegula.command().arg("predict").arg(&self.model).args(["--machine", machine]);
        let finished = predict.args(self.row.options).args(more).finish(None)?;
        ensure!(finished.success(), "{}", finished.stderr.trim());
        Ok(finished.stdout)
    }

    fn json(&self, machine: &str, more: &[&str]) -> Result<Value> {
        let told: Value = serde_json::from_str(&self.told(machine, &[&["--json"], more].concat())?)?;
        Ok(told["machines"][0].clone())
    }

    /// Cycles of a compilation for a machine file with these facts.
    fn compiled(&self, facts: &[(String, f64)]) -> Result<u64> {
        let class = Machine::class(MACHINE).context("there is no such class")?;
        let machine = facts.iter().try_fold(class, |machine, (fact, value)| machine.with_fact(fact, *value));
        let file = self.folder.join("machine.toml");
        fs::write(&file, machine.map_err(|found| anyhow!("{found}"))?.text())?;
        cycles(&self.json(file.to_str().context("a path is no text")?, &[])?)
    }

    fn sweep(&self, sweep: &str) -> Result<usize> {
        let told = self.json(MACHINE, &["--vary", sweep])?;
        let csv = self.told(MACHINE, &["--vary", sweep, "--csv"])?;
        let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
        let column = |name: &str| {
            let at = lines[0].iter().position(|own| *own == name);
            at.with_context(|| format!("the CSV has no column {name}"))
        };
        let (kernel, facts, in_cycles) = (column("kernel")?, column("facts")?, column("cycles")?);
        let points = told["varied"].as_array().context("nothing is varied")?;
        let mut known = Vec::new();
        for point in points {
            let set: BTreeMap<String, f64> = serde_json::from_value(point["facts"].clone())?;
            let own: Vec<(String, f64)> = set.into_iter().collect();
            let (told, again) = (cycles(point)?, self.compiled(&own)?);
            ensure!(told == again, "{sweep}: {told} cycles at {own:?}, and {again} of a file with them");
            let setting =
                own.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
            let line = lines.iter().find(|line| line[facts] == setting && line[kernel].is_empty());
            let line = line.with_context(|| format!("the CSV has no line of {setting}"))?;
            ensure!(
                line[in_cycles] == told.to_string(),
                "the CSV has {} cycles at {setting}",
                line[in_cycles]
            );
            let binding = point["chip"]["binding"].as_str().context("a point names nothing that binds")?;
            println!("{:14} {setting}: {told} cycles, {binding}", self.row.name);
            known.push((own[0].1, told as f64, point["chip"]["slope"].as_f64()));
        }
        for (at, (value, _, slope)) in known.iter().enumerate() {
            let (before, after) = (at.saturating_sub(1), (at + 1).min(known.len() - 1));
            let [from, to] = [known[before], known[after]];
            let wanted = (to.1 - from.1) / (to.0 - from.0);
            ensure!(*slope == Some(wanted), "{sweep}: the slope at {value} is {slope:?}, not {wanted}");
        }
        Ok(points.len())
    }

    /// What binds gains most where there is twice as much of it.
    fn binding(&self) -> Result<()> {
        let base = self.json(MACHINE, &[])?;
        let said = base["chip"]["binding"].as_str().context("nothing is named that binds")?.to_string();
        let now = cycles(&base)? as f64;
        let class = Machine::class(MACHINE).context("there is no such class")?;
        let mut gains: Vec<(f64, &str)> = Vec::new();
        for (name, facts, factor) in RESOURCES {
            let value = |fact: &str| class.facts.get(fact).map(|own| (own.value * factor).floor().max(1.0));
            let facts: Option<Vec<(String, f64)>> =
                facts.iter().map(|fact| Some((fact.to_string(), value(fact)?))).collect();
            let other = self.compiled(&facts.context("a fact is not known")?)?;
            gains.push((1.0 - other as f64 / now, name));
        }
        gains.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!("{:14} {now} cycles, {said}; twice as much gains {gains:.3?}", self.row.name);
        let most = gains[0].1;
        let named = said.split(" (").next().unwrap_or(&said);
        let of_planes = ["loads of weights", "rows of planes", "sums of planes"];
        let is_same = named == most || most == "planes" && of_planes.contains(&named);
        let known = OTHERS.iter().find(|(name, resource, _)| *name == self.row.name && *resource == most);
        match known {
            Some((_, _, why)) => println!("{:14} {most} gains most: {why}", self.row.name),
            None => ensure!(is_same, "{said} is named, and more of {most} gains most"),
        }
        Ok(())
    }
}

fn cycles(of: &Value) -> Result<u64> {
    of["cycles"].as_u64().with_context(|| format!("there are no cycles in {of}"))
}
