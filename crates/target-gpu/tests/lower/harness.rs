//! Runs a tile kernel by the tile level's executor and as PTX by the simulator; compares all buffers.

// Each test file uses its part of this.
#![allow(dead_code)]

use tegula_backend::Code;
use tegula_base::Symbols;
use tegula_ir::Value;
use tegula_machine::Machine;
use tegula_package::PtxExecutor;
use tegula_sim_ptx::Simulator;
use tegula_target_gpu::model::GpuTarget;
use tegula_tile::{TileBuilder, TileKernel};
use tegula_tiling::TileMachine;

pub use tegula_testkit::tiles::Case;

/// What a kernel is checked by.
pub trait Check {
    /// Runs the kernel every way; panics where results differ.
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value]));
    fn check_kernel(&self, kernel: &TileKernel);
}

impl Check for Case {
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value])) {
        self.check_kernel(&self.kernel(build));
    }

    fn check_kernel(&self, kernel: &TileKernel) {
        if let Err(error) = run_on_chips(self, kernel) {
            panic!("{error}");
        }
    }
}

/// The kernel on each chip. Errors: what differs, with the code.
fn run_on_chips(case: &Case, kernel: &TileKernel) -> Result<(), String> {
    tegula_ir::verify(&kernel.func).map_err(|errors| errors.to_string())?;
    let start = case.buffers();
    let expected = case.expected(kernel, &start)?;
    for class in ["a100", "h200"] {
        let target = GpuTarget::new(Machine::class(class).expect("a class")).expect("a GPU");
        let compiled =
            target.compile("kernel", kernel, &Symbols::default()).map_err(|error| error.to_string())?;
        let Code::Ptx(ptx) = &compiled.code else { return Err("a GPU runs PTX".to_string()) };
        let code = Simulator::default().prepare(ptx)?;
        let run = case.run(kernel, &*code, &compiled.sizes, &start);
        let same = run.and_then(|got| case.compare_all(&expected, &got));
        same.map_err(|error| format!("{class}: {error}\n{}", ptx.text))?;
    }
    Ok(())
}
