//! What is known, before a run, of the small tensors that carry sizes: shapes, axes, pads, scales, conditions.
//!
//! In: a function in the making. Out: for a value of static shape with at most [`MAX_ELEMENTS`] elements, each
//! element as a constant or as a [`Dim`]. Method: forward evaluation over the ops that such arithmetic is made of,
//! memoised per value. Constants follow the scalar semantics table exactly; a symbolic element is a quotient
//! `numerator / denominator`, so that `floor(float(h) * 0.5)` becomes `floordiv(h, 2)`. Float arithmetic on
//! symbols is followed only where it is exact for sizes below 2^16; everything else is unknown, never a guess.

use crate::{TensorFunc, TensorOp};
use std::sync::Arc;
use tegula_base::{DType, Dim, HashMap, Shape, SymbolInfo};
use tegula_ir::scalar::eval::{eval, identity};
use tegula_ir::{ConstStore, Def, ScalarOp, Value};

/// Tensors with more elements than this are data, not sizes.
pub const MAX_ELEMENTS: usize = 64;
/// Factors whose odd part is larger would round in `f32` for sizes below 2^16.
const MAX_EXACT_FACTOR: i64 = 1 << 8;
const MAX_DENOMINATOR: i64 = 1 << 20;
/// Definitions are followed this deep; callers that ask for each value as they build never come near.
const MAX_DEPTH: u32 = 256;

/// One element.
#[derive(Clone, Debug, PartialEq)]
enum Element {
    /// The bits of a constant of the tensor's dtype.
    Bits(u64),
    /// `numerator / denominator`; the denominator is positive, and 1 for integer tensors.
    Size { numerator: Dim, denominator: i64 },
}

impl Element {
    fn is_unwieldy(&self) -> bool {
        matches!(self, Element::Size { numerator, .. } if numerator.is_unwieldy())
    }
}

/// A memo over one function whose ops are only added, never changed.
#[derive(Clone, Debug, Default)]
pub struct SizeValues {
    memo: HashMap<Value, Option<Arc<[Element]>>>,
}

impl SizeValues {
    /// The elements of an integer tensor as sizes, in row-major order.
    pub fn of(&mut self, func: &TensorFunc, consts: &ConstStore, value: Value) -> Option<Vec<Dim>> {
        let dtype = func.ty(value).dtype;
        if !dtype.is_int() {
            return None;
        }
        let elements = self.elements(func, consts, value, 0)?;
        elements.iter().map(|element| as_dim(element, dtype)).collect()
    }

    /// The elements' bits when all are constant, of any dtype.
    pub fn constant(&mut self, func: &TensorFunc, consts: &ConstStore, value: Value) -> Option<Vec<u64>> {
        let elements = self.elements(func, consts, value, 0)?;
        elements
            .iter()
            .map(|element| match element {
                Element::Bits(bits) => Some(*bits),
                Element::Size { .. } => None,
            })
            .collect()
    }

    /// The elements of a float tensor as `(numerator, denominator)`, where they are that.
    pub fn ratios(
        &mut self,
        func: &TensorFunc,
        consts: &ConstStore,
        value: Value,
    ) -> Option<Vec<(Dim, i64)>> {
        let dtype = func.ty(value).dtype;
        let elements = self.elements(func, consts, value, 0)?;
        elements.iter().map(|element| as_ratio(element, dtype)).collect()
    }

    /// Finds out what is known of a value, for questions to come.
    pub fn ask(&mut self, func: &TensorFunc, consts: &ConstStore, value: Value) {
        self.elements(func, consts, value, 0);
    }

    /// Records that a scalar equals a size, as `bind` makes it.
    pub fn record(&mut self, value: Value, dim: Dim) {
        self.memo.insert(value, Some([Element::Size { numerator: dim, denominator: 1 }].into()));
    }

    /// Forgets a value, e.g. when the region that bound it ends.
    pub fn forget(&mut self, value: Value) {
        self.memo.remove(&value);
    }

    fn elements(
        &mut self,
        func: &TensorFunc,
        consts: &ConstStore,
        value: Value,
        depth: u32,
    ) -> Option<Arc<[Element]>> {
        if let Some(known) = self.memo.get(&value) {
            return known.clone();
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let known = self.compute(func, consts, value, depth);
        // What would cost too much to carry on is data.
        let known = known.filter(|elements| !elements.iter().any(Element::is_unwieldy));
        let known: Option<Arc<[Element]>> = known.map(Arc::from);
        self.memo.insert(value, known.clone());
        known
    }

    fn compute(
        &mut self,
        func: &TensorFunc,
        consts: &ConstStore,
        value: Value,
        depth: u32,
    ) -> Option<Vec<Element>> {
        let count = small_count(&func.ty(value).shape)?;
        if count == 0 {
            return Some(vec![]);
        }
        let Def::Result(op, index) = func.def(value) else { return None };
        let dtype = func.ty(value).dtype;
        let operand = |this: &mut Self, i: usize| {
            let operand = func.operand(op, i);
            small_count(&func.ty(operand).shape)?;
            this.elements(func, consts, operand, depth + 1)
        };
        let elements = match func.kind(op) {
            TensorOp::Constant { id, .. } => {
                let bytes = &consts.get(*id)?.data;
                bytes.chunks_exact(dtype.size()).map(|bytes| Element::Bits(load(bytes))).collect()
            }
            TensorOp::Splat { bits, .. } => vec![Element::Bits(mask(*bits as u64, dtype)); count],
            TensorOp::Sizes { dims } => dims.iter().map(|dim| from_dim(dim.clone(), dtype)).collect(),
            TensorOp::Iota { axis, shape, .. } => {
                let inner = product(&extents(shape)?[axis + 1..]) as i64;
                let extent = shape[*axis].as_const()?;
                let at = |i: usize| (i as i64 / inner.max(1)) % extent.max(1);
                (0..count).map(|i| from_int(at(i), dtype)).collect()
            }
            TensorOp::Reshape { .. } => operand(self, 0)?.to_vec(),
            TensorOp::Transpose { perm } => {
                let from = extents(&func.ty(func.operand(op, 0)).shape)?;
                let strides = strides(&from);
                let moved: Vec<usize> = perm.iter().map(|axis| strides[*axis]).collect();
                pick(&operand(self, 0)?, &extents(&func.ty(value).shape)?, &moved, 0)?
            }
            TensorOp::Broadcast { shape } => {
                let from = extents(&func.ty(func.operand(op, 0)).shape)?;
                let mut strides = strides(&from);
                from.iter().zip(&mut strides).filter(|(n, _)| **n == 1).for_each(|(_, stride)| *stride = 0);
                pick(&operand(self, 0)?, &extents(shape)?, &strides, 0)?
            }
            TensorOp::Slice { starts, sizes, steps } => {
                let from = extents(&func.ty(func.operand(op, 0)).shape)?;
                let (data, mut taken) = (operand(self, 0)?, vec![]);
                let sizes: Vec<usize> = sizes.iter().map(size_of).collect::<Option<_>>()?;
                let starts: Vec<i64> = starts.iter().map(Dim::as_const).collect::<Option<_>>()?;
                let strides = strides(&from);
                for place in places(&sizes) {
                    let at = |axis: usize| starts[axis] + place[axis] as i64 * steps[axis];
                    let linear: i64 = (0..from.len()).map(|axis| at(axis) * strides[axis] as i64).sum();
                    taken.push(data.get(usize::try_from(linear).ok()?)?.clone());
                }
                taken
            }
            TensorOp::Concat { axis } => {
                let outer = product(&extents(&func.ty(value).shape)?[..*axis]);
                let parts: Vec<Arc<[Element]>> =
                    (0..func.operands(op).len()).map(|i| operand(self, i)).collect::<Option<_>>()?;
                let mut all = Vec::with_capacity(count);
                for row in 0..outer {
                    for part in &parts {
                        let n = part.len() / outer;
                        all.extend_from_slice(&part[row * n..(row + 1) * n]);
                    }
                }
                all
            }
            TensorOp::Gather { axis } => {
                let from = extents(&func.ty(func.operand(op, 0)).shape)?;
                let (data, indices) = (operand(self, 0)?, operand(self, 1)?);
                let index_dtype = func.ty(func.operand(op, 1)).dtype;
                let (outer, extent) = (product(&from[..*axis]), from[*axis] as i64);
                let inner = product(&from[axis + 1..]);
                let mut all = Vec::with_capacity(count);
                for row in 0..outer {
                    for index in indices.iter() {
                        let i = as_dim(index, index_dtype)?.as_const()?;
                        let i = if i < 0 { i + extent } else { i }.clamp(0, (extent - 1).max(0)) as usize;
                        let start = (row * from[*axis] + i) * inner;
                        all.extend_from_slice(data.get(start..start + inner)?);
                    }
                }
                all
            }
            TensorOp::Elementwise { f } => {
                let result = extents(&func.ty(value).shape)?;
                let mut operands = Vec::new();
                for (i, operand_value) in func.operands(op).iter().enumerate() {
                    let from = extents(&func.ty(*operand_value).shape)?;
                    let mut strides = strides(&from);
                    from.iter().zip(&mut strides).filter(|(n, _)| **n == 1).for_each(|(_, s)| *s = 0);
                    operands.push(pick(&operand(self, i)?, &result, &strides, 0)?);
                }
                let dtypes: Vec<DType> = func.operands(op).iter().map(|v| func.ty(*v).dtype).collect();
                let at = |i: usize| {
                    let arguments: Vec<&Element> = operands.iter().map(|elements| &elements[i]).collect();
                    apply(*f, &dtypes, &arguments, dtype)
                };
                (0..count).map(at).collect::<Option<Vec<_>>>()?
            }
            TensorOp::Reduce { f, axes } => {
                let from = extents(&func.ty(func.operand(op, 0)).shape)?;
                let data = operand(self, 0)?;
                let result = extents(&func.ty(value).shape)?;
                let mut result_strides = strides(&result);
                axes.iter().for_each(|axis| result_strides[*axis] = 0);
                let mut sums: Vec<Option<Element>> = vec![None; count];
                for (place, element) in places(&from).into_iter().zip(data.iter()) {
                    let at: usize = place.iter().zip(&result_strides).map(|(i, stride)| i * stride).sum();
                    sums[at] = Some(match &sums[at] {
                        Some(sum) => apply(*f, &[dtype, dtype], &[sum, element], dtype)?,
                        None => element.clone(),
                    });
                }
                let identity = || identity(*f, dtype).map(Element::Bits);
                sums.into_iter().map(|sum| sum.or_else(identity)).collect::<Option<Vec<_>>>()?
            }
            TensorOp::Bind { .. } if index == 0 => operand(self, 0)?.to_vec(),
            _ => return None,
        };
        (elements.len() == count).then_some(elements)
    }
}

/// The number of elements when it is constant and small.
fn small_count(shape: &Shape) -> Option<usize> {
    let count = extents(shape)?.into_iter().try_fold(1usize, usize::checked_mul)?;
    (count <= MAX_ELEMENTS).then_some(count)
}

fn size_of(dim: &Dim) -> Option<usize> {
    usize::try_from(dim.as_const()?).ok()
}

fn extents(shape: &[Dim]) -> Option<Vec<usize>> {
    shape.iter().map(size_of).collect()
}

/// Saturates: beside an extent of 0 others may be anything.
fn product(extents: &[usize]) -> usize {
    extents.iter().fold(1, |product, n| product.saturating_mul(*n))
}

/// Row-major strides in elements.
fn strides(extents: &[usize]) -> Vec<usize> {
    (0..extents.len()).map(|axis| product(&extents[axis + 1..])).collect()
}

/// Every index of a shape, in row-major order.
fn places(extents: &[usize]) -> Vec<Vec<usize>> {
    if extents.contains(&0) {
        return vec![];
    }
    let mut all = vec![vec![]];
    for n in extents {
        all = all.iter().flat_map(|place| (0..*n).map(|i| [place.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// The elements that a strided walk over a shape meets.
fn pick(data: &[Element], extents: &[usize], strides: &[usize], start: usize) -> Option<Vec<Element>> {
    let at =
        |place: &Vec<usize>| start + place.iter().zip(strides).map(|(i, stride)| i * stride).sum::<usize>();
    places(extents).iter().map(|place| data.get(at(place)).cloned()).collect()
}

fn load(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

fn mask(bits: u64, dtype: DType) -> u64 {
    let width = dtype.size() as u32 * 8;
    if width == 64 { bits } else { bits & ((1 << width) - 1) }
}

fn from_int(n: i64, dtype: DType) -> Element {
    // Most sizes are of this type.
    if dtype == DType::I64 {
        return Element::Bits(n as u64);
    }
    Element::Bits(eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::I64], &[n as u64]))
}

fn from_dim(dim: Dim, dtype: DType) -> Element {
    match dim.as_const() {
        Some(n) => from_int(n, dtype),
        None => Element::Size { numerator: dim, denominator: 1 },
    }
}

fn as_dim(element: &Element, dtype: DType) -> Option<Dim> {
    match element {
        Element::Bits(bits) if dtype == DType::I64 => Some(Dim::from(*bits as i64)),
        Element::Bits(bits) if dtype.is_int() || dtype == DType::Bool => {
            let wide = eval(ScalarOp::Cast { to: DType::I64, saturate: true }, &[dtype], &[*bits]);
            Some(Dim::from(wide as i64))
        }
        Element::Bits(_) => None,
        Element::Size { numerator, denominator } => (*denominator == 1).then(|| numerator.clone()),
    }
}

fn as_ratio(element: &Element, dtype: DType) -> Option<(Dim, i64)> {
    match element {
        Element::Size { numerator, denominator } => Some((numerator.clone(), *denominator)),
        Element::Bits(bits) if dtype.is_float() => {
            let wide = eval(ScalarOp::Cast { to: DType::F64, saturate: true }, &[dtype], &[*bits]);
            dyadic(f64::from_bits(wide)).map(|(n, d)| (Dim::from(n), d))
        }
        Element::Bits(_) => as_dim(element, dtype).map(|dim| (dim, 1)),
    }
}

/// `x = n / 2^k` with small numbers.
fn dyadic(x: f64) -> Option<(i64, i64)> {
    let mut denominator = 1i64;
    let mut scaled = x;
    while scaled.fract() != 0.0 && denominator < MAX_DENOMINATOR {
        scaled *= 2.0;
        denominator *= 2;
    }
    (scaled.fract() == 0.0 && scaled.abs() < 2f64.powi(40)).then_some((scaled as i64, denominator))
}

fn ratio(numerator: Dim, denominator: i64, dtype: DType) -> Option<Element> {
    if denominator <= 0 || denominator > MAX_DENOMINATOR {
        return None;
    }
    if let Some(whole) = numerator.div_exact(&Dim::from(denominator)) {
        return ratio_whole(whole, dtype);
    }
    if dtype.is_int() {
        return None;
    }
    match numerator.as_const() {
        Some(n) => Some(Element::Bits(eval(
            ScalarOp::Cast { to: dtype, saturate: true },
            &[DType::F64],
            &[(n as f64 / denominator as f64).to_bits()],
        ))),
        None => Some(Element::Size { numerator, denominator }),
    }
}

fn ratio_whole(whole: Dim, dtype: DType) -> Option<Element> {
    match whole.as_const() {
        Some(n) => Some(from_int(n, dtype)),
        None => Some(Element::Size { numerator: whole, denominator: 1 }),
    }
}

/// One element of an elementwise op; `None` where the result is not known.
fn apply(f: ScalarOp, dtypes: &[DType], arguments: &[&Element], result: DType) -> Option<Element> {
    let bits: Option<Vec<u64>> = arguments
        .iter()
        .map(|element| match element {
            Element::Bits(bits) => Some(*bits),
            Element::Size { .. } => None,
        })
        .collect();
    if let Some(bits) = bits {
        return Some(Element::Bits(mask(eval(f, dtypes, &bits), result)));
    }
    if f == ScalarOp::Select {
        return match arguments[0] {
            Element::Bits(0) => Some(arguments[2].clone()),
            Element::Bits(_) => Some(arguments[1].clone()),
            Element::Size { .. } => None,
        };
    }
    let ratios: Vec<(Dim, i64)> = arguments
        .iter()
        .zip(dtypes)
        .map(|(element, dtype)| as_ratio(element, *dtype))
        .collect::<Option<_>>()?;
    match ratios.as_slice() {
        [x] => apply_unary(f, x, dtypes[0], result),
        [a, b] => apply_binary(f, a, b, dtypes[0], result),
        _ => None,
    }
}

fn apply_unary(f: ScalarOp, x: &(Dim, i64), from: DType, result: DType) -> Option<Element> {
    let (numerator, denominator) = x.clone();
    match f {
        ScalarOp::Neg => ratio(-numerator, denominator, result),
        ScalarOp::Abs if lower_bound(&numerator) >= 0 => ratio(numerator, denominator, result),
        ScalarOp::Floor => ratio(numerator.floor_div(&Dim::from(denominator)), 1, result),
        ScalarOp::Ceil => ratio(numerator.ceil_div(&Dim::from(denominator)), 1, result),
        ScalarOp::Trunc if lower_bound(&numerator) >= 0 => {
            ratio(numerator.floor_div(&Dim::from(denominator)), 1, result)
        }
        ScalarOp::Round if denominator == 1 => ratio(numerator, 1, result),
        ScalarOp::Cast { to, .. } if to.is_int() && to.bits() >= 32 => match denominator {
            1 => ratio(numerator, 1, result),
            _ if lower_bound(&numerator) >= 0 => {
                ratio(numerator.floor_div(&Dim::from(denominator)), 1, result)
            }
            _ => None,
        },
        ScalarOp::Cast { to: DType::F32 | DType::F64, .. } => ratio(numerator, denominator, result),
        ScalarOp::Cast { to: DType::Bool, .. } if !from.is_float() && lower_bound(&numerator) > 0 => {
            Some(Element::Bits(1))
        }
        _ => None,
    }
}

fn apply_binary(f: ScalarOp, a: &(Dim, i64), b: &(Dim, i64), from: DType, result: DType) -> Option<Element> {
    let ((an, ad), (bn, bd)) = (a.clone(), b.clone());
    if f.is_comparison() {
        return compare(f, an * Dim::from(bd), bn * Dim::from(ad)).map(|yes| Element::Bits(u64::from(yes)));
    }
    let (left, right) = (an.clone() * Dim::from(bd), bn.clone() * Dim::from(ad));
    let common = ad.checked_mul(bd)?;
    match f {
        ScalarOp::Add => ratio(left + right, common, result),
        ScalarOp::Sub => ratio(left - right, common, result),
        ScalarOp::Mul if from.is_int() || exact_factor(&an) || exact_factor(&bn) => {
            ratio(an * bn, common, result)
        }
        ScalarOp::Div if from.is_int() => {
            let exact_signs = lower_bound(&an) >= 0 && lower_bound(&bn) > 0;
            match an.div_exact(&bn) {
                Some(whole) if lower_bound(&bn) > 0 => ratio(whole, 1, result),
                _ if exact_signs => ratio(an.floor_div(&bn), 1, result),
                _ => None,
            }
        }
        ScalarOp::Div => {
            let divisor = bn.as_const().filter(|n| *n > 0 && *n < MAX_EXACT_FACTOR)?;
            ratio(an * Dim::from(bd), ad.checked_mul(divisor)?, result)
        }
        ScalarOp::Mod if from.is_int() && bn.as_const().is_some_and(|n| n > 0) => {
            ratio(an.modulo(&bn), 1, result)
        }
        ScalarOp::Rem if from.is_int() && bn.as_const().is_some_and(|n| n > 0) && lower_bound(&an) >= 0 => {
            ratio(an.modulo(&bn), 1, result)
        }
        ScalarOp::Min => ratio(bounded_extremum(&left, &right, false), common, result),
        ScalarOp::Max => ratio(bounded_extremum(&left, &right, true), common, result),
        _ => None,
    }
}

/// Whether multiplying a size by this constant is exact in `f32`.
fn exact_factor(dim: &Dim) -> bool {
    dim.as_const().is_some_and(|n| n == 0 || (n >> n.trailing_zeros()).abs() < MAX_EXACT_FACTOR)
}

/// Minimum or maximum, resolved where the symbols' ranges decide it.
fn bounded_extremum(a: &Dim, b: &Dim, max: bool) -> Dim {
    let (low, high) = bounds(&(a.clone() - b.clone()));
    match (low >= 0, high <= 0) {
        (true, _) => {
            if max {
                a.clone()
            } else {
                b.clone()
            }
        }
        (_, true) => {
            if max {
                b.clone()
            } else {
                a.clone()
            }
        }
        _ if max => a.maximum(b),
        _ => a.minimum(b),
    }
}

/// The truth of a comparison where it is the same for all sizes.
fn compare(f: ScalarOp, a: Dim, b: Dim) -> Option<bool> {
    let difference = a - b;
    let (low, high) = bounds(&difference);
    let decide = |yes: bool, no: bool| {
        if yes {
            Some(true)
        } else if no {
            Some(false)
        } else {
            None
        }
    };
    match f {
        ScalarOp::Eq => decide(low == 0 && high == 0, low > 0 || high < 0),
        ScalarOp::Ne => decide(low > 0 || high < 0, low == 0 && high == 0),
        ScalarOp::Lt => decide(high < 0, low >= 0),
        ScalarOp::Le => decide(high <= 0, low > 0),
        ScalarOp::Gt => decide(low > 0, high <= 0),
        ScalarOp::Ge => decide(low >= 0, high < 0),
        _ => None,
    }
}

fn bounds(dim: &Dim) -> (i64, i64) {
    dim.bounds(&|_| (0, SymbolInfo::MAX))
}

fn lower_bound(dim: &Dim) -> i64 {
    bounds(dim).0
}

#[cfg(test)]
mod tests;
