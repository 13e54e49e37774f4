//! A window: the memory behind each element of a tile that is loaded, or stored.
//!
//! Transposes, boxes, repetitions and unit axes of a load are windows too, so that such a tile can be loaded
//! again in the form its user wants.

use super::{Lower, facts};
use crate::schedule::builder::At;
use smallvec::SmallVec;
use std::cell::Cell;
use std::rc::Rc;
use tegula_base::{DType, Dim};
use tegula_ir::{OpId, RegionId, Value};
use tegula_tile::TileOp;

/// One axis of a view: position `offset + start + c * step` for coordinate `c`.
#[derive(Clone, Debug)]
pub(super) struct WindowAxis {
    pub offset: Value,
    /// A lower bound of `offset` where the axis is bounded, `i64::MIN` where nothing is known.
    pub least: i64,
    pub start: i64,
    pub step: i64,
    /// Whether positions may lie outside of `0..size`.
    pub bounded: bool,
    pub size: Dim,
    /// Elements.
    pub stride: Dim,
}

#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Number of the view among the kernel's.
    pub view: usize,
    pub dtype: DType,
    /// Bits of elements outside of the view, in `dtype`.
    pub pad: i64,
    pub axes: SmallVec<[WindowAxis; 4]>,
    /// The view's axis that each axis of the tile walks; none where the tile repeats.
    pub walks: SmallVec<[Option<usize>; 4]>,
    /// What the addresses of all elements share (`address.rs`), and the region of the schedule that it was made in: the same
    /// for windows that only walk the view otherwise.
    pub shared: Cell<Option<(RegionId, At)>>,
}

impl Window {
    /// The coordinate along a view's axis of a tile coordinate.
    pub fn along(&self, axis: usize, coord: &[i64]) -> i64 {
        let walking = self.walks.iter().zip(coord).filter(|(walk, _)| **walk == Some(axis));
        walking.map(|(_, c)| *c).sum()
    }

    /// Whether a tile's coordinate may lie before the view along a bounded axis.
    pub fn may_begin_before(&self, axis: usize, coord: &[i64]) -> bool {
        let data = &self.axes[axis];
        let start = data.start + self.along(axis, coord) * data.step;
        data.least == i64::MIN || data.least.saturating_add(start) < 0
    }

    /// The view's axis that lies across lanes.
    pub fn lane_axis(&self) -> Option<usize> {
        self.walks.last().copied().flatten()
    }
}

impl Lower<'_> {
    /// The window that a load says.
    pub fn loaded_window(&mut self, op: OpId) -> Rc<Window> {
        let TileOp::Load { steps, bounded, pad, .. } = self.func.kind(op) else {
            unreachable!("invariant: called on loads")
        };
        if let Some(known) = self.loaded.get(&op) {
            return known.clone();
        }
        let window = Rc::new(self.own_window(op, steps, bounded, *pad));
        self.loaded.insert(op, window.clone());
        window
    }

    /// The window of a load or store, from its view's type and its operands from `first_offset` on.
    pub fn own_window(&self, op: OpId, steps: &[i64], bounded: &[bool], pad: i64) -> Window {
        let operands = self.func.operands(op);
        let first_offset = operands.len() - steps.len();
        let view = self.view_of(op);
        let ty = self.memories.ty(view);
        let axes = (0..steps.len()).map(|i| WindowAxis {
            offset: operands[first_offset + i],
            least: match bounded[i] {
                true => facts::least(self.kernel, self.symbols, operands[first_offset + i]),
                false => i64::MIN,
            },
            start: 0,
            step: steps[i],
            bounded: bounded[i],
            size: ty.shape[i].clone(),
            stride: ty.strides[i].clone(),
        });
        let walks = (0..steps.len()).map(Some).collect();
        Window { view, dtype: ty.dtype, pad, axes: axes.collect(), walks, shared: Cell::new(None) }
    }

    /// The window of a tile that may be loaded whenever it is used: a load of memory that the kernel does not write
    /// meanwhile, or a rearrangement of one.
    pub fn window(&mut self, value: Value) -> Option<Rc<Window>> {
        if let Some(known) = self.windows.get(&value) {
            return known.clone();
        }
        let window = self.find_window(value);
        self.windows.insert(value, window.clone());
        window
    }

    fn find_window(&mut self, value: Value) -> Option<Rc<Window>> {
        let func = self.func;
        let op = func.def_op(value)?;
        let operand = || func.operand(op, 0);
        match func.kind(op) {
            TileOp::Load { .. } => self.stays(op).then(|| self.loaded_window(op)),
            TileOp::Transpose { perm } => {
                let mut window = Window::clone(&*self.window(operand())?);
                window.walks = perm.iter().map(|axis| window.walks[*axis]).collect();
                Some(Rc::new(window))
            }
            TileOp::Broadcast { shape } => {
                let mut window = Window::clone(&*self.window(operand())?);
                let from = self.tile(operand()).1;
                for (walk, (own, wide)) in window.walks.iter_mut().zip(from.iter().zip(shape)) {
                    if own != wide {
                        *walk = None;
                    }
                }
                Some(Rc::new(window))
            }
            TileOp::Extract { offsets, .. } => {
                let mut window = Window::clone(&*self.window(operand())?);
                for (walk, offset) in window.walks.clone().into_iter().zip(offsets) {
                    if let Some(axis) = walk {
                        window.axes[axis].start += offset * window.axes[axis].step;
                    }
                }
                Some(Rc::new(window))
            }
            TileOp::Reshape { shape } => {
                let from = self.tile(operand()).1;
                if !from.iter().filter(|n| **n != 1).eq(shape.iter().filter(|n| **n != 1)) {
                    return None;
                }
                let wide: Vec<usize> = (0..from.len()).filter(|axis| from[*axis] != 1).collect();
                let mut window = Window::clone(&*self.window(operand())?);
                let mut wide = wide.into_iter();
                window.walks = shape
                    .iter()
                    .map(|n| if *n == 1 { None } else { wide.next().and_then(|axis| window.walks[axis]) })
                    .collect();
                Some(Rc::new(window))
            }
            _ => None,
        }
    }
}
