//! `fold_constants` on sizes that no memory holds.

#[path = "pass/target.rs"]
mod target;

use tegula_base::{DType, HostTensor};
use tegula_ir::{PassCx, ScalarOp};
use tegula_opt::passes::fold_constants;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

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
    fold_constants(
        &mut program,
        &target::Small { looks_up: true, multiplies_pairs: true, multiplies_words: false },
        &mut PassCx::default(),
    )
    .unwrap();
    let func = program.entry();
    let count = |is_wanted: fn(&TensorOp) -> bool| {
        func.walk().into_iter().filter(|op| is_wanted(func.kind(*op))).count()
    };
    assert_eq!(count(|kind| matches!(kind, TensorOp::Splat { .. })), 1);
    assert_eq!(count(|kind| matches!(kind, TensorOp::Concat { .. })), DOUBLINGS + 1);
    assert_eq!(count(|kind| matches!(kind, TensorOp::Reduce { .. })), READS);
}
