//! What is fuzzed: each target takes any bytes and must give a result or a diagnostic.

use anyhow::{Result, bail};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_driver::{Form, Model};
use tegula_package::Package;
use tegula_runtime::Session;

use crate::in_process::{NoFiles, compile_bytes, session};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Models: import, and now and then compilation.
    Onnx,
    /// MLIR text: parse, print, read as a program, verify, and now and then compilation.
    Text,
    /// Packages of portable kernels with right checksums: load, verify, run for a while.
    Package,
}

impl Target {
    pub const ALL: [Target; 3] = [Target::Onnx, Target::Text, Target::Package];

    pub fn name(self) -> &'static str {
        match self {
            Target::Onnx => "onnx",
            Target::Text => "text",
            Target::Package => "package",
        }
    }

    pub fn by_name(name: &str) -> Result<Target> {
        match Target::ALL.into_iter().find(|target| target.name() == name) {
            Some(target) => Ok(target),
            None => bail!("there is no fuzz target `{name}`: it is one of onnx, text, package"),
        }
    }
}

/// One input in so many is also compiled.
const COMPILED_ONE_IN: usize = 8;

/// Bytes of an input of a package that is run.
const RUN_BYTES: usize = 1 << 24;

/// How long a package may run.
const PATIENCE: Duration = Duration::from_millis(200);

pub fn run(target: Target, bytes: &[u8]) {
    match target {
        Target::Onnx => model(bytes),
        Target::Text => text(bytes),
        Target::Package => package(bytes),
    }
}

fn model(bytes: &[u8]) {
    let model = Model {
        name: "fuzzed.onnx".into(),
        bytes: Bytes::copy_from_slice(bytes),
        results: vec![],
        checked: false,
        files: &NoFiles,
    };
    if model.import(&BTreeMap::new()).is_ok() && bytes.len().is_multiple_of(COMPILED_ONE_IN) {
        // A refusal is as good as a package.
        let _ = compile_bytes(bytes, "avx2-generic", Form::Machine);
    }
}

fn text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(module) = tegula_mlir::parse_module(text) else { return };
    let printed = tegula_mlir::print_module(&module);
    let again = tegula_mlir::parse_module(&printed)
        .unwrap_or_else(|error| panic!("printed text is no text: {error}"));
    assert_eq!(printed, tegula_mlir::print_module(&again), "printing is no fixpoint");
    let Ok(program) = tegula_ir::parse_program::<tegula_tensor::TensorOp>(text, None) else { return };
    if tegula_ir::verify_program(&program).is_ok() && bytes.len().is_multiple_of(COMPILED_ONE_IN) {
        let _ = compile_bytes(bytes, "avx2-generic", Form::Machine);
    }
}

fn package(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    tegula_package::format::repair_checksums(&mut bytes);
    let bytes = Bytes::from(bytes);
    let Ok(package) = Package::parse(bytes.clone()) else { return };
    let _ = package.verify_constants();
    let Ok(session) = session(bytes, 1) else { return };
    let inputs: Option<Vec<HostTensor>> = session
        .inputs()
        .iter()
        .map(|port| {
            // Symbols are 3.
            let shape: Option<Vec<usize>> = port
                .shape
                .iter()
                .map(|dim| dim.eval(&|_| Some(3)).and_then(|n| usize::try_from(n).ok()))
                .collect();
            let shape = shape?;
            let count = shape.iter().try_fold(port.dtype.size(), |count, n| count.checked_mul(*n))?;
            (count <= RUN_BYTES).then(|| HostTensor::zeros(port.dtype, &shape))
        })
        .collect();
    if let Some(inputs) = inputs
        && let Err(found) = run_for_a_while(&session, &inputs)
    {
        let internal: Vec<&Diagnostic> = found.0.iter().filter(|found| found.is_internal()).collect();
        assert!(internal.is_empty(), "a run ended with {internal:?}");
    }
}

/// A program may loop as long as it likes, so the run is stopped then; what does not stop hangs.
fn run_for_a_while(session: &Session, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, Diagnostics> {
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        scope.spawn(move || {
            while end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                session.stop();
            }
        });
        let result = session.run(inputs);
        drop(ended);
        result
    })
}
