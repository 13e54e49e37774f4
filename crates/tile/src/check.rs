//! The rules of tile ops: what operands must be, and the types of results. Error texts name the constraint.

use crate::{Accumulation, TileFunc, TileOp, TileType, ViewType};
use tegula_base::{DType, Dim};
use tegula_ir::op::{OpRules, Types};
use tegula_ir::{Effects, OpId, ScalarOp, Value};

impl OpRules for TileOp {
    type Type = TileType;

    fn effects(&self) -> Effects {
        match self {
            // Two pieces of scratch memory are never one.
            TileOp::Load { .. } | TileOp::Gather {} | TileOp::Scratch { .. } => Effects::Reads,
            // A prefetch has no result for which it would be kept.
            TileOp::Store { .. }
            | TileOp::Scatter {}
            | TileOp::Prefetch {}
            | TileOp::Yield {}
            | TileOp::Return {} => Effects::Writes,
            // Their regions may store; `dce` looks no further.
            TileOp::For { .. } | TileOp::If {} => Effects::Writes,
            TileOp::Const { .. }
            | TileOp::Size { .. }
            | TileOp::Index { .. }
            | TileOp::ToIndex {}
            | TileOp::FromIndex { .. }
            | TileOp::Splat { .. }
            | TileOp::Iota { .. }
            | TileOp::Elementwise { .. }
            | TileOp::Broadcast { .. }
            | TileOp::Reshape { .. }
            | TileOp::Transpose { .. }
            | TileOp::Extract { .. }
            | TileOp::Concat { .. }
            | TileOp::Dot { .. }
            | TileOp::Reduce { .. }
            | TileOp::Scan { .. } => Effects::Pure,
        }
    }

    fn is_terminator(&self) -> bool {
        matches!(self, TileOp::Yield {} | TileOp::Return {})
    }

    fn region_count(&self) -> usize {
        match self {
            TileOp::For { .. } => 1,
            TileOp::If {} => 2,
            TileOp::Const { .. }
            | TileOp::Size { .. }
            | TileOp::Index { .. }
            | TileOp::ToIndex {}
            | TileOp::FromIndex { .. }
            | TileOp::Splat { .. }
            | TileOp::Iota { .. }
            | TileOp::Elementwise { .. }
            | TileOp::Broadcast { .. }
            | TileOp::Reshape { .. }
            | TileOp::Transpose { .. }
            | TileOp::Extract { .. }
            | TileOp::Concat { .. }
            | TileOp::Dot { .. }
            | TileOp::Reduce { .. }
            | TileOp::Scan { .. }
            | TileOp::Scratch { .. }
            | TileOp::Load { .. }
            | TileOp::Store { .. }
            | TileOp::Gather {}
            | TileOp::Scatter {}
            | TileOp::Prefetch {}
            | TileOp::Yield {}
            | TileOp::Return {} => 0,
        }
    }

    fn check(func: &TileFunc, op: OpId) -> Result<Types<TileType>, String> {
        Checker { func, op }.check()
    }
}

struct Checker<'a> {
    func: &'a TileFunc,
    op: OpId,
}

impl Checker<'_> {
    fn operands(&self) -> &[Value] {
        self.func.operands(self.op)
    }

    fn name(&self) -> &'static str {
        tegula_ir::Op::name(self.func.kind(self.op))
    }

    fn arity(&self, n: usize) -> Result<(), String> {
        let got = self.operands().len();
        if got == n { Ok(()) } else { Err(format!("`{}` takes {n} operands, got {got}", self.name())) }
    }

    fn tile(&self, i: usize) -> Result<(DType, &[i64]), String> {
        let ty = self.operands().get(i).map(|value| self.func.ty(*value));
        ty.and_then(TileType::as_tile).ok_or_else(|| format!("`{}` operand {i} must be a tile", self.name()))
    }

    fn view(&self, i: usize) -> Result<&ViewType, String> {
        let ty = self.operands().get(i).map(|value| self.func.ty(*value));
        ty.and_then(TileType::as_view).ok_or_else(|| format!("`{}` operand {i} must be a view", self.name()))
    }

    fn indexes(&self, from: usize, count: usize) -> Result<(), String> {
        self.arity(from + count)?;
        match self.operands()[from..].iter().all(|value| *self.func.ty(*value) == TileType::Index) {
            true => Ok(()),
            false => Err(format!("`{}` operands from {from} on must be indexes", self.name())),
        }
    }

    fn one(ty: TileType) -> Result<Types<TileType>, String> {
        if let TileType::Tile { dtype, .. } = &ty
            && dtype.is_stored_only()
        {
            return Err(format!("tiles of {dtype}, which is only stored, are of u8"));
        }
        Ok(Types::from_buf([ty]))
    }

    fn check(&self) -> Result<Types<TileType>, String> {
        match self.func.kind(self.op) {
            TileOp::Const { .. } | TileOp::Size { .. } => {
                self.arity(0)?;
                Self::one(TileType::Index)
            }
            TileOp::Index { .. } => {
                self.indexes(0, 2)?;
                Self::one(TileType::Index)
            }
            TileOp::ToIndex {} => {
                self.arity(1)?;
                let (dtype, shape) = self.tile(0)?;
                if !shape.is_empty() || dtype.is_float() {
                    return Err("`to_index` takes a scalar integer tile".into());
                }
                Self::one(TileType::Index)
            }
            TileOp::FromIndex { dtype } => {
                self.indexes(0, 1)?;
                Self::one(TileType::tile(*dtype, &[]))
            }
            TileOp::Splat { dtype, shape, .. } => {
                self.arity(0)?;
                Self::one(TileType::tile(*dtype, shape))
            }
            TileOp::Iota { dtype, shape, axis } => {
                self.arity(0)?;
                in_range("iota", *axis, shape.len())?;
                Self::one(TileType::tile(*dtype, shape))
            }
            TileOp::Elementwise { f } => self.elementwise(*f),
            TileOp::Broadcast { shape } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                let fits =
                    from.len() == shape.len() && from.iter().zip(shape).all(|(a, b)| a == b || *a == 1);
                if !fits {
                    return Err(format!("broadcast_c2: {from:?} does not repeat to {shape:?}"));
                }
                Self::one(TileType::tile(dtype, shape))
            }
            TileOp::Reshape { shape } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                if from.iter().product::<i64>() != shape.iter().product::<i64>() {
                    return Err(format!("reshape_c1: {from:?} and {shape:?} differ in count"));
                }
                Self::one(TileType::tile(dtype, shape))
            }
            TileOp::Transpose { perm } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                let mut sorted = perm.clone();
                sorted.sort_unstable();
                if !sorted.iter().copied().eq(0..from.len()) {
                    return Err(format!("`transpose` by {perm:?} permutes no tile of rank {}", from.len()));
                }
                let shape: Vec<i64> = perm.iter().map(|axis| from[*axis]).collect();
                Self::one(TileType::tile(dtype, &shape))
            }
            TileOp::Extract { offsets, sizes } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                let inside = offsets.len() == from.len()
                    && sizes.len() == from.len()
                    && (0..from.len())
                        .all(|i| offsets[i] >= 0 && sizes[i] >= 1 && offsets[i] + sizes[i] <= from[i]);
                if !inside {
                    return Err(format!("`extract` of {sizes:?} at {offsets:?} is outside of {from:?}"));
                }
                Self::one(TileType::tile(dtype, sizes))
            }
            TileOp::Concat { axis } => self.concat(*axis),
            TileOp::Dot { accumulation } => self.dot(*accumulation),
            TileOp::Reduce { f, axis } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                in_range("reduce", *axis, from.len())?;
                f.result_type(&[dtype, dtype])?;
                let mut shape = from.to_vec();
                shape[*axis] = 1;
                Self::one(TileType::tile(dtype, &shape))
            }
            TileOp::Scan { f, axis, .. } => {
                self.arity(1)?;
                let (dtype, from) = self.tile(0)?;
                in_range("scan", *axis, from.len())?;
                f.result_type(&[dtype, dtype])?;
                Self::one(TileType::tile(dtype, from))
            }
            TileOp::Scratch { dtype, shape } => {
                self.arity(0)?;
                let bytes = shape.iter().try_fold(dtype.size() as i64, |n, extent| n.checked_mul(*extent));
                if dtype.is_stored_only() || shape.iter().any(|extent| *extent < 1) || bytes.is_none() {
                    return Err(format!("`scratch` of {dtype} {shape:?} is no memory of computed elements"));
                }
                let shape = shape.iter().map(|extent| Dim::from(*extent)).collect();
                Ok(Types::from_buf([TileType::View(Box::new(ViewType::row_major(*dtype, shape)))]))
            }
            TileOp::Load { shape, steps, bounded, .. } => {
                let view = self.view(0)?;
                let rank = view.shape.rank();
                if [shape.len(), steps.len(), bounded.len()] != [rank; 3] {
                    return Err(format!(
                        "`load` lists one extent, step and bound an axis of a view of rank {rank}"
                    ));
                }
                self.indexes(1, rank)?;
                Self::one(TileType::tile(view.dtype, shape))
            }
            TileOp::Store { steps, bounded } => {
                let view = self.view(0)?;
                let (dtype, shape) = self.tile(1)?;
                let rank = view.shape.rank();
                if [shape.len(), steps.len(), bounded.len()] != [rank; 3] || dtype != view.dtype {
                    return Err(format!(
                        "`store` puts a {dtype} tile of rank {} into a {} view of rank {rank}",
                        shape.len(),
                        view.dtype
                    ));
                }
                self.indexes(2, rank)?;
                Ok(Types::new())
            }
            TileOp::Gather {} => {
                self.arity(2)?;
                let view = self.view(0)?;
                let (dtype, shape) = self.tile(1)?;
                if view.shape.rank() != 1 || !dtype.is_int() {
                    return Err("`gather` reads a view of rank 1 by an integer tile".into());
                }
                Self::one(TileType::tile(view.dtype, shape))
            }
            TileOp::Scatter {} => {
                self.arity(3)?;
                let view = self.view(0)?;
                let ((dtype, shape), (index, coordinates)) = (self.tile(1)?, self.tile(2)?);
                if view.shape.rank() != 1 || dtype != view.dtype || !index.is_int() || shape != coordinates {
                    return Err(
                        "`scatter` writes a tile into a view of rank 1 by an integer tile of its shape"
                            .into(),
                    );
                }
                Ok(Types::new())
            }
            TileOp::Prefetch {} => {
                self.indexes(1, self.view(0)?.shape.rank())?;
                Ok(Types::new())
            }
            TileOp::For { step } => {
                if *step < 1 {
                    return Err(format!("`for` needs a positive step, got {step}"));
                }
                let operands = self.operands();
                if operands.len() < 2 || operands[..2].iter().any(|v| *self.func.ty(*v) != TileType::Index) {
                    return Err("`for` takes two indexes, then the carried values".into());
                }
                Ok(operands[2..].iter().map(|value| self.func.ty(*value).clone()).collect())
            }
            TileOp::If {} => {
                self.indexes(0, 1)?;
                let then =
                    self.func.regions_of(self.op).first().and_then(|region| self.func.terminator(*region));
                Ok(then.map_or_else(Types::new, |end| {
                    self.func.operands(end).iter().map(|value| self.func.ty(*value).clone()).collect()
                }))
            }
            TileOp::Yield {} => Ok(Types::new()),
            TileOp::Return {} => {
                self.arity(0)?;
                Ok(Types::new())
            }
        }
    }

    fn elementwise(&self, f: ScalarOp) -> Result<Types<TileType>, String> {
        self.arity(f.arity())?;
        let (_, shape) = self.tile(0)?;
        let mut dtypes = Vec::with_capacity(3);
        for i in 0..f.arity() {
            let (dtype, other) = self.tile(i)?;
            if other != shape {
                return Err(format!("elementwise_c1: `{f}` of tiles {shape:?} and {other:?}"));
            }
            dtypes.push(dtype);
        }
        Self::one(TileType::tile(f.result_type(&dtypes)?, shape))
    }

    fn concat(&self, axis: usize) -> Result<Types<TileType>, String> {
        let (dtype, first) = self.tile(0)?;
        in_range("concat", axis, first.len())?;
        let mut shape = first.to_vec();
        for i in 1..self.operands().len() {
            let (other_dtype, other) = self.tile(i)?;
            let fits = other.len() == first.len()
                && other_dtype == dtype
                && (0..first.len()).all(|k| k == axis || first[k] == other[k]);
            if !fits {
                return Err(format!(
                    "concat_c1: tiles {first:?} and {other:?} do not join along axis {axis}"
                ));
            }
            shape[axis] += other[axis];
        }
        Self::one(TileType::tile(dtype, &shape))
    }

    fn dot(&self, accumulation: Option<Accumulation>) -> Result<Types<TileType>, String> {
        self.arity(3)?;
        let ((acc, c), (lhs, a), (rhs, b)) = (self.tile(0)?, self.tile(1)?, self.tile(2)?);
        match (a, b, c) {
            ([m, k], [k2, n], [m2, n2]) if k == k2 && m == m2 && n == n2 => {}
            _ => return Err(format!("dot_c1: {a:?} times {b:?} does not add to {c:?}")),
        }
        let holds = match acc {
            DType::F32 => {
                let is_byte = |dtype: DType| dtype.is_float() && dtype.bits() == 8;
                lhs == rhs && matches!(lhs, DType::F32 | DType::F16 | DType::BF16)
                    || is_byte(lhs) && is_byte(rhs)
            }
            DType::F64 => lhs == rhs && lhs == DType::F64,
            DType::I32 => {
                lhs.bits() == 8 && rhs.bits() == 8 && lhs.is_int() && rhs.is_int()
                    || (lhs, rhs) == (DType::I16, DType::I8)
                    || lhs == acc && rhs == acc
            }
            DType::I64 => lhs == acc && rhs == acc,
            _ => false,
        };
        if !holds {
            return Err(format!("dot_c2: {acc} does not accumulate {lhs} times {rhs}"));
        }
        let of_bytes = acc == DType::I32 && (lhs, rhs) == (DType::U8, DType::I8) && a[1] % 2 == 0;
        if accumulation == Some(Accumulation::I16Pairs) && !of_bytes {
            return Err(format!("dot_c3: i16 does not sum pairs of {lhs} times {rhs}, {} steps", a[1]));
        }
        Self::one(TileType::tile(acc, c))
    }
}

fn in_range(op: &str, axis: usize, rank: usize) -> Result<(), String> {
    if axis < rank { Ok(()) } else { Err(format!("`{op}` along axis {axis} of a tile of rank {rank}")) }
}
