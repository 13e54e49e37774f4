//! Reads an ONNX model: bytes to a tensor program, or one report with every problem in it.
//!
//! ```text
//! bytes ─► proto (messages) ─► graph (order, scopes) ─► table (op ─► converter) ─► ops/* ─► tensor program
//! ```
//! Before: any bytes. After: a program whose entry takes the graph's inputs in order (of initializers those that dims name
//! with `.given`) and
//! returns its outputs, every op located at the name of the node that it came from; named dims are size symbols
//! shared by name. Opsets 7 to 28 of ONNX's own domain (earlier ones where ops mean the same, `early`), `ai.onnx.ml`, and what
//! exporters use of `com.microsoft`.

mod call;
mod cut;
mod cx;
mod domain;
mod early;
mod functions;
mod graph;
mod interface;
mod node;
mod ops;
pub mod proto;
mod row;
mod table;
mod uses;
mod weights;

use crate::front_door::reader::{FrontDoor, ModelFile, Request, Sniff, Step, Supported};
use crate::report::{Fault, Report};
use bytes::Bytes;
use cx::Cx;
use domain::domain_versions;
use functions::Functions;
use prost::Message;
use proto::ModelProto;
use std::collections::BTreeMap;
use tegula_base::face::Files;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_tensor::TensorProgram;
use weights::Weights;

/// The newest file format understood.
const MAX_IR_VERSION: i64 = 14;
pub use domain::{ONNX, OPSETS};
pub use interface::{GIVEN, element_name, given_dim, length_dim, present_dim, rank_dim};
pub use table::supported;

/// What the caller knows beyond the file.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The model's file name, as diagnostics begin with it.
    pub name: String,
    /// Values for named dims: `batch` is 1.
    pub dims: BTreeMap<String, i64>,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: Vec<String>,
    /// Whether gathers and scatters assert that their indices are inside of their axes.
    pub checked: bool,
}

/// Reads a model. `bytes` is shared, not copied: weights stay slices of it. `files` gives external data.
/// Errors: every problem of the model, with op, node name and count.
pub fn import(
    bytes: Bytes,
    files: &dyn Files,
    options: &ImportOptions,
) -> Result<TensorProgram, Diagnostics> {
    let model = decode(bytes, &options.name)?;
    import_model(&model, files, options)
}

/// The reader of ONNX models.
pub struct Onnx;

impl FrontDoor for Onnx {
    /// Its messages have no signature.
    fn sniff(&self, _: &ModelFile) -> Sniff {
        Sniff::Maybe
    }

    fn import(
        &self,
        file: &ModelFile,
        request: &Request,
        done: &mut dyn FnMut(Step),
    ) -> Result<TensorProgram, Diagnostics> {
        let model = decode(file.bytes.clone(), file.name)?;
        done(Step::Decoded);
        let options = ImportOptions {
            name: file.name.to_string(),
            dims: request.dims.clone(),
            results: request.results.to_vec(),
            checked: request.checked,
        };
        let program = import_model(&model, file.files, &options)?;
        drop(model);
        done(Step::Converted);
        Ok(program)
    }

    fn defaults(
        &self,
        file: &ModelFile,
        dims: &BTreeMap<String, i64>,
    ) -> Result<Vec<(String, HostTensor)>, Diagnostics> {
        let model = decode(file.bytes.clone(), file.name)?;
        let Some(graph) = &model.graph else { return Ok(vec![]) };
        let mut weights = Weights::new(file.files);
        interface::defaults(graph, dims, &mut weights)
            .map_err(|fault| Diagnostic::error(fault.code, fault.why).at(file.name).into())
    }

    fn dims_of_given(&self, file: &ModelFile, given: &[(String, usize)]) -> BTreeMap<String, i64> {
        let model = decode(file.bytes.clone(), file.name).ok();
        let graph = model.as_ref().and_then(|model| model.graph.as_ref());
        graph.map_or_else(BTreeMap::new, |graph| interface::dims_of_given(graph, given))
    }

    fn supported(&self) -> Vec<Supported> {
        let row = |(domain, op, since, until)| Supported { domain, op, since, until };
        supported().into_iter().map(row).collect()
    }
}

/// The first step of [`import`]: bytes to messages. Errors: `not-onnx`.
fn decode(bytes: Bytes, name: &str) -> Result<ModelProto, Diagnostics> {
    let name = display_name(name);
    if bytes.is_empty() {
        return Err(Diagnostic::error("not-onnx", "the file is empty").at(name).into());
    }
    let model = ModelProto::decode(bytes).map_err(|error| {
        Diagnostic::error(
            "not-onnx",
            format!("the file is not an ONNX model: {}", shortened(&error.to_string())),
        )
        .at(name)
        .help("was the file cut short, or is it of another format?")
    })?;
    Ok(model)
}

/// A decoder's message names each message that it was in, by its field; of more than two the outermost and the innermost
/// remain.
fn shortened(error: &str) -> String {
    let parts: Vec<&str> = error.split(": ").collect();
    let is_field = |part: &&str| part.contains('.') && !part.contains(' ');
    let Some(first) = parts.iter().position(&is_field) else { return error.to_string() };
    let fields = parts[first..].iter().take_while(|part| is_field(part)).count();
    if fields <= 2 {
        return error.to_string();
    }
    let last = first + fields - 1;
    [&parts[..=first], &["..."], &parts[last..]].concat().join(": ")
}

fn display_name(name: &str) -> &str {
    if name.is_empty() { "model" } else { name }
}

/// The second step of [`import`]: messages to a tensor program.
fn import_model(
    model: &ModelProto,
    files: &dyn Files,
    options: &ImportOptions,
) -> Result<TensorProgram, Diagnostics> {
    let name = display_name(&options.name);
    let mut report = Report::default();
    let opsets = versions(model, &mut report);
    let Some(graph) = &model.graph else {
        report.model(Fault::invalid("the model has no graph"));
        return Err(report.into_diagnostics(name));
    };
    if !report.is_empty() {
        return Err(report.into_diagnostics(name));
    }
    let part = match options.results.as_slice() {
        [] => None,
        results => match cut::cut(graph, results) {
            Ok(part) => Some(part),
            Err(faults) => {
                faults.into_iter().for_each(|fault| report.model(fault));
                return Err(report.into_diagnostics(name));
            }
        },
    };
    let graph = part.as_ref().unwrap_or(graph);
    let functions = Functions::new(model, &mut report);
    let mut cx = Cx::new(functions, opsets, Weights::new(files), report);
    cx.checked = options.checked;
    cx.main_graph(graph, options);
    let (program, report) = cx.finish();
    if !report.is_empty() {
        return Err(report.into_diagnostics(name));
    }
    Ok(program.into_program())
}

/// Checks the format's version and gives the version of each operator domain.
fn versions(model: &ModelProto, report: &mut Report) -> BTreeMap<String, i64> {
    let ir = model.ir_version();
    if !(1..=MAX_IR_VERSION).contains(&ir) {
        report.model(Fault::unsupported(format!(
            "IR version {ir} is not supported; versions up to {MAX_IR_VERSION} are"
        )));
    }
    let opsets = domain_versions(&model.opset_import).unwrap_or_else(|fault| {
        report.model(fault);
        BTreeMap::from([(ONNX.to_string(), *OPSETS.end())])
    });
    match opsets.get(ONNX) {
        Some(version) if !OPSETS.contains(version) => report.model(Fault::unsupported(format!(
            "opset {version} is not supported; versions {} to {} are",
            OPSETS.start(),
            OPSETS.end()
        ))),
        Some(_) => {}
        None if opsets.is_empty() => report.model(Fault::invalid("the model imports no operator set")),
        None => {}
    }
    opsets
}
