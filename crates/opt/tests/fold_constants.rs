//! `fold_constants` on sizes that no memory holds, and on sizes for which no golden text has room.

#[path = "pass/target.rs"]
mod target;

use tegula_base::{DType, HostTensor};
use tegula_ir::{PassCx, ScalarOp, Value};
use tegula_opt::passes::fold_constants;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

fn fold(program: &mut TensorProgram) {
    let target = target::Small { looks_up: true, multiplies_pairs: true, multiplies_words: false };
    fold_constants(program, &target, &mut PassCx::default()).unwrap();
}

/// The largest tensor that may be, read so often that what is read in all is no size any more: it is left to the run.
#[test]
fn sizes_beyond_memory_are_not_computed() {
    const DOUBLINGS: usize = 31;
    const READS: usize = 1 << 15;
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let element = b.constant(HostTensor::from_elements(&[1], &[3.0f32])).unwrap();
    let mut large = b.broadcast(element, [1 << 14]).unwrap();
    for _ in 0..DOUBLINGS {
        large = b.concat(&[large, large], 0).unwrap();
    }
    let sums: Vec<_> = (0..READS).map(|_| b.reduce(ScalarOp::Add, large, &[0], true).unwrap()).collect();
    let sums = b.concat(&sums, 0).unwrap();
    let x = b.arg(DType::F32, [READS]);
    let y = b.elementwise(ScalarOp::Add, &[x, sums]).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    fold(&mut program);
    let func = program.entry();
    let count = |is_wanted: fn(&TensorOp) -> bool| {
        func.walk().into_iter().filter(|op| is_wanted(func.kind(*op))).count()
    };
    assert_eq!(count(|kind| matches!(kind, TensorOp::Splat { .. })), 1);
    assert_eq!(count(|kind| matches!(kind, TensorOp::Concat { .. })), DOUBLINGS + 1);
    assert_eq!(count(|kind| matches!(kind, TensorOp::Reduce { .. })), READS);
}

/// A matrix of products `row * column` of the places, far larger than what it is computed of.
fn table(b: &mut Builder, rows: usize, columns: usize) -> Value {
    let row = b.iota(DType::F32, [rows, 1], 0).unwrap();
    let column = b.iota(DType::F32, [1, columns], 1).unwrap();
    b.elementwise(ScalarOp::Mul, &[row, column]).unwrap()
}

/// How many ops are left that compute the table, where `read` makes a result of an argument and the table.
fn left_of_table(rows: usize, columns: usize, read: fn(&mut Builder, Value, Value) -> Value) -> usize {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let x = b.arg(DType::F32, [rows, columns]);
    let table = table(&mut b, rows, columns);
    let y = read(&mut b, x, table);
    b.ret(&[y]).unwrap();
    program.consts = consts;
    fold(&mut program);
    let func = program.entry();
    func.walk().into_iter().filter(|op| is_product(func.kind(*op))).count()
}

fn is_product(kind: &TensorOp) -> bool {
    matches!(kind, TensorOp::Elementwise { f: ScalarOp::Mul })
}

/// A contraction's factor is computed at compile time, though it is larger than what it is computed of; what others read,
/// who would compute it on their way, is not, and neither is a factor beyond all bounds.
#[test]
fn factors_of_contractions_may_unfold() {
    let product = |b: &mut Builder, x: Value, table: Value| b.dot_rows(x, table).unwrap();
    let sum = |b: &mut Builder, x: Value, table: Value| b.elementwise(ScalarOp::Add, &[x, table]).unwrap();
    assert_eq!(left_of_table(300, 200, product), 0);
    assert_eq!(left_of_table(300, 200, sum), 1);
    assert_eq!(left_of_table(3000, 2000, product), 1);
}
