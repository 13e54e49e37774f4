//! Branches, loops and size checks.

use super::{Gen, preserving};
use crate::random::build::Entry;
use crate::random::data::Values;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{RegionId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{TensorOp, finish_region_op};

/// Nesting at most.
const MAX_DEPTH: usize = 2;

pub fn assert_size(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let dim = g.b.shape(x.value)[0].clone();
    let right = Dim::from(g.value_of(&dim));
    g.push(TensorOp::AssertSize { left: dim, right, message: "sizes differ".into() }, &[], true).map(|_| ())
}

/// Builds into a region; what is made there is forgotten after.
fn within<T>(g: &mut Gen, region: RegionId, fill: impl FnOnce(&mut Gen) -> Built<T>) -> Built<T> {
    let outer = std::mem::replace(&mut g.b.region, region);
    let known = g.pool.len();
    g.depth += 1;
    let filled = fill(g);
    g.depth -= 1;
    g.pool.truncate(known);
    g.b.region = outer;
    filled
}

/// A few ops that keep the type of `x`.
fn chain(g: &mut Gen, x: Entry, most: i64) -> (Value, bool) {
    let (mut value, mut exact) = (x.value, x.exact);
    for _ in 0..g.rng.between(1, most) {
        if let Ok(next) = preserving(g, value, exact) {
            (value, exact) = next;
        }
    }
    (value, exact)
}

/// A truth value that all executors agree on.
fn condition(g: &mut Gen) -> Value {
    g.scalar(DType::Bool, Values::Ordinary)
}

pub fn branch(g: &mut Gen) -> Built<()> {
    if g.depth >= MAX_DEPTH {
        return Err("too deep".into());
    }
    let n = 1 + g.rng.below(2);
    let carried: Vec<Entry> = (0..n).map(|_| g.any()).collect();
    let go = condition(g);
    let op = g.b.op(TensorOp::If {}, &[go])?;
    let mut exact = vec![true; n];
    for region in [g.b.func.regions_of(op)[0], g.b.func.regions_of(op)[1]] {
        within(g, region, |g| {
            let mut values = vec![];
            for (i, x) in carried.iter().enumerate() {
                let (value, is_exact) = chain(g, *x, 3);
                exact[i] &= is_exact;
                values.push(value);
            }
            g.b.op(TensorOp::Yield {}, &values)
        })?;
    }
    let results = finish_region_op(g.b.func, op)?;
    g.built += 1;
    for (value, exact) in results.into_iter().zip(exact) {
        g.add(value, exact);
    }
    Ok(())
}

pub fn repeat(g: &mut Gen) -> Built<()> {
    if g.depth >= MAX_DEPTH {
        return Err("too deep".into());
    }
    let n = 1 + g.rng.below(2);
    let carried: Vec<Entry> = (0..n).map(|_| g.any()).collect();
    if carried.iter().any(|x| g.elements(x.value) > 1000) {
        return Err("too large".into());
    }
    let trip = g.size(4);
    let stacked = g.rng.below(2);
    let go = if g.rng.chance(70) { g.b.scalar_bool(true)? } else { condition(g) };
    let operands: Vec<Value> = std::iter::once(go).chain(carried.iter().map(|x| x.value)).collect();
    let op = g.b.op(TensorOp::Loop { trip: Dim::from(trip), stacked }, &operands)?;
    let region = g.b.func.regions_of(op)[0];
    let types: Vec<_> = carried.iter().map(|x| g.b.ty(x.value).clone()).collect();
    // What is carried is only as exact as any round leaves it; a loop of inexact values stays so.
    let mut exact = vec![false; n];
    within(g, region, |g| {
        let round = g.b.arg(DType::I64, Shape::scalar());
        g.add(round, true);
        let inner: Vec<Value> = types.into_iter().map(|ty| g.b.func.add_arg(region, ty)).collect();
        let limit = g.b.scalar_i64(g.rng.between(0, 3))?;
        let next = g.b.emit(TensorOp::Elementwise { f: ScalarOp::Lt }, &[round, limit])?;
        let mut yields = vec![next];
        for (i, value) in inner.iter().enumerate() {
            let start = Entry { value: *value, exact: carried[i].exact };
            let (value, is_exact) = chain(g, start, 2);
            exact[i] = is_exact && carried[i].exact;
            yields.push(value);
        }
        if stacked > 0 {
            let row = g.rng.pick(&yields[1..]);
            yields.push(row);
        }
        g.b.op(TensorOp::Yield {}, &yields)
    })?;
    let results = finish_region_op(g.b.func, op)?;
    g.built += 3;
    let all = exact.iter().all(|exact| *exact);
    for (i, value) in results.into_iter().enumerate() {
        let is_exact = match i {
            0 => true,
            i if i <= n => exact[i - 1],
            _ => all,
        };
        g.add(value, is_exact);
    }
    Ok(())
}

/// An input that nothing reads.
pub fn nothing_read(g: &mut Gen) -> Built<()> {
    let (dtype, rank) = (g.dtype(), g.rank());
    let shape = g.shape(rank);
    g.input(dtype, shape, Values::Ordinary);
    Ok(())
}
