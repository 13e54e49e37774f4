//! The meaning of the tile level: runs a kernel unit by unit, element by element, over plain buffers.
//!
//! Slow and checked: a box that leaves its view along an unbounded axis, a gather outside of its view and a read
//! past a buffer are errors that name the op. Used as the oracle of recipes and of targets.

mod memory;
mod tile;

use crate::build::fold_index;
use crate::{Accumulation, TileKernel, TileOp, ViewType};
use memory::View;
use std::rc::Rc;
use tegula_base::Dim;
use tegula_base::HashMap;
use tegula_ir::op::OpRules;
use tegula_ir::{Op, OpId, RegionId, Value};
use tile::Tile;

/// What an SSA value holds.
#[derive(Clone, Debug)]
enum Datum {
    Index(i64),
    Tile(Rc<Tile>),
    View(usize),
}

/// In which order units run; a kernel must give the same bits in any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Rising,
    Falling,
}

/// Runs every unit of a kernel in rising order. `buffers` are raw bytes; view `i` of the kernel lies at the start of
/// buffer `view_buffers[i]`; `size` gives the run's value of a size expression.
/// Errors: an access outside of a view, an unknown size; in the words of a compiler engineer.
pub fn run(
    kernel: &TileKernel,
    view_buffers: &[usize],
    buffers: &mut [Vec<u8>],
    size: &dyn Fn(&Dim) -> Option<i64>,
) -> Result<(), String> {
    run_in(Order::Rising, kernel, view_buffers, buffers, size)
}

/// As [`run`], in the order given.
pub fn run_in(
    order: Order,
    kernel: &TileKernel,
    view_buffers: &[usize],
    buffers: &mut [Vec<u8>],
    size: &dyn Fn(&Dim) -> Option<i64>,
) -> Result<(), String> {
    let known = |dim: &Dim| size(dim).ok_or_else(|| format!("size `{dim}` is unknown"));
    let extents = kernel.grid.iter().map(|dim| known(&dim.extent)).collect::<Result<Vec<i64>, String>>()?;
    let mut views = Vec::new();
    for (param, buffer) in kernel.views.iter().zip(view_buffers) {
        let shape = param.ty.shape.iter().map(known).collect::<Result<Vec<i64>, String>>()?;
        let strides = param.ty.strides.iter().map(known).collect::<Result<Vec<i64>, String>>()?;
        views.push(View { buffer: *buffer, dtype: param.ty.dtype, shape, strides });
    }
    let units: i64 = extents.iter().product();
    // Scratch memory lies behind the buffers.
    let mut memory: Vec<Vec<u8>> = buffers.iter_mut().map(std::mem::take).collect();
    let ran = (0..units).try_for_each(|i| {
        let unit = if order == Order::Rising { i } else { units - 1 - i };
        memory.truncate(buffers.len());
        let values = HashMap::default();
        views.truncate(kernel.views.len());
        let mut machine = Machine { kernel, views: &mut views, buffers: &mut memory, size, values };
        machine.start(unit, &extents);
        machine.region(kernel.func.body()).map(drop)
    });
    buffers.iter_mut().zip(memory).for_each(|(buffer, bytes)| *buffer = bytes);
    ran
}

/// What scratch memory holds before it is written: NaN, -1.
const UNWRITTEN: u8 = 0xff;

struct Machine<'a> {
    kernel: &'a TileKernel,
    views: &'a mut Vec<View>,
    buffers: &'a mut Vec<Vec<u8>>,
    size: &'a dyn Fn(&Dim) -> Option<i64>,
    values: HashMap<Value, Datum>,
}

impl Machine<'_> {
    fn start(&mut self, unit: i64, extents: &[i64]) {
        let args = self.kernel.func.args(self.kernel.func.body());
        let (views, coordinates) = args.split_at(self.kernel.views.len());
        for (i, arg) in views.iter().enumerate() {
            self.values.insert(*arg, Datum::View(i));
        }
        let mut rest = unit;
        for (arg, extent) in coordinates.iter().zip(extents).rev() {
            self.values.insert(*arg, Datum::Index(rest % extent));
            rest /= extent;
        }
    }

    /// Runs a region; gives what its terminator yields.
    fn region(&mut self, region: RegionId) -> Result<Vec<Datum>, String> {
        let kernel = self.kernel;
        for &op in kernel.func.ops_in(region) {
            if kernel.func.kind(op).is_terminator() {
                return Ok(kernel.func.operands(op).iter().map(|value| self.values[value].clone()).collect());
            }
            let results =
                self.op(op).map_err(|error| format!("{op} `{}`: {error}", kernel.func.kind(op).name()))?;
            for (value, datum) in kernel.func.results(op).iter().zip(results) {
                self.values.insert(*value, datum);
            }
        }
        Ok(vec![])
    }

    fn index(&self, value: Value) -> Result<i64, String> {
        match self.values.get(&value) {
            Some(Datum::Index(n)) => Ok(*n),
            _ => Err(format!("{value} is no index")),
        }
    }

    fn tile(&self, value: Value) -> Result<Rc<Tile>, String> {
        match self.values.get(&value) {
            Some(Datum::Tile(tile)) => Ok(tile.clone()),
            _ => Err(format!("{value} is no tile")),
        }
    }

    fn view(&self, value: Value) -> Result<&View, String> {
        match self.values.get(&value) {
            Some(Datum::View(i)) => Ok(&self.views[*i]),
            _ => Err(format!("{value} is no view")),
        }
    }

    fn indexes(&self, values: &[Value]) -> Result<Vec<i64>, String> {
        values.iter().map(|value| self.index(*value)).collect()
    }

    fn op(&mut self, op: OpId) -> Result<Vec<Datum>, String> {
        let func = &self.kernel.func;
        let operands = func.operands(op);
        let index = |n: i64| Ok(vec![Datum::Index(n)]);
        let tile = |tile: Tile| Ok(vec![Datum::Tile(Rc::new(tile))]);
        match func.kind(op) {
            TileOp::Const { value } => index(*value),
            TileOp::Size { dim } => {
                index((self.size)(dim).ok_or_else(|| format!("size `{dim}` is unknown"))?)
            }
            TileOp::Index { op } => {
                index(fold_index(*op, self.index(operands[0])?, self.index(operands[1])?))
            }
            TileOp::ToIndex {} => index(self.tile(operands[0])?.to_index()),
            TileOp::FromIndex { dtype } => tile(Tile::from_index(*dtype, self.index(operands[0])?)),
            TileOp::Splat { dtype, shape, bits } => tile(Tile::splat(*dtype, shape, *bits as u64)),
            TileOp::Iota { dtype, shape, axis } => tile(Tile::iota(*dtype, shape, *axis)),
            TileOp::Elementwise { f } => {
                let tiles = operands.iter().map(|value| self.tile(*value)).collect::<Result<Vec<_>, _>>()?;
                tile(Tile::elementwise(*f, &tiles))
            }
            TileOp::Broadcast { shape } => tile(self.tile(operands[0])?.broadcast(shape)),
            TileOp::Reshape { shape } => {
                tile(Tile { shape: shape.clone(), ..(*self.tile(operands[0])?).clone() })
            }
            TileOp::Transpose { perm } => tile(self.tile(operands[0])?.transpose(perm)),
            TileOp::Extract { offsets, sizes } => tile(self.tile(operands[0])?.extract(offsets, sizes)),
            TileOp::Concat { axis } => {
                let tiles = operands.iter().map(|value| self.tile(*value)).collect::<Result<Vec<_>, _>>()?;
                tile(Tile::concat(&tiles, *axis))
            }
            TileOp::Dot { accumulation } => {
                let acc = self.tile(operands[0])?;
                let (a, b) = (self.tile(operands[1])?, self.tile(operands[2])?);
                tile(match accumulation {
                    None => acc.add_dot(&a, &b),
                    Some(Accumulation::I16Pairs) => acc.add_dot_of_pairs(&a, &b),
                })
            }
            TileOp::Reduce { f, axis } => tile(self.tile(operands[0])?.reduce(*f, *axis)),
            TileOp::Scan { f, axis, reverse } => tile(self.tile(operands[0])?.scan(*f, *axis, *reverse)),
            TileOp::Scratch { dtype, shape } => {
                let ty = ViewType::row_major(*dtype, shape.iter().map(|extent| Dim::from(*extent)).collect());
                let constant = |dim: &Dim| dim.as_const().expect("invariant: constant extents");
                let (shape, strides) = (&ty.shape, &ty.strides);
                let [shape, strides] =
                    [shape, strides].map(|dims| dims.iter().map(constant).collect::<Vec<_>>());
                let bytes = shape.iter().product::<i64>() as usize * dtype.size();
                self.buffers.push(vec![UNWRITTEN; bytes]);
                self.views.push(View { buffer: self.buffers.len() - 1, dtype: *dtype, shape, strides });
                Ok(vec![Datum::View(self.views.len() - 1)])
            }
            TileOp::Load { shape, steps, bounded, pad } => {
                let view = self.view(operands[0])?;
                let offsets = self.indexes(&operands[1..])?;
                tile(view.load(self.buffers, &offsets, shape, steps, bounded, *pad as u64)?)
            }
            TileOp::Store { steps, bounded } => {
                let view = self.view(operands[0])?.clone();
                let offsets = self.indexes(&operands[2..])?;
                let stored = self.tile(operands[1])?;
                view.store(self.buffers, &stored, &offsets, steps, bounded)?;
                Ok(vec![])
            }
            TileOp::Gather {} => {
                let view = self.view(operands[0])?;
                tile(view.gather(self.buffers, &*self.tile(operands[1])?)?)
            }
            TileOp::Scatter {} => {
                let view = self.view(operands[0])?.clone();
                let (stored, places) = (self.tile(operands[1])?, self.tile(operands[2])?);
                view.scatter(self.buffers, &stored, &places)?;
                Ok(vec![])
            }
            TileOp::For { step } => self.for_loop(op, *step),
            TileOp::If {} => {
                let region = func.regions_of(op)[usize::from(self.index(operands[0])? == 0)];
                self.region(region)
            }
            TileOp::Prefetch {} | TileOp::Yield {} | TileOp::Return {} => Ok(vec![]),
        }
    }

    fn for_loop(&mut self, op: OpId, step: i64) -> Result<Vec<Datum>, String> {
        let func = &self.kernel.func;
        let operands = func.operands(op);
        let (lo, hi) = (self.index(operands[0])?, self.index(operands[1])?);
        let mut carried: Vec<Datum> = operands[2..].iter().map(|value| self.values[value].clone()).collect();
        let region = func.regions_of(op)[0];
        let mut i = lo;
        while i < hi {
            for (k, arg) in func.args(region).iter().enumerate() {
                let datum = if k == 0 { Datum::Index(i) } else { carried[k - 1].clone() };
                self.values.insert(*arg, datum);
            }
            carried = self.region(region)?;
            i += step;
        }
        Ok(carried)
    }
}
