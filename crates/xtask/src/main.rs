//! The project's automation: `cargo xtask <verb>`.
//! In: a verb and its arguments.  Out: one line `RESULT <name> pass|fail|skip key=value ...`, exit 0, 1 or 3.
//! May use: testkit, driver, runtime, opt, backend, tiling, target-cpu, target-gpu, export-tileir, tile, tensor, import, package, isa-ptx, sim-ptx, machine, perf, ir, mlir, base.  Never knows: terminals other than stdout; checks of the shipped program call the `tegula` binary.
//! Start reading at `verb.rs`, the table of verbs.

mod bad_input;
mod baseline;
mod bench;
mod capi;
mod catalog;
mod commits;
mod compile_count;
mod compile_time;
mod contrib;
mod cores;
mod coverage;
mod cpu_time;
mod decoders;
mod demo;
mod docs;
mod drawn;
mod elf;
mod fetch_models;
mod fuzz;
mod gpu;
mod gpu_bundle;
mod gpu_compile_time;
mod gpu_encodings;
mod gpu_kernels;
mod gpu_model;
mod gpu_ptxas;
mod gpu_races;
mod gpu_random;
mod gpu_sim;
mod gpu_tileir;
mod identity;
mod in_process;
mod memory;
mod mlir_opt;
mod models;
mod onnx;
mod onnx_cases;
mod onnx_more;
mod onnx_open;
mod op_reference;
mod open_rows;
mod ort_cases;
mod outcome;
mod page;
mod peak_memory;
mod peers;
mod predicted;
mod python;
mod race;
mod random;
mod ratchet;
mod ratchets;
mod readme;
mod reduce;
mod refusals;
mod same_output;
mod shell;
mod simulated;
mod speed;
mod statistics;
mod status;
mod suite;
mod tegula_cli;
mod text;
mod tidy;
mod tileiras;
mod ulp;
mod valgrind;
mod verb;
mod wheel;
mod worker_pool;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(name) = args.next() else {
        eprint!("{}", verb::usage());
        return ExitCode::from(1);
    };
    let args: Vec<String> = args.collect();
    match verb::find(&name) {
        Some(verb) if args.iter().any(|arg| arg == "--help" || arg == "-h") => {
            print!("{}", verb.help());
            ExitCode::SUCCESS
        }
        Some(verb) => outcome::finish(verb.name, verb.call(&args)),
        None if name == "help" || name == "--help" => {
            print!("{}", verb::usage());
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("no verb `{name}`\n\n{}", verb::usage());
            ExitCode::from(1)
        }
    }
}
