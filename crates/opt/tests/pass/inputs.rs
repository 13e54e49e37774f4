//! Inputs for the programs of text cases, and the comparison of what two programs make of them.

use std::path::Path;
use tegula_base::{DType, Diagnostic, HostTensor, small_float};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval;
use tegula_tensor::{TensorProgram, TensorType, evaluate};

/// Evaluates both on the inputs of a seed (0: always the same ones, with sizes from names); integers are equal, floats
/// within a few rounding steps of their magnitude, of `narrowest` where that is less. What stops the one stops the other.
pub fn agree(before: &TensorProgram, after: &TensorProgram, narrowest: DType, path: &Path, seed: u64) {
    let place = format!("{} with seed {seed}", path.display());
    let func = before.entry();
    let inputs: Vec<HostTensor> =
        func.args(func.body()).iter().enumerate().map(|(i, arg)| input(func.ty(*arg), i, seed)).collect();
    let [left, right] = match [before, after].map(|program| evaluate(program, &inputs)) {
        [Ok(left), Ok(right)] => [left, right],
        [left, right] => {
            let message = |result: Result<_, Diagnostic>| result.err().map(|error| error.to_string());
            return assert_eq!(message(left), message(right), "{place}");
        }
    };
    for (i, (a, b)) in left.iter().zip(&right).enumerate() {
        assert_eq!((a.dtype, &a.shape), (b.dtype, &b.shape), "{place}: result {i}");
        let step = match (a.dtype, narrowest) {
            (DType::BF16, _) | (_, DType::BF16) => 1.6e-2,
            (DType::F16, _) => 2e-3,
            _ => 1e-5,
        };
        let (a, b) = (a.to_f64(), b.to_f64());
        let largest = a.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
        for (x, y) in a.iter().zip(&b) {
            let same = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= step * (largest + 1e-6);
            assert!(same, "{place}: result {i} has {y} for {x}");
        }
    }
}

/// A number from 0 to 1 for each element of each input (SplitMix64).
fn drawn(seed: u64, salt: usize, i: usize) -> f64 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add((salt as u64) << 40).wrapping_add(i as u64);
    z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as f64 / 2f64.powi(64)
}

/// Small numbers of either sign, no two rows alike; integers stay indices of small tensors.
fn input(ty: &TensorType, salt: usize, seed: u64) -> HostTensor {
    let size = |name: &str| {
        let sum = name.bytes().map(u64::from).sum::<u64>();
        Some(match seed {
            0 => 2 + sum as i64 % 3,
            seed => 1 + (drawn(seed, usize::MAX, sum as usize) * 6.0) as i64,
        })
    };
    let shape: Vec<usize> =
        ty.shape.iter().map(|dim| dim.eval(&size).expect("a size of symbols") as usize).collect();
    let count: usize = shape.iter().product();
    let number = |i: usize| match seed {
        0 => ((i * 7 + salt * 5) % 13) as f64 / 4.0 - 1.5,
        seed => drawn(seed, salt, i) * 8.0 - 4.0,
    };
    let below = |i: usize, most: usize| match seed {
        0 => i * 37 % most,
        seed => (drawn(seed, salt, i) * most as f64) as usize,
    };
    match ty.dtype {
        DType::F32 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| number(i) as f32).collect::<Vec<f32>>())
        }
        DType::F16 | DType::BF16 => {
            let cast = ScalarOp::Cast { to: ty.dtype, saturate: true };
            let bits = |i| eval(cast, &[DType::F64], &[number(i).to_bits()]) as u16;
            let bytes = (0..count).flat_map(|i| bits(i).to_le_bytes()).collect();
            HostTensor { dtype: ty.dtype, shape, bytes }
        }
        DType::I64 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 2) as i64).collect::<Vec<_>>())
        }
        DType::I32 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 2) as i32).collect::<Vec<_>>())
        }
        DType::I16 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 65536) as i16).collect::<Vec<_>>())
        }
        DType::U8 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 256) as u8).collect::<Vec<_>>())
        }
        DType::I8 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 256) as i8).collect::<Vec<_>>())
        }
        DType::Bool => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| below(i, 2) == 0).collect::<Vec<_>>())
        }
        other if other.small_float().is_some() => {
            let bytes = (0..count).map(|i| small_float::from_f64(other, number(i), true)).collect();
            HostTensor { dtype: other, shape, bytes }
        }
        other => panic!("no inputs of {other}"),
    }
}
