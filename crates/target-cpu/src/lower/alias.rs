//! Keeps reads of memory that a kernel also writes before the writes that follow them.
//!
//! Pieces are made late. A read of a view that a store may change must not be late: such reads are kept as
//! *open*, and made whole before a store to their memory, unless the store writes exactly the box that was read
//! and computes it element by element (then each piece is read right before it is written).

use super::Lower;
use crate::schedule::Builder;
use tegula_base::HashSet;
use tegula_ir::{OpId, RegionId, Value};
use tegula_tile::TileOp;

impl Lower<'_> {
    /// Notes a read; called where it stands.
    pub fn note_read(&mut self, op: OpId) {
        if self.memories.is_written(self.view_of(op)) {
            self.open_reads.push(op);
        }
    }

    /// Before a store: makes the open reads that it may change.
    pub fn settle_reads(&mut self, b: &mut Builder, store: OpId) {
        let view = self.view_of(store);
        for read in self.open_reads.clone() {
            if self.memories.may_alias(view, self.view_of(read)) && !self.is_elementwise_update(read, store) {
                self.make_read(b, read);
            }
        }
    }

    /// Before a region: makes the open reads that some store in it may change.
    pub fn settle_reads_for_region(&mut self, b: &mut Builder, region: RegionId) {
        let mut written = Vec::new();
        self.collect_stores(region, &mut written);
        for read in self.open_reads.clone() {
            let from = self.view_of(read);
            if written.iter().any(|view| self.memories.may_alias(*view, from)) {
                self.make_read(b, read);
            }
        }
    }

    fn make_read(&mut self, b: &mut Builder, read: OpId) {
        self.open_reads.retain(|open| *open != read);
        self.force(b, self.func.result(read));
    }

    /// Whether each element that `store` writes depends on that very element of `read` and no other.
    fn is_elementwise_update(&self, read: OpId, store: OpId) -> bool {
        let func = self.func;
        let (TileOp::Load { steps, bounded, .. }, TileOp::Store { steps: to, bounded: to_bounded }) =
            (func.kind(read), func.kind(store))
        else {
            return false;
        };
        let same_box = steps == to && bounded == to_bounded;
        let same_place = func.operands(read)[1..] == func.operands(store)[2..];
        let same_strides =
            self.memories.ty(self.view_of(read)).strides == self.memories.ty(self.view_of(store)).strides;
        same_box
            && same_place
            && same_strides
            && func.users(func.result(read)).iter().all(|user| {
                // Whoever reads it later finds the pieces made.
                *user == store || matches!(func.kind(*user), TileOp::Elementwise { .. })
            })
            && self.is_elementwise_cone(func.operand(store, 1), func.result(read))
    }

    /// Whether `value` is computed from `read`, and through elementwise ops alone on every path.
    fn is_elementwise_cone(&self, value: Value, read: Value) -> bool {
        let (mut elementwise, mut other) = (vec![value], Vec::new());
        let (mut seen, mut visited) = (HashSet::default(), HashSet::default());
        let mut reached = false;
        while let Some(value) = elementwise.pop() {
            reached |= value == read;
            if value == read || !seen.insert(value) {
                continue;
            }
            match self.func.def_op(value) {
                Some(op) if matches!(self.func.kind(op), TileOp::Elementwise { .. }) => {
                    elementwise.extend(self.func.operands(op));
                }
                _ => other.push(value),
            }
        }
        while let Some(value) = other.pop() {
            if value == read {
                return false;
            }
            // Region arguments and results are bound already.
            let op = self.func.def_op(value).filter(|op| self.func.regions_of(*op).is_empty());
            if let Some(op) = op.filter(|_| visited.insert(value)) {
                other.extend(self.func.operands(op));
            }
        }
        reached
    }

    fn collect_stores(&self, region: RegionId, views: &mut Vec<usize>) {
        self.func.ops_in(region).iter().for_each(|op| self.collect_stores_of(*op, views));
    }

    fn collect_stores_of(&self, op: OpId, views: &mut Vec<usize>) {
        if let TileOp::Store { .. } | TileOp::Scatter {} = self.func.kind(op) {
            views.push(self.view_of(op));
        }
        self.func.regions_of(op).iter().for_each(|inner| self.collect_stores(*inner, views));
    }

    /// Whether what a load reads stays as it is for as long as the load's value may be used: no store behind it, in its
    /// region, may change it.
    pub fn stays(&self, load: OpId) -> bool {
        let view = self.view_of(load);
        if !self.memories.is_written(view) {
            return true;
        }
        let Some(region) = self.func.parent(load) else { return false };
        let mut written = Vec::new();
        let behind = self.func.ops_in(region).iter().rev().take_while(|op| **op != load);
        behind.for_each(|op| self.collect_stores_of(*op, &mut written));
        !written.iter().any(|store| self.memories.may_alias(*store, view))
    }

    /// The number of the view that a memory op uses.
    pub fn view_of(&self, op: OpId) -> usize {
        self.memories.number(self.func, op)
    }
}
