//! Products of tiles, as rank-1 updates: for each k, every row's element times every vector of the right side.
//!
//! All sums stay in registers; each element of the left side and each vector of the right side is read once a
//! step. Eight-bit operands whose right side is packed in groups of four go through the four-way dot product.

use super::Lower;
use super::window::Window;
use crate::schedule::builder::At;
use crate::schedule::{Builder, Elem, VecOp};
use std::rc::Rc;
use tegula_base::DType;
use tegula_ir::{OpId, Value};

/// Contraction steps of one `dot_u8s8`.
const GROUP: i64 = 4;

impl Lower<'_> {
    /// Makes all pieces of a dot's result.
    pub fn dot(&mut self, b: &mut Builder, op: OpId) {
        let func = self.func;
        let (result, operands) = (func.result(op), func.operands(op));
        let (acc, left, right) = (operands[0], operands[1], operands[2]);
        let location = b.location.clone();
        let mut sums = self.force(b, acc);
        b.location = location;
        match self.groups_of_four(left, right) {
            Some((left, right)) => self.dot_groups(b, &left, &right, &mut sums, result),
            None => self.dot_elements(b, left, right, &mut sums),
        }
        for (piece, sum) in sums.into_iter().enumerate() {
            self.bind_piece(result, piece as u32, sum);
        }
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

    // --- four-way 8-bit products -----------------------------------------------------------------------

    /// The operands' windows when four consecutive k of a row of the left side, and of a column of the right,
    /// are four consecutive bytes, and columns of the right follow each other.
    fn groups_of_four(&mut self, left: Value, right: Value) -> Option<(Rc<Window>, Rc<Window>)> {
        if self.tile(left).0 != DType::U8 || self.tile(right).0 != DType::I8 {
            return None;
        }
        let (k, n) = (self.tile(right).1[0], self.tile(right).1[1]);
        if k != GROUP || n == 1 {
            return None;
        }
        let (a, b) = (self.window(left)?, self.window(right)?);
        let plain = |window: &Window, axis: usize, stride: i64| {
            window.walks[axis].is_some_and(|axis| {
                let axis = &window.axes[axis];
                !axis.bounded && axis.step == 1 && axis.stride.is_const(stride)
            })
        };
        let bounded = |window: &Window| window.axes.iter().any(|axis| axis.bounded);
        let packed = plain(&b, 0, 1) && plain(&b, 1, GROUP) && !bounded(&b);
        (plain(&a, 1, 1) && packed).then_some((a, b))
    }

    fn dot_groups(
        &mut self,
        b: &mut Builder,
        left: &Window,
        right: &Window,
        sums: &mut [Value],
        result: Value,
    ) {
        let geometry = self.geometry(result);
        let (m, blocks) = (geometry.rows(), geometry.blocks());
        // Four bytes, or four times the pad, as one 32-bit element.
        let pad = i64::from(u32::from_ne_bytes([left.pad as u8; GROUP as usize]));
        let row: Vec<Value> = (0..blocks)
            .map(|block| {
                let at = self.address(b, right, &[0, block * i64::from(self.lanes)], None);
                let active = geometry.active(block as u32);
                let at = At { count: self.partial_count(b, active), ..at };
                b.load_raw(Elem::I32, self.lanes, at)
            })
            .collect();
        for i in 0..m {
            let element = self.load_splat(b, left, &[i, 0], (DType::I32, pad));
            for (block, vector) in row.iter().enumerate() {
                let sum = &mut sums[(i * blocks) as usize + block];
                *sum = b.dot_u8s8(*sum, element, *vector);
            }
        }
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
