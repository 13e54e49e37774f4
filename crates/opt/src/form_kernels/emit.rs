//! Builds the kernels that were planned, in an order near the program's.
//!
//! An op that one kernel computes moves into it, results and all; one that several compute is copied. Whoever reads a
//! value from outside of the kernel that computes it is told the kernel's result instead when it is placed.

use super::groups::{Operands, Place, Plan, PlannedKernel};
use super::order::for_each_use;
use crate::kernel_names::kernel_names;
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_base::{EntityId, HashSet};
use tegula_ir::op::Types;
use tegula_ir::pass::PassCx;
use tegula_ir::rewrite::Cloner;
use tegula_ir::{OpId, RegionId, Value};
use tegula_tensor::{TensorFunc, TensorOp, TensorType};

/// Kernels and host ops take the region; gives the ops that have no place any more.
pub(super) fn emit(func: &mut TensorFunc, region: RegionId, mut plan: Plan, cx: &mut PassCx) -> Vec<OpId> {
    // Every op is placed anew.
    func.set_ops(region, vec![]);
    let turns = std::mem::take(&mut plan.listing.program_order);
    let mut emitter = Emitter {
        region,
        done_kernels: vec![false; plan.kernels.len()],
        done_ops: vec![false; plan.listing.ops.len()],
        renamed: vec![None; func.value_count()],
        ops: Vec::with_capacity(plan.listing.ops.len()),
        cloner: Cloner::within(),
        waiting: Vec::new(),
        roots: RootNames::of(func, &plan),
        plan,
    };
    // A kernel's turn is its last member's.
    let mut last = vec![0; emitter.plan.kernels.len()];
    for (turn, at) in turns.iter().enumerate() {
        if let Place::Kernel(kernel) = emitter.plan.places[*at] {
            last[kernel] = turn;
        }
    }
    for (turn, at) in turns.into_iter().enumerate() {
        match emitter.plan.places[at] {
            Place::Kernel(kernel) if last[kernel] == turn => emitter.place(func, Item::Kernel(kernel)),
            Place::Kernel(_) | Place::Gone => {}
            Place::Host => emitter.place(func, Item::Op(at)),
        }
    }
    emitter.finish(func, cx)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Kernel(usize),
    /// An op that stays outside, by its position.
    Op(usize),
}

struct Emitter {
    region: RegionId,
    plan: Plan,
    done_kernels: Vec<bool>,
    done_ops: Vec<bool>,
    /// What a value is called outside of the kernel that computes it, by the value's index.
    renamed: Vec<Option<Value>>,
    /// The region's ops to be.
    ops: Vec<OpId>,
    /// What values are called in the kernel that is built.
    cloner: Cloner<'static, TensorOp>,
    /// Items to place, the next one last, and whether all that each reads is placed.
    waiting: Vec<(Item, bool)>,
    roots: RootNames,
}

/// The names of the ops that kernels are named after.
struct RootNames(HashSet<Arc<str>>);

impl RootNames {
    /// Of nothing, where no op is copied.
    fn of(func: &TensorFunc, plan: &Plan) -> RootNames {
        if !plan.copied.contains(&true) {
            return RootNames(HashSet::default());
        }
        let roots = plan.listing.ops.iter().filter(|op| func.names_kernel(**op));
        RootNames(roots.flat_map(|op| func.names_of(*op).take(func.root_name_count(*op)).cloned()).collect())
    }

    /// A part of a root's node that several kernels need is a copy: the node is the root's kernel's alone.
    fn keep_names(&self, func: &mut TensorFunc, copy: OpId) {
        if self.0.is_empty() || func.names_kernel(copy) {
            return;
        }
        let kept: SmallVec<[Arc<str>; 8]> =
            func.names_of(copy).filter(|name| !self.0.contains(*name)).cloned().collect();
        if kept.len() < func.names_of(copy).count() {
            func.set_names(copy, &kept, 0);
        }
    }
}

impl Emitter {
    /// Places an item after all that it reads.
    fn place(&mut self, func: &mut TensorFunc, item: Item) {
        self.waiting.push((item, false));
        while let Some((item, ready)) = self.waiting.pop() {
            if self.is_done(item) {
                continue;
            }
            if ready {
                self.build(func, item);
                continue;
            }
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.push((item, true));
            let first = waiting.len();
            self.for_each_need(func, item, &mut |need| {
                if !self.is_done(need) {
                    waiting.push((need, false));
                }
            });
            waiting[first..].reverse();
            self.waiting = waiting;
        }
    }

    fn is_done(&self, item: Item) -> bool {
        match item {
            Item::Kernel(kernel) => self.done_kernels[kernel],
            Item::Op(at) => self.done_ops[at],
        }
    }

    fn for_each_need(&self, func: &TensorFunc, item: Item, f: &mut dyn FnMut(Item)) {
        let mut need = |value: Value| {
            let Some(def) = self.plan.listing.definer(value) else { return };
            match self.plan.places[def] {
                Place::Host => f(Item::Op(def)),
                Place::Kernel(kernel) => f(Item::Kernel(kernel)),
                Place::Gone => {}
            }
        };
        match item {
            Item::Kernel(kernel) => self.plan.kernels[kernel].operands.iter().for_each(|value| need(*value)),
            Item::Op(at) => for_each_use(func, self.plan.listing.ops[at], &mut need),
        }
    }

    fn build(&mut self, func: &mut TensorFunc, item: Item) {
        match item {
            Item::Op(at) => {
                self.done_ops[at] = true;
                self.rename_operands(func, self.plan.listing.ops[at]);
                self.ops.push(self.plan.listing.ops[at]);
            }
            Item::Kernel(kernel) => {
                self.done_kernels[kernel] = true;
                let op = self.kernel(func, kernel);
                self.ops.push(op);
            }
        }
    }

    /// What a value is called outside of kernels.
    fn outer(&self, value: Value) -> Value {
        self.renamed.get(value.index()).copied().flatten().unwrap_or(value)
    }

    fn rename_operands(&self, func: &mut TensorFunc, op: OpId) {
        for i in 0..func.operands(op).len() {
            let value = func.operand(op, i);
            let outer = self.outer(value);
            if outer != value {
                func.set_operand(op, i, outer);
            }
        }
        for i in 0..func.regions_of(op).len() {
            let region = func.regions_of(op)[i];
            for at in 0..func.ops_in(region).len() {
                self.rename_operands(func, func.ops_in(region)[at]);
            }
        }
    }

    fn kernel(&mut self, func: &mut TensorFunc, kernel: usize) -> OpId {
        let PlannedKernel { class, ops, root, operands, results } = &self.plan.kernels[kernel];
        let outer: Operands = operands.iter().map(|value| self.outer(*value)).collect();
        let types: Types<TensorType> = results.iter().map(|value| func.ty(*value).clone()).collect();
        let op = func.create_op(TensorOp::Kernel { class: *class }, &outer, types, None);
        let members = || ops.iter().map(|at| self.plan.listing.ops[*at]);
        let root = self.plan.listing.ops[*root];
        let named = [root].into_iter().chain(members()).find(|op| func.names_kernel(*op));
        let first_names = func.names_of(named.unwrap_or(root)).cloned().collect();
        let region = func.regions_of(op)[0];
        func.reserve_in(region, operands.len(), ops.len() + 1);
        self.cloner.clear();
        for (value, outer) in operands.iter().zip(&outer) {
            let arg = func.add_arg(region, func.ty(*outer).clone());
            self.cloner.bind(*value, arg);
        }
        for at in ops {
            let member = self.plan.listing.ops[*at];
            if self.plan.copied[*at] {
                let copy = self.cloner.op(func, member, region);
                self.roots.keep_names(func, copy);
                continue;
            }
            for i in 0..func.operands(member).len() {
                let value = func.operand(member, i);
                let inner = self.cloner.value(value);
                if inner != value {
                    func.set_operand(member, i, inner);
                }
            }
            func.append(member, region);
        }
        let yields: Operands = results.iter().map(|value| self.cloner.value(*value)).collect();
        func.push_op(region, TensorOp::Yield {}, &yields, [], None);
        for (i, value) in results.iter().enumerate() {
            self.renamed[value.index()] = Some(func.results(op)[i]);
        }
        let names = kernel_names(func, op, first_names);
        func.set_names(op, &names, 0);
        op
    }

    fn finish(self, func: &mut TensorFunc, cx: &mut PassCx) -> Vec<OpId> {
        cx.count("kernels", self.plan.kernels.len() as u64);
        func.set_ops(self.region, self.ops);
        self.plan.listing.ops.into_iter().filter(|op| func.parent(*op).is_none()).collect()
    }
}
