//! The other programs of the automation, which link this project's crates: built and started for a verb of theirs.

use std::process::ExitCode;

use anyhow::{Context, Result};
use tegula_automation::outcome;
use tegula_automation::shell::Shell;
use tegula_automation::verb::{Program, Verb};
use tegula_automation::workspace;

/// Runs a verb of another program, which says the last line; its exit status is ours.
pub fn run(verb: &'static Verb, args: &[String]) -> ExitCode {
    match start(verb, args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => outcome::finish(verb.name, Err(error)),
    }
}

fn start(verb: &'static Verb, args: &[String]) -> Result<u8> {
    let code = built(verb)?.arg(verb.name).args(args).status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The program of a verb, built with what the verb needs, to be given its arguments.
pub fn built(verb: &'static Verb) -> Result<Shell> {
    workspace::build(&verb.packages())?;
    let name = match verb.program {
        Program::Xtask => return Shell::own(),
        Program::Checks => "tegula-checks",
        Program::Bench => "tegula-bench",
    };
    let program = workspace::built().join(name);
    // What was built is all that it needs: a build of its own would take other packages, which may have other features.
    let shell = Shell::new(&program).env("TEGULA_PROFILE", workspace::profile()).env("TEGULA_BUILT", "1");
    program.is_file().then_some(shell).with_context(|| format!("there is no {}", program.display()))
}
