//! The text of a program on any level, for `--emit`.

use crate::compile::compile_tensor;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target;
use std::fmt::Write;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::{ConstStore, PassCx, PassState, PrintOptions, print_func, print_program};
use tegula_tensor::{KernelClass, TensorOp, TensorProgram};
use tegula_tile::TileKernel;
use tegula_tiling::{TileLaunches, lower_kernel};

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The program as imported, large constants by their hash.
    Tensor,
    /// After kernel formation.
    Kernels,
    /// Each kernel on the tile level.
    Tile,
    /// Buffers and steps.
    Host,
    /// Each kernel on the target's schedule level.
    Schedule,
    /// Each kernel's instructions.
    Asm,
    /// Each kernel in CUDA Tile IR.
    TileIr,
    /// The program as imported, constants included: input for `opt` and `compile`.
    Mlir,
}

impl Emit {
    pub const ALL: [(&'static str, Emit); 8] = [
        ("tensor", Emit::Tensor),
        ("kernels", Emit::Kernels),
        ("tile", Emit::Tile),
        ("host", Emit::Host),
        ("schedule", Emit::Schedule),
        ("asm", Emit::Asm),
        ("tileir", Emit::TileIr),
        ("mlir", Emit::Mlir),
    ];

    /// Whether it shows the program before any pass.
    pub fn is_imported(self) -> bool {
        matches!(self, Emit::Tensor | Emit::Mlir)
    }

    /// Errors: the names there are.
    pub fn by_name(name: &str) -> Result<Emit, Diagnostic> {
        Emit::ALL.iter().find(|(known, _)| *known == name).map(|(_, emit)| *emit).ok_or_else(|| {
            let names: Vec<&str> = Emit::ALL.iter().map(|(name, _)| *name).collect();
            Diagnostic::error("unknown-level", format!("there is no level `{name}`"))
                .note(format!("what can be is {}", names.join(", ")))
        })
    }
}

/// The text of the level that the passes up to `options.stop_after` reach: the host level, or the tensor level.
pub fn emit_reached(model: &Model, options: &CompileOptions, cx: &mut PassCx) -> Result<String, Diagnostics> {
    let chosen = target::target(options)?;
    let tensor = model.import(&options.dims)?;
    Ok(compile_tensor(tensor, chosen.targets(), options, cx)?.print())
}

/// The text of one level of a model.
pub fn emit(
    model: &Model,
    options: &CompileOptions,
    emit: Emit,
    cx: &mut PassCx,
) -> Result<String, Diagnostics> {
    let tensor = model.import(&options.dims)?;
    match emit {
        Emit::Tensor => return Ok(print_program(&tensor, &PrintOptions::default())),
        Emit::Mlir => return Ok(print_program(&tensor, &PrintOptions::WHOLE)),
        Emit::Kernels | Emit::Tile | Emit::Host | Emit::Schedule | Emit::Asm | Emit::TileIr => {}
    }
    let chosen = target::target(options)?;
    let stages = compile_tensor(tensor, chosen.targets(), options, cx)?;
    let host = || {
        let host = stages.host.as_ref();
        host.ok_or_else(|| Diagnostic::error("stopped", "the compilation was stopped before the host level"))
    };
    match emit {
        Emit::Tensor | Emit::Mlir | Emit::Kernels => {
            Ok(print_program(&stages.tensor, &PrintOptions::default()))
        }
        Emit::Host => Ok(print_program(&host()?.program, &PrintOptions::default())),
        Emit::Tile => each_kernel(&stages.tensor, |func, op| {
            let launches = lower_kernel(func, op, chosen.tiles(), &stages.tensor.symbols)?;
            each_launch(launches, |kernel| {
                let extents: Vec<String> = kernel.grid.iter().map(|dim| dim.extent.to_string()).collect();
                let text = print_func(&kernel.func, &ConstStore::default());
                Ok(format!("// grid: [{}]\n{text}", extents.join(", ")))
            })
        }),
        Emit::TileIr => each_kernel(&stages.tensor, |func, op| {
            let symbols = &stages.tensor.symbols;
            let launches = lower_kernel(func, op, chosen.tiles(), symbols)?;
            each_launch(
                launches,
                |kernel| Ok(tegula_export_tileir::export("kernel", kernel, symbols)?.text()),
            )
        }),
        Emit::Schedule | Emit::Asm => each_kernel(&stages.tensor, |func, op| {
            let launches = lower_kernel(func, op, chosen.tiles(), &stages.tensor.symbols)?;
            each_launch(launches, |kernel| {
                target::listing(options, "kernel", kernel, &stages.tensor.symbols, emit == Emit::Asm)
            })
        }),
    }
}

/// The texts of a kernel's launches, one after another.
fn each_launch(
    launches: TileLaunches,
    text: impl Fn(&TileKernel) -> Result<String, Diagnostic>,
) -> Result<String, Diagnostic> {
    let mut out = String::new();
    for (number, (name, launch)) in launches.list.iter().enumerate() {
        if !name.is_empty() {
            let split = if number == 0 { "" } else { "// -----\n" };
            let _ = writeln!(out, "{split}// launch {number}: {name}");
        }
        out.push_str(&text(&launch.kernel)?);
    }
    Ok(out)
}

/// The texts of all kernels, each under its nodes' names, of a region that a device has it; `// -----` stands between them, as in files that
/// `mlir-opt --split-input-file` reads.
fn each_kernel(
    program: &TensorProgram,
    mut text: impl FnMut(&tegula_tensor::TensorFunc, tegula_ir::OpId) -> Result<String, Diagnostic>,
) -> Result<String, Diagnostics> {
    let func = program.entry();
    let mut out = String::new();
    let kernels = func.walk().into_iter().filter(|op| matches!(func.kind(*op), TensorOp::Kernel { .. }));
    for (number, op) in kernels.enumerate() {
        let node = func.op(op).location.as_deref().unwrap_or("");
        let text = match func.kind(op) {
            TensorOp::Kernel { class: KernelClass::Region } => "// a region of the device\n".to_string(),
            _ => text(func, op)?,
        };
        let split = if number == 0 { "" } else { "// -----\n" };
        // A `String` takes whatever is written.
        let _ = writeln!(out, "{split}// kernel {number}: {node}\n{text}");
    }
    Ok(out)
}
