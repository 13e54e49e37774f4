//! How far the vector functions are from the truth, in units of the last place.
//!
//! The truth is the function in `f64` (crate `libm`, below 1 ulp of `f64`), unrounded. An error is measured in
//! ulps of the `f32` binade that the truth lies in; denormals have the ulp of the smallest normal numbers.

use super::expand;
use crate::exec::{Executable, VecMemory};
use crate::schedule::{Builder, LoopLevel, builder::At};
use tegula_base::DType;
use tegula_ir::{ScalarOp, scalar::eval::eval};
use tegula_package::Memory;

/// The functions of one `f32` operand that have vector code, with the bound that they keep.
pub const VECTOR_FUNCTIONS: [ScalarOp; 10] = [
    ScalarOp::Exp,
    ScalarOp::Exp2,
    ScalarOp::Expm1,
    ScalarOp::Log,
    ScalarOp::Log1p,
    ScalarOp::Tanh,
    ScalarOp::Sigmoid,
    ScalarOp::Erf,
    ScalarOp::Sin,
    ScalarOp::Cos,
];

/// The bound of every vector function on every input, in ulps.
pub const BOUND: f64 = 2.0;

/// Computes a function on a slice; errors end the sweep.
pub type Batch<'a> = dyn FnMut(&[f32], &mut [f32]) -> Result<(), String> + 'a;

/// What a sweep found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    pub op: ScalarOp,
    pub checked: u64,
    /// Infinite where NaN or infinity is wrong or missing.
    pub max_ulp: f64,
    /// The input that has it, and what came out.
    pub worst: f32,
    pub got: f32,
}

/// Elements handed to the function at once.
const BATCH: usize = 4096;

/// Computes `op` on the `f32` numbers with bits `start + i * step`, `i < count` (wrapping), and compares.
pub fn ulp_sweep(op: ScalarOp, start: u32, count: u64, step: u32, f: &mut Batch) -> Result<Report, String> {
    let mut report = Report { op, checked: 0, max_ulp: 0.0, worst: 0.0, got: 0.0 };
    let mut bits = start;
    let (mut inputs, mut outputs) = (Vec::with_capacity(BATCH), vec![0.0; BATCH]);
    while report.checked < count {
        inputs.clear();
        for _ in 0..(count - report.checked).min(BATCH as u64) {
            inputs.push(f32::from_bits(bits));
            bits = bits.wrapping_add(step);
        }
        let outputs = &mut outputs[..inputs.len()];
        f(&inputs, outputs)?;
        for (&x, &got) in inputs.iter().zip(outputs.iter()) {
            let error = ulp_error(op, exact(op, x.into()), got);
            if error > report.max_ulp {
                report = Report { max_ulp: error, worst: x, got, ..report };
            }
        }
        report.checked += inputs.len() as u64;
    }
    Ok(report)
}

/// The function in `f64`.
pub fn exact(op: ScalarOp, x: f64) -> f64 {
    match op {
        // Of recipes alone, on `f32` alone.
        ScalarOp::Exp2 => x.exp2(),
        _ => f64::from_bits(eval(op, &[DType::F64], &[x.to_bits()])),
    }
}

/// The distance of `got` from `truth` in ulps of an `f32`. Overflow counts from where rounding gives infinity.
pub fn ulp_error(op: ScalarOp, truth: f64, got: f32) -> f64 {
    if got == 0.0 && truth.abs() < f32::MIN_POSITIVE.into() && op.may_flush() {
        return 0.0;
    }
    if truth.is_nan() || got.is_nan() {
        return if truth.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if f64::from(got) == truth {
        return 0.0;
    }
    let exponent = ((truth.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    let ulp = 2f64.powi(exponent - 23);
    // Infinity stands where the number after the largest would.
    let number = |x: f64| if x.is_infinite() { 2f64.powi(128).copysign(x) } else { x };
    (number(got.into()) - number(truth).clamp(-2f64.powi(128), 2f64.powi(128))).abs() / ulp
}

/// The function's expansion, run by the interpreter.
pub fn executed(op: ScalarOp, lanes: u32) -> Result<Box<Batch<'static>>, String> {
    let kernel = Executable::new(&unary_kernel(op, lanes))?;
    let memory = VecMemory::new();
    let buffer = memory.add(vec![0; 4 * BATCH]);
    Ok(Box::new(move |inputs: &[f32], outputs: &mut [f32]| {
        for (x, y) in inputs.chunks(BATCH).zip(outputs.chunks_mut(BATCH)) {
            let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
            memory.write(buffer, &bytes).map_err(|error| error.to_string())?;
            kernel
                .run(&[0, buffer, buffer], 0, 0, x.len() as u64, &memory)
                .map_err(|fault| fault.to_string())?;
            for (y, bytes) in y.iter_mut().zip(memory.bytes(buffer).chunks_exact(4)) {
                *y = f32::from_le_bytes(bytes.try_into().expect("invariant: chunks of four bytes"));
            }
        }
        Ok(())
    }))
}

/// A kernel of one work unit an element: argument 1 is the `f32` input, argument 2 the output.
pub fn unary_kernel(op: ScalarOp, lanes: u32) -> crate::schedule::CpuFunc {
    let mut b = Builder::new(op.name());
    let (begin, end, input, output) = (b.begin(), b.end(), b.arg(1), b.arg(2));
    b.for_(begin, end, lanes.into(), LoopLevel::L1, &[], |b, i, _| {
        let left = b.sub(end, i);
        let x = b.load_at(DType::F32, lanes, At::new(input).indexed(i, 4).count(left));
        let y = expand(b, op, &[DType::F32], &[x]);
        b.store_at(DType::F32, y, At::new(output).indexed(i, 4).count(left));
        vec![]
    });
    b.finish()
}
