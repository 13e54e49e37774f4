//! The compiler and the runtime inside of this process, for checks of many small models.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use tegula_base::face::Files;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_driver::{CompileOptions, Compiled, Form, Model, PassCx, compile, session_options};
use tegula_machine::Machine;
use tegula_runtime::{Gpu, Session};

/// A model in memory for a machine class; passes verify.
pub fn compile_bytes(model: &[u8], class: &str, form: Form) -> Result<Compiled, Diagnostics> {
    let machine = Machine::class(class).ok_or_else(|| {
        Diagnostic::error("unknown-machine", format!("there is no machine class `{class}`"))
    })?;
    let options = CompileOptions { form, verify: true, ..CompileOptions::new(machine) };
    let model =
        Model { name: "model".into(), bytes: model.to_vec().into(), results: vec![], files: &NoFiles };
    compile(&model, &options, None, &mut PassCx::default())
}

/// The package in memory.
pub fn package(compiled: Compiled) -> Result<bytes::Bytes, Diagnostics> {
    let draft = compiled.package.ok_or_else(|| Diagnostic::internal("the compilation made no package"))?;
    Ok(draft.to_bytes())
}

pub fn session(package: bytes::Bytes, threads: usize) -> Result<Session, Diagnostics> {
    Session::from_bytes(package, session_options(threads, Gpu::None))
}

pub fn processor_has(flag: &str) -> bool {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    flags.split_whitespace().any(|found| found == flag)
}

/// The machine class whose code this processor runs best.
pub fn best_class() -> &'static str {
    if processor_has("avx512_bf16") { "avx512-generic" } else { "avx2-generic" }
}

/// Models in memory have nothing beside them.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("there is no file `{relative}` beside a model in memory"))
    }
}

// --- panics --------------------------------------------------------------------------------------------

static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// From here on a panic is kept for [`guarded`] instead of being printed.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let mut last = LAST_PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *last = info.to_string();
    }));
}

/// What the work gives; the message of the panic that ended it otherwise.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| LAST_PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone())
}
