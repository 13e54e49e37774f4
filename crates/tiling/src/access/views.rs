//! The views of a kernel: of the buffers that a body, or a part of it, reads and writes.

use super::coordinates;
use crate::BufferRef;
use crate::body::Body;
use tegula_base::Dim;
use tegula_ir::{OpId, Value};
use tegula_tensor::{TensorOp, TensorType};
use tegula_tile::{GridDim, TileFunc, TileKernel, TileType, ViewParam, ViewType};

/// Which of a body's buffers a kernel is on, and the memory between it and other kernels of the same body.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    args: Vec<Value>,
    results: bool,
    /// The first result is seen as one axis, too.
    flat_result: bool,
    temporaries: Vec<Temporary>,
}

/// Memory that one launch writes and a later one reads.
#[derive(Clone, Debug)]
pub(crate) struct Temporary {
    /// Its index in `TileLaunches::temporaries`.
    pub number: usize,
    pub ty: ViewType,
}

/// What a view shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    Arg(Value),
    Result,
    /// The first result as one axis.
    FlatResult,
    Temporary,
    /// An argument as one axis, for gathers.
    FlatArg(Value),
}

/// The views of a kernel: what each shows, and the buffer behind it.
#[derive(Clone, Debug)]
pub(crate) struct Views {
    pub(super) roles: Vec<Role>,
    pub(super) buffers: Vec<BufferRef>,
}

impl Part {
    pub fn whole(body: &Body) -> Part {
        let args = body.args().to_vec();
        Part { args, results: true, flat_result: scatters(body), temporaries: vec![] }
    }

    /// All of a body whose result is stored in runs of several rows.
    pub fn with_flat_result(body: &Body) -> Part {
        Part { flat_result: true, ..Part::whole(body) }
    }

    /// What comes before the root, which leaves parts of its result in `temporaries`.
    pub fn before(body: &Body, root: OpId, temporaries: Vec<Temporary>) -> Part {
        let args = args_behind(body, body.func.operands(root), None);
        Part { args, results: false, flat_result: false, temporaries }
    }

    /// What comes after the root, parts of whose result are in `temporaries`.
    pub fn after(body: &Body, root: OpId, temporaries: Vec<Temporary>) -> Part {
        let args = args_behind(body, &body.results, Some(root));
        Part { args, results: true, flat_result: scatters(body), temporaries }
    }
}

/// The arguments that values are computed from, those behind `stop` left out.
fn args_behind(body: &Body, values: &[Value], stop: Option<OpId>) -> Vec<Value> {
    let (mut seen, mut waiting) = (Vec::new(), values.to_vec());
    while let Some(value) = waiting.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        if let Some(op) = body.func.def_op(value).filter(|op| Some(*op) != stop) {
            waiting.extend(body.func.operands(op));
        }
    }
    body.args().iter().copied().filter(|arg| seen.contains(arg)).collect()
}

/// An empty kernel for a body: a view a buffer and a grid; the recipe fills it through `Lowering`.
pub(crate) fn begin(body: &Body, grid: Vec<Dim>) -> (TileKernel, Views) {
    begin_part(body, grid, &Part::whole(body))
}

/// An empty kernel for a part of a body.
pub(crate) fn begin_part(body: &Body, grid: Vec<Dim>, part: &Part) -> (TileKernel, Views) {
    let mut params = Vec::new();
    let mut views = Views { roles: vec![], buffers: vec![] };
    let mut view = |ty: ViewType, written: bool, role: Role, buffer: BufferRef| {
        params.push(ViewParam { ty, written, in_place: None });
        views.roles.push(role);
        views.buffers.push(buffer);
    };
    let flat = |ty: &TensorType, extent: Dim| ViewType {
        dtype: ty.dtype,
        shape: [extent].into(),
        strides: [1].into(),
    };
    let operand = |arg: Value| {
        let i = body.args().iter().position(|own| *own == arg).expect("invariant: an argument of the body");
        BufferRef::Operand(body.operands[i])
    };
    for arg in &part.args {
        view(view_type(body.func.ty(*arg)), false, Role::Arg(*arg), operand(*arg));
    }
    if part.results {
        for (i, ty) in body.result_types.iter().enumerate() {
            view(view_type(ty), true, Role::Result, BufferRef::Result(i));
        }
        if part.flat_result {
            let ty = &body.result_types[0];
            view(flat(ty, ty.shape.count()), true, Role::FlatResult, BufferRef::Result(0));
        }
    }
    for temporary in &part.temporaries {
        let buffer = BufferRef::Temporary(temporary.number);
        view(temporary.ty.clone(), !part.results, Role::Temporary, buffer);
    }
    for arg in coordinates::gathered_args(body).into_iter().filter(|arg| part.args.contains(arg)) {
        let ty = body.func.ty(arg);
        let extent = ty.layout_or_default().physical_shape(&ty.shape).count();
        view(flat(ty, extent), false, Role::FlatArg(arg), operand(arg));
    }
    let mut func = TileFunc::new("kernel");
    let region = func.body();
    for param in &params {
        func.add_arg(region, TileType::View(Box::new(param.ty.clone())));
    }
    for _ in &grid {
        func.add_arg(region, TileType::Index);
    }
    let grid = grid.into_iter().map(|extent| GridDim { extent }).collect();
    (TileKernel { func, grid, views: params }, views)
}

fn scatters(body: &Body) -> bool {
    let is_scatter = |op: &OpId| {
        matches!(body.func.kind(*op), TensorOp::ScatterElements { .. } | TensorOp::ScatterNd { .. })
    };
    body.ops().iter().any(is_scatter)
}

/// The view of a buffer: its physical dims, outermost first.
fn view_type(ty: &TensorType) -> ViewType {
    ViewType::row_major(ty.dtype, ty.layout_or_default().physical_shape(&ty.shape))
}
