//! What compilation remarks of products that warpgroups could do, and warps do.

use tegula_base::Bytes;
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx};
use tegula_machine::{Kind, Machine};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

/// Kernels of the list whose tiles are those of warpgroups' products though shared memory has no place for them.
const ON_WARPS: [&str; 0] = [];

/// The remark, if there is one; `None`: the program is refused, which `gpu-ptxas` tells.
fn remark(kernel: &GpuKernel, sizes: &Sizes, machine: &Machine) -> Option<Option<String>> {
    let program = kernel.program(sizes).ok()?;
    let options = CompileOptions::new(machine.clone());
    let mut cx = PassCx::new();
    cx.keep_remarks();
    compile_program(program, &kernel.name, &options, None, &mut cx).ok()?;
    Some(cx.remarks.iter().map(|remark| remark.text.to_string()).find(|text| text.contains("warps multiply")))
}

#[test]
fn products_for_warpgroups_are_done_by_them() {
    let machine = Machine::class("h200").unwrap();
    let (mut compiled, mut found) = (0, Vec::new());
    for kernel in gpu_kernels().into_iter().filter(|kernel| !ON_WARPS.contains(&kernel.name.as_str())) {
        let sizes = kernel.small.iter().cloned().chain([Sizes::new()]);
        for sizes in sizes.chain(kernel.table().map(|(_, sizes)| sizes.clone())) {
            if let Some(remark) = remark(&kernel, &sizes, &machine) {
                compiled += 1;
                found.extend(remark.map(|text| format!("{} {sizes:?}: {text}", kernel.name)));
            }
        }
    }
    assert!(compiled > 200, "{compiled} rows are compiled");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn tiles_that_do_not_fit_are_remarked() {
    let mut machine = Machine::class("h200").unwrap();
    let Kind::Gpu(gpu) = &mut machine.kind else { panic!("an H200 is a GPU") };
    gpu.shared_memory_per_cta = Bytes(16 << 10);
    let product = gpu_kernels().into_iter().find(|kernel| kernel.name == "gemm_bf16_nt").unwrap();
    let remark = remark(&product, &Sizes::new(), &machine).unwrap().unwrap();
    assert!(remark.ends_with("bytes of shared memory, and there are 16384"), "{remark}");
}
