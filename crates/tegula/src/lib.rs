//! The library's face: compile a model, run it.
//! In: a path and options.  Out: a `Session`.
//! May use: driver, runtime, package, base, machine.  Never knows: how anything is done.
//! Start reading at `lib.rs`.
//!
//! ```
//! # fn main() -> Result<(), tegula::Diagnostics> {
//! # let folder = std::env::temp_dir().join(format!("tegula-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = folder.join("scale.onnx");
//! # std::fs::write(&path, tegula::doc_model()).unwrap();
//! // A model that doubles its input `x: f32[n]`.
//! let model = tegula::compile(&path, &tegula::Options::default())?;
//! let session = model.session(1)?;
//! let x = tegula::HostTensor::from_elements(&[3], &[1.0f32, 2.0, -0.5]);
//! let outputs = session.run(&[x])?;
//! assert_eq!(outputs[0].elements::<f32>(), Some(vec![2.0, 4.0, -1.0]));
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok(())
//! # }
//! ```

pub mod clock;
pub mod device;
pub mod files;
pub mod gpu;
pub mod guard;
pub mod processor;

pub use device::Target;
pub use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HostTensor};
pub use tegula_driver::{CompileOptions, Form, Precision, Tuning};
pub use tegula_machine::Machine;
pub use tegula_package::Port;
pub use tegula_runtime::{
    CodePlace, Hardware, Session, SessionOptions, TensorView, all_threads, default_threads,
};

use bytes::Bytes;
use files::{Folder, Nowhere};
use std::collections::BTreeMap;
use std::path::Path;
use tegula_base::face::Files;
use tegula_driver::{Compiled, Model, PassCx};

/// How to compile; the default is for the processor at hand.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Who runs the kernels.
    pub target: Target,
    /// A machine class by name or a machine that was read from a file; `None`: the class that fits the target.
    pub machine: Option<Machine>,
    /// Kernels for the interpreter instead of machine code.
    pub portable: bool,
    /// What contractions of 32-bit floats are computed in.
    pub precision: Precision,
    /// Tiles that `tegula tune` measured.
    pub tuning: Option<Tuning>,
    /// Values for named dims; the others stay open.
    pub dims: BTreeMap<String, i64>,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: Vec<String>,
    /// Whether a run stops at an index outside of its axis, instead of clamping it.
    pub checked: bool,
    /// Threads that compile; the package is the same for any number.
    pub threads: usize,
}

impl Options {
    /// Errors: no machine class fits this processor and none is given, or the target does not run the machine's kernels.
    pub fn to_compile_options(&self) -> Result<CompileOptions, Diagnostics> {
        let (machine, form) = self.target.machine(self.machine.clone())?;
        self.target.check_runs(&machine)?;
        let mut options = CompileOptions::new(machine);
        options.form = if self.portable { Form::Portable } else { form };
        options.precision = self.precision;
        options.tuning = self.tuning.clone();
        options.dims = self.dims.clone();
        options.threads = self.threads;
        Ok(options)
    }
}

/// A compiled model in memory.
#[derive(Clone, Debug)]
pub struct CompiledModel {
    /// The package, as `tegula compile` writes it.
    pub package: Bytes,
    /// Who runs its kernels.
    pub target: Target,
}

/// Compiles a model file.
/// Errors: the file cannot be read, or the model cannot be compiled: every reason in one report.
pub fn compile(path: impl AsRef<Path>, options: &Options) -> Result<CompiledModel, Diagnostics> {
    let path = path.as_ref();
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    compile_model(name, files::map_model(path)?, &Folder::of(path), options)
}

/// The record of tiles that `tegula tune` wrote to a file, for [`Options::tuning`].
/// Errors: the file cannot be read; `tuning-record`.
pub fn read_tuning(path: impl AsRef<Path>) -> Result<Tuning, Diagnostics> {
    let path = path.as_ref();
    let text = files::read_text(path).map_err(|error| files::failure("read", path, &error))?;
    Tuning::parse(&text, &path.display().to_string())
}

/// Compiles a model in memory, which diagnostics call `model`. Data beside its file is not found.
/// Errors: as of [`compile`].
pub fn compile_bytes(bytes: Bytes, options: &Options) -> Result<CompiledModel, Diagnostics> {
    compile_model("model".into(), bytes, &Nowhere, options)
}

fn compile_model(
    name: String,
    bytes: Bytes,
    files: &dyn Files,
    options: &Options,
) -> Result<CompiledModel, Diagnostics> {
    if is_package(&bytes) {
        let found = Diagnostic::error("wrong-kind", "this is a package; to compile needs the model");
        return Err(found.at(name).help("a package is loaded as it is").into());
    }
    let model = Model { name, bytes, results: options.results.clone(), checked: options.checked, files };
    let cx = &mut PassCx::new().without_remarks();
    let Compiled { package, .. } = tegula_driver::compile(&model, &options.to_compile_options()?, None, cx)?;
    let package = package.ok_or_else(|| Diagnostic::internal("a whole compilation made no package"))?;
    Ok(CompiledModel { package: package.to_bytes(), target: options.target })
}

impl CompiledModel {
    /// A session whose launches are shared by `threads` threads.
    pub fn session(&self, threads: usize) -> Result<Session, Diagnostics> {
        load_bytes(self.package.clone(), self.target, threads)
    }
}

/// Whether a file is a package, by its first bytes.
pub fn is_package(bytes: &[u8]) -> bool {
    tegula_driver::inspect::is_package(bytes)
}

/// Loads a package file, whose kernels `target` runs.
pub fn load(path: impl AsRef<Path>, target: Target, threads: usize) -> Result<Session, Diagnostics> {
    Session::load(path.as_ref(), session_options(threads, target.hardware()?))
}

/// As [`load`], with the file's bytes.
pub fn load_bytes(package: Bytes, target: Target, threads: usize) -> Result<Session, Diagnostics> {
    Session::from_bytes(package, session_options(threads, target.hardware()?))
}

/// Writes a session's package to a file, whole or not at all. Errors: `io`.
pub fn save(session: &Session, path: impl AsRef<Path>) -> Result<(), Diagnostic> {
    files::write_whole(path.as_ref(), |file| std::io::Write::write_all(file, session.package().bytes()))
}

/// Options of a session that runs packages of any form on that hardware.
pub fn session_options(threads: usize, hardware: Hardware) -> SessionOptions {
    tegula_driver::session_options(threads, hardware)
}

/// The ONNX model of this crate's example: `y = x + x`.
#[doc(hidden)]
pub fn doc_model() -> &'static [u8] {
    include_bytes!("../models/double.onnx")
}
