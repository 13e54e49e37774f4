//! Rules of control flow, sizes and kernels: the ops that look at regions.
//!
//! A region op is built first and filled after: while a region lacks its terminator, the op's declared results
//! stand unchecked. [`finish_region_op`] then gives it the results its regions yield.

use super::{Types, ensure, has_type, take};
use crate::{TensorFunc, TensorOp, TensorType};
use smallvec::smallvec;
use std::collections::BTreeSet;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::op::OpRules;
use tegula_ir::{Op, OpId, RegionId, Value};

/// Gives an `if`, `loop` or `kernel` whose regions are filled the results that they yield.
/// Errors: the constraint that the op breaks.
pub fn finish_region_op(func: &mut TensorFunc, op: OpId) -> Result<Vec<Value>, String> {
    let types = TensorOp::check(func, op)?;
    if func.results(op).is_empty() {
        for ty in types {
            func.add_result(op, ty);
        }
    }
    Ok(func.results(op).to_vec())
}

pub(super) fn region_op(func: &TensorFunc, op: OpId) -> Types {
    let filled = func.regions_of(op).iter().all(|region| func.terminator(*region).is_some());
    let name = func.kind(op).name();
    let operands: Vec<&TensorType> = func.operands(op).iter().map(|value| func.ty(*value)).collect();
    match func.kind(op) {
        TensorOp::If {} => {
            let [condition] = take(name, &operands)?;
            has_type(name, "the condition", condition, DType::Bool, &Shape::scalar())?;
            if filled { branches(func, op) } else { Ok(func.result_types(op).into()) }
        }
        TensorOp::Loop { trip, stacked } => {
            let Some((go, carried)) = operands.split_first() else {
                return Err(format!("{name}_c0: takes the condition and what is carried, got nothing"));
            };
            has_type(name, "the condition", go, DType::Bool, &Shape::scalar())?;
            if filled {
                repeated(func, op, trip, *stacked, carried)
            } else {
                Ok(func.result_types(op).into())
            }
        }
        TensorOp::Kernel { .. } => {
            if filled {
                launched(func, op, &operands)
            } else {
                Ok(func.result_types(op).into())
            }
        }
        other => Err(format!("{}_c0: the op has no regions", other.name())),
    }
}

fn branches(func: &TensorFunc, op: OpId) -> Types {
    let regions = func.regions_of(op);
    let [then, otherwise] = [yielded(func, regions[0]), yielded(func, regions[1])];
    ensure(then.len() == otherwise.len(), "if", 2, || {
        format!("the branches yield {} and {} values", then.len(), otherwise.len())
    })?;
    for (a, b) in then.iter().zip(&otherwise) {
        ensure(same_type(a, b), "if", 2, || format!("the branches yield {a} and {b}"))?;
    }
    for region in regions {
        ensure(func.args(*region).is_empty(), "if", 1, || "branches take no arguments".into())?;
        local_sizes_stay(func, *region, "if", &then)?;
    }
    Ok(then.into())
}

fn repeated(func: &TensorFunc, op: OpId, trip: &Dim, stacked: usize, carried: &[&TensorType]) -> Types {
    let region = func.regions_of(op)[0];
    let args: Vec<&TensorType> = func.args(region).iter().map(|value| func.ty(*value)).collect();
    let Some((iteration, inner)) = args.split_first() else {
        return Err("loop_c1: the region must take the iteration and what is carried".into());
    };
    has_type("loop", "the iteration", iteration, DType::I64, &Shape::scalar())?;
    let yields = yielded(func, region);
    ensure(yields.len() == 1 + carried.len() + stacked && inner.len() == carried.len(), "loop", 1, || {
        format!(
            "{} values are carried and {stacked} stacked, the region takes {} and yields {}",
            carried.len(),
            args.len(),
            yields.len()
        )
    })?;
    has_type("loop", "the yielded condition", &yields[0], DType::Bool, &Shape::scalar())?;
    for (i, start) in carried.iter().enumerate() {
        let next = &yields[1 + i];
        ensure(same_type(start, inner[i]) && same_type(inner[i], next), "loop", 2, || {
            format!("carried value {i} starts as {start}, enters as {} and is yielded as {next}", inner[i])
        })?;
    }
    local_sizes_stay(func, region, "loop", &yields)?;
    let mut types = smallvec![TensorType::scalar(DType::I64)];
    types.extend(yields[1..1 + carried.len()].iter().cloned());
    types.extend(yields[1 + carried.len()..].iter().map(|ty| stack(trip, ty)));
    Ok(types)
}

fn stack(trip: &Dim, ty: &TensorType) -> TensorType {
    TensorType::new(ty.dtype, std::iter::once(trip).chain(ty.shape.iter()).cloned().collect::<Shape>())
}

fn launched(func: &TensorFunc, op: OpId, operands: &[&TensorType]) -> Types {
    let region = func.regions_of(op)[0];
    let args: Vec<&TensorType> = func.args(region).iter().map(|value| func.ty(*value)).collect();
    ensure(args.len() == operands.len(), "kernel", 1, || {
        format!("{} operands for a region of {} arguments", operands.len(), args.len())
    })?;
    for (arg, operand) in args.iter().zip(operands) {
        ensure(arg == operand, "kernel", 1, || format!("operand {operand} for the argument {arg}"))?;
    }
    Ok(yielded(func, region).into())
}

/// A `return` ends the body, a `yield` a region.
pub(super) fn placed(func: &TensorFunc, op: OpId) -> Result<(), String> {
    if !matches!(func.kind(op), TensorOp::Return {} | TensorOp::Yield {}) {
        return Ok(());
    }
    let Some(parent) = func.parent(op) else { return Ok(()) };
    let inside = func.owner(parent).is_some();
    match func.kind(op) {
        TensorOp::Return {} => ensure(!inside, "return", 1, || "ends the function, not a region".into()),
        TensorOp::Yield {} => ensure(inside, "yield", 1, || "ends a region, not the function".into()),
        _ => Ok(()),
    }
}

pub(super) fn bind(name: &str, symbol: &str, x: &[&TensorType]) -> Types {
    let [value] = take(name, x)?;
    has_type(name, "the size", value, DType::I64, &Shape::scalar())?;
    ensure(Dim::symbol_name(symbol) == symbol, name, 1, || format!("`{symbol}` is no name of a size"))?;
    Ok(smallvec![])
}

/// The types that a filled region yields.
fn yielded(func: &TensorFunc, region: RegionId) -> Vec<TensorType> {
    let end = func.terminator(region).expect("invariant: only filled regions are asked");
    func.operands(end).iter().map(|value| func.ty(*value).clone()).collect()
}

fn same_type(a: &TensorType, b: &TensorType) -> bool {
    a.dtype == b.dtype && a.shape == b.shape
}

/// A size bound inside a region means nothing outside: what leaves has the shape of its upper bound.
fn local_sizes_stay(
    func: &TensorFunc,
    region: RegionId,
    name: &str,
    types: &[TensorType],
) -> Result<(), String> {
    let bound: BTreeSet<&str> = func
        .ops_in(region)
        .iter()
        .filter_map(|op| match func.kind(*op) {
            TensorOp::Bind { symbol } => Some(symbol.as_str()),
            _ => None,
        })
        .collect();
    if bound.is_empty() {
        return Ok(());
    }
    for ty in types {
        let mut escaped = None;
        for dim in ty.shape.iter() {
            dim.for_each_symbol(&mut |symbol| {
                if bound.contains(&**symbol) {
                    escaped = Some(symbol.clone());
                }
            });
        }
        if let Some(symbol) = escaped {
            return Err(format!("{name}_c3: `{symbol}` is bound inside, so {ty} cannot leave"));
        }
    }
    Ok(())
}
