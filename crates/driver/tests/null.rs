//! A device takes regions out of random programs, and no pass changes what they compute.

use tegula_backend::{Code, Targets};
use tegula_driver::bisect::guilty_pass;
use tegula_driver::target::target;
use tegula_driver::{CompileOptions, PassCx, Precision};
use tegula_ir::RunOptions;
use tegula_machine::Machine;
use tegula_opt::lower_to_host::compile_kernels;
use tegula_opt::pipeline::tensor_pipeline;
use tegula_tensor::{KernelClass, TensorOp, TensorProgram};
use tegula_testkit::null::{Null, Region};
use tegula_testkit::random::{Choices, generate};

const SEEDS: u64 = 40;

fn machine() -> Machine {
    Machine::class("avx2-generic").expect("a class")
}

fn regions(program: &TensorProgram) -> usize {
    let func = program.entry();
    let is_region =
        |op: &&tegula_ir::OpId| matches!(func.kind(**op), TensorOp::Kernel { class: KernelClass::Region });
    func.walk().iter().filter(is_region).count()
}

/// Runs random programs through the passes beside a device; gives how many regions it took.
fn run(seed_of: impl Fn(u64) -> Option<u64>) -> usize {
    let chosen = target(&CompileOptions::new(machine())).expect("a host");
    let mut taken = 0;
    for seed in 0..SEEDS {
        let device = Null::new(machine(), seed_of(seed));
        let targets = Targets::beside(chosen.host(), &device);
        let case = generate(seed, &Choices::default());
        let pipeline = tensor_pipeline(targets, Precision::F32);
        let cx = &mut PassCx::new().without_remarks();
        let guilty = guilty_pass(&case.program, &pipeline, Precision::F32, &case.inputs, cx)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(guilty.is_none(), "seed {seed}: {:?}", guilty.map(|guilty| guilty.pass));
        let mut program = case.program.clone();
        let verified = RunOptions { verify: true, ..RunOptions::default() };
        pipeline.run(&mut program, &verified, cx).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        taken += regions(&program);
        let kernels =
            compile_kernels(&program, targets, 1).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for code in kernels.codes() {
            if let Code::Graph { bytes, .. } = code {
                Region::new(bytes).map(drop).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            }
        }
    }
    taken
}

#[test]
fn a_device_that_claims_all_ops_has_few_regions() {
    // Bindings of sizes, asserts and control flow divide programs.
    let taken = run(|_| None);
    assert!(taken >= SEEDS as usize / 2, "{taken} regions");
}

#[test]
fn a_device_that_claims_every_other_op_has_many() {
    let taken = run(Some);
    assert!(taken >= SEEDS as usize, "{taken} regions");
}
