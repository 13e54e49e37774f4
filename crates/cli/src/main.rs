//! The command `tegula`: arguments, rendering, exit codes.
//! In: arguments, environment.  Out: text, JSON, files, exit code 0, 1 or 2.
//! May use: driver, tegula, runtime, package, base, machine.  Never knows: logic of any level.
//! Start reading at `main.rs`.
//!
//! Exit codes: 0 done, 1 the request is wrong (its reasons on stderr), 2 an internal error.

mod args;
mod bench;
mod check;
mod compile;
mod explain;
mod failure;
mod inputs;
mod inspect;
mod load;
mod machine;
mod opt;
mod output;
mod run;
mod serve_rounds;
mod trace;

use args::{Args, Command};
use clap::Parser;
use clap::error::ErrorKind;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error[internal]: internal error: {panic}");
        eprintln!("help: please report this with the command and, if you can, the model");
        std::process::exit(2);
    }));
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no faults; nothing can be done if they cannot be printed.
            let _ = error.print();
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            return ExitCode::from(u8::from(!asked));
        }
    };
    match dispatch(args.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit_code()
        }
    }
}

fn dispatch(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Compile(args) => compile::compile(&args),
        Command::Bench(args) => bench::bench(&args),
        Command::Check(args) => check::check(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Opt(args) => opt::opt(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Verify(args) => inspect::verify(&args),
        Command::Machine(args) => machine::machine(&args),
    }
}
