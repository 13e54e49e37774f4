//! Reductions and scans: an elementwise op repeated over slices, with a wide accumulator for sums and products.

use super::index::around;
use super::movement::transpose;
use super::number::{KeyOrder, order_keys};
use std::ops::Range;
use tegula_base::{DType, HostTensor};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::{eval_slice, identity};

/// The type that `f` accumulates in.
fn wide(f: ScalarOp, dtype: DType) -> DType {
    match f {
        ScalarOp::Add | ScalarOp::Mul if dtype.is_float() => DType::F64,
        ScalarOp::Add | ScalarOp::Mul if dtype.is_signed() => DType::I64,
        ScalarOp::Add | ScalarOp::Mul => DType::U64,
        _ => dtype,
    }
}

/// Elements that are wide at once: few beside a large tensor, many beside what a call costs.
const AT_ONCE: usize = 4096;

/// Slices along the leading axis, and the running value of a piece of them in a wide type.
struct Running<'a> {
    f: ScalarOp,
    wide: DType,
    /// The bytes of the value that nothing was taken into.
    start: Vec<u8>,
    x: &'a HostTensor,
    /// Elements of a slice.
    row: usize,
    /// Which of them are in the piece.
    columns: Range<usize>,
    /// Which block of slices is widened, and its elements.
    block: Option<usize>,
    widened: Vec<u8>,
    value: Vec<u8>,
    next: Vec<u8>,
}

impl Running<'_> {
    /// `x` seen as `[n, row]`.
    fn new(f: ScalarOp, x: &HostTensor, row: usize) -> Result<Running<'_>, String> {
        let wide = wide(f, x.dtype);
        let start = identity(f, wide).ok_or_else(|| format!("`{f}` on {} has no identity", x.dtype))?;
        let start = start.to_le_bytes()[..wide.size()].to_vec();
        let [widened, value, next] = [const { Vec::new() }; 3];
        Ok(Running { f, wide, start, x, row, columns: 0..0, block: None, widened, value, next })
    }

    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let row = self.row;
        (0..row).step_by(AT_ONCE).map(move |start| start..row.min(start + AT_ONCE))
    }

    fn begin(&mut self, columns: Range<usize>) {
        self.value = self.start.repeat(columns.len());
        self.columns = columns;
        self.block = None;
    }

    fn take(&mut self, row: usize) {
        let width = self.columns.len();
        let slice = if self.wide == self.x.dtype {
            &self.x.bytes[self.place(row, 1)]
        } else {
            // Pieces of several slices lie together where they are whole.
            let rows = if width == self.row { AT_ONCE / width } else { 1 };
            let block = row / rows;
            if self.block != Some(block) {
                let narrow = &self.x.bytes[self.place(block * rows, rows)];
                let widen = ScalarOp::Cast { to: self.wide, saturate: false };
                eval_slice(widen, &[(narrow, self.x.dtype)], &mut self.widened);
                self.block = Some(block);
            }
            let bytes = width * self.wide.size();
            &self.widened[row % rows * bytes..][..bytes]
        };
        eval_slice(self.f, &[(&self.value, self.wide), (slice, self.wide)], &mut self.next);
        std::mem::swap(&mut self.value, &mut self.next);
    }

    /// Where the piece's bytes lie in up to `rows` slices.
    fn place(&self, row: usize, rows: usize) -> Range<usize> {
        let size = self.x.dtype.size();
        let start = (row * self.row + self.columns.start) * size;
        start..self.x.bytes.len().min(start + rows * self.columns.len() * size)
    }

    /// The running value rounded to `dtype`.
    fn rounded(&self, dtype: DType, out: &mut Vec<u8>) {
        eval_slice(ScalarOp::Cast { to: dtype, saturate: false }, &[(&self.value, self.wide)], out);
    }
}

pub(super) fn reduce(
    x: &HostTensor,
    f: ScalarOp,
    axes: &[usize],
    out: &mut HostTensor,
) -> Result<(), String> {
    let kept = (0..x.shape.len()).filter(|axis| !axes.contains(axis));
    let perm: Vec<usize> = axes.iter().copied().chain(kept).collect();
    let rows: usize = axes.iter().map(|axis| x.shape[*axis]).product();
    let rows_first = transpose(x, &perm);
    let mut running = Running::new(f, &rows_first, out.count())?;
    let mut rounded = Vec::new();
    for columns in running.pieces() {
        let start = columns.start * out.dtype.size();
        running.begin(columns);
        for row in 0..rows {
            running.take(row);
        }
        running.rounded(out.dtype, &mut rounded);
        out.bytes[start..][..rounded.len()].copy_from_slice(&rounded);
    }
    Ok(())
}

pub(super) fn scan(
    x: &HostTensor,
    f: ScalarOp,
    axis: usize,
    exclusive: bool,
    reverse: bool,
    out: &mut HostTensor,
) -> Result<(), String> {
    let rank = x.shape.len();
    let to_front: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|i| *i != axis)).collect();
    let front = transpose(x, &to_front);
    let n = x.shape[axis];
    if x.count() == 0 {
        return Ok(());
    }
    let row_bytes = front.bytes.len() / n;
    let mut running = Running::new(f, &front, x.count() / n)?;
    let mut scanned = HostTensor::zeros(front.dtype, &front.shape);
    let mut rounded = Vec::new();
    for columns in running.pieces() {
        let start = columns.start * x.dtype.size();
        running.begin(columns);
        for step in 0..n {
            let row = if reverse { n - 1 - step } else { step };
            if !exclusive {
                running.take(row);
            }
            running.rounded(x.dtype, &mut rounded);
            scanned.bytes[row * row_bytes + start..][..rounded.len()].copy_from_slice(&rounded);
            if exclusive {
                running.take(row);
            }
        }
    }
    let mut back = vec![0; rank];
    for (i, axis) in to_front.iter().enumerate() {
        back[*axis] = i;
    }
    *out = transpose(&scanned, &back).into_owned();
    Ok(())
}

pub(super) fn arg_reduce(x: &HostTensor, max: bool, axis: usize, last: bool, out: &mut HostTensor) {
    let nan = if max { i64::MAX } else { i64::MIN };
    let keys = order_keys(x, KeyOrder { nan, signed_zeros: false });
    let (outer, n, inner) = around(&x.shape, axis);
    let mut best = Vec::with_capacity(outer * inner);
    for block in 0..outer {
        for i in 0..inner {
            let key = |j: usize| keys[(block * n + j) * inner + i];
            let mut found = 0;
            for j in 1..n {
                let ahead = if max { key(j) > key(found) } else { key(j) < key(found) };
                if ahead || (last && key(j) == key(found)) {
                    found = j;
                }
            }
            best.push(found as i64);
        }
    }
    *out = HostTensor::from_elements(&out.shape, &best);
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, Running};
    use tegula_base::{DType, HostTensor};
    use tegula_ir::ScalarOp;

    /// Long slices are never wide as a whole, and what is wide already is not copied.
    #[test]
    fn few_elements_are_wide_at_once() {
        for row in [1, 100, AT_ONCE, 3 * AT_ONCE + 1] {
            let x = HostTensor::zeros(DType::F32, &[2, row]);
            for f in [ScalarOp::Add, ScalarOp::Max] {
                let mut running = Running::new(f, &x, row).unwrap();
                for columns in running.pieces() {
                    running.begin(columns);
                    (0..2).for_each(|row| running.take(row));
                    let most = AT_ONCE * running.wide.size();
                    for held in [&running.widened, &running.value, &running.next] {
                        assert!(held.capacity() <= most, "{f} of {row}: {} bytes", held.capacity());
                    }
                }
                assert_eq!(running.widened.is_empty(), f == ScalarOp::Max, "{f} of {row}");
            }
        }
    }
}
