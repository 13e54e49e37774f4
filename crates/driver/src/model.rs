//! A model as the faces hand it over, and its import.

use bytes::Bytes;
use std::collections::BTreeMap;
use tegula_base::face::{Clock, Files};
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_import::{ModelFile, Request, Step};
use tegula_ir::pass::{Changed, PassCx, PassRecord};
use tegula_tensor::TensorProgram;

pub use tegula_import::front_door::refuse_folder;
pub use tegula_import::onnx::given_dim;

/// A model's bytes and what may be read beside them.
#[derive(Clone)]
pub struct Model<'a> {
    /// As diagnostics name it, e.g. `model.onnx`.
    pub name: String,
    pub bytes: Bytes,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: Vec<String>,
    /// Whether gathers and scatters assert that their indices are inside of their axes, instead of clamping them.
    pub checked: bool,
    /// External data.
    pub files: &'a dyn Files,
}

impl Model<'_> {
    /// Reads a model of any format that is read. `dims` gives named sizes their values.
    /// Errors: every problem of the model in one report.
    pub fn import(&self, dims: &BTreeMap<String, i64>) -> Result<TensorProgram, Diagnostics> {
        self.import_in_steps(dims, &mut |_| {})
    }

    /// As [`import`](Model::import); its steps are passes of pipeline `import` in `cx.records`, timed where there is a clock.
    pub(crate) fn import_timed(
        &self,
        dims: &BTreeMap<String, i64>,
        clock: Option<&dyn Clock>,
        cx: &mut PassCx,
    ) -> Result<TensorProgram, Diagnostics> {
        let mut start = clock.map(Clock::now_ns);
        self.import_in_steps(dims, &mut |step| {
            let end = clock.map(Clock::now_ns);
            cx.records.push(PassRecord {
                pipeline: "import".to_string(),
                pass: pass_of(step).to_string(),
                changed: Changed::Yes,
                time_ns: start.zip(end).map(|(start, end)| end.saturating_sub(start)),
                counters: BTreeMap::new(),
            });
            start = end;
        })
    }

    /// The tensors of inputs that may be left out: of those that `dims` names with `.given`.
    /// Errors: those of [`import`](Model::import).
    pub fn defaults(&self, dims: &BTreeMap<String, i64>) -> Result<Vec<(String, HostTensor)>, Diagnostics> {
        tegula_import::defaults(&self.file(), dims)
    }

    /// The dims that say of inputs what `given` tells: each with the rank of its tensor.
    pub fn dims_of_given(&self, given: &[(String, usize)]) -> BTreeMap<String, i64> {
        tegula_import::dims_of_given(&self.file(), given)
    }

    fn file(&self) -> ModelFile<'_> {
        ModelFile { name: &self.name, bytes: self.bytes.clone(), files: self.files }
    }

    fn import_in_steps(
        &self,
        dims: &BTreeMap<String, i64>,
        done: &mut dyn FnMut(Step),
    ) -> Result<TensorProgram, Diagnostics> {
        tegula_import::import(
            &self.file(),
            &Request { dims, results: &self.results, checked: self.checked },
            done,
        )
    }
}

fn pass_of(step: Step) -> &'static str {
    match step {
        Step::Decoded => "decode",
        Step::Converted => "convert",
        Step::Verified => "verify",
    }
}

/// The inputs of a program, as a package would show them; the buffers mean nothing.
pub fn ports(program: &TensorProgram) -> Vec<tegula_package::Port> {
    let func = program.entry();
    let port = |(index, arg): (usize, &tegula_ir::Value)| tegula_package::Port {
        name: func.arg_names.get(index).cloned().unwrap_or_else(|| format!("input{index}")),
        dtype: func.ty(*arg).dtype,
        shape: func.ty(*arg).shape.to_vec(),
        buffer: tegula_package::BufferId::from(index),
        alias: None,
        default: None,
    };
    func.args(func.body()).iter().enumerate().map(port).collect()
}

/// The names of a program's results.
pub fn result_names(program: &TensorProgram) -> Vec<String> {
    let func = program.entry();
    let count = func.terminator(func.body()).map_or(0, |end| func.operands(end).len());
    let name = |i: usize| func.result_names.get(i).cloned().unwrap_or_else(|| format!("output{i}"));
    (0..count).map(name).collect()
}

/// The element types of a program's results.
pub fn result_dtypes(program: &TensorProgram) -> Vec<DType> {
    let func = program.entry();
    let results = func.terminator(func.body()).map_or(&[][..], |end| func.operands(end));
    results.iter().map(|value| func.ty(*value).dtype).collect()
}

/// Runs a program by the reference evaluator.
pub fn evaluate(
    program: &TensorProgram,
    inputs: &[tegula_base::HostTensor],
) -> Result<Vec<tegula_base::HostTensor>, Diagnostics> {
    Ok(tegula_tensor::evaluate(program, inputs)?)
}
