//! Movements that turn columns into rows: superlanes are transposed, then put together.
//!
//! A block of a result, as many lanes as a superlane has, comes from one lane of as many vectors. These vectors are transposed
//! once for all blocks that come from them; a block is then a superlane of one of the transposed vectors.

use super::moves::Source;
use super::{Lower, Tensor, chunks, row};
use crate::flow::{Access, How, Kind, Part, ValueId};
use std::collections::BTreeMap;
use tegula_base::DType;
use tegula_isa_lpu::word::Element;

/// What one block comes from: vectors, and the lane of all of them.
type Block = (Vec<(ValueId, u32)>, usize);

/// Pieces that one part saves at the least.
const WORTH: usize = 4;

impl Lower<'_> {
    /// A movement by transposes. None: some block comes from several lanes, or there are too few pieces to save.
    /// `pieces`: what the movement costs otherwise.
    pub(super) fn transposed(
        &mut self,
        operands: &[Tensor],
        sources: &[Vec<Source>],
        (shape, dtype): (&[usize], DType),
        pieces: usize,
    ) -> Option<Tensor> {
        let size = self.lpu.lanes as usize;
        let superlanes = (self.lpu.vector() as usize).div_ceil(size);
        if self.lpu.mem.mask_lanes as usize != size
            || self.lpu.mxm.load_streams as usize != size
            || superlanes > u32::BITS as usize
        {
            return None;
        }
        let element = self.program.value(operands.first()?.value).element;
        if operands.iter().any(|tensor| self.program.value(tensor.value).element != element) {
            return None;
        }
        let mut groups: BTreeMap<Vec<(ValueId, u32)>, u32> = BTreeMap::new();
        let mut blocks: Vec<Vec<Block>> = Vec::new();
        for own in sources {
            let own =
                own.chunks(size).map(|lanes| self.block(operands, lanes)).collect::<Option<Vec<Block>>>()?;
            for (vectors, _) in &own {
                let next = groups.len() as u32;
                groups.entry(vectors.clone()).or_insert(next);
            }
            blocks.push(own);
        }
        let parts: usize = blocks.iter().map(Vec::len).sum();
        if (parts + groups.len() * size) * WORTH > pieces {
            return None;
        }
        let count = (groups.len() * size) as u32;
        let turned = self.gathered(&groups, element, size, count);
        let own = |(vectors, lane): &Block, at: usize, to: usize| {
            let group = groups.get(vectors).copied().unwrap_or(0);
            let by = (at as i64 - (lane / size) as i64) * size as i64;
            Part {
                from: (turned, group * size as u32 + (lane % size) as u32),
                how: if by == 0 { How::Stay } else { How::Shift(by as i16) },
                to: to as u32,
                superlanes: if at == 0 { u32::MAX } else { 1 << at },
                size: size as u32,
            }
        };
        let rows = blocks.iter().enumerate();
        let parts = rows.flat_map(|(to, row)| row.iter().enumerate().map(move |(at, block)| (block, at, to)));
        // The first of each vector come first.
        let mut parts: Vec<(usize, Part)> = parts.map(|(block, at, to)| (at, own(block, at, to))).collect();
        parts.sort_by_key(|(at, _)| *at);
        let value = self.assembled(parts.into_iter().map(|(_, part)| part).collect(), element, blocks.len());
        Some(Tensor { value, shape: shape.to_vec(), dtype })
    }

    /// A value that is put together from parts.
    pub(super) fn assembled(&mut self, parts: Vec<Part>, element: Element, vectors: usize) -> ValueId {
        let value = self.fresh(element, vectors as u32, false);
        let n = parts.len() as u32;
        self.flow(&[n], Kind::Assemble { parts }, Access::dense(value, 0, &[n]));
        value
    }

    /// The transposes of groups of vectors, each of `size`.
    fn gathered(
        &mut self,
        groups: &BTreeMap<Vec<(ValueId, u32)>, u32>,
        element: Element,
        size: usize,
        count: u32,
    ) -> ValueId {
        let mut order: Vec<(u32, &Vec<(ValueId, u32)>)> = groups.iter().map(|(own, at)| (*at, own)).collect();
        order.sort_unstable();
        let all = order.iter().flat_map(|(_, own)| own.iter());
        let whole = |(to, from): (usize, &(ValueId, u32))| Part {
            from: *from,
            how: How::Stay,
            to: to as u32,
            superlanes: u32::MAX,
            size: size as u32,
        };
        let parts = all.enumerate().map(whole).collect();
        let from = self.fresh(element, count, true);
        self.flow(&[count], Kind::Assemble { parts }, Access::dense(from, 0, &[count]));
        let to = self.fresh(element, count, true);
        let loops = [count / size as u32];
        let at = |value| Access { value, base: 0, strides: smallvec::smallvec![size as u32] };
        self.flow(&loops, Kind::Transpose { from: at(from), size: size as u32 }, at(to));
        to
    }

    /// The vectors of a block's lanes, and their lane. Lanes that are not there come from the first vector again.
    fn block(&self, operands: &[Tensor], sources: &[Source]) -> Option<Block> {
        let lanes = self.lanes();
        let mut vectors = Vec::new();
        let mut from = None;
        for source in sources {
            let (operand, flat) = (*source)?;
            let Tensor { value, shape, .. } = &operands[operand];
            let (own_row, own_chunks) = (row(shape), chunks(shape, lanes));
            let (r, column) = (flat / own_row, flat % own_row);
            if own_row == 1 || *from.get_or_insert(column % lanes) != column % lanes {
                return None;
            }
            vectors.push((*value, (r * own_chunks + column / lanes) as u32));
        }
        let first = *vectors.first()?;
        vectors.resize(self.lpu.lanes as usize, first);
        Some((vectors, from?))
    }
}
