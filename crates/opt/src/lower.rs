//! Lowers a kernel to a tile kernel through recipes, one a kind of root.
//!
//! Before: a `tgn.kernel` whose region holds one root and what is fused to it (`form_kernels`).
//! After: a [`TileKernel`] that computes the same results from views of the same buffers.
//!
//! ```text
//! kernel ─► body (own function) ─► collapse (fewer axes) ─► recipe ─► TileKernel
//!                                                             │ asks access for tiles of any value
//! ```

mod access;
pub(crate) mod attention;
mod body;
mod collapse;
mod concat;
pub(crate) mod contract;
mod pool;
mod rows;
mod scan;
mod scatter;

use tegula_base::{Diagnostic, Symbols};
use tegula_ir::OpId;
use tegula_target::TargetModel;
use tegula_tensor::{KernelClass, TensorFunc, TensorOp};
use tegula_tile::TileKernel;

pub use access::is_pullable;

/// Whether a reshape may stand inside of a map kernel: it only splits axes and adds or drops ones.
pub fn can_fuse_reshape(from: &tegula_base::Shape, to: &tegula_base::Shape) -> bool {
    access::maps_to_one_axis(from, to)
}

/// Which buffer of the launch a view of the kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferRef {
    Operand(usize),
    Result(usize),
}

/// A kernel ready for its target.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub kernel: TileKernel,
    /// The buffer behind each view, in the order of `kernel.views`; a buffer may stand behind several views.
    pub buffers: Vec<BufferRef>,
}

/// Lowers one `tgn.kernel`. Errors: internal; kernel formation admits only what a recipe takes.
pub fn lower_kernel(
    func: &TensorFunc,
    kernel: OpId,
    target: &dyn TargetModel,
    symbols: &Symbols,
) -> Result<Lowered, Diagnostic> {
    let body = body::Body::of_kernel(func, kernel);
    let body = collapse::collapse_axes(&body).unwrap_or(body);
    let root = body.root();
    let lowered = match root.map(|op| body.func.kind(op)) {
        Some(TensorOp::Attention { .. }) => attention::lower(&body, target, symbols),
        Some(TensorOp::Dot { .. } | TensorOp::Conv { .. }) => contract::lower(&body, target, symbols),
        Some(TensorOp::Pool { .. } | TensorOp::MaxPoolIndices { .. }) => pool::lower(&body, target),
        Some(TensorOp::Concat { .. }) => concat::lower(&body, target),
        Some(TensorOp::Scan { .. }) => scan::lower(&body, target),
        Some(TensorOp::ScatterElements { .. } | TensorOp::ScatterNd { .. }) => {
            let in_place = matches!(func.kind(kernel), TensorOp::Kernel { class: KernelClass::Update });
            scatter::lower(&body, in_place, target)
        }
        _ => rows::lower(&body, target, symbols),
    };
    lowered.map_err(|error| {
        Diagnostic::internal(format!("no recipe lowers a kernel: {error}")).at(func
            .op(kernel)
            .location
            .as_deref()
            .unwrap_or("a kernel without a name")
            .to_string())
    })
}
