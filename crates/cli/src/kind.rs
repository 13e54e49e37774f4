//! Which kind of file a command takes: a model, a package, or either.

use crate::args::Command;
use crate::failure::{Failure, io_failure};
use std::path::Path;
use tegula::files::open_regular;
use tegula_base::Diagnostic;

/// Errors: a package where the command works on models, or a model where it works on packages.
pub fn check(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) if args.evaluator => needs_model(&args.file, "run --evaluator"),
        Command::Compile(args) => needs_model(&args.model, "compile"),
        Command::Tune(args) => needs_model(&args.model, "tune"),
        Command::Check(args) => needs_model(&args.model, "check"),
        Command::Bisect(args) => needs_model(&args.model, "bisect"),
        Command::Reduce(args) => needs_model(&args.model, "reduce"),
        Command::Predict(args) => needs_model(&args.model, "predict"),
        Command::Explain(args) => needs_model(&args.model, "explain"),
        Command::Opt(args) => args.file.as_ref().map_or(Ok(()), |file| needs_model(file, "opt")),
        Command::Inspect(args) => needs_package(&args.package, "inspect"),
        Command::Verify(args) => needs_package(&args.package, "verify"),
        Command::Run(_)
        | Command::Bench(_)
        | Command::Diff(_)
        | Command::Machine(_)
        | Command::Targets(_) => Ok(()),
    }
}

fn needs_model(file: &Path, command: &str) -> Result<(), Failure> {
    if !is_package(file)? {
        return Ok(());
    }
    let message = format!("this is a package; `{command}` needs the model");
    Err(Diagnostic::error("wrong-kind", message).at(file.display().to_string()).into())
}

fn needs_package(file: &Path, command: &str) -> Result<(), Failure> {
    let named_model = file.extension().is_some_and(|extension| extension == "onnx" || extension == "mlir");
    if is_package(file)? || !named_model {
        return Ok(());
    }
    let message = format!("this is a model; `{command}` needs a package");
    let how = format!("`tegula compile {} -o FILE.tgl` makes one", file.display());
    Err(Diagnostic::error("wrong-kind", message).at(file.display().to_string()).help(how).into())
}

/// Whether a file is a package by its first bytes, or by its name where it is too short to tell.
pub fn is_package(file: &Path) -> Result<bool, Failure> {
    use std::io::Read;
    let named_so = file.extension().is_some_and(|extension| extension == "tgl");
    let mut start = Vec::new();
    // The loader says better what a folder is.
    if file.is_dir() {
        return Ok(false);
    }
    let read = open_regular(file).and_then(|file| file.take(16).read_to_end(&mut start));
    match read {
        Ok(_) => Ok(named_so || tegula_driver::inspect::is_package(&start)),
        Err(error) => Err(io_failure("read", file, &error).into()),
    }
}
