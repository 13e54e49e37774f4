//! What composites decompose to, as blessed text: `decompose/*.mlir`, `UPDATE_EXPECT=1` to bless. The first line is
//! the case, sizes symbolic where a model's are.

use crate::common;

use common::{op, ty};
use std::path::Path;
use tegula_ir::{Op, OpId, Value, print_func};
use tegula_tensor::decompose::decompose;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, check_program};

/// `op : types`.
fn check(file: &str, case: &str) {
    let (kind, types) = case.split_once(" : ").unwrap();
    let mut program = TensorProgram::new(TensorFunc::new(op(kind).name()));
    let mut b = Builder::new(&mut program.funcs[0], &mut program.consts);
    let args: Vec<Value> = types.split_whitespace().map(|text| b.func.add_arg(b.region, ty(text))).collect();
    let results = b.emit_all(op(kind), &args).unwrap();
    b.ret(&results).unwrap();
    replace_composites(&mut program);
    check_program(&program).unwrap_or_else(|e| panic!("{case}: {e}"));
    let text = format!("// {case}\n{}", print_func(program.entry(), &program.consts));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decompose").join(file);
    expect_test::expect_file![path].assert_eq(&text);
}

/// Decomposes the first op in place.
fn replace_composites(program: &mut TensorProgram) {
    let func = &mut program.funcs[0];
    let op: OpId = func.ops_in(func.body())[0];
    let values = decompose(func, op, &mut program.consts).unwrap();
    for (from, to) in func.results(op).to_vec().into_iter().zip(values) {
        assert_eq!(func.ty(from), func.ty(to), "a decomposition keeps the types");
        func.replace_uses(from, to);
    }
    func.erase(op);
}

#[test]
fn decompositions() {
    check("softmax.mlir", "softmax {axis = 1, log = false} : f32[n,m]");
    check("log_softmax_f16.mlir", "softmax {axis = 1, log = true} : f16[n,10]");
    check("layer_norm.mlir", "layer_norm {axis = 2, eps = 1.0e-12} : f32[b,s,384] f32[384] f32[384]");
    check("rms_norm.mlir", "rms_norm {axis = 1, eps = 1.0e-6} : f16[n,64] f16[64]");
    check("gelu.mlir", "gelu {tanh = false} : f32[n]");
    check("gelu_tanh.mlir", "gelu {tanh = true} : f32[n]");
    check(
        "attention.mlir",
        "attention {scale = 0.125, causal = true, window = 0, softcap = 0.0} : f32[b,8,l,64] f32[b,2,s,64] f32[b,2,s,64] f32[b,1,1,s]",
    );
    check(
        "lstm.mlir",
        "lstm {direction = \"reverse\", rounded = false} : f32[s,b,3] f32[8,3] f32[8,2] f32[16] f32[b,2] f32[b,2]",
    );
    check(
        "gru.mlir",
        "gru {direction = \"forward\", linear_before_reset = true} : f32[s,b,3] f32[6,3] f32[6,2] f32[12] f32[b,2]",
    );
    check(
        "quantize_axis.mlir",
        "quantize {scheme = {axis = 1, block = unit, storage = \"i8\", zero_point = true}} : f32[n,8,h] f32[8] i8[8]",
    );
    check(
        "dequantize_blocks.mlir",
        "dequantize {scheme = {axis = 1, block = 32, storage = \"u4\", zero_point = true}} : u4[n,48] f16[n,2] u4[n,2]",
    );
    check(
        "q_dot.mlir",
        "q_dot {dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}} : u8[m,k] f32[] u8[] i8[k,n] f32[n] i8[n] f32[] u8[]",
    );
    check(
        "q_conv.mlir",
        "q_conv {window = {size = [1], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1} : u8[n,3,h] f32[] u8[] i8[8,3,1] f32[8] i8[8] f32[] u8[] i32[8]",
    );
}

/// Every composite is above, and nothing else decomposes.
#[test]
fn every_composite_has_a_file() {
    let source = include_str!("decompose.rs");
    let composites = [
        "softmax",
        "layer_norm",
        "rms_norm",
        "gelu",
        "attention",
        "lstm",
        "gru",
        "quantize",
        "dequantize",
        "q_dot",
        "q_conv",
    ];
    for (name, doc) in TensorOp::reference() {
        assert_eq!(composites.contains(&name), source.contains(&format!("\"{name} {{")), "{name}: {doc}");
    }
}
