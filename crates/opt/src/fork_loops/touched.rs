//! What a step reads and changes, all that is inside of it included.

use std::collections::BTreeSet;
use std::sync::Arc;
use tegula_base::Dim;
use tegula_host::{HostFunc, HostOp};
use tegula_ir::{OpId, Value};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// A buffer that is no alias.
    Buffer(Value),
    /// The value of a size symbol.
    Symbol(Arc<str>),
}

#[derive(Default)]
pub(super) struct Touched {
    all: BTreeSet<Item>,
    changed: BTreeSet<Item>,
    /// What a package, which does not say what a launch writes, lets nobody else touch meanwhile.
    own: BTreeSet<Item>,
}

impl Touched {
    pub fn by(func: &HostFunc, op: OpId) -> Touched {
        let mut touched = Touched::default();
        touched.add(func, op);
        touched
    }

    /// Whether the order of two steps matters.
    pub fn conflicts_with(&self, other: &Touched) -> bool {
        !self.changed.is_disjoint(&other.all) || !other.changed.is_disjoint(&self.all)
    }

    /// Whether two steps may run at once, as a package tells.
    pub fn is_apart_from(&self, other: &Touched) -> bool {
        self.own.is_disjoint(&other.all) && other.own.is_disjoint(&self.all)
    }

    fn add(&mut self, func: &HostFunc, op: OpId) {
        let kind = func.kind(op);
        let operands = func.operands(op);
        let changes = |i: usize| match kind {
            HostOp::Launch { written, .. } => written.contains(&i),
            HostOp::Copy { .. } | HostOp::Transfer { .. } => i == 1,
            HostOp::Fill { .. } => true,
            HostOp::Loop { counter, .. } => *counter && i + 1 == operands.len(),
            _ => false,
        };
        if kind.is_step() {
            for (i, buffer) in operands.iter().enumerate() {
                let root = self.buffer(func, *buffer);
                let is_launched = matches!(kind, HostOp::Launch { .. }) && !is_read_only(func, root);
                if changes(i) {
                    self.changed.insert(Item::Buffer(root));
                }
                if changes(i) || is_launched {
                    self.own.insert(Item::Buffer(root));
                }
            }
        }
        match kind {
            HostOp::Launch { sizes, grid, .. } => sizes.iter().chain([grid]).for_each(|size| self.size(size)),
            HostOp::Copy { src_offset, dst_offset, bytes }
            | HostOp::Transfer { src_offset, dst_offset, bytes } => {
                [src_offset, dst_offset, bytes].into_iter().for_each(|size| self.size(size));
            }
            HostOp::Fill { bytes, .. } => self.size(bytes),
            HostOp::Assert { left, right, .. } => [left, right].into_iter().for_each(|size| self.size(size)),
            HostOp::Bind { symbol } => {
                let item = Item::Symbol(symbol.as_str().into());
                self.all.insert(item.clone());
                self.changed.insert(item.clone());
                self.own.insert(item);
            }
            _ => {}
        }
        for region in func.regions_of(op) {
            func.ops_in(*region).iter().for_each(|op| self.add(func, *op));
        }
    }

    /// Notes a buffer; gives the one behind its aliases.
    fn buffer(&mut self, func: &HostFunc, mut buffer: Value) -> Value {
        loop {
            self.size(&func.ty(buffer).bytes);
            match func.def_op(buffer).map(|op| (op, func.kind(op))) {
                Some((op, HostOp::Alias { offset })) => {
                    self.size(offset);
                    buffer = func.operand(op, 0);
                }
                _ => break,
            }
        }
        self.all.insert(Item::Buffer(buffer));
        buffer
    }

    fn size(&mut self, size: &Dim) {
        size.for_each_symbol(&mut |name| {
            self.all.insert(Item::Symbol(Arc::clone(name)));
        });
    }
}

fn is_read_only(func: &HostFunc, buffer: Value) -> bool {
    func.def_op(buffer)
        .is_some_and(|op| matches!(func.kind(op), HostOp::Constant { .. } | HostOp::Input { .. }))
}
