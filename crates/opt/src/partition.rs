//! Gives a graph target the regions that it computes whole.
//!
//! Before: composites are whole, and no kernels are formed.  After: what the device claims stands in `tgn.kernel`s of class
//! `region`, each maximal and convex: no path leaves it and comes back. All other ops are the host's. Constants that
//! a region reads are in it.
//!
//! Method: an op's *stage* is the number of times that the longest path to it changes sides. The device's ops of one stage
//! are one region: stages never fall along a path, so that none leads out of a region and back. Where a size gets bound
//! the stages begin anew, since what follows may need the size. What makes more bytes of what it reads then goes to the regions
//! that read it.

use crate::form_kernels::for_each_use;
use crate::kernel_names::kernel_names;
use std::collections::{BTreeMap, BTreeSet};
use tegula_backend::Target;
use tegula_base::{Diagnostics, EntityId};
use tegula_ir::op::{OpRules, Types};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::Cloner;
use tegula_ir::{Op, OpId, RegionId, ScalarOp, Value};
use tegula_tensor::facts::is_source;
use tegula_tensor::{KernelClass, TensorFunc, TensorOp, TensorProgram, TensorType};

/// Without a device nothing changes.
pub fn partition(
    program: &mut TensorProgram,
    device: Option<&dyn Target>,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let Some(device) = device else { return Ok(Changed::No) };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let mut waiting = vec![func.body()];
        while let Some(region) = waiting.pop() {
            changed |= partition_region(func, region, device, cx);
            let open = func.ops_in(region).iter().filter(|op| func.kind(**op).regions_capture());
            waiting.extend(open.flat_map(|op| func.regions_of(*op)).copied());
        }
    }
    Ok(changed)
}

/// Where an op stands in the order to be: after how many bindings of sizes, and at which stage since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    segment: u32,
    /// Even: the host's; odd: the device's.
    stage: u32,
}

/// A binding opens its segment, and asserts on sizes come right after.
const EARLY: u32 = 0;
const FIRST_OF_HOST: u32 = 2;
const FIRST_OF_DEVICE: u32 = 3;
const LAST: u32 = u32::MAX - 1;

fn partition_region(
    func: &mut TensorFunc,
    region: RegionId,
    device: &dyn Target,
    cx: &mut PassCx,
) -> Changed {
    let ops = func.ops_in(region).to_vec();
    let mut turns: Vec<Turn> = Vec::with_capacity(ops.len());
    let mut places = vec![None; func.value_count()];
    let mut segment = 0;
    for (place, op) in ops.iter().enumerate() {
        segment += u32::from(matches!(func.kind(*op), TensorOp::Bind { .. }));
        let is_devices = is_claimed(func, *op, device, cx);
        let first = match (func.kind(*op), is_devices) {
            (TensorOp::Bind { .. } | TensorOp::AssertSize { .. }, _) => EARLY,
            (kind, _) if kind.is_terminator() => LAST,
            (_, true) => FIRST_OF_DEVICE,
            (_, false) => FIRST_OF_HOST,
        };
        let mut stage = first;
        for_each_use(func, *op, &mut |value| {
            let before = places[value.index()].map(|place: usize| (ops[place], turns[place]));
            if let Some((before, turn)) = before
                && turn.segment == segment
                && !is_source(func.kind(before))
            {
                stage = stage.max(turn.stage);
            }
        });
        // Of the op's own side.
        stage += (stage ^ first) & 1;
        turns.push(Turn { segment, stage });
        func.results(*op).iter().for_each(|value| places[value.index()] = Some(place));
    }
    let mut ops = ops;
    sink_growing(func, region, &mut ops, &mut turns);
    let mut members: BTreeMap<Turn, Vec<OpId>> = BTreeMap::new();
    for (op, turn) in ops.iter().zip(&turns).filter(|(_, turn)| turn.stage % 2 == 1) {
        members.entry(*turn).or_default().push(*op);
    }
    // What only renames a buffer needs no device.
    members.retain(|_, ops| !ops.iter().all(|op| matches!(func.kind(*op), TensorOp::Reshape { .. })));
    if members.is_empty() {
        return Changed::No;
    }
    // Every op is placed anew.
    func.set_ops(region, vec![]);
    let mut order: Vec<(Turn, OpId)> = Vec::with_capacity(ops.len());
    order.extend(
        turns.iter().zip(&ops).filter(|(turn, _)| !members.contains_key(turn)).map(|(t, op)| (*t, *op)),
    );
    for (turn, ops) in members {
        cx.count("regions", 1);
        let location = ops.iter().find_map(|op| func.op(*op).location.clone());
        cx.remark_with(location.as_ref(), || format!("{} ops are computed on the device", ops.len()));
        order.push((turn, outline(func, &ops)));
    }
    // Stable: the ops of a turn keep the program's order.
    order.sort_by_key(|(turn, _)| *turn);
    func.set_ops(region, order.into_iter().map(|(_, op)| op).collect());
    Changed::Yes
}

/// Moves the device's ops whose results have more bytes than their operands, with what moves those results, to the later
/// regions that read them. There a contraction sees that its factors are bytes, and a scatter that its places are all one;
/// and less comes over. Each region gets its own.
fn sink_growing(func: &mut TensorFunc, region: RegionId, ops: &mut Vec<OpId>, turns: &mut Vec<Turn>) {
    let mut turn_of: BTreeMap<OpId, Turn> = ops.iter().copied().zip(turns.iter().copied()).collect();
    for place in (0..ops.len()).rev() {
        let (op, own) = (ops[place], turns[place]);
        if own.stage.is_multiple_of(2) || !grows(func, op) {
            continue;
        }
        let value = func.results(op)[0];
        let users: BTreeSet<OpId> = func.users(value).iter().copied().collect();
        let mut later: BTreeMap<Turn, Vec<OpId>> = BTreeMap::new();
        for user in &users {
            let turn = turn_of.get(&standing(func, *user, region));
            if let Some(turn) = turn.filter(|turn| turn.stage % 2 == 1 && **turn > own) {
                later.entry(*turn).or_default().push(*user);
            }
        }
        // Where nobody else reads it, the op itself goes to the first of them.
        if later.values().map(Vec::len).sum::<usize>() == users.len()
            && let Some((turn, _)) = later.pop_first()
        {
            turns[place] = turn;
            turn_of.insert(op, turn);
        }
        for (turn, users) in later {
            let mut cloner = Cloner::within();
            let copy = cloner.op(func, op, region);
            let moved = func.results(copy)[0];
            for user in users {
                let reads = func.operands(user).iter().map(|read| if *read == value { moved } else { *read });
                let reads: Vec<Value> = reads.collect();
                func.set_operands(user, &reads);
            }
            ops.insert(place + 1, copy);
            turns.insert(place + 1, turn);
            turn_of.insert(copy, turn);
        }
    }
}

/// The op of a region that an op is, or is in.
fn standing(func: &TensorFunc, mut op: OpId, region: RegionId) -> OpId {
    while let Some(parent) = func.parent(op).filter(|parent| *parent != region)
        && let Some(owner) = func.owner(parent)
    {
        op = owner;
    }
    op
}

/// Whether an op makes more bytes of what it reads, or moves what such an op gave.
fn grows(func: &TensorFunc, mut op: OpId) -> bool {
    loop {
        match func.kind(op) {
            TensorOp::Dequantize { .. } | TensorOp::Broadcast { .. } => return true,
            TensorOp::Elementwise { f: ScalarOp::Cast { to, .. } } => {
                return to.size() > func.ty(func.operand(op, 0)).dtype.size();
            }
            TensorOp::Reshape { .. } | TensorOp::Transpose { .. } => match func.def_op(func.operand(op, 0)) {
                Some(before) => op = before,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Branches and bindings of sizes are the host's, as is what the device says it does not compute: it says why.
fn is_claimed(func: &TensorFunc, op: OpId, device: &dyn Target, cx: &mut PassCx) -> bool {
    let kind = func.kind(op);
    let is_hosts = kind.is_terminator()
        || kind.region_count() > 0 && !matches!(kind, TensorOp::Loop { .. })
        || is_source(kind)
        || matches!(kind, TensorOp::Bind { .. } | TensorOp::AssertSize { .. } | TensorOp::Relayout { .. });
    if is_hosts {
        return false;
    }
    match device.claims(func, op).refusal() {
        None => true,
        Some(reason) => {
            let name = kind.name();
            let location = func.op(op).location.clone();
            cx.remark_with(location.as_ref(), || format!("`{name}` is computed on the host: {reason}"));
            false
        }
    }
}

/// Moves ops that stand nowhere into the region of a new kernel, and has whoever reads their results read the kernel's.
fn outline(func: &mut TensorFunc, ops: &[OpId]) -> OpId {
    let inside: BTreeSet<Value> = ops.iter().flat_map(|op| func.results(*op)).copied().collect();
    // Those in loops as well.
    let mut all: Vec<OpId> = Vec::new();
    ops.iter().for_each(|op| with_inner(func, *op, &mut all));
    let member: BTreeSet<OpId> = all.iter().copied().collect();
    let of_loops = all.iter().flat_map(|op| func.regions_of(*op)).flat_map(|region| func.args(*region));
    let of_loops = of_loops.chain(all.iter().flat_map(|op| func.results(*op))).copied();
    let mut seen: BTreeSet<Value> = inside.iter().copied().chain(of_loops).collect();
    let read = all.iter().flat_map(|op| func.operands(*op)).copied();
    let read: Vec<Value> = read.filter(|value| seen.insert(*value)).collect();
    let source = |value: &Value| func.def_op(*value).filter(|op| is_source(func.kind(*op)));
    let (sources, operands): (Vec<Value>, Vec<Value>) =
        read.into_iter().partition(|value| source(value).is_some());
    let sources: Vec<OpId> = sources.iter().filter_map(source).collect();
    let is_read = |value: &Value| func.users(*value).iter().any(|user| !member.contains(user));
    let results: Vec<Value> = inside.iter().copied().filter(is_read).collect();
    let types: Types<TensorType> = results.iter().map(|value| func.ty(*value).clone()).collect();
    let kernel = func.create_op(TensorOp::Kernel { class: KernelClass::Region }, &operands, types, None);
    let named = ops.iter().find(|op| func.names_kernel(**op));
    let named = named.or_else(|| ops.iter().find(|op| func.op(**op).location.is_some()));
    let first_names = named.map(|op| func.names_of(*op).cloned().collect()).unwrap_or_default();
    let inner = func.regions_of(kernel)[0];
    let mut cloner = Cloner::within();
    for value in &operands {
        let arg = func.add_arg(inner, func.ty(*value).clone());
        cloner.bind(*value, arg);
    }
    for op in sources {
        cloner.op(func, op, inner);
    }
    for (i, value) in results.iter().enumerate() {
        for user in func.users(*value).to_vec() {
            if !member.contains(&user) {
                let outer = func.results(kernel)[i];
                let renamed =
                    func.operands(user).iter().map(|read| if read == value { outer } else { *read });
                let renamed: Vec<Value> = renamed.collect();
                func.set_operands(user, &renamed);
            }
        }
    }
    for op in &all {
        let renamed: Vec<Value> = func.operands(*op).iter().map(|value| cloner.value(*value)).collect();
        func.set_operands(*op, &renamed);
    }
    ops.iter().for_each(|op| func.append(*op, inner));
    func.push_op(inner, TensorOp::Yield {}, &results, [], None);
    let names = kernel_names(func, kernel, first_names);
    func.set_names(kernel, &names, 0);
    kernel
}

/// An op, and those of its regions.
fn with_inner(func: &TensorFunc, op: OpId, all: &mut Vec<OpId>) {
    all.push(op);
    for region in func.regions_of(op) {
        func.ops_in(*region).iter().for_each(|inner| with_inner(func, *inner, all));
    }
}
