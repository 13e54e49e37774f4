//! Lowers a kernel to a tile kernel through recipes, one a kind of root.
//!
//! Before: a `tgn.kernel` whose region holds one root and what is fused to it (`form_kernels`).
//! After: [`TileKernel`]s that compute the same results from views of the same buffers. Most often one; where work is
//! split, one that gives parts in memory of their own and one that combines them, in each of the forms that a target
//! wants for a range of sizes.
//!
//! ```text
//! kernel ─► body (own function) ─► collapse (fewer axes) ─► recipe ─► TileKernel
//!                                                             │ asks access for tiles of any value
//! ```

use crate::body::Body;
use crate::collapse::collapse_axes;
use crate::{BufferRef, Contract, TileMachine, attention, concat, contract, pool, rows, scan, scatter};
use tegula_base::{DType, Diagnostic, Dim, Symbols};
use tegula_ir::OpId;
use tegula_tensor::{KernelClass, TensorFunc, TensorOp};
use tegula_tile::TileKernel;

/// A tile kernel ready for its target.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub kernel: TileKernel,
    /// The buffer behind each view, in the order of `kernel.views`; a buffer may stand behind several views.
    pub buffers: Vec<BufferRef>,
}

/// What computes a kernel: launches one after another. One without work units in a run is skipped.
#[derive(Clone, Debug)]
pub struct TileLaunches {
    /// Each under a name that tells it from the others, empty where it is alone.
    pub list: Vec<(String, Lowered)>,
    /// Bytes of each temporary.
    pub temporaries: Vec<Dim>,
    /// Why so: what the target predicted of each form.
    pub reasons: Vec<String>,
}

impl From<Lowered> for TileLaunches {
    fn from(lowered: Lowered) -> TileLaunches {
        TileLaunches { list: vec![(String::new(), lowered)], temporaries: vec![], reasons: vec![] }
    }
}

impl TileLaunches {
    /// The launches' names, after that of the whole.
    pub fn names(&self, whole: &str) -> Vec<String> {
        let name = |(name, _): &(String, Lowered)| match name.as_str() {
            "" => whole.to_string(),
            own => format!("{whole}_{own}"),
        };
        self.list.iter().map(name).collect()
    }
}

impl Lowered {
    /// The number of the buffer behind each view, where buffers are operands, results, temporaries in this order.
    pub fn buffer_numbers(&self, operands: usize, results: usize) -> Vec<usize> {
        let number = |buffer: &BufferRef| match *buffer {
            BufferRef::Operand(i) => i,
            BufferRef::Result(i) => operands + i,
            BufferRef::Temporary(i) => operands + results + i,
        };
        self.buffers.iter().map(number).collect()
    }
}

/// Elements of the innermost axis that a work unit takes at the same time where it goes along others: as many vectors as
/// the target wants that leave no part of one over.
pub(crate) fn columns_together(extent: &Dim, widest: DType, machine: &dyn TileMachine) -> i64 {
    let (lanes, most) = (machine.lanes(widest), machine.columns_together(widest));
    let Some(n) = extent.as_const() else { return most };
    let whole = (1..=most / lanes).rev().map(|vectors| vectors * lanes).find(|width| n % width == 0);
    whole.unwrap_or(most.min(n / lanes * lanes).max(lanes))
}

/// What its target is asked about the tile of a kernel's contraction; none of other ops.
pub fn contract_of(
    func: &TensorFunc,
    kernel: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Contract> {
    if !matches!(func.kind(kernel), TensorOp::Kernel { .. }) {
        return None;
    }
    let body = body_of(func, kernel);
    contract::asked(&body, body.root()?, machine, symbols)
}

/// The kernel's own function, as recipes take it.
fn body_of(func: &TensorFunc, kernel: OpId) -> Body {
    let body = Body::of_kernel(func, kernel);
    collapse_axes(&body).unwrap_or(body)
}

/// Lowers one `tgn.kernel`.
/// Errors: `unsupported`, a program given as text has a convolution of transformed filters, or sums of pairs, that the target
/// does not take;
/// internal: kernel formation admits only what a recipe takes.
pub fn lower_kernel(
    func: &TensorFunc,
    kernel: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<TileLaunches, Diagnostic> {
    let body = body_of(func, kernel);
    let root = body.root();
    if let Some(refused) = root.and_then(|op| contract::refused(&body, op, machine, symbols)) {
        return Err(match root.and_then(|op| body.func.op(op).location.as_deref()) {
            Some(node) => refused.at(format!("node \"{node}\"")),
            None => refused,
        });
    }
    let lowered = match root.map(|op| body.func.kind(op)) {
        Some(TensorOp::Attention { .. }) => attention::lower(&body, machine, symbols),
        Some(TensorOp::Dot { .. } | TensorOp::Conv { .. } | TensorOp::WinogradConv { .. }) => {
            contract::lower(&body, machine, symbols)
        }
        Some(TensorOp::Pool { .. } | TensorOp::MaxPoolIndices { .. }) => {
            pool::lower(&body, machine).map(TileLaunches::from)
        }
        Some(TensorOp::Concat { .. }) => concat::lower(&body, machine).map(TileLaunches::from),
        Some(TensorOp::Scan { .. }) => scan::lower(&body, machine).map(TileLaunches::from),
        Some(TensorOp::ScatterElements { .. } | TensorOp::ScatterNd { .. }) => {
            let in_place = matches!(func.kind(kernel), TensorOp::Kernel { class: KernelClass::Update });
            scatter::lower(&body, in_place, machine).map(TileLaunches::from)
        }
        _ => rows::lower(&body, machine, symbols).map(TileLaunches::from),
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
