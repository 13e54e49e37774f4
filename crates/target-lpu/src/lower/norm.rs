//! The normal form of a region: kernels dissolved, composites decomposed but for what contractions of bytes read, which is
//! theirs alone.

use super::dot::bytes_of;
use super::quantize::is_direct;
use std::collections::BTreeSet;
use tegula_ir::op::Types;
use tegula_ir::rewrite::Cloner;
use tegula_ir::{OpId, RegionId, Value};
use tegula_tensor::decompose::{decompose, is_composite};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram, TensorType};

/// Errors: an op that does not decompose.
pub(crate) fn normal_form(program: &TensorProgram) -> Result<TensorProgram, String> {
    let mut program = with_own_factors(&dissolved(program));
    loop {
        let (func, consts) = (&mut program.funcs[0], &mut program.consts);
        let Some(op) = next_composite(func) else { return Ok(program) };
        let results = decompose(func, op, consts)?;
        for (i, to) in results.iter().enumerate() {
            let from = func.results(op)[i];
            func.replace_uses(from, *to);
        }
        func.erase(op);
    }
}

/// A composite whose floats are needed.
fn next_composite(func: &TensorFunc) -> Option<OpId> {
    let ops = func.walk();
    let of_bytes: BTreeSet<OpId> = ops.iter().copied().filter(|op| bytes_of(func, *op).is_some()).collect();
    let needed = |op: OpId| {
        // A dequantisation that contractions of bytes alone read stays, as does what quantises by one known scale.
        !is_direct(func, op)
            && (!matches!(func.kind(op), TensorOp::Dequantize { .. })
                || !reads_bytes_alone(func, op, &of_bytes))
    };
    ops.iter().copied().find(|op| is_composite(func.kind(*op)) && needed(*op))
}

fn reads_bytes_alone(func: &TensorFunc, op: OpId, of_bytes: &BTreeSet<OpId>) -> bool {
    let users = func.users(func.results(op)[0]);
    !users.is_empty()
        && users.iter().all(|user| {
            of_bytes.contains(user)
                || matches!(func.kind(*user), TensorOp::Reshape { .. } | TensorOp::Transpose { .. })
                    && reads_bytes_alone(func, *user, of_bytes)
        })
}

/// The program with a dequantisation for each factor of a contraction of bytes: other readers need its floats.
fn with_own_factors(program: &TensorProgram) -> TensorProgram {
    rebuilt(program, &|func, op, copy| {
        let sides = bytes_of(func, op).into_iter().flatten();
        let chain: Vec<OpId> = sides.flat_map(|side| side.dequantize.into_iter().chain(side.moves)).collect();
        let results = chain.iter().flat_map(|op| func.results(*op).to_vec());
        let before: Vec<(Value, Value)> = results.map(|value| (value, copy.cloner.value(value))).collect();
        chain.into_iter().for_each(|op| _ = copy.cloner.op(copy.own, op, copy.to));
        copy.cloner.op(copy.own, op, copy.to);
        before.into_iter().for_each(|(value, own)| copy.cloner.bind(value, own));
    })
}

/// The program without kernels: their ops stand where they stood.
fn dissolved(program: &TensorProgram) -> TensorProgram {
    rebuilt(program, &dissolve)
}

fn dissolve(func: &TensorFunc, op: OpId, copy: &mut Copy<'_, '_>) {
    if !matches!(func.kind(op), TensorOp::Kernel { .. }) {
        copy.cloner.op(copy.own, op, copy.to);
        return;
    }
    let region = func.regions_of(op)[0];
    for (arg, operand) in func.args(region).iter().zip(func.operands(op)) {
        let outer = copy.cloner.value(*operand);
        copy.cloner.bind(*arg, outer);
    }
    let results = copy.cloner.region(copy.own, region, copy.to);
    for (value, result) in func.results(op).iter().zip(results) {
        copy.cloner.bind(*value, result);
    }
}

/// A region of a program on its way into another.
struct Copy<'a, 'f> {
    cloner: &'a mut Cloner<'f, TensorOp>,
    own: &'a mut TensorFunc,
    to: RegionId,
}

/// A copy of one op that is no loop.
type Each<'a> = dyn Fn(&TensorFunc, OpId, &mut Copy<'_, '_>) + 'a;

/// A program of copies, loops included.
fn rebuilt(program: &TensorProgram, each: &Each<'_>) -> TensorProgram {
    let func = program.entry();
    let mut own = TensorFunc::new("region");
    let to = own.body();
    let mut cloner = Cloner::between(func);
    rebuild(func, func.body(), &mut Copy { cloner: &mut cloner, own: &mut own, to }, each);
    let mut rebuilt = TensorProgram::new(own);
    rebuilt.consts = program.consts.clone();
    rebuilt.symbols = program.symbols.clone();
    rebuilt
}

fn rebuild(func: &TensorFunc, region: RegionId, copy: &mut Copy<'_, '_>, each: &Each<'_>) {
    for arg in func.args(region) {
        let value = copy.own.add_arg(copy.to, func.ty(*arg).clone());
        copy.cloner.bind(*arg, value);
    }
    for &op in func.ops_in(region) {
        let TensorOp::Loop { .. } = func.kind(op) else {
            each(func, op, copy);
            continue;
        };
        let operands: Vec<Value> = func.operands(op).iter().map(|value| copy.cloner.value(*value)).collect();
        let types: Types<TensorType> = func.results(op).iter().map(|value| func.ty(*value).clone()).collect();
        let (kind, location) = (func.kind(op).clone(), func.op(op).location.clone());
        let repeat = copy.own.push_op(copy.to, kind, &operands, types, location);
        let inner = copy.own.regions_of(repeat)[0];
        let outer = std::mem::replace(&mut copy.to, inner);
        rebuild(func, func.regions_of(op)[0], copy, each);
        copy.to = outer;
        let results = copy.own.results(repeat).to_vec();
        copy.cloner.bind_all(func.results(op), &results);
    }
}
