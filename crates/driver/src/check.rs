//! Compiled against evaluated: the whole model, then launch by launch on the evaluator's own intermediate values,
//! so that the first wrong kernel has a name.
//!
//! Before: a model and inputs.  After: a report; a difference is a finding, not an error.
//! Floats of a launch must lie within [`launch_tolerance`] of the evaluator's, or within what rounding may do to that
//! very element (`sensitivity.rs`); integers must be equal.

mod launch;
mod sensitivity;

use crate::compile::{CompileOptions, Compiled, Stages, compile};
use crate::model::Model;
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_ir::{OpId, PassCx, Value};
use tegula_opt::lower_to_host::HostModule;
use tegula_package::MachineId;
use tegula_runtime::{Gpu, Session};
use tegula_tensor::eval::Bindings;
use tegula_tensor::{Evaluator, TensorFunc, TensorOp};

/// Outputs may differ by this share of the output's largest element: the bar of the `models` check.
const OUTPUT_TOLERANCE: f64 = 1e-4;

/// How two tensors differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub max_abs: f64,
    /// The largest difference that is taken for rounding.
    pub tolerance: f64,
    /// Where the difference is largest, flat, with both values: computed and expected.
    pub worst: Option<(usize, f64, f64)>,
    /// Set when they cannot be compared: shape, element type.
    pub mismatch: Option<String>,
}

impl Difference {
    pub fn is_fine(&self) -> bool {
        self.mismatch.is_none() && self.max_abs <= self.tolerance
    }
}

#[derive(Clone, Debug)]
pub struct OutputCheck {
    pub name: String,
    pub difference: Difference,
}

/// One launch on the evaluator's operands.
#[derive(Clone, Debug)]
pub struct LaunchCheck {
    pub kernel: String,
    pub nodes: Vec<String>,
    /// The worst of its results; `None` when the launch itself failed with this message.
    pub difference: Result<Difference, String>,
}

impl LaunchCheck {
    pub fn is_fine(&self) -> bool {
        self.difference.as_ref().is_ok_and(Difference::is_fine)
    }
}

#[derive(Clone, Debug)]
pub struct CheckReport {
    pub outputs: Vec<OutputCheck>,
    /// Every launch in the order in which they ran, those of loops once a round.
    pub launches: Vec<LaunchCheck>,
    /// Why the compiled model could not be run at all.
    pub failure: Option<String>,
}

impl CheckReport {
    pub fn first_wrong(&self) -> Option<&LaunchCheck> {
        self.launches.iter().find(|launch| !launch.is_fine())
    }

    pub fn is_fine(&self) -> bool {
        self.failure.is_none()
            && self.outputs.iter().all(|output| output.difference.is_fine())
            && self.first_wrong().is_none()
    }
}

/// Compares compiled and expected outputs (`expected`, else the evaluator's), then every launch; kernels for a GPU run
/// on `gpu`.
pub fn check(
    model: &Model,
    options: &CompileOptions,
    inputs: &[HostTensor],
    expected: Option<&[HostTensor]>,
    gpu: &Gpu,
    cx: &mut PassCx,
) -> Result<CheckReport, Diagnostics> {
    let Compiled { stages, package } = compile(model, options, None, cx)?;
    let (Some(host), Some(package)) = (&stages.host, package) else {
        return Err(
            Diagnostic::error("stopped", "the compilation was stopped before a package was made").into()
        );
    };
    let bytes = package.to_bytes();
    let machine = tegula_package::Package::parse(bytes.clone())?.manifest.about.machine;
    let imported = model.import(&options.dims)?;
    let expected = match expected {
        Some(expected) => expected.to_vec(),
        None => Evaluator::new(&imported).run(inputs)?,
    };
    let options = crate::session_options(1, gpu.clone());
    let actual = Session::from_bytes(bytes, options).and_then(|session| session.run(inputs));
    let (outputs, failure) = match actual {
        Ok(actual) => (compare_outputs(&stages.tensor.entry().result_names, &actual, &expected), None),
        Err(found) => (vec![], Some(found.to_string())),
    };
    let launches = check_launches(&stages, host, Device { machine: &machine, gpu }, inputs)?;
    Ok(CheckReport { outputs, launches, failure })
}

/// What launches are for, and who runs those of kernels for GPUs.
#[derive(Clone, Copy)]
pub struct Device<'a> {
    /// As the package's manifest says it.
    pub machine: &'a MachineId,
    pub gpu: &'a Gpu,
}

/// The results of one launch of a compiled program alone, on operands of the caller's choice.
/// Errors: why it cannot run; `op` is no launch.
pub fn run_launch(
    stages: &Stages,
    on: Device<'_>,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
) -> Result<Vec<HostTensor>, String> {
    let host = stages.host.as_ref().ok_or("the compilation was stopped before launches were made")?;
    let index = host.kernels.iter().position(|kernel| kernel.op == Some(op)).ok_or("the op is no launch")?;
    launch::run(host, index, on, stages.tensor.entry(), op, operands, bindings)
}

/// Outputs of two runs of a program whose results have these names.
pub(crate) fn compare_outputs(
    names: &[String],
    actual: &[HostTensor],
    expected: &[HostTensor],
) -> Vec<OutputCheck> {
    let pairs = actual.iter().zip(expected).enumerate();
    pairs
        .map(|(i, (actual, expected))| OutputCheck {
            name: names.get(i).cloned().unwrap_or_else(|| format!("output{i}")),
            difference: compare(actual, expected, &[], |largest| OUTPUT_TOLERANCE * (largest + 1e-6)),
        })
        .collect()
}

/// Watches the evaluator run the kernel graph and repeats each launch on its values.
fn check_launches(
    stages: &Stages,
    host: &HostModule,
    on: Device<'_>,
    inputs: &[HostTensor],
) -> Result<Vec<LaunchCheck>, Diagnostics> {
    let func = stages.tensor.entry();
    let launches: HashMap<OpId, usize> =
        host.kernels.iter().enumerate().filter_map(|(i, kernel)| Some((kernel.op?, i))).collect();
    let mut values: HashMap<Value, Arc<HostTensor>> = HashMap::new();
    for (arg, input) in func.args(func.body()).iter().zip(inputs) {
        values.insert(*arg, Arc::new(input.clone()));
    }
    let mut checks = Vec::new();
    let mut rounds: HashMap<OpId, i64> = HashMap::new();
    let observe = |func: &TensorFunc, op: OpId, results: &[Arc<HostTensor>], bindings: &Bindings| {
        if is_inside_kernel(func, op) {
            return;
        }
        begin_round(func, op, &mut values, &mut rounds);
        values.extend(func.results(op).iter().copied().zip(results.iter().cloned()));
        let Some(index) = launches.get(&op) else { return };
        let operands: Option<Vec<Arc<HostTensor>>> =
            func.operands(op).iter().map(|value| values.get(value).cloned()).collect();
        let Some(operands) = operands else { return };
        let kernel = &host.kernels[*index];
        let computed = launch::run(host, *index, on, func, op, &operands, bindings);
        let difference = computed.map(|computed| {
            let tolerance = |largest: f64| launch_tolerance(func, op, &operands, bindings, largest);
            let pairs = || computed.iter().zip(results);
            let plain =
                worst(pairs().map(|(computed, expected)| compare(computed, expected, &[], tolerance)));
            if plain.is_fine() || plain.mismatch.is_some() {
                return plain;
            }
            // Perhaps an element that rounding moves far.
            match sensitivity::allowances(func, op, &operands, bindings) {
                Ok(allowed) => worst(
                    pairs()
                        .zip(&allowed)
                        .map(|((made, wanted), allowed)| compare(made, wanted, allowed, tolerance)),
                ),
                // It cannot be told: the launch stays wrong.
                Err(_) => plain,
            }
        });
        checks.push(LaunchCheck { kernel: kernel.name.clone(), nodes: kernel.source.to_vec(), difference });
    };
    Evaluator::new(&stages.tensor).observe(observe).run(inputs)?;
    Ok(checks)
}

/// The evaluator shows results of ops, not what a loop's region is given. That follows: the first op of a region
/// begins a round, the round's arguments are the loop's operands or what the round before has yielded.
fn begin_round(
    func: &TensorFunc,
    op: OpId,
    values: &mut HashMap<Value, Arc<HostTensor>>,
    rounds: &mut HashMap<OpId, i64>,
) {
    // The loop itself is seen when it is over.
    rounds.remove(&op);
    let region = func.parent(op).filter(|region| func.ops_in(*region).first() == Some(&op));
    let Some((region, owner)) = region.and_then(|region| Some((region, func.owner(region)?))) else { return };
    if !matches!(func.kind(owner), TensorOp::Loop { .. }) {
        return;
    }
    let round = rounds.entry(owner).or_insert(0);
    let given = match (*round, func.terminator(region)) {
        (0, _) | (_, None) => func.operands(owner),
        (_, Some(end)) => func.operands(end),
    };
    let args = func.args(region);
    let carried: Vec<Option<Arc<HostTensor>>> =
        given[1..args.len()].iter().map(|value| values.get(value).cloned()).collect();
    values.insert(args[0], Arc::new(HostTensor::scalar(*round)));
    for (arg, tensor) in args[1..].iter().zip(carried) {
        match tensor {
            Some(tensor) => values.insert(*arg, tensor),
            None => values.remove(arg),
        };
    }
    *round += 1;
}

fn is_inside_kernel(func: &TensorFunc, op: OpId) -> bool {
    let mut at = op;
    while let Some(owner) = func.parent(at).and_then(|region| func.owner(region)) {
        if matches!(func.kind(owner), TensorOp::Kernel { .. }) {
            return true;
        }
        at = owner;
    }
    false
}

fn worst(differences: impl Iterator<Item = Difference>) -> Difference {
    let share = |difference: &Difference| match (&difference.mismatch, difference.max_abs) {
        (Some(_), _) => f64::INFINITY,
        (None, 0.0) => 0.0,
        (None, max) => max / difference.tolerance,
    };
    let none = Difference { max_abs: 0.0, tolerance: 0.0, worst: None, mismatch: None };
    differences.max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(none)
}

/// The largest rounding difference of a launch, coarser than `docs/numerics.md`: sums are bounded by the largest
/// elements, not element by element. With n terms of at most `a b` each, two orders of summation differ by less than
/// `2 gamma(n) n a b`, of which rounding errors that do not conspire use a share of about `1 / sqrt n`.
fn launch_tolerance(
    func: &TensorFunc,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
    largest: f64,
) -> f64 {
    /// Rounding errors of a few elementwise steps, in units of the result's last place.
    const STEPS: f64 = 64.0;
    let unit =
        func.results(op).iter().map(|result| unit_roundoff(func.ty(*result).dtype)).fold(0.0, f64::max);
    let largest_of = |tensor: &Arc<HostTensor>| {
        tensor.to_f64().into_iter().filter(|x| x.is_finite()).fold(0.0f64, |most, x| most.max(x.abs()))
    };
    let mut terms = 1.0f64;
    let mut contracts = false;
    for region in func.regions_of(op) {
        for inner in func.ops_in(*region) {
            let made =
                func.results(*inner).first().and_then(|result| bindings.concrete(func.ty(*result)).ok());
            let read =
                func.operands(*inner).first().and_then(|value| bindings.concrete(func.ty(*value)).ok());
            let (Some(made), Some(read)) = (made, read) else { continue };
            let count =
                |ty: &tegula_tensor::TensorType| ty.shape.count().as_const().unwrap_or(1).max(1) as f64;
            match func.kind(*inner) {
                TensorOp::Dot { dims, .. } | TensorOp::QDot { dims } => {
                    contracts = true;
                    let extents = dims.lhs_contract.iter().filter_map(|axis| read.shape[*axis].as_const());
                    terms = terms.max(extents.product::<i64>() as f64);
                }
                TensorOp::Conv { window, .. } | TensorOp::ConvTranspose { window, .. } => {
                    contracts = true;
                    let channels = read.shape[1].as_const().unwrap_or(1);
                    terms = terms.max((channels * window.size.iter().product::<i64>()) as f64);
                }
                TensorOp::Reduce { .. } | TensorOp::Scan { .. } | TensorOp::Pool { .. } => {
                    terms = terms.max(count(&read) / count(&made).min(count(&read)));
                }
                _ => {}
            }
        }
    }
    let product = match contracts {
        true => operands.iter().map(largest_of).map(|x| x.max(1e-30)).product::<f64>(),
        false => operands.iter().map(largest_of).fold(0.0, f64::max),
    };
    unit * (STEPS * largest + 4.0 * terms * terms.sqrt() * product) + 1e-30
}

fn unit_roundoff(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::powi(2.0, -53),
        DType::F32 => f64::powi(2.0, -24),
        DType::F16 => f64::powi(2.0, -11),
        DType::BF16 => f64::powi(2.0, -8),
        DType::F8E4M3FN => f64::powi(2.0, -4),
        DType::F8E5M2 => f64::powi(2.0, -3),
        _ => 0.0,
    }
}

/// `tolerance` gets the largest finite magnitude expected, `allowed` is added to it element by element where it is
/// not empty; NaN equals NaN, an infinity itself.
fn compare(
    actual: &HostTensor,
    expected: &HostTensor,
    allowed: &[f64],
    tolerance: impl Fn(f64) -> f64,
) -> Difference {
    let mut difference = Difference { max_abs: 0.0, tolerance: 0.0, worst: None, mismatch: None };
    if (actual.dtype, &actual.shape) != (expected.dtype, &expected.shape) {
        difference.mismatch = Some(format!(
            "is {}{:?}, expected {}{:?}",
            actual.dtype, actual.shape, expected.dtype, expected.shape
        ));
        return difference;
    }
    let (a, b) = (actual.to_f64(), expected.to_f64());
    if expected.dtype.is_float() {
        let largest = b.iter().filter(|x| x.is_finite()).fold(0.0f64, |most, x| most.max(x.abs()));
        difference.tolerance = tolerance(largest);
    }
    let everywhere = difference.tolerance;
    let mut most = 0.0;
    for (index, (a, b)) in a.into_iter().zip(b).enumerate() {
        if a == b || a.is_nan() && b.is_nan() {
            continue;
        }
        let apart = (a - b).abs();
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        let within = everywhere + allowed.get(index).copied().unwrap_or(0.0);
        let share = if within == f64::INFINITY { 0.0 } else { apart / within };
        if share > most || share.is_nan() {
            most = share;
            difference =
                Difference { max_abs: apart, tolerance: within, worst: Some((index, a, b)), mismatch: None };
        }
    }
    difference
}
