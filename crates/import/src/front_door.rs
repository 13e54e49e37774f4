//! Where every model comes in: which reader a file goes to, by its bytes, and what all readers have in common.
//!
//! ```text
//! file ─► foreign? (named, refused) ─► sniff: one row of FORMATS ─► its reader ─► verified tensor program
//! ```
//! Before: any bytes.  After: a verified program, or one report with every problem of the file.
//! A format is one row of [`FORMATS`] and a [`FrontDoor`]; files of formats that have none are named by `foreign.rs`.
//! Programs as our own text are a row too: the tensor level reads its own text, which this crate may use.

pub(crate) mod reader;

pub use reader::{FrontDoor, ModelFile, Request, Sniff, Step, Supported};

use crate::foreign;
use crate::onnx::{GIVEN, Onnx};
use crate::program_text::ProgramText;
use reader::located;
use std::collections::BTreeMap;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_tensor::TensorProgram;

/// A format that is read.
pub struct Format {
    /// As a list of formats has it.
    pub name: &'static str,
    pub door: &'static dyn FrontDoor,
    /// Files spell the tensor level's own ops: one that breaks their rules is the file's fault, not the reader's.
    pub spells_ops: bool,
}

/// All formats that are read. Where no reader is sure of a file, the first that may be right gets it.
pub static FORMATS: &[Format] = &[
    Format { name: "ONNX models (`.onnx`)", door: &Onnx, spells_ops: false },
    Format { name: "tensor programs as text (`.mlir`)", door: &ProgramText, spells_ops: true },
];

/// Reads a model of any format. `done` is told of each step.
/// Errors: every problem of the file; `foreign-format` where it is of a format that is not read.
pub fn import(
    file: &ModelFile,
    request: &Request,
    done: &mut dyn FnMut(Step),
) -> Result<TensorProgram, Diagnostics> {
    if let Some(found) = foreign::name(file) {
        return Err(found.note(formats_read()).into());
    }
    let format = format_of(file).ok_or_else(|| unknown(file))?;
    let program = format.door.import(file, request, done).map_err(with_formats)?;
    tegula_ir::verify_program(&program).map_err(|found| match format.spells_ops {
        true => located(found, file.name),
        false => internal("the import left an invalid program", &found),
    })?;
    done(Step::Verified);
    Ok(program)
}

/// The tensors of inputs that may be left out, of those that `dims` names with `.given`. Errors: those of [`import`].
pub fn defaults(
    file: &ModelFile,
    dims: &BTreeMap<String, i64>,
) -> Result<Vec<(String, HostTensor)>, Diagnostics> {
    match format_of(file) {
        Some(format) if dims.keys().any(|name| name.ends_with(GIVEN)) => format.door.defaults(file, dims),
        _ => Ok(vec![]),
    }
}

/// The dims that say of inputs what `given` tells: each name with the rank of its tensor. None of a file that cannot be read.
pub fn dims_of_given(file: &ModelFile, given: &[(String, usize)]) -> BTreeMap<String, i64> {
    match format_of(file) {
        Some(format) if !given.is_empty() => format.door.dims_of_given(file, given),
        _ => BTreeMap::new(),
    }
}

fn format_of(file: &ModelFile) -> Option<&'static Format> {
    let sniffed = |wanted: Sniff| FORMATS.iter().find(|format| format.door.sniff(file) == wanted);
    sniffed(Sniff::Yes).or_else(|| sniffed(Sniff::Maybe))
}

/// What is said of a folder in a model's place, by the names of what lies in it; `name` is the folder's.
pub fn refuse_folder(name: &str, entries: &[String]) -> Diagnostic {
    foreign::name_folder(name, entries).note(formats_read())
}

fn unknown(file: &ModelFile) -> Diagnostic {
    let message = "the file is of no format that Tegula knows";
    Diagnostic::error(foreign::FOREIGN_FORMAT, message).at(file.name).note(formats_read())
}

/// The formats that are read, as a note says them.
fn formats_read() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("supported files are {} and packages (`.tgl`)", names.join(", "))
}

/// A file that is not even of the format it was taken for is told which formats there are.
fn with_formats(mut found: Diagnostics) -> Diagnostics {
    for diagnostic in found.0.iter_mut().filter(|diagnostic| diagnostic.code == "not-onnx") {
        diagnostic.notes.push(formats_read());
    }
    found
}

/// Findings that are our fault.
fn internal(message: &str, found: &Diagnostics) -> Diagnostics {
    let notes = found.0.iter().map(|one| one.to_string());
    notes.fold(Diagnostic::internal(message), Diagnostic::note).into()
}
