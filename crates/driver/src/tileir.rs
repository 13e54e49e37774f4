//! The kernels of a model as CUDA Tile IR, for NVIDIA's own assembler.

use crate::compile::compile_tensor;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_export_tileir::export;
use tegula_ir::PassCx;
use tegula_opt::lower_to_host::distinct_kernels;
use tegula_tiling::lower_kernel;

/// A kernel that the assembler takes.
pub struct TileIrKernel {
    /// The entry's name, unlike all others of the model.
    pub name: String,
    pub bytecode: Vec<u8>,
    /// The assembler's name of the chip, as `sm_90`.
    pub chip: String,
}

/// Each distinct kernel of a model, for the chip of the options' machine.
/// Errors: `bad-option` where that is no GPU; all kernels that Tile IR cannot express, in one report.
pub fn tile_ir(
    model: &Model,
    options: &CompileOptions,
    cx: &mut PassCx,
) -> Result<Vec<TileIrKernel>, Diagnostics> {
    let chosen = target::target(options)?;
    let machine = chosen.host().machine();
    if machine.gpu().is_none() {
        let message = format!("`--gpu-backend` needs a GPU as `--machine`; `{}` is a CPU", machine.name);
        return Err(Diagnostic::error("bad-option", message).help("name one: `--machine h200`").into());
    }
    let chip = machine.tier.trim_end_matches('a').to_string();
    // No PTX is made.
    let kernels_only = CompileOptions { stop_after: Some("tensor:assign_layouts".into()), ..options.clone() };
    let program = compile_tensor(model.import(&options.dims)?, chosen.targets(), &kernels_only, cx)?.tensor;
    let (mut kernels, mut refused) = (Vec::new(), Diagnostics::default());
    for (op, name) in distinct_kernels(&program)? {
        let lowered = lower_kernel(program.entry(), op, chosen.tiles(), &program.symbols)?;
        for (name, (_, launch)) in lowered.names(&name).into_iter().zip(&lowered.list) {
            let written =
                export(&name, &launch.kernel, &program.symbols).and_then(|kernel| kernel.bytecode());
            match written {
                Ok(bytecode) => kernels.push(TileIrKernel { name, bytecode, chip: chip.clone() }),
                Err(error) => refused.push(error),
            }
        }
    }
    refused.into_result(kernels)
}
