//! `tegula compile`.

use crate::args::{CompileArgs, refuse};
use crate::failure::Failure;
use crate::load::{take_package, with_model};
use crate::{output, trace, words};
use serde_json::{Value, json};
use std::path::Path;
use tegula::clock::WallClock;
use tegula_base::face::Clock;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_driver::trace::trace_events;
use tegula_driver::{CompileOptions, Emit, Model, PassCx, PassRecord};

pub fn compile(args: &CompileArgs) -> Result<(), Failure> {
    output::keep_input(&args.model, args.output.as_ref())?;
    output::keep_input(&args.model, args.trace_file.as_ref())?;
    if let Some(machine) = &args.compile.target.machine {
        output::keep_input(Path::new(machine), args.output.as_ref())?;
    }
    if let Some(record) = &args.compile.target.tuning {
        output::keep_input(record, args.output.as_ref())?;
    }
    if words::is_words(&args.model) {
        return words::compile(args);
    }
    if args.gpu_backend.as_deref() == Some("tileir") {
        return crate::tileir::compile(args);
    }
    let stop_after = args.stop_after.as_deref();
    if let Some(level) = &args.emit {
        if let Some(file) = args.output.as_ref().filter(|file| file.extension().is_some_and(|e| e == "tgl")) {
            let message = format!("`--emit` writes text, and `{}` is named as a package", file.display());
            return Err(Diagnostic::error("bad-option", message)
                .help("omit `--emit`, or name a file that does not end in `.tgl`")
                .into());
        }
        let emit = Emit::by_name(level)?;
        if emit.is_imported() {
            let reason = format!("`--emit {level}` shows the model as it was imported");
            args.compile.refuse(&reason)?;
            let switches =
                [("--stop-after", stop_after.is_some()), ("--trace-file", args.trace_file.is_some())];
            refuse(&reason, &switches)?;
        }
        return print(args, |model, options, cx| tegula_driver::emit::emit(model, options, emit, cx));
    }
    if stop_after.is_some() && args.output.is_none() && !args.debug_plan {
        return print(args, tegula_driver::emit::emit_reached);
    }
    if args.output.is_none() && !args.debug_plan {
        let message = "nothing to write: name a package with `-o FILE.tgl`, or a level with `--emit`";
        return Err(Diagnostic::error("bad-option", message).into());
    }
    output::progress(&format!("compiling {}", args.model.display()));
    let clock = WallClock::default();
    let (mut compiled, records) =
        with_model(&args.model, &args.compile, stop_after, |model, options, cx| {
            tegula_driver::compile(model, options, Some(&clock), cx)
        })?;
    let package = take_package(&mut compiled)?;
    if let Some(file) = &args.output {
        output::write_package(file, &package)?;
    }
    let compile_ns = clock.now_ns();
    if let Some(file) = &args.trace_file {
        trace::write(file, &trace_events(&records, None)?)?;
    }
    if args.debug_plan {
        output::print(&tegula_driver::inspect::plan(&package)?)?;
    }
    if args.json {
        return output::print_json(&json!({
            "compile_ns": compile_ns,
            "bytes": package.byte_len(),
            "passes": records.iter().map(pass).collect::<Vec<Value>>(),
        }));
    }
    match &args.output {
        Some(file) => output::print(&format!(
            "wrote {} ({}) in {}\n",
            file.display(),
            output::size(package.byte_len()),
            output::duration(compile_ns as f64)
        )),
        None => Ok(()),
    }
}

/// Prints or writes a level's text.
fn print(
    args: &CompileArgs,
    text: impl FnOnce(&Model, &CompileOptions, &mut PassCx) -> Result<String, Diagnostics>,
) -> Result<(), Failure> {
    let (text, records) = with_model(&args.model, &args.compile, args.stop_after.as_deref(), text)?;
    match &args.output {
        Some(file) => output::write_text(file, &text)?,
        None => output::print(&text)?,
    }
    match &args.trace_file {
        Some(file) => trace::write(file, &trace_events(&records, None)?),
        None => Ok(()),
    }
}

fn pass(record: &PassRecord) -> Value {
    json!({
        "name": format!("{}:{}", record.pipeline, record.pass),
        "ns": record.time_ns.unwrap_or(0),
        "changed": record.changed.is_yes(),
    })
}
