//! Products of bytes with constants, two steps at a time in 16 bits.
//!
//! Before: contractions in normal form, of weights that are what they will be.  After: where the target says that it pays, the
//! products of a `u8` row and an `i8` constant are summed by pairs of steps, of which none saturates whatever the row holds:
//! `|255 w[2i] + 255 w[2i+1]|` fits `i16` where weights of one sign are 128 together at most. Of weights that are more, the
//! excess is a step of its own at the end, which the row's element meets once more:
//!
//! ```text
//! x0 127 + x1 100  =  (x0 127 + x1 1) + (x0 0 + x1 99)
//! ```
//!
//! Weights of one scale for all columns have few such steps, those of a scale for each column so many that nothing is won.

use tegula_backend::{BytePairs, Target};
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, TensorFunc, TensorOp, TensorProgram};

/// What weights of one sign that are neighbours may come to.
const MOST: i16 = 128;
/// The part of the own steps that the fewest added ones are: `minilm-int8-dyn` compiles 43 distinct kernels so, and 66 where
/// each product has the steps that it needs.
const FEW_SIZES: usize = 64;

/// Errors: internal, when what is built does not fit.
pub fn sum_pairs(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let Some(costs) = target.preferences().byte_pairs else { return Ok(Changed::No) };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some((dims, pairs)) = paired(func, &program.consts, op, costs) else {
                return Ok(Rewrite::Keep);
            };
            cx.count("paired", 1);
            cx.remark(func.op(op).location.as_ref(), "products of two steps are summed in 16 bits");
            let factors = [0, 1].map(|i| func.operand(op, i));
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let made = match pairs {
                Pairs::Fit => b.dot_of_pairs(factors, dims),
                Pairs::Added(steps) => with_steps(&mut b, factors[0], steps, dims),
            };
            made.map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// How no pair of products saturates.
enum Pairs {
    /// As the weights are.
    Fit,
    Added(Added),
}

/// Weights `[k, n]` with steps behind the row's own.
struct Added {
    weights: Vec<u8>,
    columns: usize,
    /// The element that each step behind the own ones meets.
    again: Vec<i64>,
}

/// A product of `u8` rows by a constant `i8` matrix whose sums are exact.
pub(super) struct ByteProduct<'a> {
    pub dims: DotDims,
    pub bytes: &'a [u8],
    /// The axis of the steps.
    pub weight_axis: usize,
    pub steps: usize,
    pub columns: usize,
}

/// `None`: the op is no such product.
pub(super) fn byte_product<'a>(
    func: &TensorFunc,
    consts: &'a ConstStore,
    op: OpId,
) -> Option<ByteProduct<'a>> {
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
    let dims = dims.as_ref().clone();
    (steps > 0 && columns > 0).then(|| ByteProduct { dims, bytes: &w.data, weight_axis, steps, columns })
}

/// `None`: the op is no such product, or too many of its weights exceed what they may.
fn paired(func: &TensorFunc, consts: &ConstStore, op: OpId, costs: BytePairs) -> Option<(DotDims, Pairs)> {
    let weights = byte_product(func, consts, op)?;
    let (steps, columns) = (weights.steps, weights.columns);
    let pays = |added: usize| {
        let [steps, added, columns] = [steps, added, columns].map(|count| count as f64);
        (steps + added) * (costs.share * columns + costs.copy) < steps * columns
    };
    let dims = weights.dims.clone();
    let least = weights.crowded_pairs() + steps % 2;
    if least == 0 {
        return Some((dims, Pairs::Fit));
    }
    if !pays(least) {
        return None;
    }
    let added = Added::new(weights.by_steps(), columns);
    pays(added.again.len()).then_some((dims, Pairs::Added(added)))
}

impl ByteProduct<'_> {
    /// Pairs of steps that are more than they may be in any column.
    fn crowded_pairs(&self) -> usize {
        if self.weight_axis == 0 {
            let pairs = self.bytes.chunks_exact(2 * self.columns).map(|pair| pair.split_at(self.columns));
            return pairs.filter(|(even, odd)| !fit(even, odd)).count();
        }
        let mut crowded = vec![0; self.steps / 2];
        for column in self.bytes.chunks_exact(self.steps) {
            let pairs = column.chunks_exact(2).map(|pair| excess(pair[0], pair[1]));
            crowded.iter_mut().zip(pairs).for_each(|(any, excess)| *any |= excess);
        }
        crowded.into_iter().filter(|any| *any != 0).count()
    }

    /// `[k, n]`.
    fn by_steps(&self) -> Vec<u8> {
        if self.weight_axis == 0 {
            return self.bytes.to_vec();
        }
        let mut transposed = vec![0; self.bytes.len()];
        for (i, column) in self.bytes.chunks_exact(self.steps).enumerate() {
            let places = transposed[i..].iter_mut().step_by(self.columns);
            places.zip(column).for_each(|(place, byte)| *place = *byte);
        }
        transposed
    }
}

/// Whether the weights of two steps may be neighbours.
fn fit(even: &[u8], odd: &[u8]) -> bool {
    even.iter().zip(odd).fold(0, |any, (x, y)| any | excess(*x, *y)) == 0
}

/// By how much two weights are more than they may be.
fn excess(x: u8, y: u8) -> u8 {
    let [x, y] = [x, y].map(|byte| i16::from(byte as i8));
    let over = (x.max(0) + y.max(0) - MOST).max(0);
    let under = (x.min(0) + y.min(0) + MOST).min(0);
    (over + under) as u8
}

impl Added {
    fn new(mut weights: Vec<u8>, columns: usize) -> Added {
        let steps = weights.len() / columns;
        let mut rows = Vec::new();
        for (i, pair) in weights.chunks_exact_mut(2 * columns).enumerate() {
            let (even, odd) = pair.split_at_mut(columns);
            if fit(even, odd) {
                continue;
            }
            let row: Vec<u8> = even.iter().zip(odd.iter()).map(|(x, y)| excess(*x, *y)).collect();
            odd.iter_mut().zip(&row).for_each(|(y, excess)| *y = y.wrapping_sub(*excess));
            rows.push((2 * i + 1, row));
        }
        let mut added = Added { weights, columns, again: Vec::new() };
        let none = vec![0; columns];
        // A step without a partner gets one of weights 0, and so does a row that is too much beside the one before.
        if !steps.is_multiple_of(2) {
            added.add(0, &none);
        }
        for (element, row) in rows {
            if !added.takes(&row) {
                added.add(0, &none);
            }
            added.add(element, &row);
        }
        let whole = steps.next_multiple_of(2);
        let count = match added.steps() - whole {
            0 => whole,
            // Few sizes, so that products of the same factors but for their weights are one kernel.
            behind => whole + behind.max(steps / FEW_SIZES).next_power_of_two().max(2),
        };
        while added.steps() < count {
            added.add(0, &none);
        }
        added
    }

    fn steps(&self) -> usize {
        self.weights.len() / self.columns
    }

    /// Whether a row may be the next step's.
    fn takes(&self, row: &[u8]) -> bool {
        let last = &self.weights[self.weights.len() - self.columns..];
        self.steps().is_multiple_of(2) || fit(last, row)
    }

    fn add(&mut self, element: usize, row: &[u8]) {
        self.again.push(element as i64);
        self.weights.extend(row);
    }
}

/// The product with steps that come again, whose elements are copied behind the row.
fn with_steps(b: &mut Builder, x: Value, added: Added, dims: DotDims) -> Built {
    let shape = vec![added.steps(), added.columns];
    let w = b.constant(HostTensor { dtype: DType::I8, shape, bytes: added.weights })?;
    let axis = dims.lhs_contract[0];
    let again = b.constant(HostTensor::from_elements(&[added.again.len()], &added.again))?;
    let again = b.gather(x, again, axis)?;
    let x = b.concat(&[x, again], axis)?;
    b.dot_of_pairs([x, w], DotDims { rhs_contract: vec![0], ..dims })
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
            let weights: Vec<u8> = (0..steps * columns)
                .map(|_| if wide { below(256) as u8 } else { 127 + below(2) as u8 })
                .collect();
            let added = Added::new(weights.clone(), columns);
            for fill in [0, 255, 256] {
                let row: Vec<i32> = (0..steps).map(|_| if fill < 256 { fill } else { below(256) }).collect();
                let elements: Vec<i32> =
                    row.iter().copied().chain(added.again.iter().map(|i| row[*i as usize])).collect();
                assert_eq!(elements.len() * columns, added.weights.len());
                assert_eq!(elements.len() % 2, 0);
                for column in 0..columns {
                    let product =
                        |i: usize| elements[i] * i32::from(added.weights[i * columns + column] as i8);
                    let mut sum = 0;
                    for pair in (0..elements.len()).step_by(2) {
                        let both = product(pair) + product(pair + 1);
                        assert_eq!(i32::from(both as i16), both, "case {case}, column {column}, pair {pair}");
                        sum += both;
                    }
                    let own = (0..steps)
                        .map(|i| row[i] * i32::from(weights[i * columns + column] as i8))
                        .sum::<i32>();
                    assert_eq!(sum, own, "case {case}, column {column}");
                }
            }
        }
    }
}
