//! Cubes of floats as products that are rounded about once, as the bound of `pow` asks: `x * x * x` is up to 1.26 ulp
//! off. Behind `recover_composites`, which sees a power more easily than its decomposition.

use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp};

/// 2^90: 2^45 cubed is 2^135.
const LARGEST_SQUARE: f64 = (1u128 << 90) as f64;

/// Whether an op is the cube of a float of at most 32 bits.
pub(super) fn applies(func: &TensorFunc, op: tegula_ir::OpId) -> bool {
    let TensorOp::Elementwise { f: ScalarOp::Pow } = func.kind(op) else { return false };
    let [x, power] = [0, 1].map(|i| func.operand(op, i));
    let three = match func.ty(x).dtype {
        DType::F32 => i64::from(3f32.to_bits()),
        DType::F16 => 0x4200,
        DType::BF16 => 0x4040,
        _ => return false,
    };
    func.ty(power).dtype == func.ty(x).dtype
        && func.ty(x).shape == func.ty(func.result(op)).shape
        && func
            .def_op(power)
            .is_some_and(|op| matches!(func.kind(op), TensorOp::Splat { bits, .. } if *bits == three))
}

pub(super) fn cube(b: &mut Builder, x: Value) -> Built {
    let dtype = b.dtype(x);
    if dtype != DType::F32 {
        // The square of at most 11 bits is exact in 24.
        let wide = b.cast(x, DType::F32)?;
        let square = b.mul(wide, wide)?;
        let cube = b.mul(square, wide)?;
        return b.cast_with(cube, dtype, false);
    }
    // Cubes of larger squares are beyond the range; up to there the square's error times x is within it.
    let square = b.mul(x, x)?;
    let square = b.with_number(ScalarOp::Min, square, LARGEST_SQUARE)?;
    let less = b.neg(square)?;
    let error = b.elementwise(ScalarOp::Fma, &[x, x, less])?;
    let error = b.mul(error, x)?;
    b.elementwise(ScalarOp::Fma, &[square, x, error])
}
