//! How each op's tile comes from its operands' tiles.

use super::{Axis, Lowering, TileBox};
use tegula_base::{DType, Dim};
use tegula_ir::{Def, OpId, ScalarOp, Value};
use tegula_tensor::facts::may_repeat;
use tegula_tensor::{PadMode, TensorOp};

impl Lowering<'_> {
    pub(super) fn tile_of(&mut self, value: Value, at: &TileBox) -> Result<Value, String> {
        match self.body.func.def(value) {
            Def::Arg(..) => self.tile_of_arg(value, at, 0),
            Def::Result(op, _) => self.tile_of_op(op, value, at),
        }
    }

    /// A box of an argument; `pad` is what elements outside of it have for bits.
    fn tile_of_arg(&mut self, arg: Value, at: &TileBox, pad: i64) -> Result<Value, String> {
        let order = self.axis_order(arg)?;
        let tile = self.load_physical(arg, &order, at, pad);
        let mut back = vec![0; order.len()];
        for (i, axis) in order.iter().enumerate() {
            back[*axis] = i;
        }
        Ok(self.b.transpose(tile, &back))
    }

    /// The bits of a splat.
    fn number(&self, value: Value) -> Option<i64> {
        match self.body.func.kind(self.body.func.def_op(value)?) {
            TensorOp::Splat { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    fn tile_of_op(&mut self, op: OpId, value: Value, at: &TileBox) -> Result<Value, String> {
        let body = self.body;
        let func = &body.func;
        let operands = func.operands(op);
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        match func.kind(op) {
            TensorOp::Splat { dtype, bits, .. } => Ok(self.b.splat(*dtype, &extents, *bits)),
            TensorOp::Iota { dtype, axis, .. } => Ok(self.iota(*dtype, at, *axis, &extents)),
            TensorOp::Sizes { dims } => self.sizes(dims, at),
            TensorOp::Elementwise { f } => {
                let tiles =
                    operands.iter().map(|operand| self.pull(*operand, at)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.b.elementwise(*f, &tiles))
            }
            TensorOp::Broadcast { .. } => {
                let axes: Vec<usize> = (0..at.len()).filter(|axis| may_repeat(func, op, *axis)).collect();
                self.repeated(operands[0], &axes, at)
            }
            TensorOp::Relayout { .. } => self.pull(operands[0], at),
            TensorOp::Transpose { perm } => {
                let mut inner: TileBox = at.clone();
                for (axis, from) in perm.iter().enumerate() {
                    inner[*from] = at[axis];
                }
                let tile = self.pull(operands[0], &inner)?;
                Ok(self.b.transpose(tile, perm))
            }
            TensorOp::Slice { starts, steps, .. } => {
                let inner: TileBox = (0..at.len())
                    .map(|i| {
                        let step = self.b.index(steps[i]);
                        let start = self.b.size(&starts[i]);
                        let scaled = self.b.mul(at[i].offset, step);
                        Axis { offset: self.b.add(start, scaled), step: at[i].step * steps[i], ..at[i] }
                    })
                    .collect();
                self.pull(operands[0], &inner)
            }
            TensorOp::Pad { low, high, mode } => {
                if *mode != PadMode::Constant {
                    return Err(format!("`pad` by {} is no kernel op", mode.name()));
                }
                self.pad(operands, low, high, at)
            }
            TensorOp::Gather { axis } => self.gather(operands[0], operands[1], *axis, at),
            TensorOp::GatherElements { axis } => self.gather_elements(operands[0], operands[1], *axis, at),
            TensorOp::GatherNd { batch_dims } => self.gather_nd(operands[0], operands[1], *batch_dims, at),
            TensorOp::Reshape { .. } => self.reshape(operands[0], body.shape(value), at),
            other => Err(format!("`{}` is not computed a tile at a time", tegula_ir::Op::name(other))),
        }
    }

    /// A box of a value that is repeated along axes where its extents, which are open, are 1.
    fn repeated(&mut self, x: Value, axes: &[usize], at: &TileBox) -> Result<Value, String> {
        let Some((&axis, rest)) = axes.split_first() else { return self.pull(x, at) };
        let extent = self.body.shape(x)[axis].clone();
        // 0 where there is one element, else 1.
        let moves = extent.minimum(&Dim::from(2)) - Dim::from(1);
        let mut first = at.clone();
        if at[axis].extent == 1 {
            let moves = self.b.size(&moves);
            first[axis].offset = self.b.mul(at[axis].offset, moves);
            return self.repeated(x, rest, &first);
        }
        first[axis] = Axis { offset: self.b.index(0), extent: 1, step: 1, bounded: false };
        let mut each = at.clone();
        each[axis].bounded = true;
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let one = self.repeated(x, rest, &first)?;
        let one = self.b.broadcast(one, &extents);
        let each = self.repeated(x, rest, &each)?;
        let moves = self.b.size(&moves);
        let moves = self.spread(DType::I32, moves, &extents);
        let none = self.b.splat(DType::I32, &extents, 0);
        let is_one = self.b.elementwise(ScalarOp::Eq, &[moves, none]);
        Ok(self.b.elementwise(ScalarOp::Select, &[is_one, one, each]))
    }

    fn iota(&mut self, dtype: DType, at: &TileBox, axis: usize, extents: &[i64]) -> Value {
        if dtype.is_int() {
            return self.positions(at, axis, dtype, extents);
        }
        let wide = self.positions(at, axis, DType::I64, extents);
        self.b.elementwise(ScalarOp::Cast { to: dtype, saturate: true }, &[wide])
    }

    /// A list of sizes: the element asked for, one at a time.
    fn sizes(&mut self, dims: &[Dim], at: &TileBox) -> Result<Value, String> {
        let axis = at[0];
        let extents = [axis.extent];
        let position = self.positions(at, 0, DType::I64, &extents);
        let mut tile = self.b.splat(DType::I64, &extents, 0);
        for (i, dim) in dims.iter().enumerate() {
            let size = self.b.size(dim);
            let size = self.spread(DType::I64, size, &extents);
            let place = self.b.splat(DType::I64, &extents, i as i64);
            let here = self.b.elementwise(ScalarOp::Eq, &[position, place]);
            tile = self.b.elementwise(ScalarOp::Select, &[here, size, tile]);
        }
        Ok(tile)
    }

    fn pad(&mut self, operands: &[Value], low: &[Dim], high: &[Dim], at: &TileBox) -> Result<Value, String> {
        let shape = self.body.shape(operands[0]).clone();
        let padded = |i: usize| !low[i].is_const(0) || !high[i].is_const(0);
        let inner: TileBox = (0..at.len())
            .map(|i| {
                let amount = self.b.size(&low[i]);
                Axis {
                    offset: self.b.sub(at[i].offset, amount),
                    bounded: at[i].bounded || padded(i),
                    ..at[i]
                }
            })
            .collect();
        // A buffer's elements outside of it read as any number known here.
        let of_one = (0..at.len()).any(|i| padded(i) && shape[i].is_const(1));
        if let (Def::Arg(..), Some(fill), false) =
            (self.body.func.def(operands[0]), self.number(operands[1]), of_one)
        {
            return self.tile_of_arg(operands[0], &inner, fill);
        }
        let extents: Vec<i64> = at.iter().map(|axis| axis.extent).collect();
        let ones = vec![1; extents.len()];
        // Extents of 1 that padding widens are read at 0 only, so the mask decides alone.
        let tile = self.pull(operands[0], &inner)?;
        let scalar = self.pull(operands[1], &[])?;
        let scalar = self.b.reshape(scalar, &ones);
        let mut result = tile;
        let fill = self.b.broadcast(scalar, &extents);
        for i in (0..at.len()).filter(|i| padded(*i)) {
            let inside = self.inside(&inner, i, &shape[i]);
            result = self.b.elementwise(ScalarOp::Select, &[inside, result, fill]);
        }
        Ok(result)
    }
}
