//! Products of bytes whose pairs are summed in 16 bits: what the pass makes of constants is exact on every tier; what a program
//! says itself saturates, is refused where no pairs are summed, and is judged like any other op.

use crate::all_ways;
use crate::program;

use program::program;
use tegula_base::{DType, HostTensor};
use tegula_driver::bound::reference;
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx};
use tegula_ir::ScalarOp;
use tegula_machine::Machine;
use tegula_tensor::{Builder, DotDims};

/// Bytes of all values, without order.
fn bytes(dtype: DType, shape: [usize; 2]) -> HostTensor {
    let bytes = (0..shape[0] * shape[1]).map(|i| ((i * 7919 + 13) % 257) as u8).collect();
    HostTensor { dtype, shape: shape.to_vec(), bytes }
}

/// Small weights, and in every `rare`th place one of 127 or -128.
fn weights(shape: [usize; 2], rare: usize) -> HostTensor {
    let byte = |i: usize| match (i * 31 + i / shape[1] * 7) % rare {
        0 => 127 + (i / rare % 2) as u8,
        _ => (i * 7919 % 61) as u8,
    };
    HostTensor {
        dtype: DType::I8,
        shape: shape.to_vec(),
        bytes: (0..shape[0] * shape[1]).map(byte).collect(),
    }
}

fn dims(rhs_contract: usize) -> DotDims {
    DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![1], rhs_contract: vec![rhs_contract] }
}

#[test]
fn excess_is_not_lost() {
    for (m, k, n) in [(1, 64, 256), (2, 67, 256), (9, 130, 128), (5, 33, 70), (1, 6, 300)] {
        for rare in [3, 97, 1009, usize::MAX] {
            let x = bytes(DType::U8, [m, k]);
            all_ways::check(&x, &[], weights([k, n], rare), |b, [x, w]| b.dot(x, w, dims(0), DType::I32));
            all_ways::check(&x, &[0], weights([n, k], rare), |b, [x, w]| b.dot(x, w, dims(1), DType::I32));
        }
    }
}

#[test]
fn programs_that_say_so_themselves() {
    for (m, k, n) in [(1, 2, 64), (7, 6, 37), (4, 64, 40), (3, 130, 16)] {
        let x = bytes(DType::U8, [m, k]);
        let w = bytes(DType::I8, [k, n]);
        all_ways::check_on(&["avx2-generic"], &x, &[], w, |b, [x, w]| b.dot_of_pairs([x, w], dims(0)));
        let turned = bytes(DType::I8, [n, k]);
        all_ways::check_on(&["avx2-generic"], &x, &[0], turned, |b, [x, w]| {
            // No constant any more.
            let w = b.elementwise(ScalarOp::Neg, &[w])?;
            let w = b.add(w, w)?;
            b.dot_of_pairs([x, w], dims(1))
        });
    }
}

#[test]
fn other_machines_refuse_them() {
    for (class, is_refused) in
        [("avx2-generic", false), ("zen5", true), ("avx512-generic", true), ("h200", true)]
    {
        let program = program(|b| {
            let x = b.arg(DType::U8, [3, 16]);
            let w = b.arg(DType::I8, [16, 8]);
            Ok(vec![b.dot_of_pairs([x, w], dims(0))?])
        });
        let options = CompileOptions::new(Machine::class(class).unwrap());
        let compiled = compile_program(program, "test", &options, None, &mut PassCx::new());
        let said = compiled.err().map(|found| found.to_string());
        let expected = format!(
            "error[unsupported]: `dot` with sums of pairs in i16 is not computed on `{class}`\n\
             help: without `pair_sums` products are summed exactly"
        );
        assert_eq!(said, is_refused.then_some(expected));
    }
}

/// `exp(0)` may be computed just below 1, which is 0 as a byte.
#[test]
fn rows_that_rounding_decides_are_bounded() {
    let program = program(|b: &mut Builder| {
        let x = b.arg(DType::F32, [2, 4]);
        let e = b.elementwise(ScalarOp::Exp, &[x])?;
        let row = b.elementwise(ScalarOp::Cast { to: DType::U8, saturate: true }, &[e])?;
        let w = b.literal(weights([4, 3], usize::MAX))?;
        Ok(vec![b.dot_of_pairs([row, w], dims(0))?])
    });
    let x = HostTensor::from_elements(&[2, 4], &[0.0f32; 8]);
    let bounded = reference(&program, &[x]).unwrap().remove(0);
    assert!(bounded.error.is_some());
}
