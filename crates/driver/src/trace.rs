//! Passes and launches as a trace that Perfetto and `chrome://tracing` open (Trace Event Format), and what the units of
//! streaming chips do.

use crate::lpu::timeline;
use tegula_base::Diagnostics;
use tegula_ir::pass::PassRecord;
use tegula_package::Package;
use tegula_runtime::RunProfile;

/// The process and thread of passes and launches.
const PROCESSOR: u32 = 1;

/// One event of the trace.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEvent {
    Bar {
        name: String,
        category: &'static str,
        /// Where it starts.
        at: Point,
        duration_us: f64,
        /// Shown when the bar is picked.
        args: Vec<(String, String)>,
    },
    /// What a process is called, or a thread of it.
    Name { process: u32, thread: Option<u32>, name: String },
    /// From the bar at one point to that at another; each has an id of its own.
    Arrow { id: u64, from: Point, to: Point },
}

/// A moment on a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub process: u32,
    pub thread: u32,
    pub us: f64,
}

/// Passes one after the other (what runs between them is left out), then the launches of a run; beside them, with time of their
/// own, the units of streaming chips. Errors: images of chips that are damaged, machines that are not known.
pub fn trace_events(
    records: &[PassRecord],
    run: Option<(&RunProfile, &Package)>,
) -> Result<Vec<TraceEvent>, Diagnostics> {
    let mut events = Vec::new();
    let at = |us: f64| Point { process: PROCESSOR, thread: PROCESSOR, us };
    let mut now = 0.0;
    for record in records {
        let duration_us = record.time_ns.unwrap_or(0) as f64 / 1e3;
        let counters = record.counters.iter().map(|(name, n)| (name.to_string(), n.to_string()));
        events.push(TraceEvent::Bar {
            name: format!("{}:{}", record.pipeline, record.pass),
            category: "compile",
            at: at(now),
            duration_us,
            args: counters.collect(),
        });
        now += duration_us;
    }
    let Some((profile, package)) = run else { return Ok(events) };
    for launch in &profile.launches {
        let kernel = &package.program.kernels[launch.kernel as usize];
        events.push(TraceEvent::Bar {
            name: kernel.name.clone(),
            category: "run",
            at: at(now + launch.start_ns as f64 / 1e3),
            duration_us: launch.ns as f64 / 1e3,
            args: vec![
                ("nodes".into(), kernel.source.join(", ")),
                ("units".into(), launch.grid.to_string()),
                ("threads".into(), launch.threads.to_string()),
            ],
        });
    }
    events.extend(timeline(package, profile)?);
    Ok(events)
}
