//! `tegula explain`.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::inputs::quoted;
use crate::load::{symbols, with_model};
use crate::output;
use serde_json::{Value, json};
use tegula_base::Dim;
use tegula_driver::explain::{Explained, KernelStory};

pub fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let ((explained, preferences), _) =
        with_model(&args.model, &args.compile, None, |model, options, cx| {
            let explained = tegula_driver::explain::explain(model, options, args.node.as_deref(), cx)?;
            Ok((explained, tegula_driver::explain::preferences(options)?))
        })?;
    let Explained { stories, basis, ns, cycles, made_up } = &explained;
    if args.json {
        let values: Vec<Value> = stories.iter().map(to_json).collect();
        return output::print_json(&json!({
            "kernels": values,
            "preferences": preferences,
            "predicted_ns": ns,
            "cycles": cycles,
            "prediction": output::basis(basis),
            "made_up_sizes": made_up,
        }));
    }
    let mut text: String = stories.iter().map(to_text).collect();
    if args.node.is_none() {
        let part = if cycles.is_some() { "the chip and one core" } else { "one core or GPU" };
        let (cycles, time) = (output::cycles(*cycles), output::duration(*ns));
        text += &match made_up.is_empty() {
            true => format!("{cycles}{time} in all on {part}, by the {basis}\n"),
            false => format!("times by the {basis}\n"),
        };
        text += "the target's preferences, which passes act on:\n";
        text.extend(preferences.to_string().lines().map(|line| format!("  {line}\n")));
    }
    output::print(&text)
}

fn to_text(story: &KernelStory) -> String {
    let cost = &story.cost;
    let mut text = format!("{}: {}\n", story.name, story.nodes.join(", "));
    if !cost.class.is_empty() {
        text += &format!("  {}: {} bytes, {} flops", cost.class, cost.bytes, cost.flops);
        if let Some(time) = &story.time
            && !time.bound.is_empty()
        {
            let time_of = |cycles| match cycles {
                Some(_) => format!("{}{} predicted", output::cycles(cycles), output::duration(time.ns)),
                None => predicted(&cost.predicted_ns, time.ns),
            };
            text += &format!(", {}, bound by {}", time_of(time.cycles), time.bound);
        }
        text.push('\n');
    }
    for remark in &story.remarks {
        text += &format!("  {}: {}\n", remark.pass, remark.text);
    }
    text
}

/// A time; how it grows with open dims is nothing to read.
fn predicted(formula: &Dim, ns: f64) -> String {
    match formula.as_const() {
        Some(_) => format!("{} predicted", output::duration(ns)),
        None => {
            format!("its time depends on {} (`--dim` fixes those of inputs)", quoted(&symbols([formula])))
        }
    }
}

fn to_json(story: &KernelStory) -> Value {
    json!({
        "kernel": story.name,
        "nodes": story.nodes,
        "class": story.cost.class,
        "bytes": story.cost.bytes.to_string(),
        "flops": story.cost.flops.to_string(),
        "roofline_ns": story.cost.predicted_ns.to_string(),
        "predicted_ns": story.time.as_ref().map(|time| time.ns),
        "cycles": story.time.as_ref().and_then(|time| time.cycles),
        "bound": story.time.as_ref().map(|time| &time.bound),
        "remarks": story.remarks.iter().map(|remark| json!({
            "pass": &*remark.pass,
            "node": remark.location.as_deref(),
            "text": remark.text,
        })).collect::<Vec<Value>>(),
    })
}
