//! Ops that move elements: each vector of the result is put together from pieces of the operand's vectors.

use super::{Lower, Tensor, chunks, row, rows, squeezed, vectors};
use crate::flow::{Access, How, Kind, Part, Piece, ValueId};
use std::collections::BTreeMap;
use tegula_backend::Claim;
use tegula_base::{DType, Dim};
use tegula_ir::{Op, OpId};
use tegula_isa_lpu::word::Element;
use tegula_tensor::{PadMode, TensorOp};

/// Lanes of a result that come from one vector, and move alike.
struct Moved {
    from: (ValueId, u32),
    how: How,
    lanes: Vec<usize>,
}

/// Where an element comes from: which operand, and its place there in row-major order.
pub(super) type Source = Option<(usize, usize)>;

pub(crate) fn claims(kind: &TensorOp) -> Claim {
    match kind {
        TensorOp::Reshape { .. }
        | TensorOp::Transpose { .. }
        | TensorOp::Broadcast { .. }
        | TensorOp::Concat { .. } => Claim::Yes,
        TensorOp::Slice { starts, .. } if starts.iter().all(|start| start.as_const().is_some()) => Claim::Yes,
        TensorOp::Pad { low, high, mode: PadMode::Constant | PadMode::Edge }
            if low.iter().chain(high).all(|size| size.as_const().is_some()) =>
        {
            Claim::Yes
        }
        other => Claim::No(format!("the chip has no form of `{}`", other.name()).into()),
    }
}

impl Lower<'_> {
    pub(super) fn movement(
        &mut self,
        op: OpId,
        kind: &TensorOp,
        shape: Vec<usize>,
        dtype: DType,
    ) -> Result<Tensor, String> {
        let fill = match kind {
            // The constant is the second operand.
            TensorOp::Pad { mode: PadMode::Constant, .. } => match self.values.get(&self.func.operand(op, 1))
            {
                Some(super::Lowered::Known(known)) => {
                    super::constants::uniform(known).ok_or("the padding is no number")?
                }
                _ => return Err("the padding is computed".to_string()),
            },
            _ => 0,
        };
        let (mut operands, mut shapes) = (Vec::new(), Vec::new());
        let n = if matches!(kind, TensorOp::Pad { .. }) { 1 } else { self.func.operands(op).len() };
        let func = self.func;
        for &value in &func.operands(op)[..n] {
            operands.push(self.tensor(value)?);
            shapes.push(self.shape(value)?);
        }
        self.moved_as(kind, &operands, &shapes, shape, dtype, fill)
    }

    /// What a movement of this kind makes of tensors of `shapes`, whatever their layouts are.
    pub(super) fn moved_as(
        &mut self,
        kind: &TensorOp,
        operands: &[Tensor],
        shapes: &[Vec<usize>],
        shape: Vec<usize>,
        dtype: DType,
        fill: u32,
    ) -> Result<Tensor, String> {
        let from = shapes[0].clone();
        let (to_strides, from_strides) = (strides(&shape), strides(&from));
        let coordinate = |flat: usize, axis: usize| flat / to_strides[axis] % shape[axis].max(1);
        let constant = |dim: &Dim| dim.as_const().ok_or("a size is open".to_string());
        let all = |dims: &[Dim]| dims.iter().map(constant).collect::<Result<Vec<i64>, String>>();
        // Per axis, the operand's coordinate; none: the fill.
        let mapped = |at: &dyn Fn(usize, usize) -> Option<usize>, flat: usize| -> Source {
            let mut place = 0;
            for (axis, stride) in from_strides.iter().enumerate() {
                place += at(axis, coordinate(flat, axis))? * stride;
            }
            Some((0, place))
        };
        match kind {
            TensorOp::Reshape { .. } => Ok(Tensor { dtype, ..operands[0].clone() }),
            TensorOp::Transpose { perm } => {
                let source = |flat: usize| {
                    let place =
                        (0..shape.len()).map(|axis| coordinate(flat, axis) * from_strides[perm[axis]]).sum();
                    Some((0, place))
                };
                Ok(self.moved(operands, squeezed(&shape).to_vec(), dtype, fill, &source))
            }
            TensorOp::Broadcast { .. } => {
                let at = |axis: usize, i: usize| Some(if from[axis] == 1 { 0 } else { i });
                Ok(self.moved(operands, squeezed(&shape).to_vec(), dtype, fill, &|flat| mapped(&at, flat)))
            }
            TensorOp::Slice { starts, steps, .. } => {
                let starts = all(starts)?;
                let at = |axis: usize, i: usize| usize::try_from(starts[axis] + i as i64 * steps[axis]).ok();
                Ok(self.moved(operands, squeezed(&shape).to_vec(), dtype, fill, &|flat| mapped(&at, flat)))
            }
            TensorOp::Pad { low, mode, .. } => {
                let low = all(low)?;
                let at = |axis: usize, i: usize| {
                    let i = i as i64 - low[axis];
                    let i = if *mode == PadMode::Edge { i.clamp(0, from[axis] as i64 - 1) } else { i };
                    usize::try_from(i).ok().filter(|i| *i < from[axis])
                };
                Ok(self.moved(operands, squeezed(&shape).to_vec(), dtype, fill, &|flat| mapped(&at, flat)))
            }
            TensorOp::Concat { axis } => {
                let source = |flat: usize| {
                    let mut i = coordinate(flat, *axis);
                    let mut operand = 0;
                    while i >= shapes[operand][*axis] {
                        i -= shapes[operand][*axis];
                        operand += 1;
                    }
                    let own = strides(&shapes[operand]);
                    let at = |other: usize| if other == *axis { i } else { coordinate(flat, other) };
                    Some((operand, (0..shape.len()).map(|other| at(other) * own[other]).sum()))
                };
                Ok(self.moved(operands, squeezed(&shape).to_vec(), dtype, fill, &source))
            }
            other => Err(format!("the chip has no form of `{}`", other.name())),
        }
    }

    /// Whether two shapes of the same elements have the same vectors.
    pub(super) fn lies_alike(&self, a: &[usize], b: &[usize]) -> bool {
        let whole = |shape: &[usize]| row(shape).is_multiple_of(self.lanes());
        row(a) == row(b) || whole(a) && whole(b)
    }

    /// A tensor whose elements come from others. `source` says where each comes from; those from nowhere are `fill`.
    pub(super) fn moved(
        &mut self,
        operands: &[Tensor],
        shape: Vec<usize>,
        dtype: DType,
        fill: u32,
        source: &dyn Fn(usize) -> Source,
    ) -> Tensor {
        let lanes = self.lanes();
        let (row, chunks) = (row(&shape), chunks(&shape, lanes));
        let mut sources: Vec<Vec<Source>> = Vec::new();
        for r in 0..rows(&shape) {
            for chunk in 0..chunks {
                let columns = (chunk * lanes)..row.min(chunk * lanes + lanes);
                sources.push(columns.map(|column| source(r * row + column)).collect());
            }
        }
        let moved: Vec<Vec<Moved>> = sources.iter().map(|own| self.pieces(operands, own, row == 1)).collect();
        let pieces = moved.iter().map(Vec::len).sum();
        if let Some(turned) = self.transposed(operands, &sources, (&shape, dtype), pieces) {
            return turned;
        }
        if let Some(parts) = self.parts(&moved, &sources, fill) {
            let value = self.assembled(parts, Element::I32, moved.len());
            return Tensor { value, shape, dtype };
        }
        let mut merged: Vec<Vec<Piece>> = Vec::new();
        for (own, sources) in moved.iter().zip(&sources) {
            // Nobody looks at the lanes behind a row.
            let whole = own.len() == 1 && own[0].lanes.len() == sources.len();
            let piece = |moved: &Moved| {
                let mask = (!whole).then(|| self.mask(&moved.lanes));
                Piece { from: moved.from, how: moved.how, mask }
            };
            merged.push(own.iter().map(piece).collect());
        }
        let n = merged.len() as u32;
        let value = self.fresh(Element::I32, vectors(&shape, lanes), false);
        self.flow(&[n], Kind::Merge { fill, vectors: merged }, Access::dense(value, 0, &[n]));
        Tensor { value, shape, dtype }
    }

    /// Pieces as parts that are whole superlanes, those that move alike side by side. None: some are not, or lanes of a
    /// superlane are filled beside others.
    fn parts(&mut self, moved: &[Vec<Moved>], sources: &[Vec<Source>], fill: u32) -> Option<Vec<Part>> {
        let (size, vector) = (self.lpu.lanes as usize, self.lpu.vector() as usize);
        let has_masks =
            self.lpu.mem.mask_lanes as usize == size && vector.div_ceil(size) <= u32::BITS as usize;
        let mut parts: Vec<(bool, Part)> = Vec::new();
        let mut filled = None;
        for (to, (own, sources)) in moved.iter().zip(sources).enumerate() {
            let mut pieces: Vec<((ValueId, u32), How, u32)> = Vec::new();
            for piece in own {
                pieces.push((piece.from, piece.how, superlanes(&piece.lanes, size, sources.len())?));
            }
            let taken: usize = own.iter().map(|piece| piece.lanes.len()).sum();
            if taken != sources.len() {
                let left: Vec<usize> = (0..sources.len()).filter(|lane| sources[*lane].is_none()).collect();
                let from = (*filled.get_or_insert_with(|| self.splat(fill)), 0);
                pieces.push((from, How::Stay, superlanes(&left, size, sources.len())?));
            }
            if pieces.len() > 1 && !has_masks {
                return None;
            }
            for (at, (from, how, superlanes)) in pieces.into_iter().enumerate() {
                let superlanes = if at == 0 { u32::MAX } else { superlanes };
                let size = size as u32;
                parts.push((at == 0, Part { from, how, to: to as u32, superlanes, size }));
            }
        }
        // Words repeat where parts move alike. The first of each vector come first.
        parts.sort_by_key(|(is_first, part)| (!is_first, part.how, part.superlanes));
        Some(parts.into_iter().map(|(_, part)| part).collect())
    }

    /// The pieces of a vector whose lanes come from `sources`; `spread`: its one element goes to all lanes.
    fn pieces(&self, operands: &[Tensor], sources: &[Source], spread: bool) -> Vec<Moved> {
        let lanes = self.lanes();
        // Lanes by where they come from: by how far they move, and by the lane that they come from.
        let mut shifted: BTreeMap<(ValueId, u32, i64), Vec<usize>> = BTreeMap::new();
        let mut broadcast: BTreeMap<(ValueId, u32, usize), Vec<usize>> = BTreeMap::new();
        let mut stay: BTreeMap<(ValueId, u32), Vec<usize>> = BTreeMap::new();
        for (lane, source) in sources.iter().enumerate() {
            let Some((operand, flat)) = *source else { continue };
            let Tensor { value, shape, .. } = &operands[operand];
            let (own_row, own_chunks) = (row(shape), chunks(shape, lanes));
            let (r, column) = (flat / own_row, flat % own_row);
            let vector = (r * own_chunks + column / lanes) as u32;
            if own_row == 1 {
                stay.entry((*value, vector)).or_default().push(lane);
                continue;
            }
            let from = column % lanes;
            shifted.entry((*value, vector, lane as i64 - from as i64)).or_default().push(lane);
            broadcast.entry((*value, vector, from)).or_default().push(lane);
        }
        let by_lane =
            spread || broadcast.len() < shifted.len() || shifted.values().all(|lanes| lanes.len() == 1);
        let mut found: Vec<((ValueId, u32), How, Vec<usize>)> = Vec::new();
        found.extend(stay.into_iter().map(|(from, lanes)| (from, How::Stay, lanes)));
        if by_lane {
            let own = broadcast.into_iter();
            found.extend(
                own.map(|((value, vector, lane), to)| ((value, vector), How::Broadcast(lane as u16), to)),
            );
        } else {
            let how = |by: i64| if by == 0 { How::Stay } else { How::Shift(by as i16) };
            found.extend(shifted.into_iter().map(|((value, vector, by), to)| ((value, vector), how(by), to)));
        }
        found.into_iter().map(|(from, how, lanes)| Moved { from, how, lanes }).collect()
    }
}

/// The superlanes that some lanes of a row of `row` are. None: they are part of one.
fn superlanes(lanes: &[usize], size: usize, row: usize) -> Option<u32> {
    let mut superlanes = 0;
    for own in lanes.chunk_by(|a, b| a / size == b / size) {
        let superlane = own[0] / size;
        // The last one of a row has fewer lanes.
        if own.len() != size.min(row - superlane * size) {
            return None;
        }
        superlanes |= 1u32.checked_shl(superlane as u32)?;
    }
    Some(superlanes)
}

/// Row-major strides, in elements.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}
