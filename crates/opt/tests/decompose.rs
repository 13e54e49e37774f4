//! `decompose_composites` leaves no contraction of an element type that machines do not multiply, and the meaning.

use crate::target;

use target::{Can, small};
use tegula_base::{DType, HostTensor};
use tegula_ir::scalar::eval::eval_slice;
use tegula_ir::{PassCx, ScalarOp};
use tegula_opt::passes::decompose_composites;
use tegula_tensor::build::same_window;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, evaluate};

/// Integers around zero in any type, more than what fits in 4 bits.
fn numbers(dtype: DType, shape: &[usize]) -> HostTensor {
    let wide: Vec<u8> =
        (0..shape.iter().product::<usize>() as i64).flat_map(|i| (i * 7 % 23 - 9).to_le_bytes()).collect();
    let mut bytes = Vec::new();
    eval_slice(ScalarOp::Cast { to: dtype, saturate: true }, &[(&wide, DType::I64)], &mut bytes);
    HostTensor { dtype, shape: shape.to_vec(), bytes }
}

fn program(dtype: DType) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let (x, y) = (b.arg(dtype, [3, 5]), b.arg(dtype, [5, 4]));
    let (image, weights) = (b.arg(dtype, [1, 2, 6]), b.arg(dtype, [3, 2, 2]));
    let product = b.dot_2d(x, y).unwrap();
    let filtered = b.conv(image, weights, same_window(&[2]), 1, dtype).unwrap();
    b.ret(&[product, filtered]).unwrap();
    program.consts = consts;
    program
}

#[test]
fn contractions_of_rare_types_are_widened() {
    let target = small(Can::default());
    for dtype in DType::COMPUTED {
        if matches!(dtype, DType::Bool | DType::I8 | DType::U8 | DType::I32 | DType::I64)
            || dtype.is_float() && dtype.small_float().is_none()
        {
            continue;
        }
        let inputs = [[3, 5, 0], [5, 4, 0], [1, 2, 6], [3, 2, 2]].map(|shape: [usize; 3]| {
            let shape: Vec<usize> = shape.into_iter().filter(|n| *n > 0).collect();
            numbers(dtype, &shape)
        });
        let mut program = program(dtype);
        let expected = evaluate(&program, &inputs).unwrap();
        decompose_composites(&mut program, &target, &mut PassCx::default()).unwrap();
        let func = program.entry();
        for op in func.walk() {
            if let TensorOp::Dot { .. } | TensorOp::Conv { .. } = func.kind(op) {
                assert_ne!(func.ty(func.operand(op, 0)).dtype, dtype);
            }
        }
        let got = evaluate(&program, &inputs).unwrap();
        for (got, expected) in got.iter().zip(&expected) {
            assert_eq!(got, expected, "{dtype}");
        }
    }
}
