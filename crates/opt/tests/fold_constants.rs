//! `fold_constants` on sizes that no memory holds, and on sizes for which no golden text has room.

use crate::target;

use tegula_base::{DType, Dim, HostTensor};
use tegula_ir::{PassCx, ScalarOp, Value};
use tegula_opt::passes::fold_constants;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, Window};

fn fold(program: &mut TensorProgram) {
    let target =
        target::small(target::Can { lookup_tables: true, multiply_pairs: true, multiply_i16: false });
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

/// How many products, negations and convolutions are left of what `read` makes of an argument and the table.
fn left(rows: usize, columns: usize, read: &dyn Fn(&mut Builder, Value, Value) -> Vec<Value>) -> [usize; 3] {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let x = b.arg(DType::F32, [rows, columns]);
    let table = table(&mut b, rows, columns);
    let results = read(&mut b, x, table);
    b.ret(&results).unwrap();
    program.consts = consts;
    fold(&mut program);
    let func = program.entry();
    let count = |is_wanted: fn(&TensorOp) -> bool| {
        func.walk().into_iter().filter(|op| is_wanted(func.kind(*op))).count()
    };
    [
        count(|kind| matches!(kind, TensorOp::Elementwise { f: ScalarOp::Mul })),
        count(|kind| matches!(kind, TensorOp::Elementwise { f: ScalarOp::Neg })),
        count(|kind| matches!(kind, TensorOp::Conv { .. })),
    ]
}

/// A contraction's factor is computed at compile time, though it is larger than what it is computed of; what others read,
/// who would compute it on their way, is not, and neither is what is beyond all bounds, by itself or with the others.
#[test]
fn factors_of_contractions_may_unfold() {
    let sum = |b: &mut Builder, x: Value, table: Value| b.elementwise(ScalarOp::Add, &[x, table]).unwrap();
    let negated = |b: &mut Builder, x: Value| b.elementwise(ScalarOp::Neg, &[x]).unwrap();
    assert_eq!(left(300, 200, &|b, x, table| vec![b.dot_rows(x, table).unwrap()]), [0, 0, 0]);
    assert_eq!(left(300, 200, &|b, x, table| vec![sum(b, x, table)]), [1, 0, 0]);
    assert_eq!(left(5000, 4000, &|b, x, table| vec![b.dot_rows(x, table).unwrap()]), [1, 0, 0]);
    let read_twice = |b: &mut Builder, x: Value, table: Value| {
        let other = negated(b, table);
        vec![b.dot_rows(x, table).unwrap(), sum(b, x, other)]
    };
    assert_eq!(left(300, 200, &read_twice), [0, 1, 0]);
    // 16 MB and five times 16 MB, of 64 MiB.
    let many = |b: &mut Builder, x: Value, mut table: Value| {
        let mut products = vec![b.dot_rows(x, table).unwrap()];
        for _ in 0..5 {
            table = negated(b, table);
            products.push(b.dot_rows(x, table).unwrap());
        }
        products
    };
    assert_eq!(left(2000, 2000, &many), [0, 2, 0]);
}

/// A window over a table takes longer to evaluate than to write.
#[test]
fn long_evaluations_are_left_to_the_run() {
    let filtered = |size: usize| {
        move |b: &mut Builder, x: Value, image: Value| {
            let image = b.reshape(image, [1, 1, 1000, 500]).unwrap();
            let filter = table(b, size, size);
            let filter = b.reshape(filter, [1, 1, size, size]).unwrap();
            let window = Window {
                size: vec![size as i64; 2],
                strides: vec![1; 2],
                dilations: vec![1; 2],
                low: vec![Dim::from(0); 2],
                high: vec![Dim::from(size as i64 - 1); 2],
            };
            let image = b.conv(image, filter, window, 1, DType::F32).unwrap();
            let image = b.reshape(image, [1000, 500]).unwrap();
            vec![b.dot_rows(x, image).unwrap()]
        }
    };
    assert_eq!(left(1000, 500, &filtered(3)), [0, 0, 0]);
    assert_eq!(left(1000, 500, &filtered(30)), [0, 0, 1]);
}
