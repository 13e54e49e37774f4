//! `tegula predict`: time, bytes and bounds of a model on machines that need not be here, and what a fact of them changes.

use crate::args::{CompileOptions as Compile, PredictArgs, TargetOptions, Vary};
use crate::failure::Failure;
use crate::load::{dims, with_model};
use crate::output;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use tegula::device::machine_of;
use tegula::{Machine, processor};
use tegula_base::Diagnostics;
use tegula_driver::forecast::KernelForecast;
use tegula_driver::lpu::{Busy, OnChips};
use tegula_driver::machine_report::{self, Kernels, MachineReport, NamedKernel, Varied};
use tegula_driver::what_if::{Effect, Swing};
use tegula_driver::{CompileOptions, Model, PassCx, page};

pub fn predict(args: &PredictArgs) -> Result<(), Failure> {
    output::keep_input(&args.model, args.html.as_ref())?;
    for machine in &args.machines {
        output::keep_input(Path::new(machine), args.html.as_ref())?;
    }
    // None: this processor.
    let machines: Vec<Option<String>> = match args.machines.as_slice() {
        [] => vec![None],
        named => named.iter().cloned().map(Some).collect(),
    };
    check_facts(args)?;
    let mut reports = Vec::new();
    for machine in machines {
        let file = machine.clone().filter(|name| machine_of(name).is_ok_and(|machine| !machine.is_class()));
        let target = TargetOptions { machine, precision: args.precision.clone(), ..TargetOptions::default() };
        let compile = Compile { target, dims: args.dims.clone(), ..Compile::default() };
        let make =
            |model: &Model, options: &CompileOptions, cx: &mut PassCx| report(args, model, options, cx);
        let mut report = with_model(&args.model, &compile, None, make)?.0;
        if let Some(file) = file {
            report.basis.machine = format!("{} ({file})", report.basis.machine);
        }
        reports.push(report);
    }
    let made_up: BTreeSet<&String> = reports.iter().flat_map(|report| &report.made_up).collect();
    for name in made_up {
        output::complain(&format!("note: dim `{name}` is not given; using 1 (`--dim {name}=N`)\n"));
    }
    if let Some(why) = reports.iter().find_map(|report| report.refusal.as_ref()) {
        output::complain(&format!("warning: the model does not run at these sizes: {why}\n"));
    }
    if args.json {
        let machines: Vec<Value> = reports.iter().map(to_json).collect();
        return output::print_json(&json!({ "machines": machines }));
    }
    if let Some(file) = &args.html {
        let model = args.model.file_name().unwrap_or_default().to_string_lossy();
        return output::write_text(file, &page::machines(&model, &dims(&args.dims)?, &reports));
    }
    output::print(&if args.csv { to_csv(&reports) } else { to_text(&reports) })
}

/// Errors: a fact to vary that no machine has, or a value that it cannot have.
fn check_facts(args: &PredictArgs) -> Result<(), Failure> {
    let named = args.machines.iter().map(|name| machine_of(name)).collect::<Result<Vec<Machine>, _>>()?;
    let machines = if named.is_empty() { vec![processor::default_machine()?.0] } else { named };
    for (fact, value) in args.vary.iter().flat_map(settings).flatten() {
        let mut owners = machines.iter().filter(|machine| machine.facts.contains_key(&fact)).peekable();
        if owners.peek().is_none() {
            machines[0].with_fact(&fact, 1.0)?;
        }
        for machine in owners {
            machine.with_fact(&fact, value.on(machine, &fact))?;
        }
    }
    Ok(())
}

fn report(
    args: &PredictArgs,
    model: &Model,
    options: &CompileOptions,
    cx: &mut PassCx,
) -> Result<MachineReport, Diagnostics> {
    let mut given = Vec::new();
    for facts in args.vary.iter().flat_map(settings) {
        // A fact of the other machines.
        let own = facts.into_iter().filter(|(name, _)| options.machine.facts.contains_key(name));
        let facts: Vec<(String, f64)> =
            own.map(|(name, value)| (name.clone(), value.of(options, &name))).collect();
        if !facts.is_empty() {
            given.push(facts);
        }
    }
    machine_report::predict(model, options, given, args.sensitivities, cx)
}

/// A value of a fact: a number, or so many times the machine's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactValue {
    Is(f64),
    Times(f64),
}

impl FactValue {
    fn of(self, options: &CompileOptions, name: &str) -> f64 {
        self.on(&options.machine, name)
    }

    fn on(self, machine: &Machine, name: &str) -> f64 {
        match (self, machine.facts.get(name)) {
            // What is no fact is told where it is set.
            (FactValue::Is(value), _) | (FactValue::Times(value), None) => value,
            (FactValue::Times(factor), Some(fact)) => fact.value * factor,
        }
    }
}

/// All facts of a `--vary` with its first value, then with its second ...
fn settings(vary: &Vary) -> Vec<Vec<(String, FactValue)>> {
    let with = |value: &FactValue| vary.facts.iter().map(|fact| (fact.clone(), *value)).collect();
    vary.values.iter().map(with).collect()
}

fn to_text(reports: &[MachineReport]) -> String {
    let on_chip = |report: &MachineReport| {
        let time = output::duration(report.kernels.ns);
        let line =
            |cycles| format!("{}{time} in all on {}\n", output::cycles(Some(cycles)), report.basis.machine);
        report.kernels.cycles.map(line)
    };
    let mut text: String = reports.iter().filter_map(on_chip).collect();
    text += &format!("{:>10} {:>10}  {:<8} {:<9} machine\n", "predicted", "bytes", "bound", "model");
    let mut line = |kernels: &Kernels, model: &str, name: &str| {
        text += &format!(
            "{:>10} {:>10}  {:<8} {model:<9} {name}\n",
            output::duration(kernels.ns),
            output::size(kernels.bytes() as u64),
            kernels.bound(),
        );
    };
    for report in reports {
        let model = report.basis.model.name();
        let machine = format!("{}, {}", report.basis.machine, report.basis.part);
        line(&report.kernels, model, &machine);
        for varied in &report.varied {
            line(&varied.kernels, model, &format!("{machine}, {}", varied.setting()));
        }
    }
    text += &chips_text(reports);
    for report in reports {
        text += &format!("\n{}\n", report.basis);
        text += &format!(
            "{:>10} {:>7} {:>10} {:>8}  {:<8} {:<18} nodes\n",
            "predicted", "share", "bytes", "launches", "bound", "kernel"
        );
        for NamedKernel { name, nodes, forecast, .. } in &report.kernels.rows {
            text += &format!(
                "{:>10} {:>5.1} % {:>10} {:>8}  {:<8} {:<18} {}\n",
                output::duration(forecast.ns),
                100.0 * forecast.ns / report.kernels.ns.max(f64::MIN_POSITIVE),
                output::size(forecast.bytes as u64),
                forecast.launches,
                forecast.bound,
                name,
                nodes.join(", "),
            );
        }
        text += &swings_text(report);
    }
    text
}

/// Of streaming chips: cycles at each point, how they follow from the fact that is varied, and what binds there.
fn chips_text(reports: &[MachineReport]) -> String {
    let mut text = String::new();
    let mut line = |chip: Option<OnChips>, slope: Option<f64>, name: &str| {
        let Some(chip) = chip else { return };
        if text.is_empty() {
            text = format!("\n{:>10} {:>10}  {:<28} chip\n", "cycles", "per fact", "binding");
        }
        let slope = slope.map_or_else(String::new, |slope| format!("{slope:+.1}"));
        text += &format!("{:>10} {slope:>10}  {:<28} {name}\n", chip.cycles, chip.told());
    };
    for report in reports {
        line(report.chip, None, &report.basis.machine);
        for varied in &report.varied {
            line(varied.chip, varied.slope, &varied.setting());
        }
    }
    text
}

fn swings_text(report: &MachineReport) -> String {
    let ns = report.kernels.ns;
    if report.swings.is_empty() {
        return String::new();
    }
    let mut timed: Vec<(f64, &Swing)> =
        report.swings.iter().filter_map(|swing| Some((swing.sensitivity(ns)?, swing))).collect();
    timed.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut text = String::from("change of the time for 10 % more of a fact:\n");
    for (share, swing) in timed {
        text += &format!("{:>+9.2} %  {} = {}\n", 100.0 * share, swing.fact, swing.value);
    }
    for swing in report.swings.iter().filter(|swing| swing.sensitivity(ns).is_none()) {
        text += &format!("{:>11}  {} = {}: {}\n", "none", swing.fact, swing.value, swing.why_none());
    }
    text
}

fn rows_json(kernels: &Kernels) -> Vec<Value> {
    let row = |NamedKernel { name, class, nodes, forecast }: &NamedKernel| {
        json!({
            "kernel": name, "class": class, "nodes": nodes, "launches": forecast.launches,
            "predicted_ns": forecast.ns, "cycles": forecast.cycles, "bytes": forecast.bytes, "flops": forecast.flops, "bound": forecast.bound,
        })
    };
    kernels.rows.iter().map(row).collect()
}

fn chip_json(chip: Option<OnChips>, slope: Option<f64>) -> Value {
    chip.map_or(Value::Null, |chip| {
        let Busy { outward, loads, rows, sums, alus, ports } = chip.busy;
        json!({
            "cycles": chip.cycles, "slope": slope, "binding": chip.told(),
            "busy": {
                "outward": outward, "loads": loads, "rows": rows, "sums": sums, "alus": alus, "ports": ports,
            },
        })
    })
}

fn to_json(report: &MachineReport) -> Value {
    let ns = report.kernels.ns;
    let effect = |effect: &Effect| match effect {
        Effect::Time { value, ns } => json!({ "value": value, "predicted_ns": ns }),
        Effect::Code { value } => json!({ "value": value, "predicted_ns": ns, "other_code": true }),
        Effect::None { never } => json!({ "without_effect": never.unwrap_or("in this model") }),
        Effect::Refused { why } => json!({ "refused": why }),
    };
    let swing = |swing: &Swing| {
        json!({
            "fact": swing.fact, "value": swing.value, "share": swing.sensitivity(ns),
            "more": effect(&swing.effects[0]), "less": effect(&swing.effects[1]),
        })
    };
    let varied = |varied: &Varied| {
        let facts = varied.facts.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({
            "facts": facts.collect::<Map<String, Value>>(),
            "predicted_ns": varied.kernels.ns, "cycles": varied.kernels.cycles, "bytes": varied.kernels.bytes(), "bound": varied.kernels.bound(),
            "chip": chip_json(varied.chip, varied.slope),
            "kernels": rows_json(&varied.kernels),
        })
    };
    json!({
        "machine": report.basis.machine,
        "prediction": output::basis(&report.basis),
        "predicted_ns": ns,
        "cycles": report.kernels.cycles,
        "bytes": report.kernels.bytes(),
        "bound": report.kernels.bound(),
        "chip": chip_json(report.chip, None),
        "kernels": rows_json(&report.kernels),
        "varied": report.varied.iter().map(varied).collect::<Vec<Value>>(),
        "sensitivities": report.swings.iter().map(swing).collect::<Vec<Value>>(),
        "made_up_sizes": report.made_up,
        "refusal": report.refusal,
    })
}

/// A line a kernel and one for all of it, of each machine and each variation.
fn to_csv(reports: &[MachineReport]) -> String {
    let mut text = String::from(
        "machine,model,facts,kernel,launches,predicted_ns,bytes,flops,bound,cycles,slope,binding\n",
    );
    for report in reports {
        let mut lines = |facts: &str, kernels: &Kernels, chip: Option<OnChips>, slope: Option<f64>| {
            let start = format!("{},{},{facts}", quoted(&report.basis.machine), report.basis.model.name());
            let (launches, flops, bytes) = (kernels.launches(), kernels.flops(), kernels.bytes());
            let bound = kernels.bound();
            text += &format!("{start},,{launches},{},{bytes},{flops},{bound}", kernels.ns);
            let slope = slope.map_or_else(String::new, |slope| slope.to_string());
            text += &chip.map_or(",,,\n".to_string(), |chip| {
                format!(",{},{slope},{}\n", chip.cycles, quoted(&chip.told()))
            });
            for NamedKernel { name, forecast, .. } in &kernels.rows {
                let KernelForecast { launches, ns, bytes, flops, bound, cycles, .. } = forecast;
                let cycles = cycles.map_or_else(String::new, |cycles| cycles.to_string());
                let name = quoted(name);
                text += &format!("{start},{name},{launches},{ns},{bytes},{flops},{bound},{cycles},,\n");
            }
        };
        lines("", &report.kernels, report.chip, None);
        for varied in &report.varied {
            lines(&varied.setting(), &varied.kernels, varied.chip, varied.slope);
        }
    }
    text
}

/// A field of a CSV file (RFC 4180).
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}
