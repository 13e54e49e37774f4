//! Keys and values in pages: a table names the pages of each sequence in a pool, and blocks of keys are read through it
//! where they lie, instead of being gathered into a tensor of their own first.
//!
//! Read so is `gather(pool, table)` under reshapes, transposes and slices of elements that only name its axes anew:
//! one axis of the pool is gathered by `table[sequence, page]`, its others are a page's keys, heads and elements.

use super::one;
use crate::access::{Axis, Coordinate, Lowering, TileBox};
use tegula_base::{Dim, Shape};
use tegula_ir::{OpId, Value};
use tegula_tensor::{TensorFunc, TensorOp};
use tegula_tile::IndexOp;

/// Pages of a block that are loaded one by one at most; of smaller ones each key's place is computed.
const MOST_PAGES: i64 = 16;

/// Keys or values behind a table.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    pool: Value,
    table: Value,
    /// The ops between them and attention.
    pub ops: Vec<OpId>,
    /// The pool's axes: of pages, of a page's keys, of heads, of elements.
    page: usize,
    slot: Option<usize>,
    head: Option<usize>,
    element: usize,
    first_element: i64,
    /// Keys of a page.
    length: i64,
}

/// What an axis of a value on the way is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Pool(usize),
    Sequence,
    Page,
    /// Pages, and the keys of each along this axis of the pool.
    Keys(usize),
    Unit,
}

/// The pages behind `value`, an operand `[sequence, head, key, element]`, where blocks of `block` keys are whole pages
/// or lie in one.
pub(crate) fn behind(func: &TensorFunc, value: Value, block: i64) -> Option<Pages> {
    let mut ops = Vec::new();
    let mut at = value;
    let (gather, axis) = loop {
        let op = func.def_op(at)?;
        ops.push(op);
        match func.kind(op) {
            TensorOp::Transpose { .. } | TensorOp::Reshape { .. } | TensorOp::Slice { .. } => {
                at = func.operand(op, 0);
            }
            TensorOp::Gather { axis } => break (op, *axis),
            _ => return None,
        }
    };
    let [pool, table] = *func.operands(gather) else { return None };
    let (pool_ty, table_ty) = (func.ty(pool), func.ty(table));
    let row_major = [pool_ty, table_ty].iter().all(|ty| ty.layout_or_default().is_row_major());
    if table_ty.shape.rank() != 2 || !row_major {
        return None;
    }
    let rank = pool_ty.shape.rank();
    let mut tags: Vec<Tag> = (0..axis).map(Tag::Pool).collect();
    tags.extend([Tag::Sequence, Tag::Page]);
    tags.extend((axis + 1..rank).map(Tag::Pool));
    let mut first_element = 0;
    for op in ops.iter().rev().skip(1) {
        let (from, to) = (&func.ty(func.operand(*op, 0)).shape, &func.ty(func.result(*op)).shape);
        tags = match func.kind(*op) {
            TensorOp::Transpose { perm } => perm.iter().map(|axis| tags[*axis]).collect(),
            TensorOp::Reshape { .. } => reshaped(&tags, from, to)?,
            TensorOp::Slice { starts, steps, .. } => {
                for (i, start) in starts.iter().enumerate() {
                    let whole = start.is_const(0) && from[i] == to[i];
                    let elements = tags[i] == Tag::Pool(rank - 1);
                    if !(whole || elements) || steps[i] != 1 {
                        return None;
                    }
                    first_element += if whole { 0 } else { start.as_const()? };
                }
                tags
            }
            _ => return None,
        };
    }
    let &[Tag::Sequence, head, keys, Tag::Pool(element)] = tags.as_slice() else { return None };
    let head = match head {
        Tag::Pool(head) => Some(head),
        Tag::Unit => None,
        Tag::Sequence | Tag::Page | Tag::Keys(_) => return None,
    };
    let (slot, length) = match keys {
        Tag::Keys(slot) => (Some(slot), pool_ty.shape[slot].as_const()?),
        Tag::Page => (None, 1),
        Tag::Pool(_) | Tag::Sequence | Tag::Unit => return None,
    };
    let named = |i: usize| i == axis || i == element || Some(i) == head || Some(i) == slot;
    let others = (0..rank).all(|i| named(i) || pool_ty.shape[i].is_const(1));
    let blocks = length % block == 0 || block % length == 0 && block / length <= MOST_PAGES;
    let fits = others && element == rank - 1 && (blocks || length == 1);
    let page = axis;
    fits.then_some(Pages { pool, table, ops, page, slot, head, element, first_element, length })
}

/// Whether an operand is in pages of one key each.
pub(super) fn are_single_keys(func: &TensorFunc, value: Value) -> bool {
    behind(func, value, 1).is_some_and(|pages| pages.length == 1)
}

/// The tags of a reshape's axes: axes of 1 come and go, pages and their keys become one axis.
fn reshaped(tags: &[Tag], from: &Shape, to: &Shape) -> Option<Vec<Tag>> {
    let mut old = tags.iter().copied().zip(from.iter()).peekable();
    let mut new = Vec::new();
    for extent in to.iter() {
        let goes = |(tag, dim): &(Tag, &Dim)| *tag != Tag::Page && dim.is_const(1) && !extent.is_const(1);
        while old.next_if(goes).is_some() {}
        let both = |dim: &Dim, inner: &Dim| dim.clone() * inner.clone() == *extent;
        match old.peek().copied() {
            Some((tag, dim)) if dim == extent => {
                old.next();
                new.push(tag);
            }
            Some((Tag::Page, dim)) => {
                old.next();
                let (Tag::Pool(slot), inner) = old.next()? else { return None };
                new.push(both(dim, inner).then_some(Tag::Keys(slot))?);
            }
            _ if extent.is_const(1) => new.push(Tag::Unit),
            _ => return None,
        }
    }
    old.all(|(_, dim)| dim.is_const(1)).then_some(new)
}

impl Pages {
    /// The tile of a block of keys by `columns` elements, 0 beyond the last key.
    pub(crate) fn load(
        &self,
        cx: &mut Lowering,
        [sequence, head]: [Value; 2],
        keys: Axis,
        columns: Axis,
    ) -> Result<Value, String> {
        let first = cx.b.index(self.first_element);
        let columns = Axis { offset: cx.b.add(columns.offset, first), ..columns };
        let length = cx.b.index(self.length);
        let page = cx.b.index_op(IndexOp::FloorDiv, keys.offset, length);
        if self.length == 1 {
            return self.rows(cx, [sequence, head], keys, columns);
        }
        if self.length >= keys.extent {
            let start = cx.b.mul(page, length);
            let within = cx.b.sub(keys.offset, start);
            let slots = Axis { offset: within, extent: keys.extent, step: 1, bounded: false };
            return self.run(cx, [sequence, head], page, slots, columns, keys.bounded);
        }
        let zero = cx.b.index(0);
        let slots = Axis { offset: zero, extent: self.length, step: 1, bounded: false };
        let tiles = (0..keys.extent / self.length).map(|i| {
            let i = cx.b.index(i);
            let page = cx.b.add(page, i);
            self.run(cx, [sequence, head], page, slots, columns, keys.bounded)
        });
        let tiles = tiles.collect::<Result<Vec<Value>, String>>()?;
        Ok(cx.b.concat(&tiles, 0))
    }

    /// Keys of one page of a sequence.
    fn run(
        &self,
        cx: &mut Lowering,
        [sequence, head]: [Value; 2],
        page: Value,
        slots: Axis,
        columns: Axis,
        may_end: bool,
    ) -> Result<Value, String> {
        let (pages, pool) = (cx.body.shape(self.table)[1].clone(), cx.body.shape(self.pool).clone());
        let (count, one_page) = (cx.b.size(&pages), cx.b.index(1));
        let last = cx.b.sub(count, one_page);
        let number = if may_end { cx.b.index_op(IndexOp::Min, page, last) } else { page };
        let entry = cx.pull(self.table, &[one(sequence), one(number)])?;
        let entry = cx.b.reshape(entry, &[]);
        let entry = cx.b.to_index(entry);
        let mut place = cx.wrap_index(entry, &pool[self.page]);
        if may_end {
            // Pages beyond the last one are beyond the pool, where loads give 0.
            let beyond = cx.b.index_op(IndexOp::Le, count, page);
            let extent = cx.b.size(&pool[self.page]);
            let beyond = cx.b.mul(beyond, extent);
            place = cx.b.add(place, beyond);
        }
        let bounded = may_end || pool[self.page].as_const().is_none_or(|n| n < 1);
        let zero = cx.b.index(0);
        let at: TileBox = (0..pool.rank())
            .map(|axis| match axis {
                _ if axis == self.page => Axis { bounded, ..one(place) },
                _ if Some(axis) == self.slot => slots,
                _ if Some(axis) == self.head => one(head),
                _ if axis == self.element => columns,
                _ => one(zero),
            })
            .collect();
        let view = cx.arg_view(self.pool).ok_or("pages lie in a buffer")?;
        let tile = cx.load(view, &at, 0);
        Ok(cx.b.reshape(tile, &[slots.extent, columns.extent]))
    }

    /// Keys with a page each.
    fn rows(
        &self,
        cx: &mut Lowering,
        [sequence, head]: [Value; 2],
        keys: Axis,
        columns: Axis,
    ) -> Result<Value, String> {
        let (pages, pool) = (cx.body.shape(self.table)[1].clone(), cx.body.shape(self.pool).clone());
        let extents = [keys.extent, columns.extent];
        let at = [keys, columns];
        let table = cx.arg_view(self.table).ok_or("a table of pages is a buffer")?;
        let entries = cx.load(table, &[one(sequence), keys], 0);
        let (dtype, _) = cx.b.tile_type(entries);
        let entries = cx.b.reshape(entries, &[keys.extent, 1]);
        let entries = cx.b.broadcast(entries, &extents);
        let head = cx.spread(dtype, head, &extents);
        let zero = cx.b.splat(dtype, &extents, 0);
        let coordinates: Vec<Coordinate> = (0..pool.rank())
            .map(|axis| match axis {
                _ if axis == self.page => Coordinate::Index(entries),
                _ if axis == self.element => Coordinate::Own(1),
                _ if Some(axis) == self.head => Coordinate::Index(head),
                _ => Coordinate::Index(zero),
            })
            .collect();
        let tile = cx.gather_at(self.pool, &coordinates, &at.iter().copied().collect())?;
        if !keys.bounded && !columns.bounded {
            return Ok(tile);
        }
        let (dtype, _) = cx.b.tile_type(tile);
        let nothing = cx.b.splat(dtype, &extents, 0);
        let mut tile = tile;
        for (axis, extent) in [(0, &pages), (1, &pool[self.element])] {
            if at[axis].bounded {
                let inside = cx.inside(&at, axis, extent);
                tile = cx.b.elementwise(tegula_ir::ScalarOp::Select, &[inside, tile, nothing]);
            }
        }
        Ok(tile)
    }
}
