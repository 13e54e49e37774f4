//! The program `tegula-checks`, which `cargo xtask VERB` starts.

use std::process::ExitCode;

use tegula_automation::verb;

fn main() -> ExitCode {
    verb::main(|verb, args| verb::run_own(verb, args, tegula_checks::VERBS))
}
