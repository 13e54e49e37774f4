//! Products of tiles, as rank-1 updates: for each k, every row's element times every vector of the right side.
//!
//! All sums stay in registers; each element of the left side and each vector of the right side is read once a
//! step. Where the machine adds up the products of some narrow factors in each 32-bit lane, such a group of a row of the
//! left side, neighbours in memory, goes to all lanes at once: bytes by fours, 16-bit floats and words by twos. The right side is
//! packed so, its bytes for words too, or a vector of groups is made of as many of its rows.
//!
//! The last bytes of k need not fill a group. Then a row's group is the four bytes that end where the row ends, so that
//! none past it is read, and the right side's factors move up in their lanes: zeros meet the bytes before.

use super::window::Window;
use super::{Lower, facts};
use crate::schedule::builder::At;
use crate::schedule::{Builder, Elem, VecOp};
use std::rc::Rc;
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_tile::{Accumulation, TileOp};

/// Factors along k of one lane.
#[derive(Clone, Copy)]
struct Group {
    factors: i64,
    /// What a lane holds is there already, else it is made of so many rows.
    packed: bool,
    /// How many of the factors lie past the end of the left side's rows. Its window begins so many earlier.
    past: i64,
}

impl Lower<'_> {
    /// Makes all pieces of a dot's result.
    pub fn dot(&mut self, b: &mut Builder, op: OpId) {
        let func = self.func;
        let (result, operands) = (func.result(op), func.operands(op));
        let (acc, left, right) = (operands[0], operands[1], operands[2]);
        let location = b.location.clone();
        let mut sums = self.force(b, acc);
        b.location = location;
        match self.groups(left, right) {
            Some((group, left, right)) => self.dot_groups(b, group, [&left, &right], &mut sums, op),
            None if self.saturates(op) => self.dot_pairs(b, left, right, &mut sums),
            None => self.dot_elements(b, left, right, &mut sums),
        }
        for (piece, sum) in sums.into_iter().enumerate() {
            self.bind_piece(result, piece as u32, sum);
        }
    }

    /// Whether a dot sums the products of each two steps first.
    fn saturates(&self, op: OpId) -> bool {
        matches!(self.func.kind(op), TileOp::Dot { accumulation: Some(Accumulation::I16Pairs) })
    }

    fn dot_elements(&mut self, b: &mut Builder, left: Value, right: Value, sums: &mut [Value]) {
        let (rows, k) = (self.tile(left).1[0], self.tile(left).1[1]);
        let blocks = self.geometry(right).blocks();
        let sum = |row: i64, block: i64| (row * blocks + block) as usize;
        for step in 0..k {
            let piece = |block: i64| (step * blocks + block) as u32;
            // The side of fewer registers is held, the other passes through one.
            if rows < blocks {
                let elements: Vec<Value> = (0..rows).map(|row| self.element(b, left, &[row, step])).collect();
                for block in 0..blocks {
                    let vector = self.piece(b, right, piece(block));
                    for (row, element) in elements.iter().enumerate() {
                        let sum = &mut sums[sum(row as i64, block)];
                        *sum = multiply_add(b, *element, vector, *sum);
                    }
                }
            } else {
                let vectors: Vec<Value> =
                    (0..blocks).map(|block| self.piece(b, right, piece(block))).collect();
                for row in 0..rows {
                    let element = self.element(b, left, &[row, step]);
                    for (block, vector) in vectors.iter().enumerate() {
                        let sum = &mut sums[sum(row, block as i64)];
                        *sum = multiply_add(b, element, *vector, *sum);
                    }
                }
            }
        }
    }

    /// As above, where the products of each two steps are summed first and saturate.
    fn dot_pairs(&mut self, b: &mut Builder, left: Value, right: Value, sums: &mut [Value]) {
        let (rows, k) = (self.tile(left).1[0], self.tile(left).1[1]);
        let blocks = self.geometry(right).blocks();
        let [least, most] = [i16::MIN, i16::MAX].map(|bound| b.i32(self.lanes, bound.into()));
        for pair in 0..k / 2 {
            for (row, block) in (0..rows).flat_map(|row| (0..blocks).map(move |block| (row, block))) {
                let products = [2 * pair, 2 * pair + 1].map(|step| {
                    let element = self.element(b, left, &[row, step]);
                    let vector = self.piece(b, right, (step * blocks + block) as u32);
                    b.vec(VecOp::Mul, &[element, vector])
                });
                let both = b.vec(VecOp::Add, &products);
                let both = b.vec(VecOp::Max, &[both, least]);
                let both = b.vec(VecOp::Min, &[both, most]);
                let sum = &mut sums[(row * blocks + block) as usize];
                *sum = b.vec(VecOp::Add, &[*sum, both]);
            }
        }
    }

    // --- products of groups ------------------------------------------------------------------------------

    /// The operands' windows when the factors of a group of a row of the left side are neighbours, and columns of the
    /// right follow each other.
    fn groups(&mut self, left: Value, right: Value) -> Option<(Group, Rc<Window>, Rc<Window>)> {
        let types = (self.tile(left).0, self.tile(right).0);
        let factors = match types {
            (DType::U8, DType::I8) => 4,
            (DType::I16, DType::I8) => 2,
            (DType::BF16, DType::BF16) if self.pairs => 2,
            _ => return None,
        };
        let (k, n) = (self.tile(right).1[0], self.tile(right).1[1]);
        if k % factors != 0 || n == 1 {
            return None;
        }
        let (a, b) = (self.window(left)?, self.window(right)?);
        let (past, a) = self.ended(a, k)?;
        let plain = |window: &Window, axis: usize, stride: i64| {
            window.walks[axis].is_some_and(|axis| {
                let axis = &window.axes[axis];
                !axis.bounded && axis.step == 1 && axis.stride.is_const(stride)
            })
        };
        let bounded = |window: &Window| window.axes.iter().any(|axis| axis.bounded);
        let packed = k == factors && plain(&b, 0, 1) && plain(&b, 1, factors) && !bounded(&b);
        let in_rows = b.lane_axis().is_some_and(|axis| b.axes[axis].stride.is_const(1));
        let of_words = types.0 == DType::I16;
        let words_fit = packed && past == 0 && n % i64::from(self.lanes) == 0;
        let fits = match past {
            _ if of_words => words_fit,
            0 => packed || in_rows,
            _ => packed && factors == 4,
        };
        let fits = plain(&a, 1, 1) && fits;
        fits.then_some((Group { factors, packed, past }, a, b))
    }

    /// A left side whose steps are all there: how many of its last `steps` are not, and the window that begins so many
    /// earlier. None where that is decided at run time, or where no zeros stand for what is not there.
    fn ended(&self, left: Rc<Window>, steps: i64) -> Option<(i64, Rc<Window>)> {
        let Some(k) = left.walks[1].filter(|k| left.axes[*k].bounded) else { return Some((0, left)) };
        let axis = &left.axes[k];
        let offset = facts::sum_of(self.func, axis.offset);
        let first = offset.constant + axis.start;
        let there = axis.size.as_const()? - first;
        if !offset.terms.is_empty() || first < 0 || there < 1 || left.pad != 0 {
            return None;
        }
        let past = (steps - there).max(0);
        let mut window = Window::clone(&left);
        window.axes[k].bounded = false;
        window.axes[k].start -= past;
        Some((past, Rc::new(window)))
    }

    fn dot_groups(
        &mut self,
        b: &mut Builder,
        group: Group,
        [left, right]: [&Window; 2],
        sums: &mut [Value],
        op: OpId,
    ) {
        let geometry = self.geometry(self.func.result(op));
        let steps = self.tile(self.func.operand(op, 2)).1[0];
        let (m, blocks) = (geometry.rows(), geometry.blocks());
        let dtype = left.dtype;
        let saturates = self.saturates(op);
        // The pads of all factors as one 32-bit element.
        let pad = match group.factors {
            4 => i64::from(u32::from_ne_bytes([left.pad as u8; 4])),
            _ => left.pad & 0xffff | (left.pad & 0xffff) << 16,
        };
        // Signs of bytes would cover the factors above.
        let in_rows = match right.dtype {
            DType::I8 => Window { dtype: DType::U8, pad: right.pad & 0xff, ..right.clone() },
            _ => right.clone(),
        };
        let product = |b: &mut Builder, sum: &mut Value, element: Value, vector: Value| {
            *sum = match (dtype, saturates) {
                (DType::BF16, _) => b.dot_bf16(*sum, element, vector),
                (DType::I16, _) => b.dot_words(*sum, element, vector),
                (_, true) => b.dot_u8s8_pairs(*sum, element, vector),
                (_, false) => b.dot_u8s8(*sum, element, vector),
            };
        };
        for step in (0..steps).step_by(group.factors as usize) {
            let vector = |lower: &mut Self, b: &mut Builder, block: i64| {
                let column = block * i64::from(lower.lanes);
                let active = geometry.active(block as u32);
                match group.packed {
                    true if dtype == DType::I16 => {
                        let at = lower.address(b, right, &[step, column], None);
                        b.load_words(lower.lanes, at)
                    }
                    true => {
                        let at = lower.address(b, right, &[step, column], None);
                        let at = At { count: lower.partial_count(b, active), ..at };
                        let factors = b.load_raw(Elem::I32, lower.lanes, at);
                        lower.moved_up(b, factors, group.past)
                    }
                    false => lower.group_of_rows(b, &in_rows, group, [step, column], active),
                }
            };
            let element =
                |lower: &mut Self, b: &mut Builder, i: i64| match lower.begins_inside(left, i, group.past) {
                    true => lower.load_splat(b, left, &[i, step], (DType::I32, pad)),
                    false => lower.few_bytes(b, left, i, group),
                };
            // The side of fewer registers is held, as far as the other may come from memory.
            if (m == 1 || saturates || dtype == DType::I16) && m < blocks {
                let elements: Vec<Value> = (0..m).map(|i| element(self, b, i)).collect();
                for block in 0..blocks {
                    let vector = vector(self, b, block);
                    for (i, element) in elements.iter().enumerate() {
                        product(b, &mut sums[i * blocks as usize + block as usize], *element, vector);
                    }
                }
            } else {
                let vectors: Vec<Value> = (0..blocks).map(|block| vector(self, b, block)).collect();
                for i in 0..m {
                    let element = element(self, b, i);
                    for (block, vector) in vectors.iter().enumerate() {
                        product(b, &mut sums[(i * blocks) as usize + block], element, *vector);
                    }
                }
            }
        }
    }

    /// Whether the four bytes that end where row `i` ends all lie in the row or in the one before it.
    fn begins_inside(&self, left: &Window, i: i64, past: i64) -> bool {
        let k = &left.axes[left.walks[1].expect("invariant: a group's factors are neighbours")];
        if past == 0 || facts::sum_of(self.func, k.offset).constant + k.start >= 0 {
            return true;
        }
        let row_before = left.walks[0].map(|axis| &left.axes[axis]).filter(|axis| i > 0 && !axis.bounded);
        row_before.is_some_and(|axis| axis.stride.as_const().is_some_and(|stride| stride * axis.step >= past))
    }

    /// A row of fewer than four bytes in the upper bytes of all lanes.
    fn few_bytes(&mut self, b: &mut Builder, left: &Window, row: i64, group: Group) -> Value {
        let mut parts = vec![];
        let there = group.factors - group.past;
        if there % 2 == 1 {
            let first = self.load_splat(b, left, &[row, group.past], (DType::U8, 0));
            parts.push(self.moved_up(b, first, group.past));
        }
        if there >= 2 {
            let last = self.load_splat(b, left, &[row, group.factors - 2], (DType::U16, 0));
            parts.push(self.moved_up(b, last, group.factors - 2));
        }
        parts
            .into_iter()
            .reduce(|all, part| b.vec(VecOp::Or, &[all, part]))
            .expect("invariant: a byte is there")
    }

    /// The bytes of each lane, `places` further up; zeros below.
    fn moved_up(&self, b: &mut Builder, value: Value, places: i64) -> Value {
        if places == 0 {
            return value;
        }
        let bits = b.i32(self.lanes, (places * 8) as i32);
        b.vec(VecOp::Shl, &[value, bits])
    }

    /// Elements of some rows as groups, the first row's in the lowest bits.
    fn group_of_rows(
        &mut self,
        b: &mut Builder,
        window: &Window,
        group: Group,
        [row, column]: [i64; 2],
        active: i64,
    ) -> Value {
        let bits = 32 / group.factors;
        let rows = (0..group.factors).map(|ahead| {
            let wide = self.load_window(b, window, &[row + ahead, column], active);
            match window.dtype {
                // A 16-bit float is the upper half of its 32-bit form.
                DType::BF16 => {
                    let wide = b.bitcast(Elem::I32, wide);
                    self.moved_down(b, wide, 32 - bits * (ahead + 1))
                }
                _ => self.moved_up(b, wide, bits / 8 * ahead),
            }
        });
        let rows: Vec<Value> = rows.collect();
        rows.into_iter()
            .reduce(|all, row| b.vec(VecOp::Or, &[all, row]))
            .expect("invariant: a group has factors")
    }

    fn moved_down(&self, b: &mut Builder, value: Value, bits: i64) -> Value {
        if bits == 0 {
            return value;
        }
        let bits = b.i32(self.lanes, bits as i32);
        b.vec(VecOp::Shr, &[value, bits])
    }
}

/// `x * y + sum`, rounded once, or wrapping.
fn multiply_add(b: &mut Builder, x: Value, y: Value, sum: Value) -> Value {
    if b.shape(sum).0.is_float() {
        return b.vec(VecOp::Fma, &[x, y, sum]);
    }
    let product = b.vec(VecOp::Mul, &[x, y]);
    b.vec(VecOp::Add, &[sum, product])
}
