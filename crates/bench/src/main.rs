//! What things cost: times against other engines and against what is predicted, memory, and counts that may only fall.
//! In: a verb of `cargo xtask` and its arguments.  Out: one line `RESULT <name> pass|fail|skip key=value ...`, exit 0, 1 or 3; reports in `bench/`.
//! May use: automation, checks, testkit, driver, runtime, opt, backend, tiling, target-cpu, target-gpu, tensor, package, machine, perf, ir, base.  Never knows: whether results are right, but for those that it times.
//! Start reading at `VERBS` below; each verb is a file of its name.

mod bench;
mod compile_count;
mod compile_time;
mod gpu_compile_time;
mod gpu_model;
mod memory;
mod peak_memory;
mod peers;
mod predicted;
mod race;
mod ratchet;
mod ratchets;
mod speed;

use std::process::ExitCode;

use tegula_automation::verb::{self, Run};

const VERBS: &[(&str, Run)] = &[
    ("gpu-compile-time", gpu_compile_time::run),
    ("compile-time", compile_time::run),
    ("compile-count", compile_count::run),
    ("memory", memory::run),
    ("gpu-model", gpu_model::run),
    ("bench", bench::run),
    ("ratchets", ratchets::run),
    ("predicted", predicted::run),
    ("speed", speed::run),
];

fn main() -> ExitCode {
    verb::main(|verb, args| verb::run_own(verb, args, VERBS))
}

#[cfg(test)]
mod tests {
    use super::VERBS;
    use tegula_automation::verb::{Program, unmatched};

    #[test]
    fn verbs_are_those_of_the_table() {
        assert_eq!(unmatched(Program::Bench, VERBS), [""; 0]);
    }
}
