//! The compiler and the runtime inside of this process, for checks of many small models.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;

use tegula_automation::tegula_cli::first_error;
use tegula_base::face::Files;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_driver::probe::GENERIC;
use tegula_driver::{
    CompileOptions, Compiled, Form, Model, PassCx, compile, own_or_simulated_cpu, session_options,
};
use tegula_machine::Machine;
use tegula_runtime::{Hardware, Session};
use tegula_testkit::onnx_suite::RunError;

/// A model in memory for a machine class; passes verify.
pub fn compile_bytes(model: &[u8], class: &str, form: Form) -> Result<Compiled, Diagnostics> {
    compile_with(model, &options(class, form)?)
}

/// As [`compile_bytes`], with dims set.
pub fn compile_sized(
    model: &[u8],
    dims: &BTreeMap<String, i64>,
    class: &str,
    form: Form,
) -> Result<Compiled, Diagnostics> {
    compile_with(model, &CompileOptions { dims: dims.clone(), ..options(class, form)? })
}

/// What [`compile_bytes`] asks for.
pub fn options(class: &str, form: Form) -> Result<CompileOptions, Diagnostics> {
    let machine = Machine::class(class).ok_or_else(|| {
        Diagnostic::error("unknown-machine", format!("there is no machine class `{class}`"))
    })?;
    Ok(CompileOptions { form, verify: true, ..CompileOptions::new(machine) })
}

/// A model in memory.
pub fn compile_with(model: &[u8], options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    compile_checked(model, false, options)
}

fn in_memory(model: &[u8], checked: bool) -> Model<'static> {
    Model { name: "model".into(), bytes: model.to_vec().into(), results: vec![], checked, files: &NoFiles }
}

/// The dims that say what a caller gives: these inputs, with the ranks of their tensors.
pub fn dims_of_given(model: &[u8], given: &[(String, usize)]) -> BTreeMap<String, i64> {
    in_memory(model, false).dims_of_given(given)
}

/// As [`compile_with`]; `checked` says whether indices are.
pub fn compile_checked(
    model: &[u8],
    checked: bool,
    options: &CompileOptions,
) -> Result<Compiled, Diagnostics> {
    compile(&in_memory(model, checked), options, None, &mut PassCx::default())
}

/// The package in memory.
pub fn package(compiled: Compiled) -> Result<bytes::Bytes, Diagnostics> {
    let draft = compiled.package.ok_or_else(|| Diagnostic::internal("the compilation made no package"))?;
    Ok(draft.to_bytes())
}

/// On this processor.
pub fn session(package: bytes::Bytes, threads: usize) -> Result<Session, Diagnostics> {
    Session::from_bytes(package, session_options(threads, Hardware::Own))
}

/// On this processor, or on the simulator in place of one that has the class's instructions.
pub fn session_of(class: &str, package: bytes::Bytes, threads: usize) -> Result<Session, Diagnostics> {
    let hardware = Machine::class(class).map_or(Hardware::Own, |machine| own_or_simulated_cpu(&machine));
    Session::from_bytes(package, session_options(threads, hardware))
}

/// Whether this processor lacks an instruction that the class's code may use.
pub fn is_simulated(class: &str) -> bool {
    !lacking(class).is_empty()
}

/// Runs model files of the node suite as this class's code. A model that is wrong for us is refused; a fault of ours
/// counts as a crash.
pub fn runner(
    class: &str,
) -> impl Fn(
    &Path,
    &BTreeMap<String, i64>,
    &[(String, HostTensor)],
) -> Result<BTreeMap<String, HostTensor>, RunError> {
    move |model, dims, inputs| {
        let bytes = std::fs::read(model)
            .map_err(|error| RunError::Crashed(format!("{}: {error}", model.display())))?;
        let package = compile_sized(&bytes, dims, class, Form::Machine).and_then(package).map_err(ended)?;
        let session = session_of(class, package, 1).map_err(ended)?;
        if inputs.len() < session.inputs().len() {
            // The suite says why it could not read them.
            return Ok(BTreeMap::new());
        }
        let named: Vec<(&str, &HostTensor)> =
            inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let outputs = session.run_named(&named).map_err(ended)?;
        Ok(session.outputs().iter().map(|port| port.name.clone()).zip(outputs).collect())
    }
}

fn ended(found: Diagnostics) -> RunError {
    let first = first_error(&found.to_string());
    if found.0.iter().any(Diagnostic::is_internal) {
        RunError::Crashed(first)
    } else {
        RunError::Refused(first)
    }
}

/// The features of a machine class that this processor lacks; none where it runs the class's code.
pub fn lacking(class: &str) -> Vec<String> {
    let machine = Machine::class(class);
    let lacking = machine.as_ref().and_then(Machine::cpu).map(|cpu| tegula_runtime::lacking(&cpu.features));
    lacking.into_iter().flatten().map(str::to_string).collect()
}

/// The machine class whose code this processor runs best.
pub fn best_class() -> &'static str {
    let runs = |class: &&str| lacking(class).is_empty();
    GENERIC.into_iter().find(runs).unwrap_or("avx2-generic")
}

/// A machine class of each tier: of AVX-512 the one whose code this processor runs best, else one that is simulated.
pub fn classes() -> [&'static str; 2] {
    let best = best_class();
    ["avx2-generic", if best.starts_with("avx2") { "avx512-bf16-generic" } else { best }]
}

/// Those of [`classes`] that this processor does not run, as a figure of a check.
pub fn simulated() -> String {
    let simulated: Vec<&str> = classes().into_iter().filter(|class| is_simulated(class)).collect();
    if simulated.is_empty() { "none".to_string() } else { simulated.join(",") }
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
