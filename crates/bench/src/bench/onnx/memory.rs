//! Peak anonymous memory of a process with one model and three runs on one thread, of Tegula and of ONNX Runtime.
//! What a process holds without a model is shown, and taken off: of ONNX Runtime an interpreter with the library and the
//! inputs, of Tegula a run of a package of one addition. Weights of a package are mapped and do not count.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tegula_automation::cores;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;
use tegula_base::HostTensor;
use tegula_checks::npy::write_npy;

use super::Bench;
use crate::bench::report;
use crate::peak_memory::{Watch, peak};
use crate::peers::Peer;

const REQUEST: &str = "run 3\n";

#[derive(Serialize)]
pub struct Memory {
    pub rows: Vec<MemoryRow>,
    /// The largest ratio of a package's run to ONNX Runtime.
    pub worst: f64,
    pub failed: usize,
    holds: bool,
}

/// In bytes.
#[derive(Serialize)]
pub struct MemoryRow {
    model: String,
    /// A run of a package, less Tegula's process.
    package: u64,
    /// Compiling and running in one process, less Tegula's process.
    compiling: u64,
    tegula_process: u64,
    /// Less the interpreter's.
    onnxruntime: u64,
    interpreter: u64,
    ratio: f64,
    error: Option<String>,
}

pub fn measure(bench: &Bench) -> Result<Memory> {
    println!("\nmodel, package, compiling, (process), ort, (python), ratio; MB");
    let dir = workspace::target().join("packages");
    fs::create_dir_all(&dir)?;
    let smallest = dir.join("one-addition.tgl");
    bench.tegula.compile(&workspace::root().join("crates/tegula/models/double.onnx"), &smallest)?;
    let one = dir.join("one.npy");
    write_npy(&one, &HostTensor::from_elements(&[1], &[1.0f32]))?;
    let one = BTreeMap::from([("x".to_string(), one)]);
    let mut rows = Vec::new();
    for baseline in bench.baselines.iter().filter(|baseline| baseline.shape_set == "run_shapes") {
        let peaks = (|| -> Result<[u64; 5]> {
            let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
            let package = dir.join(format!("{}.tgl", baseline.id));
            bench.tegula.compile(&baseline.model, &package)?;
            let peer = |model| bench.peers.serve_rounds(Peer::OnnxRuntime, model, inputs, 1);
            // Each says that it is ready, and what its runs took; without a session there are none.
            let bytes = |command: &dyn Fn() -> Shell, n_lines: usize| -> Result<u64> {
                Ok(peak(|watch| answers(command(), n_lines, watch))?.1)
            };
            Ok([
                bytes(&|| bench.tegula.serve_rounds(&smallest, &one, 1), 2)?,
                bytes(&|| bench.tegula.serve_rounds(&package, inputs, 1), 2)?,
                bytes(&|| bench.tegula.serve_rounds(&baseline.model, inputs, 1), 2)?,
                bytes(&|| peer(Some(&baseline.model)), 2)?,
                bytes(&|| peer(None), 1)?,
            ])
        })();
        let row = MemoryRow::new(&baseline.id, peaks);
        println!("{}", row.cells().join("  "));
        rows.push(row);
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    let worst = rows.iter().filter(|row| row.error.is_none()).map(|row| row.ratio).fold(0.0, f64::max);
    Ok(Memory { rows, worst, failed, holds: failed == 0 && worst <= bench.bars.memory.worst })
}

/// Watches a process on one core until it has said `n_lines` lines to a request; it must not end before.
/// Errors: it does.
fn answers(command: Shell, n_lines: usize, watch: &mut Watch) -> Result<()> {
    // The process alone: on one core nobody would look while it works.
    let mut child = cores::on(&cores::last(1), || command.converse())?;
    let mut stdin = child.stdin.take().context("the process has no stdin")?;
    let stdout = BufReader::new(child.stdout.take().context("the process has no stdout")?);
    stdin.write_all(REQUEST.as_bytes())?;
    let lines = thread::spawn(move || stdout.lines().map_while(Result::ok).take(n_lines).count());
    while !lines.is_finished() {
        watch.look(&child);
    }
    watch.look(&child);
    drop(stdin);
    child.kill()?;
    child.wait()?;
    let said = lines.join().unwrap_or(0);
    ensure!(said == n_lines, "the process ended after {said} of {n_lines} answers");
    Ok(())
}

impl MemoryRow {
    fn new(model: &str, peaks: Result<[u64; 5]>) -> MemoryRow {
        let error = peaks.as_ref().err().map(|error| format!("{error:#}"));
        let [tegula_process, package, compiling, process, interpreter] = peaks.unwrap_or([0; 5]);
        let package = package.saturating_sub(tegula_process);
        let compiling = compiling.saturating_sub(tegula_process);
        let onnxruntime = process.saturating_sub(interpreter);
        let ratio = package as f64 / onnxruntime.max(1) as f64;
        let model = model.to_string();
        MemoryRow { model, package, compiling, tegula_process, onnxruntime, interpreter, ratio, error }
    }

    fn cells(&self) -> Vec<String> {
        if let Some(error) = &self.error {
            return vec![self.model.clone(), format!("fails: {error}")];
        }
        let mb = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
        let sizes =
            [self.package, self.compiling, self.tegula_process, self.onnxruntime, self.interpreter].map(mb);
        [vec![self.model.clone()], sizes.to_vec(), vec![format!("{:.2}", self.ratio)]].concat()
    }
}

impl Memory {
    pub fn holds(&self) -> bool {
        self.holds
    }

    pub fn markdown(&self) -> String {
        let rows: Vec<Vec<String>> = self.rows.iter().map(MemoryRow::cells).collect();
        let header = [
            "model",
            "package, MB",
            "compiling, MB",
            "its process, MB",
            "ONNX Runtime, MB",
            "its interpreter, MB",
            "ratio",
        ];
        format!(
            "## Peak anonymous memory\n\nA process with one model and three runs on one thread. What each process holds without a \
             model is shown and taken off. The ratio is a package's run over ONNX Runtime; worst {:.2}: {}. Compiling and running in one process is shown beside it.\n\n{}",
            self.worst,
            report::verdict(Some(self.holds)),
            report::table(&header, 1, &rows)
        )
    }
}
