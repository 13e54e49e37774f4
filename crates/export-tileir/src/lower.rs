//! Tile ops to Tile IR ops, region by region, in the order of the text.
//!
//! Before: a verified kernel.  After: every value has one of Tile IR: an index a scalar of i64, a tile of extents `n` a
//! tile of the next powers of two whose elements outside of `n` are anything.
//! Memory order: accesses to a buffer that is read and written, or written more than once, take the token of the access
//! before them; loops and branches hand tokens on. All other accesses are free to move.

mod control;
mod dot;
mod memory;
mod reduce;
mod reshape;

use crate::facts::Facts;
use crate::scalar::{Made, Refused, apply, cast, element, memory_element};
use crate::writer::{Writer, pointers, tile};
use cutile_ir::builder::{OpBuilder, build_single_block_region};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::Value as Written;
use cutile_ir::ir::{
    Attribute, ComparisonPredicate, FuncType, Location, Module, OptimizationHints, ScalarType, Type,
};
use tegula_base::{DType, Dim, HashMap, Symbols};
use tegula_ir::{Def, OpId, RegionId, Value};
use tegula_tile::{Accumulation, IndexOp, TileFunc, TileKernel, TileOp};

/// Elements of an accumulator from which one group of worker warps has too few registers: 128 x 128 floats are 128 a
/// thread of four warps.
const LARGE_ACCUMULATOR: i64 = 128 * 128;

pub(crate) struct Lowered {
    pub module: Module,
    pub sizes: Vec<Dim>,
}

struct Lower<'a> {
    kernel: &'a TileKernel,
    func: &'a TileFunc,
    facts: Facts<'a>,
    w: Writer,
    values: HashMap<Value, Written>,
    sizes: HashMap<Dim, Written>,
    /// Addresses of views.
    bases: Vec<Written>,
    /// The buffer of each view: that of the view it updates in place.
    buffers: Vec<usize>,
    /// The last access of each buffer whose accesses have an order.
    tokens: Vec<Option<Written>>,
}

/// Extents rounded up to powers of two.
fn padded(shape: &[i64]) -> Vec<i64> {
    shape.iter().map(|n| (*n as u64).next_power_of_two() as i64).collect()
}

/// Errors: a tile or a scalar operation that Tile IR does not have.
pub(crate) fn lower(name: &str, kernel: &TileKernel, symbols: &Symbols) -> Made<Lowered> {
    let sizes = sizes_of(kernel);
    let mut parameters = Vec::new();
    for view in &kernel.views {
        parameters.push(pointers(memory_element(view.ty.dtype), &[]));
    }
    parameters.extend(sizes.iter().map(|_| tile(ScalarType::I64, &[])));
    let mut module = Module::new("kernels");
    let (region, block, args) = build_single_block_region(&mut module, &parameters);
    let w = Writer { module, block };
    let (bases, words) = args.split_at(kernel.views.len());
    let mut cx = Lower {
        kernel,
        func: &kernel.func,
        facts: Facts { kernel, symbols },
        w,
        values: HashMap::default(),
        sizes: sizes.iter().cloned().zip(words.iter().copied()).collect(),
        bases: bases.to_vec(),
        buffers: kernel.views.iter().enumerate().map(|(i, view)| view.in_place.unwrap_or(i)).collect(),
        tokens: vec![None; kernel.views.len()],
    };
    cx.bind_unit();
    cx.order_buffers();
    cx.region(kernel.func.body())?;
    cx.w.op(Opcode::Return, &[], &[], &[], &[]);
    let signature = Type::Func(FuncType { inputs: parameters, results: vec![] });
    let mut attributes = vec![
        ("sym_name", Attribute::String(name.to_string())),
        ("function_type", Attribute::Type(signature)),
    ];
    attributes.extend(cx.hints().map(|hints| ("optimization_hints", hints)));
    let mut module = cx.w.module;
    let mut builder = OpBuilder::new(Opcode::Entry, Location::Unknown).region(region);
    for (name, value) in attributes {
        builder = builder.attr(name, value);
    }
    let (op, _) = builder.build(&mut module);
    module.functions.push(op);
    Ok(Lowered { module, sizes })
}

/// Every size that the kernel asks for or that its views and grid have, in order.
fn sizes_of(kernel: &TileKernel) -> Vec<Dim> {
    let mut sizes: Vec<Dim> = Vec::new();
    let mut note = |dim: &Dim| {
        if dim.as_const().is_none() && !sizes.contains(dim) {
            sizes.push(dim.clone());
        }
    };
    kernel
        .views
        .iter()
        .for_each(|view| view.ty.shape.iter().chain(view.ty.strides.iter()).for_each(&mut note));
    kernel.grid.iter().skip(1).for_each(|axis| note(&axis.extent));
    for op in kernel.func.walk() {
        if let TileOp::Size { dim } = kernel.func.kind(op) {
            note(dim);
        }
    }
    sizes
}

impl Lower<'_> {
    fn value(&self, value: Value) -> Written {
        *self.values.get(&value).expect("invariant: operands are written before their users")
    }

    fn operand(&self, op: OpId, i: usize) -> Written {
        self.value(self.func.operand(op, i))
    }

    /// The dtype and the extents of a tile on the tile level.
    fn tile(&self, value: Value) -> (DType, Vec<i64>) {
        let (dtype, shape) =
            self.func.ty(value).as_tile().expect("invariant: a verified op takes a tile here");
        (dtype, shape.to_vec())
    }

    fn ty(&self, value: Value) -> Type {
        match self.func.ty(value).as_tile() {
            Some((dtype, shape)) => tile(element(dtype), &padded(shape)),
            None => tile(ScalarType::I64, &[]),
        }
    }

    fn refuse<T>(&self, what: &str, value: Value) -> Made<T> {
        let (dtype, shape) = self.tile(value);
        let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
        let of_two = shape.iter().all(|n| (*n as u64).is_power_of_two());
        let reason = if of_two { "" } else { ", whose extents are not all powers of two," };
        Err(Refused(format!("{what} the tile {}x{dtype}{reason}", extents.join("x"))))
    }

    fn size(&mut self, dim: &Dim) -> Written {
        match dim.as_const() {
            Some(n) => self.w.index(n),
            None => self.sizes[dim],
        }
    }

    /// The unit's coordinates, from its linear number, row-major over the grid.
    fn bind_unit(&mut self) {
        let coordinates = self.func.args(self.func.body())[self.kernel.views.len()..].to_vec();
        let number = tile(ScalarType::I32, &[]);
        let block =
            self.w.op(Opcode::GetTileBlockId, &[], &[number.clone(), number.clone(), number], &[], &[])[0];
        let mut rest = self.w.resize(block, ScalarType::I64, false);
        for (i, value) in coordinates.iter().enumerate().rev() {
            if i == 0 {
                self.values.insert(*value, rest);
                break;
            }
            let extent = self.size(&self.kernel.grid[i].extent);
            let whole = self.w.div(rest, extent, false, false);
            let product = self.w.mul(whole, extent);
            let coordinate = self.w.sub(rest, product);
            self.values.insert(*value, coordinate);
            rest = whole;
        }
    }

    /// The number of the view that an op accesses.
    fn view_of(&self, op: OpId) -> usize {
        match self.func.def(self.func.operand(op, 0)) {
            Def::Arg(_, i) => i as usize,
            Def::Result(..) => unreachable!("invariant: views are arguments of the kernel"),
        }
    }

    /// The buffer that an op accesses, if it does.
    fn buffer_of(&self, op: OpId) -> Option<usize> {
        match self.func.kind(op) {
            TileOp::Load { .. } | TileOp::Store { .. } | TileOp::Gather {} | TileOp::Scatter {} => {
                Some(self.buffers[self.view_of(op)])
            }
            _ => None,
        }
    }

    /// Large accumulators are spread over two groups of worker warps; without the hint they spill.
    fn hints(&self) -> Option<Attribute> {
        let is_large = |op: &OpId| {
            matches!(self.func.kind(*op), TileOp::Dot { .. })
                && padded(&self.tile(self.func.result(*op)).1).iter().product::<i64>() >= LARGE_ACCUMULATOR
        };
        self.func.walk().iter().any(is_large).then(|| {
            let hint = ("num_worker_warps_per_cta".to_string(), Attribute::i32(8));
            Attribute::OptimizationHints(OptimizationHints {
                entries: vec![("sm_90".to_string(), vec![hint])],
            })
        })
    }

    /// Writes the ops of a region but its terminator; gives what that one yields.
    fn region(&mut self, region: RegionId) -> Made<Vec<Written>> {
        for &op in self.func.ops_in(region) {
            if matches!(self.func.kind(op), TileOp::Yield {} | TileOp::Return {}) {
                return Ok(self.func.operands(op).iter().map(|value| self.value(*value)).collect());
            }
            let results = self.op(op)?;
            for (value, written) in self.func.results(op).iter().zip(results) {
                self.values.insert(*value, written);
            }
        }
        Ok(vec![])
    }

    fn op(&mut self, op: OpId) -> Made<Vec<Written>> {
        let func = self.func;
        let operands = func.operands(op);
        let written = match func.kind(op) {
            TileOp::Const { value } => self.w.index(*value),
            TileOp::Size { dim } => self.size(dim),
            TileOp::Index { op: kind } => self.index_op(op, *kind),
            TileOp::ToIndex {} => {
                let (dtype, _) = self.tile(operands[0]);
                let scalar = self.value(operands[0]);
                let scalar = self.w.reshape(scalar, &[]);
                self.w.resize(scalar, ScalarType::I64, dtype.is_signed())
            }
            TileOp::FromIndex { dtype } => {
                let index = self.value(operands[0]);
                cast(&mut self.w, DType::I64, *dtype, true, index)?
            }
            TileOp::Splat { dtype, shape, bits } => {
                let (cut, kept) = (64 - dtype.bits(), *bits << (64 - dtype.bits()));
                // Extended as registers hold it.
                let bits = if dtype.is_signed() { kept >> cut } else { (kept as u64 >> cut) as i64 };
                self.w.constant(element(*dtype), &padded(shape), bits as u64)
            }
            TileOp::Iota { dtype, shape, axis } => {
                let shape = padded(shape);
                let line = self.w.coordinates(ScalarType::I32, shape.len(), *axis, shape[*axis]);
                let line = cast(&mut self.w, DType::I32, *dtype, true, line)?;
                self.w.broadcast(line, &shape)
            }
            TileOp::Elementwise { f } => {
                let dtypes: Vec<DType> = operands.iter().map(|value| self.tile(*value).0).collect();
                let args: Vec<Written> = operands.iter().map(|value| self.value(*value)).collect();
                apply(&mut self.w, *f, &dtypes, &args)?
            }
            TileOp::Broadcast { shape } => {
                let value = self.value(operands[0]);
                self.w.broadcast(value, &padded(shape))
            }
            TileOp::Reshape { .. } => self.reshape(op)?,
            TileOp::Transpose { perm } => {
                let ty = self.ty(func.result(op));
                let perm = Attribute::DenseI32Array(perm.iter().map(|axis| *axis as i32).collect());
                let value = self.value(operands[0]);
                self.w.with(Opcode::Permute, &[value], ty, &[("permutation", perm)])
            }
            TileOp::Extract { offsets, .. } => self.extract(op, offsets)?,
            TileOp::Concat { axis } => self.concat(op, *axis)?,
            TileOp::Dot { accumulation: None } => self.dot(op)?,
            TileOp::Dot { accumulation: Some(Accumulation::I16Pairs) } => {
                return Err(Refused("CUDA Tile IR sums no products of two steps first".into()));
            }
            TileOp::Reduce { f, axis } => self.reduce(op, *f, *axis)?,
            TileOp::Scan { f, axis, reverse } => self.scan(op, *f, *axis, *reverse)?,
            TileOp::Scratch { .. } => {
                return Err(Refused("CUDA Tile IR has no memory of a block's own".into()));
            }
            TileOp::Load { steps, bounded, pad, .. } => self.load(op, steps, bounded, *pad),
            TileOp::Gather {} => self.gather(op),
            TileOp::Store { steps, bounded } => {
                self.store(op, steps, bounded);
                return Ok(vec![]);
            }
            TileOp::Scatter {} => {
                self.scatter(op)?;
                return Ok(vec![]);
            }
            TileOp::For { step } => return self.for_loop(op, *step),
            TileOp::If {} => return self.branch(op),
            TileOp::Prefetch {} | TileOp::Yield {} | TileOp::Return {} => return Ok(vec![]),
        };
        Ok(vec![written])
    }

    fn index_op(&mut self, op: OpId, kind: IndexOp) -> Written {
        use ComparisonPredicate as Cmp;
        let (a, b) = (self.operand(op, 0), self.operand(op, 1));
        let truth = |w: &mut Writer, how: Cmp| {
            let holds = w.compare(how, a, b, true);
            w.resize(holds, ScalarType::I64, false)
        };
        match kind {
            IndexOp::Add => self.w.add(a, b),
            IndexOp::Sub => self.w.sub(a, b),
            IndexOp::Mul => self.w.mul(a, b),
            IndexOp::FloorDiv | IndexOp::Mod => {
                let divisor = self.func.def_op(self.func.operand(op, 1)).map(|op| self.func.kind(op));
                let is_safe = matches!(divisor, Some(TileOp::Const { value }) if *value != 0);
                let zero = self.w.index(0);
                let by_zero = self.w.compare(Cmp::Equal, b, zero, true);
                let one = self.w.index(1);
                let by = if is_safe { b } else { self.w.select(by_zero, one, b) };
                let quotient = self.w.div(a, by, true, true);
                let result = match kind {
                    IndexOp::FloorDiv => quotient,
                    _ => {
                        let product = self.w.mul(quotient, by);
                        self.w.sub(a, product)
                    }
                };
                if is_safe { result } else { self.w.select(by_zero, zero, result) }
            }
            IndexOp::Min => self.w.signed(Opcode::MinI, a, b, true),
            IndexOp::Max => self.w.signed(Opcode::MaxI, a, b, true),
            IndexOp::Eq => truth(&mut self.w, Cmp::Equal),
            IndexOp::Ne => truth(&mut self.w, Cmp::NotEqual),
            IndexOp::Lt => truth(&mut self.w, Cmp::LessThan),
            IndexOp::Le => truth(&mut self.w, Cmp::LessThanOrEqual),
            IndexOp::And => self.w.and(a, b),
        }
    }
}
