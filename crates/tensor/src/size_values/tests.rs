//! Shape arithmetic as exporters write it, against the sizes it means.

use super::SizeValues;
use crate::{Builder, TensorFunc, TensorType};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ConstStore, ScalarOp, Value};

/// Builds over an argument `f32[n,h]`; `wanted` is the elements of the value built, `?` when unknown.
fn check(build: impl FnOnce(&mut Builder, Value) -> Result<Value, String>, wanted: &str) {
    let mut func = TensorFunc::new("test");
    let mut consts = ConstStore::default();
    let body = func.body();
    let x = func.add_arg(body, TensorType::new(DType::F32, [Dim::symbol("n"), Dim::symbol("h")]));
    let value = build(&mut Builder::new(&mut func, &mut consts), x).unwrap();
    let known = SizeValues::default().of(&func, &consts, value);
    let text = known.map_or("?".to_string(), |dims| Shape::from(dims).to_string());
    assert_eq!(text, wanted);
}

fn sizes(b: &mut Builder, x: Value) -> Result<Value, String> {
    let dims = b.shape(x).to_vec();
    b.sizes(&dims)
}

#[test]
fn integer_arithmetic_follows_sizes() {
    check(
        |b, x| {
            let s = sizes(b, x)?;
            b.with_number(ScalarOp::Mul, s, 2.0)
        },
        "[2*n,2*h]",
    );
    check(
        |b, x| {
            let s = sizes(b, x)?;
            let s = b.slice_axis(s, 0, 1, 1)?;
            b.with_number(ScalarOp::Div, s, 2.0)
        },
        "[floordiv(h, 2)]",
    );
    check(
        |b, x| {
            let s = sizes(b, x)?;
            b.reduce(ScalarOp::Mul, s, &[0], true)
        },
        "[h*n]",
    );
    check(
        |b, x| {
            let s = sizes(b, x)?;
            let c = b.iota(DType::I64, [2i64], 0)?;
            b.concat(&[s, c], 0)
        },
        "[n,h,0,1]",
    );
    check(
        |b, x| {
            let s = sizes(b, x)?;
            let i = b.splat_int(DType::I64, [1i64], -1)?;
            b.gather(s, i, 0)
        },
        "[h]",
    );
}

#[test]
fn exact_float_detours_come_back_as_sizes() {
    let scaled = |factor: f64| {
        move |b: &mut Builder, x: Value| {
            let s = sizes(b, x)?;
            let f = b.cast(s, DType::F32)?;
            let f = b.with_number(ScalarOp::Mul, f, factor)?;
            let f = b.floor(f)?;
            b.cast(f, DType::I64)
        }
    };
    check(scaled(2.0), "[2*n,2*h]");
    check(scaled(0.5), "[floordiv(n, 2),floordiv(h, 2)]");
    // 0.7 is no short binary fraction: the product would round.
    check(scaled(0.7), "?");
}

#[test]
fn conditions_that_hold_for_all_sizes_are_decided() {
    check(
        |b, x| {
            let s = sizes(b, x)?;
            let minus = b.splat_int(DType::I64, [2i64], -1)?;
            let hit = b.eq(s, minus)?;
            let one = b.splat_int(DType::I64, [2i64], 1)?;
            b.select(hit, one, s)
        },
        "[n,h]",
    );
    check(
        |b, x| {
            let s = sizes(b, x)?;
            let one = b.splat_int(DType::I64, [2i64], 1)?;
            let hit = b.eq(s, one)?;
            b.select(hit, one, s)
        },
        "?",
    );
}

#[test]
fn small_matrices_move_as_written() {
    // Pads as one exporter makes them: pairs, reversed, transposed, flattened.
    check(
        |b, _| {
            let pads = b.constant(HostTensor::from_elements(&[2, 2], &[1i64, 2, 3, 4]))?;
            let pads = b.reverse(pads, 0)?;
            let pads = b.transpose(pads, &[1, 0])?;
            b.reshape(pads, [4i64])
        },
        "[3,1,4,2]",
    );
}
