//! `bench predictions [--only ID ...]`: what `tegula bench` predicts of each kernel against what it measures, for every
//! kernel that takes more than 5 us, on one thread, of the ONNX models of `data/models.json` and those derived from them.
//! A kernel's time is the least of some rounds' over all models, as in `bench fit`: a core that another guest shares for a
//! while takes longer for that while. The bar: a median error of at most 15 %. No scored kernel may be of the fit set (`bench fit`): same class, bytes and
//! operations.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::cores;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::{Interval, median};
use tegula_automation::tegula_cli::{BenchKernel, Tegula};

use super::Options;
use super::chart::{Chart, Mark, Row, Scale};
use super::fit;
use super::host::{self, Host};
use super::report;

/// Median of |predicted / measured - 1|.
const BAR: f64 = 0.15;
/// Shorter kernels are of the order of a launch.
const LEAST_NS: f64 = 5000.0;
const RUNS: usize = 15;
/// Rounds over all models, each a process with nine profiled runs, whose median counts.
const ROUNDS: usize = 4;
/// Classes of fewer kernels have no median worth naming.
const FEWEST: usize = 5;

#[derive(Serialize)]
struct Report {
    host: Host,
    bar: f64,
    median: f64,
    worst_class: String,
    shared: usize,
    classes: Vec<Group>,
    bounds: Vec<Group>,
    models: Vec<Group>,
    kernels: Vec<Scored>,
    failed: BTreeMap<String, String>,
}

/// Kernels that have something in common.
#[derive(Serialize)]
struct Group {
    name: String,
    kernels: usize,
    /// Medians.
    error: f64,
    ratio: f64,
    /// Nine of ten are off by no more.
    error_of_nine: f64,
}

#[derive(Serialize)]
struct Scored {
    model: String,
    kernel: String,
    node: String,
    class: String,
    bound: String,
    launches: usize,
    /// Of one launch.
    measured_us: f64,
    predicted_us: f64,
    #[serde(flatten)]
    shape: KernelShape,
}

/// What tells kernels of one size from others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelShape {
    pub class: String,
    /// Of one launch.
    pub bytes: f64,
    pub flops: f64,
}

impl Scored {
    fn error(&self) -> f64 {
        (self.predicted_us / self.measured_us - 1.0).abs()
    }
}

pub fn run(options: &Options) -> Result<Outcome> {
    let load = host::load();
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let host = Host::describe(&tegula, load, options.refuse_loaded)?;
    let ids = if options.only.is_empty() { catalog.known_models() } else { options.only.clone() };
    let fitted = fit::shapes()?;
    let baselines = baseline::prepare(&catalog, &ids)?;
    let baselines: Vec<&Baseline> = baselines.iter().filter(|b| b.shape_set == "run_shapes").collect();
    let (mut times, mut failed) = (BTreeMap::<&str, Times>::new(), BTreeMap::new());
    for round in 1..=ROUNDS {
        println!("round {round} of {ROUNDS}");
        for baseline in baselines.iter().filter(|b| !failed.contains_key(&b.id)).collect::<Vec<_>>() {
            let times = times.entry(&baseline.id).or_default();
            if let Err(error) = times.measure(&tegula, baseline) {
                println!("{:24} fails: {error:#}", baseline.id);
                failed.insert(baseline.id.clone(), format!("{error:#}"));
            }
        }
    }
    let mut kernels = Vec::new();
    for (id, times) in times.iter().filter(|(id, _)| !failed.contains_key(**id)) {
        let found = times.scored(id);
        let errors: Vec<f64> = found.iter().map(Scored::error).collect();
        println!("{id:24} {:4} kernels, median error {:.3}", found.len(), median(errors));
        kernels.extend(found);
    }
    let classes = groups(&kernels, |kernel| &kernel.class);
    let worst =
        classes.iter().filter(|class| class.kernels >= FEWEST).max_by(|a, b| a.error.total_cmp(&b.error));
    let report = Report {
        host,
        bar: BAR,
        median: median(kernels.iter().map(Scored::error).collect()),
        worst_class: worst.map_or_else(String::new, |class| class.name.clone()),
        shared: kernels.iter().filter(|kernel| fitted.contains(&kernel.shape)).count(),
        bounds: groups(&kernels, |kernel| &kernel.bound),
        models: groups(&kernels, |kernel| &kernel.model),
        classes,
        kernels,
        failed,
    };
    let dir = report::folder(options)?;
    report::write(&dir, "predictions", &report.markdown(), &report, &report.chart())?;
    println!("\nreport: {}", dir.join("predictions.md").display());
    Ok(report.outcome())
}

/// What rounds gave of a model.
#[derive(Default)]
struct Times {
    /// Of the first round.
    kernels: Vec<BenchKernel>,
    /// Of a launch, the least, by kernel.
    ns: BTreeMap<String, f64>,
}

impl Times {
    fn measure(&mut self, tegula: &Tegula, baseline: &Baseline) -> Result<()> {
        let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
        let run = cores::on(&cores::last(1), || tegula.bench(&baseline.model, inputs, 1, RUNS))?;
        for kernel in &run.kernels {
            let ns = kernel.ns / kernel.launches as f64;
            self.ns.entry(kernel.name.clone()).and_modify(|least| *least = least.min(ns)).or_insert(ns);
        }
        if self.kernels.is_empty() {
            self.kernels = run.kernels;
        }
        Ok(())
    }

    /// The kernels that count.
    fn scored(&self, model: &str) -> Vec<Scored> {
        let scored = self.kernels.iter().map(|kernel| {
            let each = |whole: f64| whole / kernel.launches as f64;
            Scored {
                model: model.into(),
                kernel: kernel.name.clone(),
                node: kernel.nodes.first().cloned().unwrap_or_default(),
                class: kernel.class.clone(),
                bound: kernel.bound.clone(),
                launches: kernel.launches,
                measured_us: self.ns[&kernel.name] / 1e3,
                predicted_us: each(kernel.predicted_ns) / 1e3,
                shape: KernelShape {
                    class: kernel.class.clone(),
                    bytes: each(kernel.bytes),
                    flops: each(kernel.flops),
                },
            }
        });
        scored.filter(|kernel| kernel.measured_us * 1e3 > LEAST_NS).collect()
    }
}

fn groups(kernels: &[Scored], name: impl Fn(&Scored) -> &String) -> Vec<Group> {
    let names: BTreeSet<&String> = kernels.iter().map(&name).collect();
    let group = |wanted: &String| {
        let members: Vec<&Scored> = kernels.iter().filter(|kernel| name(kernel) == wanted).collect();
        let mut errors: Vec<f64> = members.iter().map(|kernel| kernel.error()).collect();
        errors.sort_by(f64::total_cmp);
        Group {
            name: wanted.clone(),
            kernels: members.len(),
            ratio: median(members.iter().map(|kernel| kernel.predicted_us / kernel.measured_us).collect()),
            error_of_nine: errors[(errors.len() - 1) * 9 / 10],
            error: median(errors),
        }
    };
    names.into_iter().map(group).collect()
}

impl Report {
    fn outcome(&self) -> Outcome {
        let holds = self.median <= BAR && self.shared == 0 && self.failed.is_empty();
        let worst = self.classes.iter().find(|class| class.name == self.worst_class);
        Outcome::pass_if(holds)
            .with("part", "predictions")
            .with("loaded", if self.host.loaded { "yes" } else { "no" })
            .with("kernels", self.kernels.len())
            .with("models", self.models.len())
            .with("failed", self.failed.len())
            .with("shared_with_fit", self.shared)
            .with("median_error", format!("{:.3}", self.median))
            .with("bar", BAR)
            .with("worst_class", &self.worst_class)
            .with("worst_class_error", format!("{:.3}", worst.map_or(0.0, |class| class.error)))
    }

    fn markdown(&self) -> String {
        let table = |title: &str, groups: &[Group]| {
            let row = |group: &Group| {
                vec![
                    group.name.clone(),
                    group.kernels.to_string(),
                    format!("{:.3}", group.error),
                    format!("{:.3}", group.error_of_nine),
                    format!("{:.2}", group.ratio),
                ]
            };
            let rows: Vec<Vec<String>> = groups.iter().map(row).collect();
            report::table(&[title, "kernels", "median error", "nine of ten within", "median ratio"], 1, &rows)
        };
        let kernel = |kernel: &Scored| {
            vec![
                kernel.model.clone(),
                kernel.kernel.clone(),
                kernel.node.clone(),
                kernel.bound.clone(),
                format!("{:.1}", kernel.measured_us),
                format!("{:.1}", kernel.predicted_us),
                format!("{:.2}", kernel.predicted_us / kernel.measured_us),
            ]
        };
        let mut order: Vec<&Scored> = self.kernels.iter().collect();
        order.sort_by(|a, b| b.error().total_cmp(&a.error()));
        let kernels: Vec<Vec<String>> = order.into_iter().map(kernel).collect();
        format!(
            "# Predicted against measured\n\n{}{} kernels of {} models take more than 5 us on one thread. Median of \
             |predicted / measured - 1|: **{:.3}**, bar {BAR}; worst class: {}.\n\
             A kernel's time is the least of {ROUNDS} rounds' medians. Predictions come from each launch's machine code through the model of a core (`perf::cpu`), whose constants \
             are published ones and those of `bench fit`; {} of these kernels share a shape with the fit set.\n\n\
             ![ratios](predictions.svg)\n\n{}\n{}\n{}\n## Kernels, the worst first\n\n{}",
            self.host.markdown(),
            self.kernels.len(),
            self.models.len(),
            self.median,
            self.worst_class,
            self.shared,
            table("class", &self.classes),
            table("bound", &self.bounds),
            table("model", &self.models),
            report::table(
                &["model", "kernel", "node", "bound", "measured us", "predicted us", "ratio"],
                4,
                &kernels
            ),
        )
    }

    fn chart(&self) -> String {
        let row = |class: &Group| {
            let ratios = self.kernels.iter().filter(|kernel| kernel.class == class.name);
            let ratios: Vec<f64> = ratios.map(|kernel| kernel.predicted_us / kernel.measured_us).collect();
            let mark = Mark { value: Interval::of(&ratios), bar: None };
            Row { label: format!("{} ({})", class.name, class.kernels), marks: vec![Some(mark)] }
        };
        Chart {
            title: "Predicted over measured time of a kernel, by class".into(),
            series: vec!["median".into()],
            scale: Scale::Logarithmic { ticks: &[0.5, 0.7, 0.85, 1.0, 1.15, 1.4, 2.0] },
            line: 1.0,
            rows: self.classes.iter().map(row).collect(),
        }
        .svg()
    }
}
