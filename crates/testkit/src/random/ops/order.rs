//! Sorting and counting, and sizes that depend on data.

use super::Gen;
use crate::random::build::Entry;
use crate::random::data::{self, Values};
use std::sync::Arc;
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_tensor::TensorOp;
use tegula_tensor::build::Built;

/// A value that is the same everywhere, so that its order is.
fn exact(g: &mut Gen, least_rank: usize) -> Built<Entry> {
    let x = g.ranked(least_rank);
    if x.exact { Ok(x) } else { Err("rounding may decide".into()) }
}

pub fn top_k(g: &mut Gen) -> Built<()> {
    let x = exact(g, 1)?;
    let (shape, extents) = (g.b.shape(x.value), g.extents(x.value));
    let axis = g.rng.below(shape.rank());
    let k = if g.rng.chance(25) {
        shape[axis].clone()
    } else {
        Dim::from(g.rng.between(0, extents[axis].min(20)))
    };
    let largest = g.rng.chance(50);
    g.push(TensorOp::TopK { axis, k, largest }, &[x.value], true).map(|_| ())
}

pub fn non_zero(g: &mut Gen) -> Built<()> {
    let x = exact(g, 1)?;
    g.push(TensorOp::NonZero {}, &[x.value], true).map(|_| ())
}

pub fn unique(g: &mut Gen) -> Built<()> {
    let x = exact(g, 1)?;
    let rank = g.b.rank(x.value);
    let axis = if g.rng.chance(50) { None } else { Some(g.rng.below(rank)) };
    let sorted = g.rng.chance(60);
    g.push(TensorOp::Unique { axis, sorted }, &[x.value], true).map(|_| ())
}

pub fn non_max_suppression(g: &mut Gen) -> Built<()> {
    let (n, c) = (g.small(2), g.small(3));
    let boxes = g.size(20);
    let limit = Dim::from(g.rng.between(0, 8));
    let operands = [
        g.fresh(DType::F32, Shape::from([n, boxes, 4]), Values::Ordinary),
        g.fresh(DType::F32, Shape::from([n, c, boxes]), Values::Ordinary),
        g.b.scalar_i64(3)?,
        g.b.scalar_f32(0.4)?,
        g.b.scalar_f32(-0.5)?,
    ];
    g.built += 3;
    let kind = TensorOp::NonMaxSuppression { center_point_box: g.rng.chance(50), limit };
    g.push(kind, &operands, true).map(|_| ())
}

/// Counts an input's elements that are not 0, binds the count to a symbol and cuts the coordinates to it.
pub fn bind(g: &mut Gen) -> Built<()> {
    if g.depth > 0 {
        return Err("a size bound inside stays there".into());
    }
    let rank = 1 + g.rng.below(2);
    let dtype = g.rng.pick(&[DType::Bool, DType::I32, DType::F32]);
    let shape = g.shape(rank);
    let extents: Vec<usize> = shape.iter().map(|dim| g.value_of(dim) as usize).collect();
    let mut tensor = data::tensor(&mut g.rng, DType::I32, &extents, Values::Ordinary);
    if dtype != DType::I32 {
        tensor = data::from_reals(dtype, &extents, &tensor.to_f64());
    }
    let count = tensor.to_f64().iter().filter(|x| **x != 0.0).count() as i64;
    let x = g.input_of(shape, tensor);
    g.add(x, true);
    let upper = g.b.shape(x).count();
    let found = g.push(TensorOp::NonZero {}, &[x], true)?;
    let name: Arc<str> = format!("n{}", g.bindings.len()).into();
    g.symbols.insert(&name, SymbolInfo::data(upper));
    g.bindings.insert(name.clone(), count);
    g.b.bind(&name, found[1])?;
    g.built += 1;
    let size = Dim::symbol(&name);
    let places = g.b.slice_axis(found[0], 1, 0, size.clone())?;
    g.built += 1;
    g.add(places, true);
    if g.rng.chance(60) {
        let turned = g.b.swap_axes(places, 0, 1)?;
        g.built += 1;
        g.push(TensorOp::GatherNd { batch_dims: 0 }, &[x, turned], true)?;
    }
    Ok(())
}
