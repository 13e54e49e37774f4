//! A kernel's computation as a function of its own: arguments are the launch's operands, `return` its results.

use tegula_base::{DType, Shape};
use tegula_ir::rewrite::Cloner;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::facts::is_in_loop;
use tegula_tensor::{TensorFunc, TensorOp, TensorType};

#[derive(Clone, Debug)]
pub struct Body {
    pub func: TensorFunc,
    /// Which operand of the launch each argument is; an operand may be several arguments of different axis order.
    pub operands: Vec<usize>,
    /// The returned values, one a result of the kernel.
    pub results: Vec<Value>,
    /// Types of the result buffers (with their layouts).
    pub result_types: Vec<TensorType>,
    /// Whether the kernel runs in each turn of a loop.
    pub in_loop: bool,
    /// Where the axes of a window root's result were put in memory order: new axis `i` is logical axis `[i]`.
    pub root_order: Option<Vec<usize>>,
}

impl Body {
    pub fn of_kernel(func: &TensorFunc, kernel: OpId) -> Body {
        let region = func.regions_of(kernel)[0];
        let mut own = TensorFunc::new("kernel");
        let body = own.body();
        let mut cloner = Cloner::between(func);
        for (arg, operand) in func.args(region).iter().zip(func.operands(kernel)) {
            // The operand's type carries the layout of its buffer.
            let value = own.add_arg(body, func.ty(*operand).clone());
            cloner.bind(*arg, value);
        }
        let results = cloner.region(&mut own, region, body);
        let operands = (0..func.operands(kernel).len()).collect();
        let result_types = func.result_types(kernel);
        let in_loop = is_in_loop(func, kernel);
        let mut kernel = Body { func: own, operands, results, result_types, in_loop, root_order: None };
        kernel.hold_as_bytes();
        kernel
    }

    /// Values of types that are only stored become bytes: nothing in a kernel computes with them (`legalise_types`).
    fn hold_as_bytes(&mut self) {
        let held = |dtype: DType| if dtype.is_stored_only() { DType::U8 } else { dtype };
        let results = self.ops().iter().flat_map(|op| self.func.results(*op));
        let stored = |value: &Value| self.func.ty(*value).dtype.is_stored_only();
        let values: Vec<Value> = self.args().iter().chain(results).copied().filter(stored).collect();
        if values.is_empty() {
            return;
        }
        for op in self.ops().to_vec() {
            match self.func.kind_mut(op) {
                TensorOp::Constant { dtype, .. } | TensorOp::Splat { dtype, .. } => *dtype = held(*dtype),
                TensorOp::Elementwise { f: ScalarOp::Bitcast { to } } => *to = held(*to),
                _ => {}
            }
        }
        for value in values {
            let bytes = TensorType { dtype: DType::U8, ..self.func.ty(value).clone() };
            self.func.set_type(value, bytes);
        }
        for ty in &mut self.result_types {
            ty.dtype = held(ty.dtype);
        }
    }

    pub fn args(&self) -> &[Value] {
        self.func.args(self.func.body())
    }

    pub fn ops(&self) -> &[OpId] {
        self.func.ops_in(self.func.body())
    }

    pub fn shape(&self, value: Value) -> &Shape {
        &self.func.ty(value).shape
    }

    /// The op that decides the recipe: a contraction, window, scan, scatter or concat; none for plain rows.
    pub fn root(&self) -> Option<OpId> {
        self.ops().iter().copied().find(|op| {
            matches!(
                self.func.kind(*op),
                TensorOp::Dot { .. }
                    | TensorOp::Attention { .. }
                    | TensorOp::Conv { .. }
                    | TensorOp::WinogradConv { .. }
                    | TensorOp::Pool { .. }
                    | TensorOp::MaxPoolIndices { .. }
                    | TensorOp::Concat { .. }
                    | TensorOp::Scan { .. }
                    | TensorOp::ScatterElements { .. }
                    | TensorOp::ScatterNd { .. }
            )
        })
    }

    /// The reductions, in program order.
    pub fn reduces(&self) -> Vec<OpId> {
        let is_reduce = |op: &OpId| matches!(self.func.kind(*op), TensorOp::Reduce { .. });
        self.ops().iter().copied().filter(is_reduce).collect()
    }

    /// The widest element type of any value, which decides how many lanes a vector has.
    pub fn widest(&self) -> tegula_base::DType {
        let values = self.args().iter().chain(self.ops().iter().flat_map(|op| self.func.results(*op)));
        let dtypes =
            values.map(|value| self.func.ty(*value).dtype).chain(self.result_types.iter().map(|ty| ty.dtype));
        dtypes.max_by_key(|dtype| dtype.bits()).unwrap_or(tegula_base::DType::F32)
    }
}
