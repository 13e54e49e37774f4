//! The normal form of a region: kernels dissolved, composites decomposed but for what contractions of bytes read, which is
//! theirs alone.

use super::dot::bytes_of;
use super::quantize::is_direct;
use std::collections::BTreeSet;
use tegula_ir::rewrite::Cloner;
use tegula_ir::{OpId, Value};
use tegula_tensor::decompose::{decompose, is_composite};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

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
    let ops = func.ops_in(func.body());
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
    let func = program.entry();
    let mut own = TensorFunc::new("region");
    let body = own.body();
    let mut cloner = Cloner::between(func);
    for arg in func.args(func.body()) {
        let value = own.add_arg(body, func.ty(*arg).clone());
        cloner.bind(*arg, value);
    }
    for &op in func.ops_in(func.body()) {
        let sides = bytes_of(func, op).into_iter().flatten();
        let chain: Vec<OpId> = sides.flat_map(|side| side.dequantize.into_iter().chain(side.moves)).collect();
        let results = chain.iter().flat_map(|op| func.results(*op).to_vec());
        let before: Vec<(Value, Value)> = results.map(|value| (value, cloner.value(value))).collect();
        chain.into_iter().for_each(|op| _ = cloner.op(&mut own, op, body));
        cloner.op(&mut own, op, body);
        before.into_iter().for_each(|(value, copy)| cloner.bind(value, copy));
    }
    let mut split = TensorProgram::new(own);
    split.consts = program.consts.clone();
    split.symbols = program.symbols.clone();
    split
}

/// The program without kernels: their ops stand where they stood.
fn dissolved(program: &TensorProgram) -> TensorProgram {
    let func = program.entry();
    let mut own = TensorFunc::new("region");
    let body = own.body();
    let mut cloner = Cloner::between(func);
    for arg in func.args(func.body()) {
        let value = own.add_arg(body, func.ty(*arg).clone());
        cloner.bind(*arg, value);
    }
    for &op in func.ops_in(func.body()) {
        if !matches!(func.kind(op), TensorOp::Kernel { .. }) {
            cloner.op(&mut own, op, body);
            continue;
        }
        let region = func.regions_of(op)[0];
        for (arg, operand) in func.args(region).iter().zip(func.operands(op)) {
            let outer = cloner.value(*operand);
            cloner.bind(*arg, outer);
        }
        let results = cloner.region(&mut own, region, body);
        for (value, result) in func.results(op).iter().zip(results) {
            cloner.bind(*value, result);
        }
    }
    let mut dissolved = TensorProgram::new(own);
    dissolved.consts = program.consts.clone();
    dissolved.symbols = program.symbols.clone();
    dissolved
}
