//! A model as the faces hand it over, and its import.

use bytes::Bytes;
use std::collections::BTreeMap;
use tegula_base::face::Files;
use tegula_base::{Diagnostic, Diagnostics, Dim, EntityId, SymbolInfo};
use tegula_import::onnx;
use tegula_ir::Value;
use tegula_tensor::smaller::resize;
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// A model's bytes and what may be read beside them.
#[derive(Clone)]
pub struct Model<'a> {
    /// As diagnostics name it, e.g. `model.onnx`.
    pub name: String,
    pub bytes: Bytes,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: Vec<String>,
    /// External data.
    pub files: &'a dyn Files,
}

/// What a model's bytes spell.
pub(crate) enum Source {
    /// A program of ours.
    Text(TensorProgram),
    Onnx(Box<onnx::proto::ModelProto>),
}

impl Model<'_> {
    /// Reads an ONNX model, or a tensor program as our own text. `dims` gives named sizes their values.
    /// Errors: every problem of the model in one report.
    pub fn import(&self, dims: &BTreeMap<String, i64>) -> Result<TensorProgram, Diagnostics> {
        let program = self.convert(self.decode()?, dims)?;
        self.verify(&program)?;
        Ok(program)
    }

    /// The first step of [`import`](Model::import): the bytes as what they spell.
    pub(crate) fn decode(&self) -> Result<Source, Diagnostics> {
        match self.text() {
            Some(text) => {
                let program = tegula_ir::parse_program::<TensorOp>(text, None);
                program.map(Source::Text).map_err(|found| self.located(found))
            }
            None => {
                let model = onnx::decode(self.bytes.clone(), &self.name).map_err(named_kinds)?;
                Ok(Source::Onnx(Box::new(model)))
            }
        }
    }

    /// The second step: the program that the model means, not yet verified.
    pub(crate) fn convert(
        &self,
        source: Source,
        dims: &BTreeMap<String, i64>,
    ) -> Result<TensorProgram, Diagnostics> {
        match source {
            Source::Text(mut program) => {
                if !dims.is_empty() {
                    self.verify(&program)?;
                    specialise(&mut program, dims).map_err(|found| self.located(found))?;
                }
                self.whole()?;
                Ok(program)
            }
            Source::Onnx(messages) => {
                let options = onnx::ImportOptions {
                    name: self.name.clone(),
                    dims: dims.clone(),
                    results: self.results.clone(),
                };
                onnx::import_model(&messages, self.files, &options).map_err(named_kinds)
            }
        }
    }

    /// Errors: of a text, where it breaks the level's rules; internal, of an ONNX model that was read wrongly.
    pub(crate) fn verify(&self, program: &TensorProgram) -> Result<(), Diagnostics> {
        tegula_ir::verify_program(program).map_err(|found| match self.text() {
            Some(_) => self.located(found),
            None => internal("the import left an invalid program", &found),
        })
    }

    /// Errors: a part is asked for.
    fn whole(&self) -> Result<(), Diagnostics> {
        if self.results.is_empty() {
            return Ok(());
        }
        Err(Diagnostic::error("unknown-value", "values of a program given as text have no names")
            .help("let its `tgn.return` give the value")
            .into())
    }

    /// The bytes as text, when they are a program of ours: by the file's name, or by its first op.
    fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let before = |line: &&str| line.is_empty() || line.starts_with("//") || line.starts_with('#');
        let first = text.lines().map(str::trim).find(|line| !before(line));
        let ours = first.is_some_and(|line| line.starts_with("\"builtin.module\""));
        (ours || self.name.ends_with(".mlir")).then_some(text)
    }

    fn located(&self, mut found: Diagnostics) -> Diagnostics {
        for diagnostic in &mut found.0 {
            diagnostic.spans.insert(0, self.name.clone());
        }
        found
    }
}

/// A file of another kind is told which kinds there are.
fn named_kinds(mut found: Diagnostics) -> Diagnostics {
    for diagnostic in found.0.iter_mut().filter(|diagnostic| diagnostic.code == "not-onnx") {
        diagnostic.notes.push(
            "files are ONNX models (`.onnx`), tensor programs as text (`.mlir`) and packages (`.tgl`)".into(),
        );
    }
    found
}

/// Replaces dims of the names given by constants, everywhere.
/// Before: a verified program. Errors: layouts or several functions, a name that no input's dim has, a size beyond what the
/// program declares of it, sizes that its ops do not fit together at.
fn specialise(program: &mut TensorProgram, dims: &BTreeMap<String, i64>) -> Result<(), Diagnostics> {
    let has_layouts =
        |func: &TensorFunc| (0..func.value_count()).any(|i| func.ty(Value::new(i)).layout.is_some());
    if program.funcs.len() > 1 || program.funcs.iter().any(has_layouts) {
        let message = "dims are fixed before layouts are chosen, and in programs of one function";
        return Err(Diagnostic::error("unsupported-dim", message).into());
    }
    let mut found = Diagnostics::default();
    let open = |name: &str| program.symbols.get(name).is_some_and(SymbolInfo::is_input);
    for (name, n) in dims {
        if let Some(info) = program.symbols.get(name).filter(|info| info.is_input()) {
            let fits = (info.min..=info.max).contains(n) && n % info.divisor == 0;
            let (min, max, divisor) = (info.min, info.max, info.divisor);
            let message = format!("dim `{name}` is {min} to {max}, a multiple of {divisor}; {n} is not");
            if !fits {
                found.push(Diagnostic::error("shape-mismatch", message));
            }
            continue;
        }
        let known = program.symbols.0.keys().filter(|name| open(name)).map(|name| format!("`{name}`"));
        let note = match known.collect::<Vec<String>>().as_slice() {
            [] => "all dims of its inputs are constant".to_string(),
            known => format!("the dims of its inputs are {}", known.join(", ")),
        };
        found.push(Diagnostic::error("unknown-dim", format!("no input has a dim `{name}`")).note(note));
    }
    found.into_result(())?;
    let at = |dim: &Dim| dim.substitute(&|name| dims.get(name).copied().map(Dim::from));
    let Some(mut fixed) = resize(program, &at) else {
        let given: Vec<String> = dims.iter().map(|(name, n)| format!("{name}={n}")).collect();
        let message = format!("the program's ops do not fit together at {}", given.join(", "));
        return Err(Diagnostic::error("shape-mismatch", message).into());
    };
    fixed.symbols.0.retain(|name, _| !dims.contains_key(&**name));
    *program = fixed;
    Ok(())
}

/// Findings that are our fault.
pub(crate) fn internal(message: &str, found: &Diagnostics) -> Diagnostics {
    let notes = found.0.iter().map(|one| one.to_string());
    notes.fold(Diagnostic::internal(message), Diagnostic::note).into()
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

/// Runs a program by the reference evaluator.
pub fn evaluate(
    program: &TensorProgram,
    inputs: &[tegula_base::HostTensor],
) -> Result<Vec<tegula_base::HostTensor>, Diagnostics> {
    Ok(tegula_tensor::evaluate(program, inputs)?)
}
