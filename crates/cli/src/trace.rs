//! Writes `--trace-file`: Trace Event Format, JSON.

use crate::failure::Failure;
use crate::output;
use serde_json::{Map, Value, json};
use std::path::Path;
use tegula_driver::trace::{Point, TraceEvent};

/// An event at a time: the units of a chip have many, and all of them as values take some hundred bytes each.
pub fn write(path: &Path, events: &[TraceEvent]) -> Result<(), Failure> {
    let mut text = String::from("{\"traceEvents\":[");
    for (number, event) in events.iter().flat_map(values).enumerate() {
        text += if number == 0 { "\n" } else { ",\n" };
        text += &event.to_string();
    }
    text += "\n]}\n";
    output::write_bytes(path, text.as_bytes())
}

/// An arrow is two events; the second is the bar's that lies around its end.
fn values(event: &TraceEvent) -> Vec<Value> {
    match event {
        TraceEvent::Bar { name, category, at, duration_us, args } => {
            let args: Map<String, Value> =
                args.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            vec![json!({
                "name": name,
                "cat": category,
                "ph": "X",
                "ts": at.us,
                "dur": duration_us,
                "pid": at.process,
                "tid": at.thread,
                "args": args,
            })]
        }
        TraceEvent::Name { process, thread, name } => {
            let what = if thread.is_some() { "thread_name" } else { "process_name" };
            let thread = thread.unwrap_or(0);
            vec![
                json!({ "name": what, "ph": "M", "pid": process, "tid": thread, "args": { "name": name } }),
                json!({
                    "name": what.replace("name", "sort_index"),
                    "ph": "M",
                    "pid": process,
                    "tid": thread,
                    "args": { "sort_index": if thread == 0 { *process } else { thread } },
                }),
            ]
        }
        TraceEvent::Arrow { id, from, to } => {
            let end = |phase: &str, at: &Point| {
                json!({
                    "name": "vectors",
                    "cat": "flow",
                    "ph": phase,
                    "bp": "e",
                    "id": id,
                    "ts": at.us,
                    "pid": at.process,
                    "tid": at.thread,
                })
            };
            vec![end("s", from), end("f", to)]
        }
    }
}
