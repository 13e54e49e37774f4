//! One step of a contraction in whole tiles: factors of some steps of k are loaded or computed, multiplied and added up.

use super::RightSide;
use super::dot::{Roles, left, right};
use super::prologue::{Found, Scale};
use crate::access::{Axis, Lowering, TileBox};
use crate::{Contract, ContractTile};
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};

pub(super) struct Step<'a> {
    pub roles: &'a Roles,
    pub tile: ContractTile,
    pub batch: &'a [Axis],
}

impl Step<'_> {
    /// Extents of the sums as the product has them.
    pub fn extents(&self) -> [i64; 2] {
        if self.tile.swapped { [self.tile.n, self.tile.m] } else { [self.tile.m, self.tile.n] }
    }

    /// `sums` and the products of rows, columns and steps `at`; the right side as it is stored, or computed.
    pub fn plain(
        &self,
        cx: &mut Lowering,
        contract: &Contract,
        is_computed: bool,
        at: [Axis; 3],
        sums: Value,
    ) -> Result<Value, String> {
        let [row, column, steps] = at;
        let a = left(cx, self.roles, self.batch, row, steps);
        let b = match is_computed {
            true => self.computed(cx, column, steps)?,
            false => {
                let zero = cx.b.index(0);
                right(cx, self.roles, RightSide::Plain, self.batch, steps, column, zero)
            }
        };
        let [a, b] = same_type(cx, contract, [a, b]);
        Ok(self.product(cx, sums, a, b))
    }

    /// As [`Self::plain`], where the kernel scales sums of blocks: products of bytes, then times both factors.
    pub fn scaled(
        &self,
        cx: &mut Lowering,
        contract: &Contract,
        found: &Found,
        scales: &[Scale; 2],
        at: [Axis; 3],
        sums: Value,
    ) -> Result<Value, String> {
        let [row, column, steps] = at;
        let [x, w] = [0, 1].map(|i| self.factor(cx, scales, i, [row, column][i], steps));
        let (x, w) = (x?, w?);
        let roles = Roles { lhs: found.stored[0], rhs: found.stored[1], ..*self.roles };
        let a = left(cx, &roles, self.batch, row, steps);
        let zero = cx.b.index(0);
        let b = right(cx, &roles, RightSide::Plain, self.batch, steps, column, zero);
        let [a, b] = [(a, contract.lhs), (b, contract.rhs)].map(|(factor, dtype)| as_type(cx, factor, dtype));
        let zeros = cx.b.splat(contract.acc, &self.extents(), 0);
        let product = self.product(cx, zeros, a, b);
        let w = cx.b.transpose(w, &[1, 0]);
        let [x, w] =
            if self.tile.swapped { [x, w].map(|factor| cx.b.transpose(factor, &[1, 0])) } else { [x, w] };
        let factor = joined(cx, x, w);
        let factor = cx.b.broadcast(factor, &self.extents());
        Ok(cx.b.elementwise(ScalarOp::Fma, &[product, factor, sums]))
    }

    fn product(&self, cx: &mut Lowering, sums: Value, a: Value, b: Value) -> Value {
        match self.tile.swapped {
            true => {
                let [a, b] = [a, b].map(|factor| cx.b.transpose(factor, &[1, 0]));
                cx.b.dot(sums, b, a)
            }
            false => cx.b.dot(sums, a, b),
        }
    }

    /// The `[k, n]` tile of a right side that the kernel computes.
    fn computed(&self, cx: &mut Lowering, column: Axis, steps: Axis) -> Result<Value, String> {
        let roles = self.roles;
        let mut at: TileBox = self.batch.iter().copied().collect();
        at.push(steps);
        at.push(column);
        (at[roles.rhs_k], at[roles.rhs_n]) = (steps, column);
        let tile = cx.pull(roles.rhs, &at)?;
        if roles.rhs_k < roles.rhs_n {
            return Ok(cx.b.reshape(tile, &[steps.extent, column.extent]));
        }
        let tile = cx.b.reshape(tile, &[column.extent, steps.extent]);
        Ok(cx.b.transpose(tile, &[1, 0]))
    }

    /// What the rows or columns of a side are multiplied by in these steps: `[extent, 1]`, or `[1, 1]` for all.
    fn factor(
        &self,
        cx: &mut Lowering,
        scales: &[Scale; 2],
        side: usize,
        along: Axis,
        steps: Axis,
    ) -> Result<Value, String> {
        let Scale { value, shapes } = &scales[side];
        let mut at: TileBox = self.batch.iter().copied().collect();
        at.push(along);
        at.push(Axis { extent: 1, ..steps });
        for pair in shapes.windows(2) {
            at = cx.box_before(&pair[1], &pair[0], &at)?;
        }
        let own = cx.body.shape(*value).clone();
        let varies = at.iter().zip(own.iter()).any(|(axis, dim)| axis.extent > 1 && !dim.is_const(1));
        if !varies {
            at.iter_mut().for_each(|axis| axis.extent = 1);
        }
        let count: i64 = at.iter().map(|axis| axis.extent).product();
        let tile = cx.pull(*value, &at)?;
        Ok(cx.b.reshape(tile, &[count, 1]))
    }
}

/// `[a, 1]` times `[1, b]`, not wider than it must be.
fn joined(cx: &mut Lowering, x: Value, w: Value) -> Value {
    let [x_shape, w_shape] = [x, w].map(|factor| cx.b.tile_type(factor).1);
    let extents: Vec<i64> = x_shape.iter().zip(&w_shape).map(|(a, b)| *a.max(b)).collect();
    let [x, w] = [x, w].map(|factor| cx.b.broadcast(factor, &extents));
    cx.b.elementwise(ScalarOp::Mul, &[x, w])
}

/// Factors as a product takes them: integers beside floats become floats, narrow ones exactly.
fn same_type(cx: &mut Lowering, contract: &Contract, factors: [Value; 2]) -> [Value; 2] {
    let is_mixed = contract.lhs.is_float() != contract.rhs.is_float();
    let float = if contract.lhs.is_float() { contract.lhs } else { contract.rhs };
    factors.map(|factor| if is_mixed { as_type(cx, factor, float) } else { factor })
}

fn as_type(cx: &mut Lowering, factor: Value, to: DType) -> Value {
    match cx.b.tile_type(factor).0 == to {
        true => factor,
        false => cx.b.elementwise(ScalarOp::Cast { to, saturate: true }, &[factor]),
    }
}
