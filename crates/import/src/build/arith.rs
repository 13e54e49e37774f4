//! Elementwise helpers with NumPy's broadcasting: ranks are aligned at the right, extents of 1 repeat.
//! Sizes that are not known to be equal are asserted equal, once per region.

use super::ProgramBuilder;
use crate::report::{Fault, Outcome};
use smallvec::SmallVec;
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::facts::is_known_constant;

fn share_a_symbol(a: &Dim, b: &Dim) -> bool {
    let mut shared = false;
    a.for_each_symbol(&mut |name| b.for_each_symbol(&mut |other| shared |= name == other));
    shared
}

/// A size that is 0 where an extent is 1 or equal to `joined`.
fn repeats_where_zero(own: &Dim, joined: &Dim) -> Dim {
    (own.clone() - Dim::from(1)) * (joined.clone() - own.clone())
}

impl ProgramBuilder {
    /// `f` on operands that broadcast to each other.
    pub fn map(&mut self, f: ScalarOp, operands: &[Value]) -> Outcome {
        let aligned = self.align(operands)?;
        self.emit(TensorOp::Elementwise { f }, &aligned)
    }

    pub fn unary(&mut self, f: ScalarOp, x: Value) -> Outcome {
        self.emit(TensorOp::Elementwise { f }, &[x])
    }

    pub fn binary(&mut self, f: ScalarOp, a: Value, b: Value) -> Outcome {
        self.map(f, &[a, b])
    }

    /// `f(x, number)` with the number rounded to x's dtype.
    pub fn with_number(&mut self, f: ScalarOp, x: Value, number: f64) -> Outcome {
        self.build(|b| b.with_number(f, x, number))
    }

    /// `f(number, x)`.
    pub fn number_with(&mut self, f: ScalarOp, number: f64, x: Value) -> Outcome {
        let number = self.number_like(x, number)?;
        self.emit(TensorOp::Elementwise { f }, &[number, x])
    }

    pub fn add(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Mul, a, b)
    }

    pub fn div(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Div, a, b)
    }

    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Outcome {
        self.map(ScalarOp::Select, &[condition, yes, no])
    }

    /// To another element type; nothing when it is that already.
    pub fn cast(&mut self, x: Value, to: DType) -> Outcome {
        self.build(|b| b.cast(x, to))
    }

    /// To the element type of `like`.
    pub fn cast_like(&mut self, x: Value, like: Value) -> Outcome {
        self.cast(x, self.dtype(like))
    }

    /// A float of at least 32 bits, for arithmetic that a format specifies in higher precision.
    pub fn widened(&mut self, x: Value) -> Outcome {
        let dtype = self.dtype(x);
        if dtype.is_float() && dtype.bits() < 32 { self.cast(x, DType::F32) } else { Ok(x) }
    }

    /// The shape that the operands broadcast to.
    pub fn broadcast_shape(&mut self, operands: &[Value]) -> Outcome<Shape> {
        // Most often one of them has it already.
        let holds_all = |wide: &&Value| {
            operands.iter().all(|value| self.ty(*value).shape.repeats_to(&self.ty(**wide).shape))
        };
        if let Some(wide) = operands.iter().find(holds_all) {
            return Ok(self.shape(*wide));
        }
        let rank = operands.iter().map(|value| self.rank(*value)).max().unwrap_or(0);
        let mut result = Vec::with_capacity(rank);
        for axis in 0..rank {
            let mut extent = Dim::from(1);
            for value in operands {
                let Some(i) = (axis + self.rank(*value)).checked_sub(rank) else { continue };
                let other = self.dim(*value, i);
                extent = self.common_extent(&extent, &other, operands)?;
            }
            result.push(extent);
        }
        Ok(result.into())
    }

    fn common_extent(&mut self, a: &Dim, b: &Dim, operands: &[Value]) -> Outcome<Dim> {
        if b.is_const(1) || a == b {
            return Ok(a.clone());
        }
        if a.is_const(1) || self.repeats(a, b)? {
            return Ok(b.clone());
        }
        if self.repeats(b, a)? {
            return Ok(a.clone());
        }
        if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
            let shapes: Vec<String> = operands.iter().map(|value| self.shape(*value).to_string()).collect();
            return Err(Fault::from(format!(
                "sizes {x} and {y} do not broadcast (shapes {})",
                shapes.join(" and ")
            )));
        }
        // Beside weights, a size is theirs: a model of open features is not one of one feature.
        let told =
            [a, b].into_iter().find(|dim| dim.as_const().is_some() && self.is_of_weights(dim, operands));
        if let Some(extent) = told.cloned() {
            self.assert_broadcast(a, b)?;
            return Ok(extent);
        }
        self.joined_extent(a, b)
    }

    /// Whether an extent is one of a constant among the operands.
    fn is_of_weights(&self, extent: &Dim, operands: &[Value]) -> bool {
        let has_it = |value: &&Value| self.ty(**value).shape.iter().any(|own| own == extent);
        operands.iter().filter(has_it).any(|value| is_known_constant(&self.func, *value))
    }

    /// The extent of what two broadcast to that are equal or 1, which is known in the run: their larger one.
    pub fn joined_extent(&mut self, a: &Dim, b: &Dim) -> Outcome<Dim> {
        if self.is_established(a, b) {
            // A constant says more than a symbol, and that more than an expression.
            let plain = |dim: &Dim| (dim.as_const().is_some(), dim.as_symbol().is_some());
            return Ok(if plain(b) > plain(a) { b.clone() } else { a.clone() });
        }
        for (own, joined) in [(a, b), (b, a)] {
            if self.is_known_to_repeat(own, joined) {
                return Ok(joined.clone());
            }
        }
        // A size that is computed in two ways is one size.
        if share_a_symbol(a, b) {
            self.assert_broadcast(a, b)?;
            return self.joined_extent(a, b);
        }
        let joined = match (a.as_const(), b.as_const()) {
            (Some(_), _) => a.clone(),
            (_, Some(_)) => b.clone(),
            _ => a.maximum(b),
        };
        let message = format!("sizes `{a}` and `{b}` must be equal to broadcast, or one of them 1");
        for own in [a, b] {
            self.assert_repeats(own, &joined, &message)?;
        }
        Ok(joined)
    }

    /// Whether an assert that stands before this place says that an extent is 1 or equal to `joined`.
    fn is_known_to_repeat(&self, own: &Dim, joined: &Dim) -> bool {
        self.is_established(&repeats_where_zero(own, joined), &Dim::from(0))
    }

    /// Makes sure that an extent is 1 or equal to `joined`.
    fn assert_repeats(&mut self, own: &Dim, joined: &Dim, message: &str) -> Outcome<()> {
        if own == joined || own.is_const(1) || self.is_established(own, joined) {
            return Ok(());
        }
        self.assert_equal(&repeats_where_zero(own, joined), &Dim::from(0), message)
    }

    /// Whether an extent that is never above 1 is asserted to be 1, as it stands beside one that may be.
    pub fn repeats(&mut self, extent: &Dim, beside: &Dim) -> Outcome<bool> {
        let most = |dim: &Dim| self.symbols.bounds(dim).1;
        if extent.as_const().is_some() || most(extent) > 1 || most(beside) <= 1 {
            return Ok(false);
        }
        self.assert_equal(extent, &Dim::from(1), "a size must be 1 to broadcast")?;
        Ok(true)
    }

    /// Two extents of which neither is known to be 1 must be equal: which of them would repeat has to be known when
    /// the model is compiled.
    pub(super) fn assert_broadcast(&mut self, a: &Dim, b: &Dim) -> Outcome<()> {
        let mut message = format!("sizes `{a}` and `{b}` must be equal to broadcast");
        let is_plain = |dim: &Dim| dim.as_const().is_some() || self.input_symbol(dim).is_some();
        if is_plain(a) && is_plain(b) {
            let bindings: Vec<String> =
                [a, b].into_iter().filter_map(|dim| self.binding_to_one(dim)).collect();
            message +=
                &format!("; one that is always 1 must be given when compiling: {}", bindings.join(" or "));
        }
        self.assert_equal(a, b, &message)
    }

    /// How a user says that an input's extent is always 1.
    pub fn binding_to_one(&self, dim: &Dim) -> Option<String> {
        self.input_symbol(dim).map(|name| format!("`--dim {name}=1`"))
    }

    /// The name of a size that is an input's extent and nothing else.
    fn input_symbol<'d>(&self, dim: &'d Dim) -> Option<&'d str> {
        dim.as_symbol().filter(|name| self.symbols.get(name).is_some_and(SymbolInfo::is_input))
    }

    /// Gives the operands equal rank and extents that are equal or 1.
    pub fn align(&mut self, operands: &[Value]) -> Outcome<SmallVec<[Value; 4]>> {
        let first = &self.ty(operands[0]).shape;
        if operands.iter().all(|value| self.ty(*value).shape == *first) {
            return Ok(SmallVec::from_slice(operands));
        }
        let common = self.broadcast_shape(operands)?;
        let mut aligned = SmallVec::new();
        for value in operands {
            aligned.push(self.align_to(*value, &common)?);
        }
        Ok(aligned)
    }

    /// Leading 1s up to the rank of `common`, and each extent that of `common` or 1.
    fn align_to(&mut self, value: Value, common: &Shape) -> Outcome {
        let shape = &self.ty(value).shape;
        let missing = common.rank() - shape.rank();
        if missing == 0 && shape.repeats_to(common) {
            return Ok(value);
        }
        let key = (value, self.region, common.rank());
        let repeats = missing > 0 && shape.iter().all(|dim| dim.as_const().is_some());
        if repeats && let Some(made) = self.aligned.get(&key) {
            return Ok(*made);
        }
        let aligned: Shape = (0..common.rank())
            .map(|axis| match axis.checked_sub(missing) {
                None => Dim::from(1),
                Some(i) if shape[i] != common[axis] && self.is_established(&shape[i], &Dim::from(1)) => {
                    Dim::from(1)
                }
                Some(i) if self.may_be_one(&shape[i], &common[axis]) => shape[i].clone(),
                Some(_) => common[axis].clone(),
            })
            .collect();
        let repeated: Shape = aligned
            .iter()
            .zip(common.iter())
            .map(|(own, common)| if self.may_be_one(own, common) { common.clone() } else { own.clone() })
            .collect();
        let mut made = self.reshape(value, aligned)?;
        if self.ty(made).shape != repeated {
            made = self.emit(TensorOp::Broadcast { shape: repeated }, &[made])?;
        }
        if repeats {
            self.aligned.insert(key, made);
        }
        Ok(made)
    }

    /// Whether an extent is `common`, or 1, as the run has it.
    fn may_be_one(&self, own: &Dim, common: &Dim) -> bool {
        own != common && own.as_const().is_none() && !self.is_established(own, common)
    }

    /// Repeats `x` to `shape`, whose rank is not smaller.
    pub fn broadcast_to(&mut self, x: Value, shape: &Shape) -> Outcome {
        if self.ty(x).shape == *shape {
            return Ok(x);
        }
        if self.rank(x) > shape.rank() {
            return Err(Fault::from(format!("{} does not broadcast to {shape}", self.ty(x))));
        }
        let from = self.shape(x);
        let missing = shape.rank() - from.rank();
        for (i, extent) in from.iter().enumerate() {
            let wanted = &shape[missing + i];
            if extent.is_const(1) || extent == wanted {
                continue;
            }
            if extent.as_const().is_some() && wanted.as_const().is_some() {
                return Err(Fault::from(format!("{} does not broadcast to {shape}", self.ty(x))));
            }
            if self.is_known_to_repeat(extent, wanted) || self.repeats(extent, wanted)? {
                continue;
            }
            if extent.as_const().is_some() || share_a_symbol(extent, wanted) {
                self.assert_broadcast(extent, wanted)?;
            } else {
                let message = format!("size `{extent}` must be 1 or `{wanted}` to broadcast");
                self.assert_repeats(extent, wanted, &message)?;
            }
        }
        let aligned = self.align_to(x, shape)?;
        if self.ty(aligned).shape == *shape {
            return Ok(aligned);
        }
        self.emit(TensorOp::Broadcast { shape: shape.clone() }, &[aligned])
    }

    /// Combines along axes, which stay as extents of 1 when `keep`. No axes: nothing is combined.
    pub fn reduce(&mut self, f: ScalarOp, x: Value, axes: &[usize], keep: bool) -> Outcome {
        self.build(|b| b.reduce(f, x, axes, keep))
    }

    /// The number of elements along axes, as a splat (or a computed scalar) of `dtype` with `rank` ones.
    pub fn count_along(&mut self, x: Value, axes: &[usize], dtype: DType) -> Outcome {
        let count = axes.iter().fold(Dim::from(1), |count, axis| count * self.dim(x, *axis));
        self.size_as(count, dtype, self.rank(x))
    }

    /// A size as a number of shape `[1; rank]`.
    pub fn size_as(&mut self, size: Dim, dtype: DType, rank: usize) -> Outcome {
        self.build(|b| b.size_as(&size, dtype, rank))
    }

    /// The mean along axes, which stay as extents of 1.
    pub fn mean(&mut self, x: Value, axes: &[usize]) -> Outcome {
        self.build(|b| b.mean(x, axes))
    }
}
