//! A tensor program, random or of the kernel list, against its bounded results.

use tegula_driver::bound::reference;
use tegula_testkit::gpu_kernels::gpu_kernels;
use tegula_testkit::random::Case;

use super::{Device, Held, Verdict, agree, settle};

/// Of a kernel's random inputs.
const SEED: u64 = 1;

pub(super) fn judge(device: &Device, case: &Case) -> Verdict {
    settle(run(device, case))
}

pub(super) fn judge_kernel(device: &Device, name: &str, sizes: usize) -> Verdict {
    let list = gpu_kernels();
    let row = list.iter().find(|kernel| kernel.name == name);
    let case = row.and_then(|kernel| Some(kernel.case(kernel.small.get(sizes)?, SEED)));
    match case {
        Some(Ok(case)) => judge(device, &case),
        Some(Err(error)) => Verdict::Crashed(error),
        None => Verdict::Crashed("there is no such row".to_string()),
    }
}

fn run(device: &Device, case: &Case) -> Result<Held, Verdict> {
    let compiled = device.compile_program(case.program.clone())?;
    let expected = reference(&case.program, &case.inputs)
        .map_err(|error| Verdict::Crashed(format!("the evaluator: {error}")))?;
    let (outputs, mut held) = device.run(&compiled, &case.inputs)?;
    agree(&mut held, &outputs, &expected)?;
    Ok(held)
}
