//! What hides keys from queries: sums with masks, choices by conditions, and causality in both.

use crate::passes::canonicalise::{Applied, Site};
use crate::passes::recover_composites::algebra::Algebra;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

/// Where a score counts as nothing, whatever it was: added to any other score this is the lowest number itself.
const ABSORBS: f64 = -1e30;

#[derive(Clone, Copy, Debug)]
pub(super) enum Mask {
    /// `value * factor` is added.
    Added { value: Value, factor: f64 },
    /// `score` becomes the number where the condition is `where_true`.
    Hidden { condition: Value, where_true: bool, number: f64 },
}

impl Mask {
    pub fn added(value: Value, factor: f64) -> Mask {
        Mask::Added { value, factor }
    }

    /// `None` where a row that is hidden whole would see the numbers' differences.
    pub fn hidden(condition: Value, where_true: bool, number: f64) -> Option<Mask> {
        (number <= ABSORBS).then_some(Mask::Hidden { condition, where_true, number })
    }

    fn value(&self) -> Value {
        match self {
            Mask::Added { value, .. } => *value,
            Mask::Hidden { condition, .. } => *condition,
        }
    }

    /// What is hidden by either of two conditions, one by one; where the number is not infinite, a row that the one hides
    /// whole would see what the other leaves.
    pub fn parts(&self, site: &Site) -> Vec<Mask> {
        if let Mask::Hidden { condition, where_true, number: f64::NEG_INFINITY } = *self {
            let joined = if where_true { ScalarOp::Or } else { ScalarOp::And };
            if let Some((op, TensorOp::Elementwise { f })) = site.def(condition)
                && *f == joined
            {
                let hidden = |i: usize| Mask::Hidden {
                    condition: site.b.func.operand(op, i),
                    where_true,
                    number: f64::NEG_INFINITY,
                };
                return vec![hidden(0), hidden(1)];
            }
        }
        vec![*self]
    }

    /// Whether it is the same numbers in the operands' type.
    pub fn fits(&self, site: &Site, dtype: DType) -> bool {
        match self {
            Mask::Added { value, .. } => site.b.dtype(*value) == dtype,
            Mask::Hidden { number, .. } => {
                *number == f64::NEG_INFINITY || matches!(dtype, DType::F32 | DType::F64 | DType::BF16)
            }
        }
    }

    /// The mask as `[B|1,H|1,L|1,S|1]`, to be added; `None` where its axes do not fit.
    pub fn build(&self, site: &mut Site, dtype: DType, full: &[Dim; 4]) -> Applied {
        let shape = site.shape(self.value()).clone();
        let aligned: Shape = match shape.rank() {
            4 => shape.clone(),
            rank @ (2 | 3) => {
                let one = [Dim::from(1), Dim::from(1)];
                let leading =
                    if shape[..rank - 2].iter().all(|dim| dim.is_const(1)) { &one } else { &full[..2] };
                leading.iter().chain(&shape[rank - 2..]).cloned().collect()
            }
            _ => return Ok(None),
        };
        let fits = aligned.iter().zip(full).all(|(dim, full)| dim == full || dim.is_const(1));
        if !fits || aligned.count() != shape.count() {
            return Ok(None);
        }
        let value = site.b.reshape(self.value(), aligned)?;
        match *self {
            Mask::Added { factor: 1.0, .. } => Ok(Some(value)),
            Mask::Added { factor, .. } => site.b.with_number(ScalarOp::Mul, value, factor).map(Some),
            Mask::Hidden { where_true, number, .. } => {
                let ones = [1, 1, 1, 1].map(Dim::from);
                let hidden = site.b.splat(dtype, ones.clone(), number)?;
                let seen = site.b.splat(dtype, ones, 0.0)?;
                let (yes, no) = if where_true { (hidden, seen) } else { (seen, hidden) };
                site.b.select(value, yes, no).map(Some)
            }
        }
    }

    /// Whether it puts a number in the place of scores, so that what was added to them before has no part where it hides.
    pub fn overrides(&self) -> bool {
        matches!(self, Mask::Hidden { number, .. } if *number != f64::NEG_INFINITY)
    }

    /// Whether row `i` sees exactly the keys up to `i + S - L`. Where a number hides and not infinity, each row must see a
    /// key, which no mask beside it (unless `alone`) may hide: then hidden weights are 0, whatever the number.
    pub fn is_causal(&self, site: &Site, full: &[Dim; 4], alone: bool) -> bool {
        let offset = full[3].clone() - full[2].clone();
        let (condition, hides, number) = match *self {
            Mask::Hidden { condition, where_true, number } => (condition, where_true, number),
            Mask::Added { value, factor } if factor > 0.0 => {
                let value = unshaped(site, value);
                if let Some((_, TensorOp::Constant { id, shape, .. })) = site.def(value) {
                    let found = site.b.consts.get(*id).map(|data| data.to_host().to_f64());
                    return found.is_some_and(|numbers| is_causal_constant(&numbers, shape, factor, alone));
                }
                match chosen(site, value, factor) {
                    Some(found) => found,
                    None => return false,
                }
            }
            Mask::Added { .. } => return false,
        };
        let sees_one = number == f64::NEG_INFINITY || alone && offset.bounds(&|_| (0, i64::MAX)).0 >= 0;
        sees_one && causal_condition(site, condition, hides, &offset)
    }
}

/// The source of reshapes that leave the last two axes alone.
fn unshaped(site: &Site, mut value: Value) -> Value {
    while let Some((op, TensorOp::Reshape { .. })) = site.def(value) {
        let source = site.b.func.operand(op, 0);
        if !super::keeps_matrices(site.shape(source), site.shape(value)) {
            break;
        }
        value = source;
    }
    value
}

/// Whether numbers `[.., L, S]` are 0 where a causal row sees and absorb where it does not, the same in all matrices.
fn is_causal_constant(numbers: &[f64], shape: &Shape, factor: f64, alone: bool) -> bool {
    let Some(sizes) = shape.iter().map(Dim::as_const).collect::<Option<Vec<i64>>>() else { return false };
    let [.., l, s] = sizes[..] else { return false };
    // One row sees all: not worth a word, and no mask of a cache.
    if l < 2 || s < l || numbers.is_empty() {
        return false;
    }
    numbers.iter().enumerate().all(|(i, number)| {
        let (row, column) = (i as i64 / s % l, i as i64 % s);
        let hidden = number * factor;
        if column <= row + s - l {
            *number == 0.0
        } else {
            hidden == f64::NEG_INFINITY || alone && hidden <= ABSORBS
        }
    })
}

/// The condition under which 0 or a number that absorbs is added.
fn chosen(site: &Site, value: Value, factor: f64) -> Option<(Value, bool, f64)> {
    let (op, TensorOp::Elementwise { f: ScalarOp::Select }) = site.def(value)? else { return None };
    let &[condition, yes, no] = site.b.func.operands(op) else { return None };
    let algebra = Algebra::new(site);
    let (yes, no) = (algebra.number(yes)? * factor, algebra.number(no)? * factor);
    match (yes, no) {
        (0.0, no) if no <= ABSORBS => Some((condition, false, no)),
        (yes, 0.0) if yes <= ABSORBS => Some((condition, true, yes)),
        _ => None,
    }
}

/// `column <= row + offset`, or its contrary where that hides.
fn causal_condition(site: &Site, condition: Value, hides: bool, offset: &Dim) -> bool {
    let condition = unshaped(site, condition);
    let Some((op, TensorOp::Elementwise { f })) = site.def(condition) else { return false };
    if *f == ScalarOp::Not {
        return causal_condition(site, site.b.func.operand(op, 0), !hides, offset);
    }
    let &[a, b] = site.b.func.operands(op) else { return false };
    if let Some((inner, equal)) = choice_compared(site, *f, a, b) {
        return causal_condition(site, inner, hides == equal, offset);
    }
    // As `a - b` compared to 0.
    let (Some(a), Some(b)) = (place(site, a, 0), place(site, b, 0)) else { return false };
    let (rows, columns, rest) = (a.rows - b.rows, a.columns - b.columns, a.offset - b.offset);
    let one = Dim::from(1);
    // `row + offset - column >= 0` is seen, `< 0` hidden.
    let (sign, bound) = match (f, hides) {
        (ScalarOp::Ge, false) | (ScalarOp::Lt, true) => (1, offset.clone()),
        (ScalarOp::Gt, false) | (ScalarOp::Le, true) => (1, offset.clone() + one),
        (ScalarOp::Le, false) | (ScalarOp::Gt, true) => (-1, Dim::from(0) - offset.clone()),
        (ScalarOp::Lt, false) | (ScalarOp::Ge, true) => (-1, Dim::from(0) - offset.clone() - one),
        _ => return false,
    };
    rows == sign && columns == -sign && rest == bound
}

/// `c` of `select(c, 1, 0) == 1`, and whether the comparison is true where `c` is: a triangle of ones is compared so.
fn choice_compared(site: &Site, f: ScalarOp, a: Value, b: Value) -> Option<(Value, bool)> {
    let equal = match f {
        ScalarOp::Eq => true,
        ScalarOp::Ne => false,
        _ => return None,
    };
    let algebra = Algebra::new(site);
    let number = algebra.number(b)?;
    let (op, TensorOp::Elementwise { f: ScalarOp::Select }) = site.def(unshaped(site, a))? else {
        return None;
    };
    let &[condition, yes, no] = site.b.func.operands(op) else { return None };
    let (yes, no) = (algebra.number(yes)?, algebra.number(no)?);
    match (yes == number, no == number) {
        (true, false) => Some((condition, equal)),
        (false, true) => Some((condition, !equal)),
        _ => None,
    }
}

/// `rows * row + columns * column + offset`.
struct Place {
    rows: i64,
    columns: i64,
    offset: Dim,
}

fn place(site: &Site, value: Value, depth: usize) -> Option<Place> {
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return None;
    }
    let (op, kind) = site.def(value)?;
    let operand = |i: usize| site.b.func.operand(op, i);
    match kind {
        TensorOp::Splat { bits, dtype: DType::I64, .. } => {
            Some(Place { rows: 0, columns: 0, offset: Dim::from(*bits) })
        }
        TensorOp::Splat { bits, dtype: DType::I32, .. } => {
            Some(Place { rows: 0, columns: 0, offset: Dim::from(i64::from(*bits as i32)) })
        }
        TensorOp::Sizes { dims } => match dims.as_slice() {
            [dim] => Some(Place { rows: 0, columns: 0, offset: dim.clone() }),
            _ => None,
        },
        TensorOp::Iota { axis, shape, .. } => along(shape, *axis),
        TensorOp::Reshape { shape } => match site.def(operand(0))? {
            (_, TensorOp::Iota { axis: 0, shape: source, .. }) if source.rank() == 1 => {
                // Its only axis with elements is where they are now.
                let axis = shape.iter().position(|dim| *dim == source[0])?;
                let alone = shape.iter().enumerate().all(|(i, dim)| i == axis || dim.is_const(1));
                alone.then(|| along(shape, axis)).flatten()
            }
            _ if shape.count().is_const(1) => place(site, operand(0), depth + 1),
            _ => None,
        },
        TensorOp::Elementwise { f: ScalarOp::Cast { to, .. } } if to.is_int() => {
            place(site, operand(0), depth + 1)
        }
        TensorOp::Elementwise { f: f @ (ScalarOp::Add | ScalarOp::Sub) } => {
            let (a, b) = (place(site, operand(0), depth + 1)?, place(site, operand(1), depth + 1)?);
            Some(match f {
                ScalarOp::Add => Place {
                    rows: a.rows + b.rows,
                    columns: a.columns + b.columns,
                    offset: a.offset + b.offset,
                },
                _ => Place {
                    rows: a.rows - b.rows,
                    columns: a.columns - b.columns,
                    offset: a.offset - b.offset,
                },
            })
        }
        _ => None,
    }
}

/// An index along one of the last two axes.
fn along(shape: &Shape, axis: usize) -> Option<Place> {
    let (rows, columns) = match shape.rank() - axis {
        1 => (0, 1),
        2 => (1, 0),
        _ => return None,
    };
    Some(Place { rows, columns, offset: Dim::from(0) })
}
