//! The command `tegula`: arguments, rendering, exit codes.
//! In: arguments, environment.  Out: text, JSON, files, exit code 0, 1 or 2.
//! May use: driver, tegula, runtime, package, base, machine.  Never knows: logic of any level.
//! Start reading at `main.rs`.
//!
//! Exit codes: 0 done, 1 the request is wrong (its reasons on stderr, with `--json` on stdout too), 2 an internal error.

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod bench;
mod bisect;
mod check;
mod compile;
mod device;
mod diff;
mod explain;
mod failure;
mod inputs;
mod inspect;
mod kind;
mod load;
mod machine;
mod opt;
mod output;
mod perf_map;
mod predict;
mod reduce;
mod run;
mod serve_rounds;
mod targets;
mod tileir;
mod trace;
mod tune;
mod words;

use args::{Args, Command};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use std::process::ExitCode;
use tegula_base::Diagnostic;

/// A compiler allocates much and small, in one burst; `.cargo/config.toml` has it ask for huge pages.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let found = Diagnostic::internal(format!("internal error: {panic}"))
            .help("please report this with the command and, if you can, the model");
        report(&found.into());
        std::process::exit(2);
    }));
    let done = match Args::try_parse() {
        Ok(args) => dispatch(args.command),
        Err(error) => answer(&error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure);
            failure.exit_code()
        }
    }
}

/// Says on stderr why nothing came of it, and on stdout to who asked for JSON.
fn report(failure: &Failure) {
    output::complain(&format!("{failure}\n"));
    if let (Failure::Found(found), true) = (failure, is_json_asked()) {
        // What cannot be printed stands on stderr.
        let _ = output::print_findings(found);
    }
}

/// Arguments that are wrong are not parsed, and yet a program waits for JSON.
fn is_json_asked() -> bool {
    std::env::args_os().any(|arg| arg == "--json")
}

/// Prints help or version as asked. Errors: what is wrong with the arguments.
fn answer(error: &clap::Error) -> Result<(), Failure> {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // In colours on a terminal. Nothing can be done if it cannot be printed.
            let _ = error.print();
            Ok(())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::No(text.trim_end().to_string())),
        _ => Err(wrong_arguments(&text).into()),
    }
}

/// The parser's paragraphs: what is wrong, then tips, the usage, and where help is.
fn wrong_arguments(text: &str) -> Diagnostic {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let lines: Vec<&str> = paragraphs.next().unwrap_or_default().lines().map(str::trim).collect();
    let diagnostic = Diagnostic::error("bad-option", lines.join(" "));
    paragraphs.fold(diagnostic, |diagnostic, paragraph| {
        let without = |prefix| paragraph.strip_prefix(prefix).map(str::trim_start);
        match (without("tip:"), without("For more information, ")) {
            (Some(tip), _) => diagnostic.note(tip),
            (_, Some(how)) => diagnostic.help(how.trim_end_matches('.')),
            _ => diagnostic.note(paragraph),
        }
    })
}

fn dispatch(command: Command) -> Result<(), Failure> {
    kind::check(&command)?;
    match command {
        Command::Run(args) => run::run(&args),
        Command::Compile(args) => compile::compile(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Tune(args) => tune::tune(&args),
        Command::Check(args) => check::check(&args),
        Command::Bisect(args) => bisect::bisect(&args),
        Command::Reduce(args) => reduce::reduce(&args),
        Command::Diff(args) => diff::diff(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Opt(args) => opt::opt(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Verify(args) => inspect::verify(&args),
        Command::Machine(args) => machine::machine(&args),
        Command::Targets(args) => targets::targets(&args),
    }
}
