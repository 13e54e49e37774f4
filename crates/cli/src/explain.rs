//! `tegula explain`.

use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::inputs::quoted;
use crate::load::{symbols, with_model};
use crate::output;
use serde_json::{Value, json};
use tegula_base::Dim;
use tegula_driver::explain::KernelStory;

pub fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let ((stories, preferences), _) = with_model(&args.model, &args.compile, None, |model, options, cx| {
        let stories = tegula_driver::explain::explain(model, options, args.node.as_deref(), cx)?;
        Ok((stories, tegula_driver::explain::preferences(options)?))
    })?;
    if args.json {
        let values: Vec<Value> = stories.iter().map(to_json).collect();
        return output::print_json(&json!({ "kernels": values, "preferences": preferences }));
    }
    let mut text: String = stories.iter().map(to_text).collect();
    if args.node.is_none() {
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
        if !cost.bound.is_empty() {
            text += &format!(", {}, bound by {}", predicted(&cost.predicted_ns), cost.bound);
        }
        text.push('\n');
    }
    for remark in &story.remarks {
        text += &format!("  {}: {}\n", remark.pass, remark.text);
    }
    text
}

/// A time; how it grows with open dims is nothing to read.
fn predicted(ns: &Dim) -> String {
    match ns.as_const() {
        Some(ns) => format!("{} predicted", output::duration(ns as f64)),
        None => format!("its time depends on {} (`--dim` fixes those of inputs)", quoted(&symbols([ns]))),
    }
}

fn to_json(story: &KernelStory) -> Value {
    json!({
        "kernel": story.name,
        "nodes": story.nodes,
        "class": story.cost.class,
        "bytes": story.cost.bytes.to_string(),
        "flops": story.cost.flops.to_string(),
        "predicted_ns": story.cost.predicted_ns.to_string(),
        "bound": story.cost.bound,
        "remarks": story.remarks.iter().map(|remark| json!({
            "pass": &*remark.pass,
            "node": remark.location.as_deref(),
            "text": remark.text,
        })).collect::<Vec<Value>>(),
    })
}
