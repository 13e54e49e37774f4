//! Products of bytes with constants, two steps at a time in 16 bits.
//!
//! Before: contractions in normal form, of weights that are what they will be.  After: where the target says that it pays, the
//! products of a `u8` row and an `i8` constant are summed by pairs of steps, of which none saturates whatever the row holds:
//! `|255 w[2i] + 255 w[2i+1]|` fits `i16` where weights of one sign are 128 together at most. Of weights that are more, the
//! excess is a row of its own at the end, which the row's element meets once more:
//!
//! ```text
//! x0 127 + x1 100  =  (x0 127 + x1 1) + (x0 0 + x1 99)
//! ```
//!
//! Weights of one scale for all columns have few such rows, those of a scale for each column so many that nothing is won.

use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId, Value};
use tegula_target::TargetModel;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp, TensorProgram};

/// What weights of one sign that are neighbours may come to.
const MOST: i16 = 128;
/// Steps that a machine takes at once.
const TOGETHER: usize = 4;
/// Steps added at most, as a part of the own ones. A pair takes 0.55 of the time that four factors in 16 bits take, measured on a
/// Zen 3; to copy the row with the elements that come again takes the rest.
const MOST_ADDED: (usize, usize) = (1, 4);
/// Columns from which a copy of the row is little beside its products.
const FEWEST_COLUMNS: usize = 64;

/// Errors: internal, when what is built does not fit.
pub fn sum_pairs(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    if !target.sums_byte_pairs() {
        return Ok(Changed::No);
    }
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some(paired) = paired(func, &program.consts, op) else { return Ok(Rewrite::Keep) };
            let TensorOp::Dot { dims, .. } = func.kind(op).clone() else { return Ok(Rewrite::Keep) };
            cx.count("paired", 1);
            cx.remark(func.op(op).location.as_ref(), "products of two steps are summed in 16 bits");
            let x = func.operand(op, 0);
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let made = build(&mut b, x, paired, *dims);
            made.map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// Weights `[k, n]` of which no pair of products saturates.
struct Paired {
    weights: Vec<i8>,
    columns: usize,
    /// Of the steps behind the row's own, the element that each meets.
    again: Vec<i64>,
}

/// `None`: the op is no such product, or too many of its weights exceed what they may.
fn paired(func: &TensorFunc, consts: &ConstStore, op: OpId) -> Option<Paired> {
    let TensorOp::Dot { dims, out: DType::I32, pair_sums: None } = func.kind(op) else { return None };
    let [x, w] = [0, 1].map(|i| func.operand(op, i));
    let TensorOp::Constant { id, .. } = func.kind(func.def_op(w)?) else { return None };
    let (x, w) = (func.ty(x), consts.get(*id)?);
    let (&[step_axis], &[weight_axis]) = (dims.lhs_contract.as_slice(), dims.rhs_contract.as_slice()) else {
        return None;
    };
    let is_plain = dims.lhs_batch.is_empty() && step_axis + 1 == x.rank() && w.shape.len() == 2;
    if (x.dtype, w.dtype) != (DType::U8, DType::I8) || !is_plain {
        return None;
    }
    let (steps, columns) = (w.shape[weight_axis], w.shape[1 - weight_axis]);
    if steps == 0 || columns == 0 {
        return None;
    }
    let bytes = w.data.iter().map(|byte| *byte as i8);
    let weights: Vec<i8> = match weight_axis {
        0 => bytes.collect(),
        _ => (0..steps * columns).map(|i| w.data[i % columns * steps + i / columns] as i8).collect(),
    };
    let paired = Paired::new(weights, columns);
    let most = if columns < FEWEST_COLUMNS { 0 } else { steps * MOST_ADDED.0 / MOST_ADDED.1 };
    (paired.again.len() <= most).then_some(paired)
}

impl Paired {
    fn new(mut weights: Vec<i8>, columns: usize) -> Paired {
        let steps = weights.len() / columns;
        let mut excess = Vec::new();
        for (i, pair) in weights.chunks_exact_mut(2 * columns).enumerate() {
            let (even, odd) = pair.split_at_mut(columns);
            if let Some(row) = take_excess(even, odd) {
                excess.push((2 * i + 1, row));
            }
        }
        let mut paired = Paired { weights, columns, again: Vec::new() };
        let none = vec![0; columns];
        // A step without a partner gets one of weights 0, and so does an excess that is too much beside the one before.
        if !steps.is_multiple_of(2) {
            paired.add(0, &none);
        }
        for (element, row) in excess {
            if !paired.takes(&row) {
                paired.add(0, &none);
            }
            paired.add(element, &row);
        }
        while !paired.steps().is_multiple_of(TOGETHER) {
            paired.add(0, &none);
        }
        paired
    }

    fn steps(&self) -> usize {
        self.weights.len() / self.columns
    }

    /// Whether a row may be the next step's.
    fn takes(&self, row: &[i8]) -> bool {
        let is_first = self.steps().is_multiple_of(2);
        is_first
            || take_excess(&self.weights[self.weights.len() - self.columns..], &mut row.to_vec()).is_none()
    }

    fn add(&mut self, element: usize, row: &[i8]) {
        self.again.push(element as i64);
        self.weights.extend(row);
    }
}

/// By how much the weights of two steps are more than they may be; it is taken from the second.
fn take_excess(even: &[i8], odd: &mut [i8]) -> Option<Vec<i8>> {
    let over = |x: i8, y: i8| -> i8 {
        let (positive, negative) =
            (i16::from(x.max(0)) + i16::from(y.max(0)), i16::from(x.min(0)) + i16::from(y.min(0)));
        ((positive - MOST).max(0) + (negative + MOST).min(0)) as i8
    };
    let row: Vec<i8> = even.iter().zip(odd.iter()).map(|(x, y)| over(*x, *y)).collect();
    if row.iter().all(|excess| *excess == 0) {
        return None;
    }
    odd.iter_mut().zip(&row).for_each(|(y, excess)| *y -= excess);
    Some(row)
}

fn build(b: &mut Builder, x: Value, paired: Paired, dims: DotDims) -> Built {
    let steps = paired.steps();
    let bytes = paired.weights.iter().map(|weight| *weight as u8).collect();
    let w = b.constant(HostTensor { dtype: DType::I8, shape: vec![steps, paired.columns], bytes })?;
    let axis = dims.lhs_contract[0];
    let x = match paired.again.is_empty() {
        true => x,
        false => {
            let again = b.constant(HostTensor::from_elements(&[paired.again.len()], &paired.again))?;
            let again = b.gather(x, again, axis)?;
            b.concat(&[x, again], axis)?
        }
    };
    b.dot_of_pairs(x, w, DotDims { rhs_contract: vec![0], ..dims })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_base::random::SplitMix64;

    /// Whatever the row holds, its products with the paired weights are those with the given ones, and no pair saturates.
    #[test]
    fn no_pair_saturates_and_nothing_is_lost() {
        let mut random = SplitMix64::new(17);
        let mut below = |n: u64| (random.next_u64() % n) as i32;
        for case in 0..200 {
            let (steps, columns) = (1 + below(23) as usize, 1 + below(5) as usize);
            let wide = case % 2 == 0;
            let weights: Vec<i8> = (0..steps * columns)
                .map(|_| if wide { below(256) as u8 as i8 } else { if below(2) == 0 { 127 } else { -128 } })
                .collect();
            let paired = Paired::new(weights.clone(), columns);
            for fill in [0, 255, 256] {
                let row: Vec<i32> = (0..steps).map(|_| if fill < 256 { fill } else { below(256) }).collect();
                let elements: Vec<i32> =
                    row.iter().copied().chain(paired.again.iter().map(|i| row[*i as usize])).collect();
                assert_eq!(elements.len() * columns, paired.weights.len());
                assert_eq!(elements.len() % TOGETHER, 0);
                for column in 0..columns {
                    let product = |i: usize| elements[i] * i32::from(paired.weights[i * columns + column]);
                    let mut sum = 0;
                    for pair in (0..elements.len()).step_by(2) {
                        let both = product(pair) + product(pair + 1);
                        assert_eq!(i32::from(both as i16), both, "case {case}, column {column}, pair {pair}");
                        sum += both;
                    }
                    let own =
                        (0..steps).map(|i| row[i] * i32::from(weights[i * columns + column])).sum::<i32>();
                    assert_eq!(sum, own, "case {case}, column {column}");
                }
            }
        }
    }
}
