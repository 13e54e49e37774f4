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
pub mod files;
pub mod gpu;
pub mod processor;

pub use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
pub use tegula_driver::{CompileOptions, Form};
pub use tegula_machine::Machine;
pub use tegula_runtime::{Gpu, Session, SessionOptions, TensorView};

use bytes::Bytes;
use files::Folder;
use std::collections::BTreeMap;
use std::path::Path;
use tegula_driver::{Compiled, Model, PassCx};

/// How to compile; the default is for the processor at hand.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A machine class by name or a machine that was read from a file; `None`: the class that fits this processor.
    pub machine: Option<Machine>,
    /// Values for named dims; the others stay open.
    pub dims: BTreeMap<String, i64>,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: Vec<String>,
    /// Threads that compile; the package is the same for any number.
    pub threads: usize,
}

impl Options {
    /// Errors: no machine class fits this processor and none is given.
    pub fn to_compile_options(&self) -> Result<CompileOptions, Diagnostics> {
        let (machine, form) = match &self.machine {
            Some(machine) => (machine.clone(), Form::Machine),
            None => processor::default_machine()?,
        };
        let mut options = CompileOptions::new(machine);
        options.form = form;
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
}

/// Compiles a model file.
/// Errors: the file cannot be read, or the model cannot be compiled: every reason in one report.
pub fn compile(path: impl AsRef<Path>, options: &Options) -> Result<CompiledModel, Diagnostics> {
    let path = path.as_ref();
    let folder = Folder::of(path);
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let bytes = tegula_runtime::map_file(path)?;
    let model = Model { name, bytes, results: options.results.clone(), files: &folder };
    let Compiled { package, .. } = tegula_driver::compile(
        &model,
        &options.to_compile_options()?,
        None,
        &mut PassCx::new().without_remarks(),
    )?;
    let package = package.ok_or_else(|| Diagnostic::internal("a whole compilation made no package"))?;
    Ok(CompiledModel { package: package.to_bytes() })
}

impl CompiledModel {
    /// A session whose launches are shared by `threads` threads.
    pub fn session(&self, threads: usize) -> Result<Session, Diagnostics> {
        Session::from_bytes(self.package.clone(), session_options(threads, Gpu::None))
    }
}

/// Loads a package file.
pub fn load(path: impl AsRef<Path>, threads: usize) -> Result<Session, Diagnostics> {
    Session::load(path.as_ref(), session_options(threads, Gpu::None))
}

/// Options of a session that runs packages of any form; kernels for GPUs run on `gpu`.
pub fn session_options(threads: usize, gpu: Gpu) -> SessionOptions {
    tegula_driver::session_options(threads, gpu)
}

/// The ONNX model of this crate's example: `y = x + x`.
#[doc(hidden)]
pub fn doc_model() -> &'static [u8] {
    include_bytes!("../models/double.onnx")
}
