//! What must be right: programs, cases and models on every executor, against the evaluator, ONNX Runtime and NVIDIA's tools.
//! In: a verb of `cargo xtask` and its arguments.  Out: one line `RESULT <name> pass|fail|skip key=value ...`, exit 0, 1 or 3.
//! May use: automation, testkit, tegula, driver, runtime, opt, backend, tiling, target-cpu, target-gpu, target-lpu, perf, export-tileir, tile, tensor, import, package, isa-lpu, isa-ptx, sim-lpu, sim-ptx, machine, ir, mlir, base.  Never knows: how long anything takes; checks of the shipped program call the `tegula` binary.
//! Start reading at `VERBS` below; each verb is a file of its name.

mod contrib;
mod coverage;
mod decoders;
mod drawn;
mod elf;
mod fuzz;
mod gpu;
mod gpu_bundle;
mod gpu_encodings;
mod gpu_kernels;
pub mod gpu_ptxas;
mod gpu_races;
mod gpu_random;
mod gpu_sim;
mod gpu_tileir;
mod growing;
mod half;
pub mod in_process;
mod lpu_bad;
mod lpu_chip;
mod lpu_compile;
mod lpu_example;
mod lpu_faults;
mod lpu_fit;
mod lpu_models;
mod lpu_published;
mod lpu_random;
mod lpu_sim;
mod lpu_timeline;
mod lpu_what_if;
mod models;
pub mod npy;
mod null;
mod onnx;
mod onnx_cases;
mod onnx_more;
mod onnx_open;
mod op_reference;
mod open_rows;
mod ort_cases;
mod provenance;
mod random;
mod reduce;
mod refusals;
mod reports;
mod resize;
mod same_output;
mod simulated;
mod tileiras;
mod ulp;
mod what_if;
mod worker_pool;

use tegula_automation::verb::Run;

/// Every verb that is this program's.
pub const VERBS: &[(&str, Run)] = &[
    ("op-reference", op_reference::run),
    ("gpu-ptxas", gpu_ptxas::run),
    ("gpu-encodings", gpu_encodings::run),
    ("gpu-sim", gpu_sim::run),
    ("gpu-races", gpu_races::run),
    ("gpu-random", gpu_random::run),
    ("gpu-kernels", gpu_kernels::run),
    ("gpu-tileir", gpu_tileir::run),
    ("models", models::run),
    ("onnx-open", onnx_open::run),
    ("onnx-more", onnx_more::run),
    ("decoders", decoders::run),
    ("contrib", contrib::run),
    ("half", half::run),
    ("resize", resize::run),
    ("drawn", drawn::run),
    ("growing", growing::run),
    ("reports", reports::run),
    ("coverage", coverage::run),
    ("provenance", provenance::run),
    ("null", null::run),
    ("onnx", onnx::run),
    ("random", random::run),
    ("lpu-example", lpu_example::run),
    ("lpu-faults", lpu_faults::run),
    ("lpu-bad", lpu_bad::run),
    ("lpu-fit", lpu_fit::run),
    ("lpu-compile", lpu_compile::run),
    ("lpu-models", lpu_models::run),
    ("lpu-published", lpu_published::run),
    ("lpu-random", lpu_random::run),
    ("lpu-sim", lpu_sim::run),
    ("lpu-timeline", lpu_timeline::run),
    ("lpu-what-if", lpu_what_if::run),
    ("ulp", ulp::run),
    ("fuzz", fuzz::run),
    ("reduce", reduce::run),
    ("same-output", same_output::run),
    ("what-if", what_if::run),
    ("gpu", gpu::run),
    ("gpu-bundle", gpu_bundle::run),
];

#[cfg(test)]
mod tests {
    use super::VERBS;
    use tegula_automation::verb::{Program, unmatched};

    #[test]
    fn verbs_are_those_of_the_table() {
        assert_eq!(unmatched(Program::Checks, VERBS), [""; 0]);
    }
}
