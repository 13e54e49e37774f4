//! The baseline's process: a Python that times PyTorch's kernels, a line of JSON for each row asked. Without Python or
//! PyTorch there is no baseline, and rows are written without one.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes};

pub struct Baseline(Option<Child>);

/// What a row took.
#[derive(Debug, Default)]
pub struct Times {
    /// Nanoseconds of each run; none where the baseline has no such kernel.
    pub ns: Vec<u64>,
    /// Which of the baseline's kernels it was, the fastest.
    pub which: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
}

impl Times {
    pub fn add(&mut self, more: Times) {
        self.ns.extend(more.ns);
        self.which = self.which.take().or(more.which);
        self.error = self.error.take().or(more.error);
    }
}

const SCRIPT: &str = include_str!("../../../automation/python/tegula_tools/gpu_baseline.py");

impl Baseline {
    pub fn start() -> Baseline {
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut baseline = Baseline(command.spawn().ok());
        match baseline.ask(&json!({ "row": "hello" })) {
            Some(answer) => println!("baseline: {answer}"),
            None => {
                println!("no baseline: python3 with PyTorch on a card is not here");
                baseline.stop();
            }
        }
        baseline
    }

    pub fn time(&mut self, kernel: &GpuKernel, sizes: &Sizes, copies: usize, runs: usize) -> Times {
        let question = json!({ "row": kernel.name, "sizes": sizes, "copies": copies, "runs": runs });
        let Some(answer) = self.ask(&question) else { return Times::default() };
        let ns = answer["ns"].as_array().map(|times| times.iter().filter_map(Value::as_u64).collect());
        let text = |name: &str| answer[name].as_str().map(str::to_string);
        Times { ns: ns.unwrap_or_default(), which: text("which"), error: text("error") }
    }

    fn ask(&mut self, question: &Value) -> Option<Value> {
        let child = self.0.as_mut()?;
        writeln!(child.stdin.as_mut()?, "{question}").ok()?;
        let mut line = String::new();
        BufReader::with_capacity(1, child.stdout.as_mut()?).read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        self.stop();
    }
}
