//! Passes and launches as a trace that Perfetto and `chrome://tracing` open (Trace Event Format, complete events).

use tegula_ir::pass::PassRecord;
use tegula_package::HostProgram;
use tegula_runtime::RunProfile;

/// One bar of the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    pub name: String,
    pub category: &'static str,
    pub start_us: f64,
    pub duration_us: f64,
    /// Shown when the bar is picked.
    pub args: Vec<(String, String)>,
}

/// Passes one after the other (what runs between them is left out), then the launches of a run.
pub fn trace_events(records: &[PassRecord], run: Option<(&RunProfile, &HostProgram)>) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    let mut now = 0.0;
    for record in records {
        let duration_us = record.time_ns.unwrap_or(0) as f64 / 1e3;
        let counters = record.counters.iter().map(|(name, n)| (name.to_string(), n.to_string()));
        events.push(TraceEvent {
            name: format!("{}:{}", record.pipeline, record.pass),
            category: "compile",
            start_us: now,
            duration_us,
            args: counters.collect(),
        });
        now += duration_us;
    }
    let Some((profile, program)) = run else { return events };
    for launch in &profile.launches {
        let kernel = &program.kernels[launch.kernel as usize];
        events.push(TraceEvent {
            name: kernel.name.clone(),
            category: "run",
            start_us: now + launch.start_ns as f64 / 1e3,
            duration_us: launch.ns as f64 / 1e3,
            args: vec![
                ("nodes".into(), kernel.source.join(", ")),
                ("units".into(), launch.grid.to_string()),
                ("threads".into(), launch.threads.to_string()),
            ],
        });
    }
    events
}
