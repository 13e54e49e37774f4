//! Reshapes, extracts and joins of padded tiles. Where Tile IR's own op does not fit, an axis is moved by comparing
//! coordinates: element `i` of the result is the one element of the source whose coordinate is `i` plus an offset.

use super::{Lower, padded};
use crate::scalar::{Made, element};
use crate::writer::{Writer, number, tile};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{ComparisonPredicate, ScalarType, Value as Written};
use tegula_base::DType;
use tegula_ir::{OpId, ScalarOp, Value};

/// Comparisons that move one axis.
const COMPARISONS: i64 = 1 << 18;

impl Lower<'_> {
    pub(super) fn reshape(&mut self, op: OpId) -> Made<Written> {
        let func = self.func;
        let ((dtype, from), (_, to)) = (self.tile(func.operand(op, 0)), self.tile(func.result(op)));
        let value = self.operand(op, 0);
        if keeps_padding(&from, &to) {
            return Ok(self.w.reshape(value, &padded(&to)));
        }
        let (n_from, n_to): (i64, i64) = (padded(&from).iter().product(), padded(&to).iter().product());
        if n_from * n_to > COMPARISONS {
            let extents: Vec<String> = to.iter().map(i64::to_string).collect();
            return self.refuse(&format!("a reshape to {} of", extents.join("x")), func.operand(op, 0));
        }
        // Which element of the source, counted with its padding, each element of the result is.
        let places = self.w.coordinates(ScalarType::I32, 1, 0, n_to);
        let (strides, wide) = (row_major(&to), row_major(&padded(&to)));
        let element_number = self.renumbered(places, &wide, &padded(&to), &strides);
        let (strides, wide) = (row_major(&padded(&from)), row_major(&from));
        let source = self.renumbered(element_number, &wide, &from, &strides);
        let bits = to_bits(&mut self.w, value);
        let (row, column) = (self.w.reshape(bits, &[1, n_from]), self.w.reshape(source, &[n_to, 1]));
        let square = [n_to, n_from];
        let (row, column) = (self.w.broadcast(row, &square), self.w.broadcast(column, &square));
        let line = self.w.coordinates(ScalarType::I32, 2, 1, n_from);
        let line = self.w.broadcast(line, &square);
        let same = self.w.compare(ComparisonPredicate::Equal, column, line, true);
        let zero = self.w.int(row, 0);
        let chosen = self.w.select(same, row, zero);
        let folded = self.fold(chosen, ScalarOp::Or, integer_of(dtype), 1)?;
        let folded = self.w.reshape(folded, &padded(&to));
        Ok(from_bits(&mut self.w, folded, element(dtype)))
    }

    /// Numbers that count elements by `strides` of `extents`, counted by `others` instead.
    fn renumbered(&mut self, numbers: Written, strides: &[i64], extents: &[i64], others: &[i64]) -> Written {
        let mut sum = self.w.int(numbers, 0);
        for axis in 0..extents.len() {
            let (stride, extent) = (self.w.int(numbers, strides[axis]), self.w.int(numbers, extents[axis]));
            let whole = self.w.div(numbers, stride, false, false);
            let coordinate = self.w.signed(Opcode::RemI, whole, extent, false);
            let other = self.w.int(numbers, others[axis]);
            let part = self.w.mul(coordinate, other);
            sum = self.w.add(sum, part);
        }
        sum
    }

    pub(super) fn extract(&mut self, op: OpId, offsets: &[i64]) -> Made<Written> {
        let func = self.func;
        let source = func.operand(op, 0);
        let (dtype, shape) = self.tile(func.result(op));
        let wide = padded(&shape);
        let mut value = self.value(source);
        for axis in 0..shape.len() {
            // Slices that Tile IR does not count become the first one.
            let is_slice = offsets[axis] % wide[axis] == 0 && self.w.shape(value)[axis] >= wide[axis];
            if !is_slice {
                value = self.moved(value, dtype, axis, offsets[axis], wide[axis], source)?;
            }
        }
        let now = self.w.shape(value);
        if now == wide {
            return Ok(value);
        }
        let mut operands = vec![value];
        for axis in 0..shape.len() {
            let slice = if now[axis] == wide[axis] { 0 } else { offsets[axis] / wide[axis] };
            operands.push(self.w.constant(ScalarType::I32, &[], slice as u64));
        }
        Ok(self.w.plain(Opcode::Extract, &operands, tile(element(dtype), &wide)))
    }

    pub(super) fn concat(&mut self, op: OpId, axis: usize) -> Made<Written> {
        let func = self.func;
        let (dtype, shape) = self.tile(func.result(op));
        let operands = func.operands(op);
        let parts: Vec<(Written, i64)> =
            operands.iter().map(|value| (self.value(*value), self.tile(*value).1[axis])).collect();
        let (first, n_parts) = (parts[0].1, parts.len() as u64);
        let is_even = n_parts.is_power_of_two()
            && (first as u64).is_power_of_two()
            && parts.iter().all(|(_, n)| *n == first);
        if is_even {
            let mut values: Vec<Written> = parts.iter().map(|(value, _)| *value).collect();
            while values.len() > 1 {
                values = values.chunks(2).map(|pair| self.cat(pair, axis)).collect();
            }
            return Ok(values[0]);
        }
        let extent = padded(&shape)[axis];
        let mut joined = None;
        let mut start = 0;
        for ((value, n), source) in parts.into_iter().zip(operands) {
            let placed = self.placed(value, dtype, axis, start, n, extent, *source)?;
            joined = Some(match joined {
                Some(other) => self.w.or(other, placed),
                None => placed,
            });
            start += n;
        }
        let joined = joined.expect("invariant: a verified op joins tiles");
        Ok(from_bits(&mut self.w, joined, element(dtype)))
    }

    fn cat(&mut self, pair: &[Written], axis: usize) -> Written {
        let mut shape = self.w.shape(pair[0]);
        shape[axis] *= 2;
        let ty = tile(self.w.element(pair[0]), &shape);
        self.w.with(Opcode::Cat, pair, ty, &[("dim", number(axis as i64))])
    }

    /// Element `i` along `axis` is the source's `i + offset`, for `extent` of them; zeros where there is none.
    fn moved(
        &mut self,
        value: Written,
        dtype: DType,
        axis: usize,
        offset: i64,
        extent: i64,
        source: Value,
    ) -> Made<Written> {
        let inside = self.w.shape(value)[axis];
        let bits = self.placed(value, dtype, axis, -offset, inside, extent, source)?;
        Ok(from_bits(&mut self.w, bits, element(dtype)))
    }

    /// The first `n` elements along `axis` as bits, from coordinate `start` on in an axis of `extent`; zeros elsewhere.
    #[expect(clippy::too_many_arguments, reason = "a box, its place, and whom to name")]
    fn placed(
        &mut self,
        value: Written,
        dtype: DType,
        axis: usize,
        start: i64,
        n: i64,
        extent: i64,
        source: Value,
    ) -> Made<Written> {
        let bits = to_bits(&mut self.w, value);
        let shape = self.w.shape(bits);
        let count: i64 = shape.iter().product::<i64>() * extent;
        if count > COMPARISONS {
            return self.refuse("a slice or a join of", source);
        }
        // The result's axis stands before the source's.
        let (mut line, mut cube, mut result) = (shape.clone(), shape.clone(), shape.clone());
        line.insert(axis, 1);
        cube.insert(axis, extent);
        result[axis] = extent;
        let wide = self.w.reshape(bits, &line);
        let wide = self.w.broadcast(wide, &cube);
        let to = self.w.coordinates(ScalarType::I32, cube.len(), axis, extent);
        let from = self.w.coordinates(ScalarType::I32, cube.len(), axis + 1, shape[axis]);
        let start = self.w.int(from, start);
        let moved = self.w.add(from, start);
        let real = self.below(from, n);
        let real = self.w.broadcast(real, &cube);
        let (to, moved) = (self.w.broadcast(to, &cube), self.w.broadcast(moved, &cube));
        let same = self.w.compare(ComparisonPredicate::Equal, to, moved, true);
        let same = self.w.and(same, real);
        let zero = self.w.int(wide, 0);
        let chosen = self.w.select(same, wide, zero);
        let integer = integer_of(dtype);
        let folded = self.fold(chosen, ScalarOp::Or, integer, axis + 1)?;
        Ok(self.w.reshape(folded, &result))
    }
}

fn row_major(shape: &[i64]) -> Vec<i64> {
    (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect()
}

/// The integer whose bits hold an element's.
fn integer_of(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

fn to_bits(w: &mut Writer, value: Written) -> Written {
    match w.element(value) {
        ScalarType::I1 => w.resize(value, ScalarType::I8, false),
        other => w.bitcast(value, integer_element(other)),
    }
}

fn from_bits(w: &mut Writer, bits: Written, element: ScalarType) -> Written {
    match element {
        ScalarType::I1 => w.resize(bits, ScalarType::I1, false),
        other => w.bitcast(bits, other),
    }
}

fn integer_element(element: ScalarType) -> ScalarType {
    match element.byte_width() {
        1 => ScalarType::I8,
        2 => ScalarType::I16,
        4 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}

/// Whether the padded tiles have the same elements in row-major order wherever the tiles have any: in each run of axes
/// that both share, only the first one longer than 1 may be padded.
fn keeps_padding(from: &[i64], to: &[i64]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (i0, j0) = (i, j);
        let (mut a, mut b) = (1, 1);
        // At least one axis, then until the counts agree.
        loop {
            if a <= b && i < from.len() {
                a *= from[i];
                i += 1;
            } else if j < to.len() {
                b *= to[j];
                j += 1;
            } else if i < from.len() {
                a *= from[i];
                i += 1;
            }
            if a == b || (i == from.len() && j == to.len()) {
                break;
            }
        }
        let is_fine =
            |axes: &[i64]| axes.iter().filter(|n| **n != 1).skip(1).all(|n| (*n as u64).is_power_of_two());
        if !is_fine(&from[i0..i]) || !is_fine(&to[j0..j]) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::keeps_padding;

    #[test]
    fn padding_stays_at_the_end_of_a_run() {
        for (from, to) in [
            (vec![3, 4], vec![12]),
            (vec![12], vec![3, 4]),
            (vec![6], vec![1, 6, 1]),
            (vec![5, 1, 7], vec![5, 7]),
            (vec![1], vec![]),
            (vec![3, 4, 5], vec![12, 5]),
        ] {
            assert!(keeps_padding(&from, &to), "{from:?} {to:?}");
        }
        for (from, to) in [(vec![4, 3], vec![12]), (vec![6], vec![2, 3]), (vec![5, 7], vec![7, 5])] {
            assert!(!keeps_padding(&from, &to), "{from:?} {to:?}");
        }
    }
}
