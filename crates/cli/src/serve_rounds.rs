//! `tegula bench --serve-rounds`: a process that another one times against its own runs. It says `ready NS`,
//! the nanoseconds from the file to a session, then answers each line `run N` with N run times in nanoseconds.

use crate::failure::Failure;
use crate::output;
use std::io::BufRead;
use tegula::Session;
use tegula::clock::WallClock;
use tegula_base::face::Clock;
use tegula_base::{Diagnostic, HostTensor};
use tegula_runtime::TensorView;

pub fn serve(session: &Session, tensors: &[HostTensor], ready_ns: u64) -> Result<(), Failure> {
    let views: Vec<TensorView> = tensors.iter().map(TensorView::from).collect();
    let mut outputs = Vec::new();
    output::print(&format!("ready {ready_ns}\n"))?;
    let clock = WallClock::default();
    for line in std::io::stdin().lock().lines() {
        let line =
            line.map_err(|error| Diagnostic::error("io", "stdin cannot be read").note(error.to_string()))?;
        let runs = line.trim().strip_prefix("run ").and_then(|n| n.trim().parse::<usize>().ok());
        let Some(runs) = runs else {
            return Err(Diagnostic::error("bad-request", format!("`run N` is expected, got `{line}`")).into());
        };
        let mut times = Vec::new();
        for _ in 0..runs {
            let start = clock.now_ns();
            session.run_into(&views, &mut outputs)?;
            times.push((clock.now_ns() - start).to_string());
        }
        output::print(&format!("{}\n", times.join(" ")))?;
    }
    Ok(())
}
