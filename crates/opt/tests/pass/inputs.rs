//! Inputs for the programs of text cases, and the comparison of what two programs make of them.

use std::path::Path;
use tegula_base::{DType, Diagnostic, HostTensor, small_float};
use tegula_tensor::{TensorProgram, TensorType, evaluate};

/// Evaluates both; integers are equal, floats within a few rounding steps of their magnitude. What stops the one stops
/// the other.
pub fn agree(before: &TensorProgram, after: &TensorProgram, path: &Path) {
    let func = before.entry();
    let inputs: Vec<HostTensor> =
        func.args(func.body()).iter().enumerate().map(|(i, arg)| input(func.ty(*arg), i)).collect();
    let [left, right] = match [before, after].map(|program| evaluate(program, &inputs)) {
        [Ok(left), Ok(right)] => [left, right],
        [left, right] => {
            let message = |result: Result<_, Diagnostic>| result.err().map(|error| error.to_string());
            return assert_eq!(message(left), message(right), "{}", path.display());
        }
    };
    for (i, (a, b)) in left.iter().zip(&right).enumerate() {
        assert_eq!((a.dtype, &a.shape), (b.dtype, &b.shape), "{}: result {i}", path.display());
        let (a, b) = (a.to_f64(), b.to_f64());
        let largest = a.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
        for (x, y) in a.iter().zip(&b) {
            let same = x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-5 * (largest + 1e-6);
            assert!(same, "{}: result {i} has {y} for {x}", path.display());
        }
    }
}

/// Small numbers of either sign, no two rows alike; integers stay indices of small tensors.
fn input(ty: &TensorType, salt: usize) -> HostTensor {
    let size = |name: &str| Some(2 + name.bytes().map(i64::from).sum::<i64>() % 3);
    let shape: Vec<usize> =
        ty.shape.iter().map(|dim| dim.eval(&size).expect("a size of symbols") as usize).collect();
    let count: usize = shape.iter().product();
    let number = |i: usize| ((i * 7 + salt * 5) % 13) as f64 / 4.0 - 1.5;
    match ty.dtype {
        DType::F32 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| number(i) as f32).collect::<Vec<f32>>())
        }
        // The numbers are exact in the upper half of their bits.
        DType::BF16 => {
            let bytes =
                (0..count).flat_map(|i| (number(i) as f32).to_le_bytes().into_iter().skip(2)).collect();
            HostTensor { dtype: DType::BF16, shape, bytes }
        }
        DType::I64 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| (i % 2) as i64).collect::<Vec<_>>())
        }
        DType::I32 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| (i % 2) as i32).collect::<Vec<_>>())
        }
        DType::U8 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| (i * 37 % 256) as u8).collect::<Vec<_>>())
        }
        DType::I8 => {
            HostTensor::from_elements(&shape, &(0..count).map(|i| (i * 37 % 256) as i8).collect::<Vec<_>>())
        }
        DType::Bool => HostTensor::from_elements(&shape, &(0..count).map(|i| i % 2 == 0).collect::<Vec<_>>()),
        other if other.small_float().is_some() => {
            let bytes = (0..count).map(|i| small_float::from_f64(other, number(i), true)).collect();
            HostTensor { dtype: other, shape, bytes }
        }
        other => panic!("no inputs of {other}"),
    }
}
