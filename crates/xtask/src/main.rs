//! The project's automation: `cargo xtask <verb>`.
//! In: a verb and its arguments.  Out: one line `RESULT <name> pass|fail|skip key=value ...`, exit 0, 1 or 3.
//! May use: automation.  Never knows: this project's crates, so that nothing waits for them that does not need them: it starts the programs `tegula`, `tegula-checks` and `tegula-bench`.
//! Start reading at `VERBS` below, then `programs.rs`; the table of all verbs is `automation/src/verb.rs`.

mod bad_input;
mod capi;
mod demo;
mod dist;
mod docs;
mod fetch_models;
mod identity;
mod mlir_opt;
mod mutants;
mod npy;
mod page;
mod programs;
mod readme;
mod status;
mod suite;
mod text;
mod tidy;
mod wheel;

use std::process::ExitCode;

use tegula_automation::verb::{self, Program, Run};

/// The verbs whose code is here.
const VERBS: &[(&str, Run)] = &[
    ("demo", demo::run),
    ("test", suite::test),
    ("acceptance", suite::acceptance),
    ("fetch-models", fetch_models::run),
    ("dist", dist::run),
    ("tidy", tidy::run),
    ("docs", docs::run),
    ("status", status::run),
    ("model-ops", fetch_models::ops),
    ("unit", text::unit),
    ("text", text::run),
    ("mlir-opt", mlir_opt::run),
    ("readme", readme::run),
    ("bad-input", bad_input::run),
    ("page", page::run),
    ("wheel", wheel::run),
    ("capi", capi::run),
    ("identity", identity::run),
    ("mutants", mutants::run),
];

fn main() -> ExitCode {
    verb::main(|verb, args| match verb.program {
        Program::Xtask => verb::run_own(verb, args, VERBS),
        Program::Checks | Program::Bench => programs::run(verb, args),
    })
}

#[cfg(test)]
mod tests {
    use super::VERBS;
    use tegula_automation::verb::{Program, unmatched};

    #[test]
    fn verbs_are_those_of_the_table() {
        assert_eq!(unmatched(Program::Xtask, VERBS), [""; 0]);
    }
}
