//! The builder: NumPy's broadcasting and matrix products, and that what changes nothing is not built.

use crate::common;

use common::{assert_equal, tensors, ty};
use tegula_base::{DType, Dim, HostTensor};
use tegula_ir::{Def, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram, TensorType, check_program, evaluate};

/// A program whose results are what `fill` builds from arguments of these types.
fn program(
    types: &[TensorType],
    fill: impl FnOnce(&mut Builder, &[Value]) -> Built<Vec<Value>>,
) -> Built<TensorProgram> {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut b = Builder::new(&mut program.funcs[0], &mut program.consts);
    let args: Vec<Value> = types.iter().map(|ty| b.func.add_arg(b.region, ty.clone())).collect();
    let results = fill(&mut b, &args)?;
    b.ret(&results)?;
    Ok(program)
}

fn check(inputs: &str, expected: &str, fill: impl FnOnce(&mut Builder, &[Value]) -> Built) {
    let inputs = tensors(inputs);
    let types: Vec<TensorType> = inputs.iter().map(TensorType::of).collect();
    let program = program(&types, |b, x| fill(b, x).map(|value| vec![value])).unwrap();
    check_program(&program).unwrap();
    assert_equal(expected, &evaluate(&program, &inputs).unwrap(), &tensors(expected));
}

/// The type or the error of what is built on arguments of these types.
fn built(types: &str, fill: impl FnOnce(&mut Builder, &[Value]) -> Built) -> String {
    let types: Vec<TensorType> = types.split_whitespace().map(ty).collect();
    let mut text = String::new();
    let result = program(&types, |b, x| {
        let value = fill(b, x)?;
        text = b.ty(value).to_string();
        if let Def::Arg(..) = b.func.def(value) {
            text += " (an argument)";
        }
        Ok(vec![value])
    });
    result.map_or_else(|error| error, |_| text)
}

#[test]
fn ranks_are_padded_in_front() {
    check("f32[2,1] 1 2; f32[3] 10 20 30", "f32[2,3] 11 21 31 12 22 32", |b, x| b.add(x[0], x[1]));
    check(
        "f32[]; bool[2] true false; f32[1] 5".replace("f32[]", "f32[] 1").as_str(),
        "f32[2] 1 5",
        |b, x| b.select(x[1], x[0], x[2]),
    );
    assert_eq!(built("f32[n,1,4] f32[m,1]", |b, x| b.mul(x[0], x[1])), "f32[n,m,4]");
    assert_eq!(
        built("f32[n,3] f32[n,4]", |b, x| b.mul(x[0], x[1])),
        "elementwise_c3: `mul` of f32[n,3] and f32[n,4]: sizes 3 and 4 differ"
    );
}

#[test]
fn matrix_products_are_numpys() {
    let f32 = DType::F32;
    check("f32[2,2] 1 2 3 4; f32[2,2] 1 1 0 1", "f32[2,2] 1 3 3 7", |b, x| b.matmul(x[0], x[1], f32));
    check("f32[2] 1 2; f32[2,2] 1 2 3 4", "f32[2] 7 10", |b, x| b.matmul(x[0], x[1], f32));
    check("f32[2,2] 1 2 3 4; f32[2] 1 2", "f32[2] 5 11", |b, x| b.matmul(x[0], x[1], f32));
    check("f32[2] 1 2; f32[2] 3 4", "f32[] 11", |b, x| b.matmul(x[0], x[1], f32));
    check("f32[1,2] 1 2; f32[2,2,1] 1 0 0 1", "f32[2,1,1] 1 2", |b, x| b.matmul(x[0], x[1], f32));
    check("f32[2] 1 2; f32[2,2,1] 1 0 0 1", "f32[2,1] 1 2", |b, x| b.matmul(x[0], x[1], f32));
    assert_eq!(built("f32[b,1,m,k] f32[h,k,n]", |b, x| b.matmul(x[0], x[1], f32)), "f32[b,h,m,n]");
    assert_eq!(built("f32[b,s,m,k] f32[k,n]", |b, x| b.matmul(x[0], x[1], f32)), "f32[b,s,m,n]");
    assert_eq!(built("u8[m,k] i8[k,n]", |b, x| b.matmul(x[0], x[1], DType::I32)), "i32[m,n]");
    assert_eq!(
        built("f32[] f32[k]", |b, x| b.matmul(x[0], x[1], f32)),
        "dot_c1: a matrix product takes no scalars"
    );
}

#[test]
fn what_changes_nothing_is_not_built() {
    let same = "f32[n,4] (an argument)";
    assert_eq!(built("f32[n,4]", |b, x| b.reshape(x[0], b.shape(x[0]))), same);
    assert_eq!(built("f32[n,4]", |b, x| b.transpose(x[0], &[0, 1])), same);
    assert_eq!(built("f32[n,4]", |b, x| b.broadcast(x[0], b.shape(x[0]))), same);
    assert_eq!(built("f32[n,4]", |b, x| b.cast(x[0], DType::F32)), same);
    assert_eq!(built("f32[n,4]", |b, x| b.concat(x, 0)), same);
    assert_eq!(built("f32[n,4]", |b, x| b.slice_axis(x[0], 0, 0, Dim::symbol("n"))), same);
    assert_eq!(built("f32[n,4]", |b, x| b.reduce(ScalarOp::Add, x[0], &[], false)), same);
}

#[test]
fn axes_come_and_go() {
    assert_eq!(built("f32[n,4]", |b, x| b.unsqueeze(x[0], &[0, 2])), "f32[1,n,1,4]");
    assert_eq!(built("f32[n,1]", |b, x| b.squeeze(x[0], &[1])), "f32[n]");
    assert_eq!(
        built("f32[n]", |b, x| b.unsqueeze(x[0], &[5])),
        "reshape_c1: axes [5] are not places of a result of rank 2"
    );
    assert_eq!(built("f32[a,b,c]", |b, x| b.reduce(ScalarOp::Max, x[0], &[2, 0], false)), "f32[b]");
    check("f32[2,2] 1 2 3 4", "f32[2,2] 2 1 4 3", |b, x| b.reverse(x[0], 1));
    check("f32[2,2] 1 3 5 9", "f32[2,1] 2 7", |b, x| b.mean(x[0], &[1]));
}

#[test]
fn literals_of_one_value_are_splats() {
    let build = |values: &[i32]| {
        let tensor = HostTensor::from_elements(&[values.len()], values);
        program(&[], |b, _| b.literal(tensor).map(|value| vec![value])).unwrap()
    };
    assert_eq!(build(&[7, 7, 7]).consts.len(), 0);
    assert_eq!(build(&[7, 8]).consts.len(), 1);
    assert_eq!(evaluate(&build(&[7, 7]), &[]).unwrap()[0].elements::<i32>(), Some(vec![7, 7]));
}
