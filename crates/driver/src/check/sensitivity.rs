//! How far the rounding of a kernel's own steps may move each element of its results.
//!
//! Where a step cancels (a variance as the mean of squares less the square of the mean), a bound from the largest
//! elements says nothing of one element. The kernel's ops are evaluated several times, every float rounded to one
//! side or the other at random by what rounding may do, and the results' spread is measured.
//! Method: discrete stochastic arithmetic (Vignes, "A stochastic arithmetic for reliable scientific computation",
//! Mathematics and Computers in Simulation 35, 1993). The random numbers have a fixed seed.

use super::unit_roundoff;
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::HostTensor;
use tegula_base::random::SplitMix64;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::eval::{Bindings, evaluate_op};
use tegula_tensor::{TensorFunc, TensorOp};

/// Evaluations; the spread of so few understates the worst case, hence [`CONFIDENCE`].
const TRIALS: u64 = 4;
/// Spreads that an honest difference may be.
const CONFIDENCE: f64 = 16.0;
/// Units of roundoff of one step: functions are within 2 ulp (`docs/numerics.md`).
const STEP: f64 = 4.0;

/// For each result of the kernel at `op`, the difference that rounding may make, an element each.
/// Errors: an op of the kernel that is not evaluated alone, in plain words.
pub(super) fn allowances(
    func: &TensorFunc,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
) -> Result<Vec<Vec<f64>>, String> {
    let exact = results(func, op, operands, bindings, None)?;
    let mut spread: Vec<Vec<f64>> = exact.iter().map(|values| vec![0.0; values.len()]).collect();
    for trial in 1..=TRIALS {
        let moved = results(func, op, operands, bindings, Some(Noise(SplitMix64::new(trial))))?;
        for ((spread, exact), moved) in spread.iter_mut().zip(&exact).zip(moved) {
            for ((most, exact), moved) in spread.iter_mut().zip(exact).zip(moved) {
                *most = most.max(CONFIDENCE * distance(*exact, moved));
            }
        }
    }
    Ok(spread)
}

/// Infinite where rounding makes an infinity or no number of one and not of the other: such elements are not judged.
/// Where both are the same, rounding has no part in it.
fn distance(exact: f64, moved: f64) -> f64 {
    if exact == moved || exact.is_nan() && moved.is_nan() {
        return 0.0;
    }
    let apart = (exact - moved).abs();
    if apart.is_nan() { f64::INFINITY } else { apart }
}

fn results(
    func: &TensorFunc,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
    mut noise: Option<Noise>,
) -> Result<Vec<Vec<f64>>, String> {
    let region = *func.regions_of(op).first().ok_or("a launch without a region")?;
    let mut values: HashMap<Value, Arc<HostTensor>> =
        func.args(region).iter().copied().zip(operands.iter().cloned()).collect();
    for inner in func.ops_in(region) {
        let kind = bindings.concrete_op(func.kind(*inner))?;
        let mut read: Vec<Arc<HostTensor>> = Vec::with_capacity(func.operands(*inner).len());
        for value in func.operands(*inner) {
            read.push(values.get(value).cloned().ok_or("a value from outside of the kernel")?);
        }
        if let TensorOp::Yield {} = kind {
            return Ok(read.iter().map(|tensor| tensor.to_f64()).collect());
        }
        // Sums round by what their terms are, not by what they come to.
        if let (Some(noise), Some(terms)) = (&mut noise, terms(&kind, &read)) {
            for tensor in &mut read {
                *tensor = Arc::new(noise.on(tensor, STEP * terms.sqrt())?);
            }
        }
        let made = evaluate_op(&kind, &read.iter().map(|tensor| tensor.as_ref()).collect::<Vec<_>>())?;
        for (value, tensor) in func.results(*inner).iter().zip(made) {
            let tensor = match &mut noise {
                Some(noise) => noise.on(&tensor, STEP)?,
                None => tensor,
            };
            values.insert(*value, Arc::new(tensor));
        }
    }
    Err("a kernel without an end".into())
}

/// Terms of each sum of an op; `None`: it does not sum.
fn terms(kind: &TensorOp, read: &[Arc<HostTensor>]) -> Option<f64> {
    let extents = |axes: &[usize]| axes.iter().map(|axis| read[0].shape[*axis] as f64).product::<f64>();
    match kind {
        TensorOp::Dot { dims, .. } => Some(extents(&dims.lhs_contract)),
        TensorOp::Conv { .. } => Some(read[1].shape[1..].iter().map(|n| *n as f64).product()),
        TensorOp::Reduce { axes, .. } => Some(extents(axes)),
        TensorOp::Scan { axis, .. } => Some(extents(&[*axis])),
        TensorOp::Pool { window, .. } => Some(window.size.iter().map(|n| *n as f64).product()),
        _ => None,
    }
}

/// Rounds to one side or the other by random signs.
struct Noise(SplitMix64);

impl Noise {
    /// Each float times `1 + units * u` or `1 - units * u`, u the unit roundoff of its type.
    fn on(&mut self, tensor: &HostTensor, units: f64) -> Result<HostTensor, String> {
        if !tensor.dtype.is_float() {
            return Ok(tensor.clone());
        }
        let share = units * unit_roundoff(tensor.dtype);
        let moved = |x: f64, sign: u64| if sign & 1 == 0 { x * (1.0 + share) } else { x * (1.0 - share) };
        let numbers: Vec<f64> = tensor.to_f64().into_iter().map(|x| moved(x, self.0.next_u64())).collect();
        let round = TensorOp::Elementwise { f: ScalarOp::Cast { to: tensor.dtype, saturate: false } };
        evaluate_op(&round, &[&HostTensor::from_elements(&tensor.shape, &numbers)])?
            .pop()
            .ok_or_else(|| "a cast without a result".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_base::{DType, Dim};
    use tegula_ir::ConstStore;
    use tegula_tensor::{Builder, KernelClass, TensorProgram, TensorType};

    #[test]
    fn infinities_are_judged() {
        assert_eq!(distance(f64::INFINITY, f64::INFINITY), 0.0);
        assert_eq!(distance(f64::NAN, f64::NAN), 0.0);
        assert_eq!(distance(1e38, f64::INFINITY), f64::INFINITY);
        assert_eq!(distance(f64::NAN, 1.0), f64::INFINITY);
    }

    /// `mean(x^2) - mean(x)^2` of a row that hardly varies may be anything near 0; of one that varies it may not.
    #[test]
    fn cancellation_is_seen() {
        let mut func = TensorFunc::new("main");
        let ty = TensorType::new(DType::F32, [Dim::from(2), Dim::from(64)]);
        let body = func.body();
        let x = func.add_arg(body, ty.clone());
        let row = TensorType::new(DType::F32, [Dim::from(2), Dim::from(1)]);
        let kernel = func.push_op(body, TensorOp::Kernel { class: KernelClass::Rows }, &[x], [row], None);
        let region = func.regions_of(kernel)[0];
        let x = func.add_arg(region, ty);
        let mut consts = ConstStore::default();
        let mut b = Builder::new(&mut func, &mut consts).at(region, None);
        let square = b.mul(x, x).unwrap();
        let mut mean = |x: Value| {
            let sum = b.reduce(ScalarOp::Add, x, &[1], true).unwrap();
            b.with_number(ScalarOp::Mul, sum, 1.0 / 64.0).unwrap()
        };
        let (squares, mean) = (mean(square), mean(x));
        let square = b.mul(mean, mean).unwrap();
        let variance = b.sub(squares, square).unwrap();
        func.push_op(region, TensorOp::Yield {}, &[variance], [], None);
        let numbers: Vec<f32> =
            (0..128).map(|i| if i < 64 { 10.0 + 1e-5 * (i % 3) as f32 } else { (i % 7) as f32 }).collect();
        let input = Arc::new(HostTensor::from_elements(&[2, 64], &numbers));
        let mut program = TensorProgram::new(func);
        program.consts = consts;
        let bindings = Bindings::of_inputs(&program, &[input.as_ref().clone()]).unwrap();
        let allowed = allowances(program.entry(), kernel, &[input], &bindings).unwrap();
        let (flat, varied) = (allowed[0][0], allowed[0][1]);
        assert!(flat > 1e-5, "the variance of a flat row is rounding, got {flat:e}");
        assert!(varied < 1e-2, "the variance of a varied row is known, got {varied:e}");
    }
}
