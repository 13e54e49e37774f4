//! Writes `--trace-file`: Trace Event Format, JSON.

use crate::failure::Failure;
use crate::output;
use serde_json::{Map, Value, json};
use std::path::Path;
use tegula_driver::trace::TraceEvent;

pub fn write(path: &Path, events: &[TraceEvent]) -> Result<(), Failure> {
    let events: Vec<Value> = events
        .iter()
        .map(|event| {
            let args: Map<String, Value> =
                event.args.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({
                "name": event.name,
                "cat": event.category,
                "ph": "X",
                "ts": event.start_us,
                "dur": event.duration_us,
                "pid": 1,
                "tid": 1,
                "args": args,
            })
        })
        .collect();
    output::write_bytes(path, json!({ "traceEvents": events }).to_string().as_bytes())
}
