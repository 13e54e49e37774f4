//! Lowers the ops of regions in their order: indexes, stores, loops and branches.

use super::Lower;
use crate::schedule::{Builder, IndexOp, LoopLevel};
use std::cell::RefCell;
use tegula_ir::{Def, OpId, RegionId, Value};
use tegula_tile::{IndexOp as TileIndexOp, TileFunc, TileOp, TileType};

impl Lower<'_> {
    pub fn region_ops(&mut self, b: &mut Builder, region: RegionId) {
        for op in self.func.ops_in(region) {
            b.location = self.func.op(*op).location.clone();
            self.op(b, *op);
        }
    }

    fn op(&mut self, b: &mut Builder, op: OpId) {
        let func = self.func;
        let operands = func.operands(op);
        let index = match func.kind(op) {
            TileOp::Const { value } => b.index(*value),
            TileOp::Size { dim } => self.size(b, dim),
            TileOp::Index { op: kind } => {
                b.index_op(index_op(*kind), self.index(operands[0]), self.index(operands[1]))
            }
            TileOp::ToIndex {} => self.scalar_index(b, operands[0]),
            TileOp::Scratch { .. } => return self.place_scratch(op),
            TileOp::Load { .. } | TileOp::Gather {} => return self.note_read(op),
            TileOp::Store { .. } => {
                self.settle_reads(b, op);
                return self.store(b, op);
            }
            TileOp::Scatter {} => {
                self.settle_reads(b, op);
                return self.scatter(b, op);
            }
            TileOp::Prefetch {} => return self.prefetch(b, op),
            TileOp::For { step } => return self.for_loop(b, op, *step),
            TileOp::If {} => return self.branch(b, op),
            // Made where they are needed, or by the op around.
            TileOp::FromIndex { .. }
            | TileOp::Splat { .. }
            | TileOp::Iota { .. }
            | TileOp::Elementwise { .. }
            | TileOp::Broadcast { .. }
            | TileOp::Reshape { .. }
            | TileOp::Transpose { .. }
            | TileOp::Extract { .. }
            | TileOp::Concat { .. }
            | TileOp::Dot { .. }
            | TileOp::Reduce { .. }
            | TileOp::Scan { .. }
            | TileOp::Yield {}
            | TileOp::Return {} => return,
        };
        self.bind_index(func.result(op), index);
    }

    fn for_loop(&mut self, b: &mut Builder, op: OpId, step: i64) {
        let func = self.func;
        let (operands, body) = (func.operands(op), func.regions_of(op)[0]);
        self.before_region(b, op);
        let inits = self.flatten(b, &operands[2..]);
        let (lo, hi) = (self.index(operands[0]), self.index(operands[1]));
        let results = b.for_(lo, hi, step, level(func, body), &inits, |b, iv, carried| {
            self.bind_index(func.args(body)[0], iv);
            self.region(b, body, &func.args(body)[1..], carried)
        });
        self.unflatten(func.results(op), &results);
    }

    fn branch(&mut self, b: &mut Builder, op: OpId) {
        let func = self.func;
        self.before_region(b, op);
        let condition = self.index(func.operand(op, 0));
        let regions = func.regions_of(op);
        let cx = RefCell::new(&mut *self);
        let results = b.if_(
            condition,
            |b| cx.borrow_mut().region(b, regions[0], &[], &[]),
            |b| cx.borrow_mut().region(b, regions[1], &[], &[]),
        );
        self.unflatten(func.results(op), &results);
    }

    /// The ops of a region in a scope of its own; what its `yield` gives.
    fn region(&mut self, b: &mut Builder, region: RegionId, args: &[Value], values: &[Value]) -> Vec<Value> {
        let func = self.func;
        let open = self.open_reads.len();
        self.made.open();
        self.unflatten(args, values);
        self.region_ops(b, region);
        let end = func.terminator(region).expect("invariant: a verified region ends with `yield`");
        let yielded = self.flatten(b, func.operands(end));
        self.made.close();
        self.open_reads.truncate(open);
        yielded
    }

    /// Makes what the regions of an op use from outside, and reads that they may change.
    fn before_region(&mut self, b: &mut Builder, op: OpId) {
        let func = self.func;
        for region in func.regions_of(op) {
            self.settle_reads_for_region(b, *region);
        }
        let mut captured = Vec::new();
        for region in func.regions_of(op) {
            collect_captured(func, *region, *region, &mut captured);
        }
        for tile in captured {
            self.force(b, tile);
        }
    }

    /// Indexes as they are, tiles as all their pieces.
    fn flatten(&mut self, b: &mut Builder, values: &[Value]) -> Vec<Value> {
        let mut flat = Vec::new();
        for value in values {
            match self.func.ty(*value) {
                TileType::Index => flat.push(self.index(*value)),
                TileType::Tile { .. } => flat.extend(self.force(b, *value)),
                TileType::View(_) => unreachable!("invariant: views are no results"),
            }
        }
        flat
    }

    fn unflatten(&mut self, values: &[Value], flat: &[Value]) {
        let mut flat = flat.iter();
        let mut next = || *flat.next().expect("invariant: as many pieces as were flattened");
        for value in values {
            match self.func.ty(*value) {
                TileType::Index => self.bind_index(*value, next()),
                TileType::Tile { .. } => {
                    for piece in 0..self.geometry(*value).pieces() {
                        let own = next();
                        self.bind_piece(*value, piece, own);
                    }
                }
                TileType::View(_) => unreachable!("invariant: views are no results"),
            }
        }
    }
}

/// Tiles that ops in a region use and that are defined outside of it, in order of use.
fn collect_captured(func: &TileFunc, outer: RegionId, region: RegionId, captured: &mut Vec<Value>) {
    for op in func.ops_in(region) {
        for operand in func.operands(*op) {
            let tile = func.ty(*operand).as_tile().is_some();
            if tile && !is_inside(func, *operand, outer) && !captured.contains(operand) {
                captured.push(*operand);
            }
        }
        for inner in func.regions_of(*op) {
            collect_captured(func, outer, *inner, captured);
        }
    }
}

/// Whether a value is defined in a region or below.
fn is_inside(func: &TileFunc, value: Value, outer: RegionId) -> bool {
    let mut region = match func.def(value) {
        Def::Arg(region, _) => Some(region),
        Def::Result(op, _) => func.parent(op),
    };
    while let Some(at) = region {
        if at == outer {
            return true;
        }
        region = func.owner(at).and_then(|owner| func.parent(owner));
    }
    false
}

/// A loop without loops works in L1; each loop around it one level further out.
fn level(func: &TileFunc, body: RegionId) -> LoopLevel {
    match loops_below(func, body) {
        0 => LoopLevel::L1,
        1 => LoopLevel::L2,
        _ => LoopLevel::L3,
    }
}

fn loops_below(func: &TileFunc, region: RegionId) -> u32 {
    let below = func.ops_in(region).iter().map(|op| {
        let own = u32::from(matches!(func.kind(*op), TileOp::For { .. }));
        own + func.regions_of(*op).iter().map(|inner| loops_below(func, *inner)).max().unwrap_or(0)
    });
    below.max().unwrap_or(0)
}

fn index_op(op: TileIndexOp) -> IndexOp {
    match op {
        TileIndexOp::Add => IndexOp::Add,
        TileIndexOp::Sub => IndexOp::Sub,
        TileIndexOp::Mul => IndexOp::Mul,
        TileIndexOp::FloorDiv => IndexOp::FloorDiv,
        TileIndexOp::Mod => IndexOp::Mod,
        TileIndexOp::Min => IndexOp::Min,
        TileIndexOp::Max => IndexOp::Max,
        TileIndexOp::Eq => IndexOp::Eq,
        TileIndexOp::Ne => IndexOp::Ne,
        TileIndexOp::Lt => IndexOp::Lt,
        TileIndexOp::Le => IndexOp::Le,
        TileIndexOp::And => IndexOp::And,
    }
}
