//! `tegula predict`: time, bytes and bounds of a model on machines that need not be here, and what a fact of them changes.

use crate::args::{CompileOptions as Compile, PredictArgs, TargetOptions, Vary};
use crate::failure::Failure;
use crate::load::with_model;
use crate::output;
use serde_json::{Map, Value, json};
use tegula_base::{Diagnostic, Diagnostics};
use tegula_driver::forecast::Basis;
use tegula_driver::what_if::{Effect, Outlook, Swing, outlook, outlook_with, swings};
use tegula_driver::{CompileOptions, Model, PassCx};

/// What is told of one machine.
struct Report {
    basis: Basis,
    ns: f64,
    rows: Vec<Row>,
    varied: Vec<Varied>,
    swings: Vec<Swing>,
    made_up: Vec<String>,
}

/// All launches of one kernel.
struct Row {
    kernel: String,
    nodes: Vec<String>,
    launches: usize,
    ns: f64,
    bytes: f64,
    flops: f64,
    bound: String,
}

/// The machine with other values of facts.
struct Varied {
    facts: Vec<(String, f64)>,
    ns: f64,
    rows: Vec<Row>,
}

pub fn predict(args: &PredictArgs) -> Result<(), Failure> {
    // None: this processor.
    let machines: Vec<Option<String>> = match args.machines.as_slice() {
        [] => vec![None],
        named => named.iter().cloned().map(Some).collect(),
    };
    let mut reports = Vec::new();
    for machine in machines {
        let target = TargetOptions { machine, precision: args.precision.clone(), ..TargetOptions::default() };
        let compile = Compile { target, dims: args.dims.clone(), ..Compile::default() };
        let make =
            |model: &Model, options: &CompileOptions, cx: &mut PassCx| report(args, model, options, cx);
        reports.push(with_model(&args.model, &compile, None, make)?.0);
    }
    for name in reports.iter().flat_map(|report| &report.made_up) {
        output::complain(&format!("note: size `{name}` is not given; using 1 (`--dim {name}=N`)\n"));
    }
    if args.json {
        let machines: Vec<Value> = reports.iter().map(to_json).collect();
        return output::print_json(&json!({ "machines": machines }));
    }
    output::print(&if args.csv { to_csv(&reports) } else { to_text(&reports) })
}

fn report(
    args: &PredictArgs,
    model: &Model,
    options: &CompileOptions,
    cx: &mut PassCx,
) -> Result<Report, Diagnostics> {
    let base = outlook(model, options, cx)?;
    let mut varied = Vec::new();
    for facts in args.vary.iter().flat_map(settings) {
        let facts = facts.into_iter().map(|(name, value)| Ok((value.of(options, &name)?, name)));
        let facts: Vec<(String, f64)> =
            facts.map(|pair| pair.map(|(value, name)| (name, value))).collect::<Result<_, Diagnostic>>()?;
        let other = outlook_with(model, options, &facts, cx)?;
        varied.push(Varied { facts, ns: other.forecast.ns(), rows: rows(&other) });
    }
    let swings = if args.sensitivities { swings(model, options, &base, cx)? } else { vec![] };
    Ok(Report {
        ns: base.forecast.ns(),
        rows: rows(&base),
        made_up: base.forecast.made_up.into_iter().collect(),
        basis: base.forecast.basis,
        varied,
        swings,
    })
}

/// A value of a fact: a number, or so many times the machine's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactValue {
    Is(f64),
    Times(f64),
}

impl FactValue {
    fn of(self, options: &CompileOptions, name: &str) -> Result<f64, Diagnostic> {
        match (self, options.machine.facts.get(name)) {
            // What is no fact is told where it is set.
            (FactValue::Is(value), _) | (FactValue::Times(value), None) => Ok(value),
            (FactValue::Times(factor), Some(fact)) => Ok(fact.value * factor),
        }
    }
}

/// All facts of a `--vary` with its first value, then with its second ...
fn settings(vary: &Vary) -> Vec<Vec<(String, FactValue)>> {
    let with = |value: &FactValue| vary.facts.iter().map(|fact| (fact.clone(), *value)).collect();
    vary.values.iter().map(with).collect()
}

/// One row a kernel, the longest first.
fn rows(outlook: &Outlook) -> Vec<Row> {
    let kernels = &outlook.package.program.kernels;
    let mut rows: Vec<Row> = kernels
        .iter()
        .enumerate()
        .filter_map(|(number, kernel)| {
            let own = || outlook.forecast.launches.iter().filter(|launch| launch.kernel as usize == number);
            let longest = own().max_by(|a, b| a.ns.total_cmp(&b.ns))?;
            Some(Row {
                kernel: kernel.name.clone(),
                nodes: kernel.source.to_vec(),
                launches: own().count(),
                ns: own().map(|launch| launch.ns).sum(),
                bytes: own().map(|launch| launch.bytes).sum(),
                flops: own().map(|launch| launch.flops).sum(),
                bound: longest.bound.clone(),
            })
        })
        .collect();
    rows.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    rows
}

fn bytes(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.bytes).sum()
}

/// What bounds most of the time.
fn bound(rows: &[Row]) -> &str {
    let of = |bound: &str| rows.iter().filter(|row| row.bound == bound).map(|row| row.ns).sum::<f64>();
    rows.iter().map(|row| row.bound.as_str()).max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or("-")
}

fn setting(facts: &[(String, f64)]) -> String {
    facts.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn to_text(reports: &[Report]) -> String {
    let mut text = format!("{:>10} {:>10}  {:<8} {:<9} machine\n", "predicted", "bytes", "bound", "model");
    let mut line = |ns: f64, rows: &[Row], model: &str, name: &str| {
        text += &format!(
            "{:>10} {:>10}  {:<8} {model:<9} {name}\n",
            output::duration(ns),
            output::size(bytes(rows) as u64),
            bound(rows),
        );
    };
    for report in reports {
        let (model, machine) = (report.basis.model.name(), &report.basis.machine);
        line(report.ns, &report.rows, model, machine);
        for varied in &report.varied {
            line(varied.ns, &varied.rows, model, &format!("{machine}, {}", setting(&varied.facts)));
        }
    }
    for report in reports {
        text += &format!("\n{}\n", report.basis);
        text += &format!(
            "{:>10} {:>7} {:>10} {:>8}  {:<8} {:<18} nodes\n",
            "predicted", "share", "bytes", "launches", "bound", "kernel"
        );
        for row in &report.rows {
            text += &format!(
                "{:>10} {:>5.1} % {:>10} {:>8}  {:<8} {:<18} {}\n",
                output::duration(row.ns),
                100.0 * row.ns / report.ns.max(f64::MIN_POSITIVE),
                output::size(row.bytes as u64),
                row.launches,
                row.bound,
                row.kernel,
                row.nodes.join(", "),
            );
        }
        text += &swings_text(report);
    }
    text
}

fn swings_text(report: &Report) -> String {
    if report.swings.is_empty() {
        return String::new();
    }
    let mut timed: Vec<(f64, &Swing)> =
        report.swings.iter().filter_map(|swing| Some((swing.sensitivity(report.ns)?, swing))).collect();
    timed.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut text = String::from("change of the time for 10 % more of a fact:\n");
    for (share, swing) in timed {
        text += &format!("{:>+9.2} %  {} = {}\n", 100.0 * share, swing.fact, swing.value);
    }
    for swing in report.swings.iter().filter(|swing| swing.sensitivity(report.ns).is_none()) {
        text += &format!("{:>11}  {} = {}: {}\n", "none", swing.fact, swing.value, reason(swing));
    }
    text
}

/// Why a swing has no time.
fn reason(swing: &Swing) -> String {
    let [more, less] = &swing.effects;
    match (more, less) {
        (Effect::Code { .. }, _) | (_, Effect::Code { .. }) => {
            "other code, of the same predicted time".into()
        }
        (Effect::Refused { why }, _) | (_, Effect::Refused { why }) => why.clone(),
        (Effect::None { never: Some(why) }, _) => (*why).into(),
        _ => "nothing in this model depends on it".into(),
    }
}

fn rows_json(rows: &[Row]) -> Vec<Value> {
    let row = |row: &Row| {
        json!({
            "kernel": row.kernel, "nodes": row.nodes, "launches": row.launches, "predicted_ns": row.ns,
            "bytes": row.bytes, "flops": row.flops, "bound": row.bound,
        })
    };
    rows.iter().map(row).collect()
}

fn to_json(report: &Report) -> Value {
    let effect = |effect: &Effect| match effect {
        Effect::Time { value, ns } => json!({ "value": value, "predicted_ns": ns }),
        Effect::Code { value } => json!({ "value": value, "predicted_ns": report.ns, "other_code": true }),
        Effect::None { never } => json!({ "without_effect": never.unwrap_or("in this model") }),
        Effect::Refused { why } => json!({ "refused": why }),
    };
    let swing = |swing: &Swing| {
        json!({
            "fact": swing.fact, "value": swing.value, "share": swing.sensitivity(report.ns),
            "more": effect(&swing.effects[0]), "less": effect(&swing.effects[1]),
        })
    };
    let varied = |varied: &Varied| {
        json!({
            "facts": varied.facts.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<String, Value>>(),
            "predicted_ns": varied.ns, "bytes": bytes(&varied.rows), "bound": bound(&varied.rows),
            "kernels": rows_json(&varied.rows),
        })
    };
    json!({
        "machine": report.basis.machine,
        "prediction": output::basis(&report.basis),
        "predicted_ns": report.ns,
        "bytes": bytes(&report.rows),
        "bound": bound(&report.rows),
        "kernels": rows_json(&report.rows),
        "varied": report.varied.iter().map(varied).collect::<Vec<Value>>(),
        "sensitivities": report.swings.iter().map(swing).collect::<Vec<Value>>(),
        "made_up_sizes": report.made_up,
    })
}

/// A line a kernel and one for all of it, of each machine and each variation.
fn to_csv(reports: &[Report]) -> String {
    let mut text = String::from("machine,model,facts,kernel,launches,predicted_ns,bytes,flops,bound\n");
    for report in reports {
        let mut lines = |facts: &str, ns: f64, rows: &[Row]| {
            let start = format!("{},{},{facts}", quoted(&report.basis.machine), report.basis.model.name());
            let launches: usize = rows.iter().map(|row| row.launches).sum();
            let flops: f64 = rows.iter().map(|row| row.flops).sum();
            text += &format!("{start},,{launches},{ns},{},{flops},{}\n", bytes(rows), bound(rows));
            for row in rows {
                let Row { launches, ns, bytes, flops, bound, .. } = row;
                text += &format!("{start},{},{launches},{ns},{bytes},{flops},{bound}\n", quoted(&row.kernel));
            }
        };
        lines("", report.ns, &report.rows);
        for varied in &report.varied {
            lines(&setting(&varied.facts), varied.ns, &varied.rows);
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
