//! Walks regions as the evaluator does, with bounds beside the values.

use super::float::largest;
use super::{Bounded, noise, rules};
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::random::SplitMix64;
use tegula_base::{DType, Diagnostic, HostTensor};
use tegula_ir::op::OpRules;
use tegula_ir::{ConstStore, OpId, RegionId, ScalarOp, Value};
use tegula_opt::lower_to_host::is_runtime_kernel;
use tegula_opt::passes::Precision;
use tegula_tensor::decompose::{expand, is_composite};
use tegula_tensor::eval::{self, Bindings, check_rounds};
use tegula_tensor::facts::{integer_factor, is_contraction};
use tegula_tensor::{Builder, KernelClass, TensorFunc, TensorOp, TensorProgram, TensorType, evaluate_op};

/// The results of the entry function with their bounds.
pub fn reference(program: &TensorProgram, inputs: &[HostTensor]) -> Result<Vec<Bounded>, Diagnostic> {
    let bindings = eval::bindings(program, inputs)?;
    let inputs = inputs.iter().cloned().map(Bounded::exact).collect();
    let mut run = Run::new(program.entry(), &program.consts, bindings);
    run.region(program.entry().body(), inputs).map_err(|error| Diagnostic::error("evaluate", error))
}

/// The results of the entry function where each float that an op gives is another one within the op's own bound: an
/// executor's run as it might be, drawn by `seed`.
/// Method: Monte Carlo arithmetic (Parker, "Monte Carlo Arithmetic: exploiting randomness in floating-point
/// arithmetic", UCLA technical report CSD-970002, 1997).
pub fn rounded_otherwise(
    program: &TensorProgram,
    inputs: &[HostTensor],
    seed: u64,
) -> Result<Vec<HostTensor>, Diagnostic> {
    let bindings = eval::bindings(program, inputs)?;
    let run = Run::new(program.entry(), &program.consts, bindings);
    Run { noise: Some(SplitMix64::new(seed)), ..run }.values_of(inputs)
}

/// Sees a launch: the kernel, its operands' values, and what it must give on just these. The values that it returns go
/// on in place of the evaluator's.
pub type Watch<'a> = dyn FnMut(OpId, &[Arc<HostTensor>], &[Bounded], &Bindings) -> Result<Option<Vec<HostTensor>>, String>
    + 'a;

/// The results of a program after kernel formation, with a look at every launch, those in loops included.
/// Errors: also those of `watch`.
pub fn watch_kernels(
    program: &TensorProgram,
    inputs: &[HostTensor],
    watch: &mut Watch,
) -> Result<Vec<HostTensor>, Diagnostic> {
    watch_kernels_at(Precision::F32, program, inputs, watch)
}

/// As [`watch_kernels`], of a program whose device rounds factors to a precision.
pub fn watch_kernels_at(
    precision: Precision,
    program: &TensorProgram,
    inputs: &[HostTensor],
    watch: &mut Watch,
) -> Result<Vec<HostTensor>, Diagnostic> {
    let bindings = eval::bindings(program, inputs)?;
    let run = Run::new(program.entry(), &program.consts, bindings);
    let of_device = match precision {
        Precision::F32 | Precision::Bf16 => None,
        Precision::F16 => Some(Factors::Rounded),
        Precision::F16x2 => Some(Factors::Split),
    };
    Run { watch: Some(watch), of_device, ..run }.values_of(inputs)
}

struct Run<'a> {
    func: &'a TensorFunc,
    consts: &'a ConstStore,
    bindings: Bindings,
    values: HashMap<Value, Bounded>,
    watch: Option<&'a mut Watch<'a>>,
    /// Set: ops give other values within their bounds, and no bounds.
    noise: Option<SplitMix64>,
    /// What factors of contractions of `f32` are in the device's regions.
    of_device: Option<Factors>,
    /// The same of what runs now.
    factors: Option<Factors>,
}

/// What a device makes of factors of `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factors {
    /// They are rounded to `f16`.
    Rounded,
    /// They are sums of two `f16`, of which a product leaves out the least part.
    Split,
}

impl<'a> Run<'a> {
    fn new(func: &'a TensorFunc, consts: &'a ConstStore, bindings: Bindings) -> Run<'a> {
        let (watch, noise, of_device, factors) = (None, None, None, None);
        Run { func, consts, bindings, values: HashMap::new(), watch, noise, of_device, factors }
    }

    /// The results of the function alone.
    fn values_of(mut self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, Diagnostic> {
        let inputs = inputs.iter().cloned().map(Bounded::exact).collect();
        let results = self.region(self.func.body(), inputs);
        let results = results.map_err(|error| Diagnostic::error("evaluate", error))?;
        Ok(results.into_iter().map(|result| Arc::unwrap_or_clone(result.value)).collect())
    }

    fn region(&mut self, region: RegionId, args: Vec<Bounded>) -> Result<Vec<Bounded>, String> {
        let func = self.func;
        for (value, arg) in func.args(region).iter().zip(args) {
            self.values.insert(*value, arg);
        }
        for &op in func.ops_in(region) {
            let operands: Vec<Bounded> =
                func.operands(op).iter().map(|value| self.values[value].clone()).collect();
            if func.kind(op).is_terminator() {
                return Ok(operands);
            }
            let results = self.op(op, &operands)?;
            for (value, result) in func.results(op).iter().zip(results) {
                self.values.insert(*value, result);
            }
        }
        Err("a region has no end".into())
    }

    fn scoped(&mut self, region: RegionId, args: Vec<Bounded>) -> Result<Vec<Bounded>, String> {
        let outside = self.bindings.clone();
        let results = self.region(region, args);
        self.bindings = outside;
        // Nothing outside of it names what a region made.
        for value in self.func.ops_in(region).iter().flat_map(|op| self.func.results(*op)) {
            self.values.remove(value);
        }
        results
    }

    fn op(&mut self, op: OpId, operands: &[Bounded]) -> Result<Vec<Bounded>, String> {
        let func = self.func;
        match func.kind(op) {
            TensorOp::If {} => {
                let taken = usize::from(operands[0].value.bytes[0] == 0);
                let results = self.scoped(func.regions_of(op)[taken], vec![])?;
                Ok(if operands[0].at(0) > 0.0 { forget(results) } else { results })
            }
            TensorOp::Loop { trip, stacked } => self.repeat(op, trip, *stacked, operands),
            TensorOp::Kernel { .. } => self.kernel(op, operands),
            TensorOp::Bind { symbol } => {
                self.bindings.0.insert(symbol.as_str().into(), operands[0].value.to_i64()[0]);
                Ok(vec![])
            }
            TensorOp::AssertSize { .. } => Ok(vec![]),
            TensorOp::Constant { id, .. } => Ok(vec![Bounded::exact(self.consts[*id].to_host())]),
            kind => {
                let kind = self.bindings.concrete_op(kind)?;
                if is_composite(&kind) {
                    return self.composite(&kind, operands);
                }
                if is_runtime_kernel(&kind) && self.watch.is_some() {
                    return self.watched(op, operands, |_, exact| rules::apply(&kind, &exact));
                }
                let rounds = is_contraction(&kind) && integer_factor(func, op).is_none();
                let results = match self.factors.filter(|_| rounds) {
                    Some(Factors::Rounded) => rules::apply(&kind, &rounded(operands, DType::F16)?)?,
                    Some(Factors::Split) => split(&kind, operands)?,
                    None => rules::apply(&kind, operands)?,
                };
                Ok(match &mut self.noise {
                    Some(noise) => results.into_iter().map(|result| noise::moved(result, noise)).collect(),
                    None => results,
                })
            }
        }
    }

    fn kernel(&mut self, op: OpId, operands: &[Bounded]) -> Result<Vec<Bounded>, String> {
        let region = self.func.regions_of(op)[0];
        if matches!(self.func.kind(op), TensorOp::Kernel { class: KernelClass::Region }) {
            self.factors = self.of_device;
        }
        let results = match self.watch {
            Some(_) => self.watched(op, operands, |run, exact| run.scoped(region, exact)),
            None => self.scoped(region, operands.to_vec()),
        };
        self.factors = None;
        results
    }

    /// A launch by itself: on operands without bounds, and without a watch inside. What it gives goes on without bounds,
    /// so that launches are judged one by one.
    fn watched(
        &mut self,
        op: OpId,
        operands: &[Bounded],
        apply: impl FnOnce(&mut Self, Vec<Bounded>) -> Result<Vec<Bounded>, String>,
    ) -> Result<Vec<Bounded>, String> {
        let Some(watch) = self.watch.take() else { return Err("nobody watches".into()) };
        let operands: Vec<Arc<HostTensor>> = operands.iter().map(|operand| operand.value.clone()).collect();
        let exact = operands.iter().map(|value| Bounded::shared(value.clone(), None)).collect();
        let results = apply(self, exact)?;
        let seen = watch(op, &operands, &results, &self.bindings);
        self.watch = Some(watch);
        Ok(match seen? {
            Some(values) => values.into_iter().map(Bounded::exact).collect(),
            None => results.into_iter().map(|result| Bounded { error: None, ..result }).collect(),
        })
    }

    /// The decomposition, op by op.
    fn composite(&mut self, kind: &TensorOp, operands: &[Bounded]) -> Result<Vec<Bounded>, String> {
        let mut func = TensorFunc::new("composite");
        let mut consts = ConstStore::default();
        let body = func.body();
        let args: Vec<Value> =
            operands.iter().map(|operand| func.add_arg(body, TensorType::of(&operand.value))).collect();
        let mut b = Builder::new(&mut func, &mut consts);
        let results = expand(&mut b, kind, &args)?;
        b.ret(&results)?;
        let run = Run::new(&func, &consts, Bindings::default());
        let mut run = Run { noise: self.noise.take(), factors: self.factors, ..run };
        let results = run.region(func.body(), operands.to_vec());
        self.noise = run.noise;
        results
    }

    fn repeat(
        &mut self,
        op: OpId,
        trip: &tegula_base::Dim,
        stacked: usize,
        operands: &[Bounded],
    ) -> Result<Vec<Bounded>, String> {
        let trip = self.bindings.size(trip)?;
        let region = self.func.regions_of(op)[0];
        let mut go = operands[0].value.bytes[0] != 0;
        let mut decided = operands[0].at(0) == 0.0;
        let mut carried = operands[1..].to_vec();
        let mut rows: Vec<Vec<Bounded>> = vec![vec![]; stacked];
        let mut round = 0;
        while go && round < trip {
            check_rounds(round, trip)?;
            let args = std::iter::once(Bounded::exact(HostTensor::scalar(round))).chain(carried).collect();
            let mut yields = self.scoped(region, args)?;
            for (stack, row) in rows.iter_mut().zip(yields.split_off(yields.len() - stacked)) {
                stack.push(row);
            }
            decided &= yields[0].at(0) == 0.0;
            go = yields[0].value.bytes[0] != 0;
            carried = yields.split_off(1);
            round += 1;
        }
        let mut results = vec![Bounded::exact(HostTensor::scalar(round))];
        results.extend(carried);
        let first = results.len();
        for (value, rows) in self.func.results(op)[first..].iter().zip(rows) {
            let ty = self.bindings.concrete(self.func.ty(*value))?;
            results.push(stack(&ty, &rows)?);
        }
        Ok(if decided { results } else { forget(results) })
    }
}

/// The operands of a contraction with its two factors, where they are `f32`, rounded.
fn rounded(operands: &[Bounded], dtype: DType) -> Result<Vec<Bounded>, String> {
    let cast = |operand: Bounded, to: DType| -> Result<Bounded, String> {
        let kind = TensorOp::Elementwise { f: ScalarOp::Cast { to, saturate: false } };
        let mut results = rules::apply(&kind, &[operand])?;
        results.pop().ok_or_else(|| "a cast has no result".to_string())
    };
    let round = |(i, operand): (usize, &Bounded)| match i < 2 && operand.value.dtype == DType::F32 {
        true => cast(cast(operand.clone(), dtype)?, DType::F32),
        false => Ok(operand.clone()),
    };
    operands.iter().enumerate().map(round).collect()
}

/// A contraction whose factors, where they are `f32`, are two halves each: each loses its own last bit, and both together the
/// product of their low halves.
fn split(kind: &TensorOp, operands: &[Bounded]) -> Result<Vec<Bounded>, String> {
    let factor = |(i, operand): (usize, &Bounded)| match i < 2 && operand.value.dtype == DType::F32 {
        true => wider(operand, &split_error),
        false => operand.clone(),
    };
    let factors: Vec<Bounded> = operands.iter().enumerate().map(factor).collect();
    // Of numbers whose high half is 0 or has few bits: the square of half a step there, for no more products than elements.
    let lost = operands[0].value.count() as f64 * 2f64.powi(-50);
    Ok(rules::apply(kind, &factors)?.iter().map(|result| wider(result, &|_| lost)).collect())
}

/// A value with a wider bound, by what its elements are.
fn wider(bounded: &Bounded, by: &dyn Fn(f64) -> f64) -> Bounded {
    let elements = bounded.value.to_f64().into_iter().enumerate();
    let error: Vec<f64> = elements.map(|(i, x)| bounded.at(i) + by(x)).collect();
    Bounded::shared(bounded.value.clone(), Some(Arc::new(error)))
}

/// How far the two halves of a factor may be from it, and its share of the product that is left out: 2^-22 of it and half of
/// that, and 2^-36 twice where the high half has few bits. Unknown where the high half is infinite.
fn split_error(x: f64) -> f64 {
    if x.abs() <= largest(DType::F16) { x.abs() * 2f64.powi(-21) + 2f64.powi(-35) } else { f64::INFINITY }
}

/// Rows one after the other, then zeros.
fn stack(ty: &TensorType, rows: &[Bounded]) -> Result<Bounded, String> {
    let shape = ty.shape.as_static().ok_or("a stack of unknown size")?;
    let mut value = HostTensor::zeros(ty.dtype, &shape);
    let mut error = vec![0.0; value.count()];
    let (mut at, mut element) = (0, 0);
    for row in rows {
        value.bytes[at..at + row.value.bytes.len()].copy_from_slice(&row.value.bytes);
        for i in 0..row.value.count() {
            error[element + i] = row.at(i);
        }
        at += row.value.bytes.len();
        element += row.value.count();
    }
    Ok(Bounded::new(value, error))
}

fn forget(results: Vec<Bounded>) -> Vec<Bounded> {
    results.into_iter().map(|result| Bounded::unchecked((*result.value).clone())).collect()
}

/// The op's values alone.
pub(super) fn values(kind: &TensorOp, operands: &[&HostTensor]) -> Result<Vec<HostTensor>, String> {
    evaluate_op(kind, operands)
}
