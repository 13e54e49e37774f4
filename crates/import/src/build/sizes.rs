//! From numbers to sizes and back: what is known of a small tensor, and `bind` for what is known only at run time.

use super::ProgramBuilder;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::size_values::MAX_ELEMENTS;

impl ProgramBuilder {
    /// The elements of a small integer tensor, where they are known before the run.
    pub fn known_sizes(&mut self, value: Value) -> Option<Vec<Dim>> {
        self.sizes.of(&self.func, &self.consts, value)
    }

    /// The elements of a small integer tensor, where they are constant.
    pub fn known_ints(&mut self, value: Value) -> Option<Vec<i64>> {
        self.known_sizes(value)?.iter().map(Dim::as_const).collect()
    }

    /// The elements of a small tensor of numbers, where they are constant.
    pub fn known_numbers(&mut self, value: Value) -> Option<Vec<f64>> {
        let dtype = self.dtype(value);
        let bits = self.sizes.constant(&self.func, &self.consts, value)?;
        let wide = |bits: &u64| {
            f64::from_bits(eval(ScalarOp::Cast { to: DType::F64, saturate: true }, &[dtype], &[*bits]))
        };
        Some(bits.iter().map(wide).collect())
    }

    /// The elements of a float tensor as `(numerator, denominator)`, where they are that.
    pub fn known_ratios(&mut self, value: Value) -> Option<Vec<(Dim, i64)>> {
        self.sizes.ratios(&self.func, &self.consts, value)
    }

    /// From here on `value`, of one element, is known to be a size.
    pub fn record_size(&mut self, value: Value, size: Dim) {
        self.sizes.record(value, size);
    }

    /// A single constant number.
    pub fn known_number(&mut self, value: Value) -> Option<f64> {
        match self.known_numbers(value)?.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// A single constant truth value.
    pub fn known_bool(&mut self, value: Value) -> Option<bool> {
        match self.sizes.constant(&self.func, &self.consts, value)?.as_slice() {
            [one] => Some(*one != 0),
            _ => None,
        }
    }

    /// An integer tensor of rank 1 as sizes; elements unknown before the run are bound to fresh symbols.
    /// `upper(i)` bounds element `i`.
    pub fn sizes_or_bind(
        &mut self,
        value: Value,
        stem: &str,
        upper: &dyn Fn(usize) -> Dim,
    ) -> Outcome<Vec<Dim>> {
        if let Some(sizes) = self.known_sizes(value) {
            return Ok(sizes);
        }
        let n = self.element_count(value)?;
        let flat = self.reshape(value, [n])?;
        (0..n)
            .map(|i| {
                let one = self.slice_axis(flat, 0, Dim::from(i), Dim::from(1))?;
                self.size_or_bind(one, stem, upper(i))
            })
            .collect()
    }

    /// One integer as a size.
    pub fn size_or_bind(&mut self, value: Value, stem: &str, upper: Dim) -> Outcome<Dim> {
        if let Some([size]) = self.known_sizes(value).as_deref() {
            return Ok(size.clone());
        }
        if !self.dtype(value).is_int() {
            return Err(Fault::from(format!("an integer is expected, got {}", self.ty(value))));
        }
        let scalar = self.reshape(value, tegula_base::Shape::scalar())?;
        let scalar = self.cast(scalar, DType::I64)?;
        if let Some([size]) = self.known_sizes(scalar).as_deref() {
            return Ok(size.clone());
        }
        let name = self.symbols.fresh_name(stem);
        let mut info = SymbolInfo::data(upper.clone());
        if let Some(max) = upper.as_const() {
            info.max = max.clamp(0, SymbolInfo::MAX);
        }
        self.symbols.insert(&name, info);
        self.emit_many(TensorOp::Bind { symbol: name.to_string() }, &[scalar])?;
        let size = Dim::symbol(&name);
        self.sizes.record(scalar, size.clone());
        self.sizes.record(value, size.clone());
        self.established.bound.extend([scalar, value]);
        Ok(size)
    }

    /// The number of elements of a list of sizes, which must be constant and no more than ranks go.
    pub fn element_count(&self, value: Value) -> Outcome<usize> {
        let count = self.ty(value).shape.count().as_const().and_then(|n| usize::try_from(n).ok());
        count.filter(|n| *n <= MAX_ELEMENTS).ok_or_else(|| {
            Fault::unsupported(format!(
                "a list of sizes must have a constant length up to {MAX_ELEMENTS}, but it is {}",
                self.ty(value)
            ))
        })
    }

    /// Element `i` of a rank-1 integer tensor as `i64[1]`.
    pub fn int_at(&mut self, list: Value, i: usize) -> Outcome {
        let one = self.slice_axis(list, 0, Dim::from(i), Dim::from(1))?;
        self.cast(one, DType::I64)
    }

    /// A size as `i64[1]`.
    pub fn size_value(&mut self, size: Dim) -> Outcome {
        self.sizes_tensor(vec![size])
    }

    /// Makes sure that two sizes are equal: by an assert at run time unless that is known already.
    pub fn assert_equal(&mut self, left: &Dim, right: &Dim, message: &str) -> Outcome<()> {
        if left == right {
            return Ok(());
        }
        if let (Some(a), Some(b)) = (left.as_const(), right.as_const()) {
            return Err(Fault::from(format!("{message}, got {a} and {b}")));
        }
        if self.is_established(left, right) {
            return Ok(());
        }
        let pair = if left < right { (left, right) } else { (right, left) };
        self.established.equal.push((pair.0.clone(), pair.1.clone()));
        let place = self.location.as_deref().unwrap_or("");
        let message = format!("node \"{place}\": {message}");
        self.emit_many(TensorOp::AssertSize { left: left.clone(), right: right.clone(), message }, &[])?;
        Ok(())
    }

    /// Makes sure that a number, of one element, is not 0: by an assert at run time where it is not known before.
    pub fn expect_not_zero(&mut self, value: Value, message: &str) -> Outcome<()> {
        if let Some(known) = self.known_number(value) {
            return if known == 0.0 { Err(Fault::invalid(message)) } else { Ok(()) };
        }
        if let Some([size]) = self.known_sizes(value).as_deref()
            && self.symbols.bounds(size).0 > 0
        {
            return Ok(());
        }
        let is_zero = self.with_number(ScalarOp::Eq, value, 0.0)?;
        let is_zero = self.cast(is_zero, DType::I64)?;
        let zeros = self.size_or_bind(is_zero, "zeros", Dim::from(1))?;
        self.assert_equal(&zeros, &Dim::from(0), message)
    }

    /// Whether two sizes are equal, as expressions or by an assert that stands before this place.
    pub fn is_established(&self, left: &Dim, right: &Dim) -> bool {
        let pair = if left < right { (left, right) } else { (right, left) };
        left == right || self.established.equal.iter().any(|(a, b)| (a, b) == pair)
    }

    /// The smaller of two sizes, decided where their ranges do.
    pub fn least(&self, a: &Dim, b: &Dim) -> Dim {
        let (low, high) = self.symbols.bounds(&(a.clone() - b.clone()));
        match (high <= 0, low >= 0) {
            (true, _) => a.clone(),
            (_, true) => b.clone(),
            _ => a.minimum(b),
        }
    }

    /// The larger of two sizes, decided where their ranges do.
    pub fn most(&self, a: &Dim, b: &Dim) -> Dim {
        let (low, high) = self.symbols.bounds(&(a.clone() - b.clone()));
        match (low >= 0, high <= 0) {
            (true, _) => a.clone(),
            (_, true) => b.clone(),
            _ => a.maximum(b),
        }
    }

    /// The sizes that a condition compares for equality.
    pub fn compared_sizes(&mut self, condition: Value) -> Option<(Dim, Dim)> {
        let mut value = condition;
        for _ in 0..8 {
            let op = self.func.def_op(value)?;
            match self.func.kind(op) {
                TensorOp::Reshape { .. } => value = self.func.operand(op, 0),
                TensorOp::Elementwise { f: ScalarOp::Eq } => {
                    let [a, b] = [self.func.operand(op, 0), self.func.operand(op, 1)];
                    let (a, b) = (self.known_sizes(a)?, self.known_sizes(b)?);
                    return match (a.as_slice(), b.as_slice()) {
                        ([a], [b]) => Some((a.clone(), b.clone())),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
        None
    }
}
