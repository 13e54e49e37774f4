//! A cube has the error of a power: all numbers of 16 bits, and of `f32` each exponent with its borders and numbers
//! between, against the cube in twice the width. The bound is that of `docs/numerics.md`.

use tegula_base::{DType, HostTensor};
use tegula_ir::{OpId, PassCx, ScalarOp};
use tegula_opt::passes::{canonicalise, decompose_composites};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, evaluate};

use crate::target;

const BOUND: f64 = 1.0;

/// The cubes as the passes compute them.
fn cubes(x: &HostTensor) -> HostTensor {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let arg = b.arg(x.dtype, [x.count()]);
    let y = b.with_number(ScalarOp::Pow, arg, 3.0).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    let (target, cx) = (
        target::small(target::Can { lookup_tables: true, multiply_pairs: true, multiply_i16: false }),
        &mut PassCx::default(),
    );
    canonicalise(&mut program, cx).unwrap();
    decompose_composites(&mut program, &target, cx).unwrap();
    let func = program.entry();
    let is_call = |op: &OpId| matches!(func.kind(*op), TensorOp::Elementwise { f: ScalarOp::Pow });
    assert!(!func.walk().iter().any(is_call), "a call of `pow` is left on {}", x.dtype);
    evaluate(&program, std::slice::from_ref(x)).unwrap().remove(0)
}

/// With `bits` of precision, the `least` exponent of a unit in the last place, and the `largest` number.
fn check(x: &HostTensor, bits: i32, least: i32, largest: f64) {
    let mut worst = 0.0f64;
    for (x, y) in x.to_f64().into_iter().zip(cubes(x).to_f64()) {
        let exact = x * x * x;
        if x.is_nan() || y.is_infinite() {
            let fits = if x.is_nan() { y.is_nan() } else { exact.abs() >= largest && (x < 0.0) == (y < 0.0) };
            assert!(fits, "{x:e}^3 is not {y:e}");
            continue;
        }
        let exponent = (exact.to_bits() >> 52 & 0x7ff) as i32 - 1023 + 1 - bits;
        let error = (y - exact).abs() / 2f64.powi(exponent.max(least));
        assert!(error <= BOUND, "{x:e}^3 is not {y:e}: {error} ulp");
        worst = worst.max(error);
    }
    assert!(worst > 0.4, "nothing was rounded");
}

fn of_codes(dtype: DType) -> HostTensor {
    let bytes = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    HostTensor { dtype, shape: vec![1 << 16], bytes }
}

#[test]
fn halves() {
    check(&of_codes(DType::F16), 11, -24, 65504.0);
    check(&of_codes(DType::BF16), 8, -133, 2f64.powi(128) * (1.0 - 2f64.powi(-8)));
}

#[test]
fn floats() {
    // Each exponent: its borders, and numbers between.
    let mut numbers = Vec::new();
    for exponent in 0..=u8::MAX {
        for sign in [0, 1u32 << 31] {
            let base = sign | u32::from(exponent) << 23;
            numbers.extend((0..4).flat_map(|i| [base + i, base + ((1 << 23) - 1 - i)]).map(f32::from_bits));
            let scattered = (0..1200u32).map(|i| base + (i.wrapping_mul(0x9e37_79b9) >> 9));
            numbers.extend(scattered.map(f32::from_bits));
        }
    }
    // The cubes next to overflow.
    let root = 2f32.powf(128.0 / 3.0).to_bits();
    numbers.extend((root - 50..root + 50).map(f32::from_bits));
    let x = HostTensor::from_elements(&[numbers.len()], &numbers);
    check(&x, 24, -149, f64::from(f32::MAX));
}
