//! Compiled against evaluated: the whole model, then launch by launch on the evaluator's own intermediate values,
//! so that the first wrong kernel has a name.
//!
//! Before: a model and inputs.  After: a report; a difference is a finding, not an error.
//! Each element that a launch gives must lie within its own bound by `docs/numerics.md` (`bound.rs`); outputs, to which
//! errors of many launches add up, are judged by [`OUTPUT_TOLERANCE`], or by their bounds where numbers are narrow; with
//! factors rounded (`--precision`) launches are those of the rounded program, outputs are the model's within
//! [`ROUNDED_TOLERANCE`].

mod difference;
mod launch;

pub use difference::{Difference, judge};

use crate::bound::{Bounded, reference, watch_kernels};
use crate::compile::{CompileOptions, Compiled, Stages, compile};
use crate::model::Model;
use difference::compare;
use std::sync::Arc;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_ir::{OpId, PassCx, Value};
use tegula_opt::lower_to_host::HostModule;
use tegula_opt::passes::Precision;
use tegula_package::MachineId;
use tegula_runtime::{Hardware, Session};
use tegula_tensor::eval::Bindings;
use tegula_tensor::{Evaluator, TensorProgram};

/// Outputs may differ by this share of the output's largest element where all floats have 32 bits or more: the bar of
/// the `models` check.
const OUTPUT_TOLERANCE: f64 = 1e-4;
/// The share where factors are rounded to `bf16`: several roundings of 2^-8 on the way, as of OpenVINO's results.
const ROUNDED_TOLERANCE: f64 = 5e-2;
/// What that share is of besides, so that outputs which are all but zero need not be equal.
const OUTPUT_FLOOR: f64 = 1e-6;

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
            && self
                .outputs
                .iter()
                .all(|output| output.difference.is_fine() && !output.difference.says_nothing())
            && self.first_wrong().is_none()
    }
}

/// Compares compiled and expected outputs (`expected`, else the evaluator's), then every launch; kernels run on `hardware`.
pub fn check(
    model: &Model,
    options: &CompileOptions,
    inputs: &[HostTensor],
    expected: Option<&[HostTensor]>,
    hardware: &Hardware,
    cx: &mut PassCx,
) -> Result<CheckReport, Diagnostics> {
    let Compiled { stages, package, .. } = compile(model, options, None, cx)?;
    let (Some(host), Some(package)) = (&stages.host, package) else {
        return Err(
            Diagnostic::error("stopped", "the compilation was stopped before a package was made").into()
        );
    };
    let bytes = package.to_bytes();
    let machine = tegula_package::Package::parse(bytes.clone())?.manifest.about.machine;
    let imported = model.import(&options.dims)?;
    let wanted = match options.precision {
        Precision::F32 => Wanted::of(&imported, inputs, expected)?,
        Precision::Bf16 => Wanted::of_rounded(&imported, inputs, expected)?,
    };
    let options = crate::session_options(1, hardware.clone());
    let actual = Session::from_bytes(bytes, options).and_then(|session| session.run(inputs));
    let (outputs, failure) = match actual {
        Ok(actual) => (wanted.compare(&stages.tensor.entry().result_names, &actual), None),
        Err(found) => (vec![], Some(found.to_string())),
    };
    let launches = check_launches(&stages, host, Device { machine: &machine, hardware }, inputs)?;
    Ok(CheckReport { outputs, launches, failure })
}

/// What launches are for, and what runs them.
#[derive(Clone, Copy)]
pub struct Device<'a> {
    /// As the package's manifest says it.
    pub machine: &'a MachineId,
    pub hardware: &'a Hardware,
}

/// The results of one kernel of a compiled program alone, on operands of the caller's choice.
/// Errors: why it cannot run; `op` is no launch.
pub fn run_launch(
    stages: &Stages,
    on: Device<'_>,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
) -> Result<Vec<HostTensor>, String> {
    let host = stages.host.as_ref().ok_or("the compilation was stopped before launches were made")?;
    let launches = launch::by_op(host).remove(&op).ok_or("the op is no launch")?;
    launch::run(host, &launches, on, stages.tensor.entry(), op, operands, bindings)
}

/// What a program's outputs should be.
pub(crate) struct Wanted {
    values: Vec<HostTensor>,
    /// The evaluator's values with how far an executor may be from them, where a flat share would not do.
    bounds: Option<Vec<Bounded>>,
    /// Both we and who made the values may use a bound.
    sides: f64,
    /// Of the largest element, where there are no bounds.
    share: f64,
}

impl Wanted {
    /// The evaluator's, or those given. Errors: the evaluator's.
    pub fn of(
        program: &TensorProgram,
        inputs: &[HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted, Diagnostics> {
        let bounds = match rounds_coarsely(program) {
            true => Some(reference(program, inputs)?),
            false => None,
        };
        let values = match (given, &bounds) {
            (Some(given), _) => given.to_vec(),
            (None, Some(bounds)) => bounds.iter().map(|bounded| bounded.value.as_ref().clone()).collect(),
            (None, None) => Evaluator::new(program).run(inputs)?,
        };
        let sides = if given.is_some() { 2.0 } else { 1.0 };
        Ok(Wanted { values, bounds, sides, share: OUTPUT_TOLERANCE })
    }

    /// As [`Self::of`], for an executor that rounds factors.
    fn of_rounded(
        program: &TensorProgram,
        inputs: &[HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted, Diagnostics> {
        let values = match given {
            Some(given) => given.to_vec(),
            None => Evaluator::new(program).run(inputs)?,
        };
        Ok(Wanted { values, bounds: None, sides: 1.0, share: ROUNDED_TOLERANCE })
    }

    /// With a run's outputs of these names.
    pub fn compare(&self, names: &[String], actual: &[HostTensor]) -> Vec<OutputCheck> {
        let pairs = actual.iter().zip(&self.values).enumerate();
        let difference = |(i, actual, wanted): (usize, &HostTensor, &HostTensor)| match &self.bounds {
            Some(bounds) => compare(actual, wanted, |element| self.sides * bounds[i].at(element)),
            None => {
                let finite = wanted.to_f64().into_iter().filter(|x| x.is_finite());
                let largest = finite.fold(0.0f64, |most, x| most.max(x.abs()));
                let share = if wanted.dtype.is_float() { self.share } else { 0.0 };
                compare(actual, wanted, |_| share * (largest + OUTPUT_FLOOR))
            }
        };
        pairs
            .map(|(i, (actual, wanted))| OutputCheck {
                name: names.get(i).cloned().unwrap_or_else(|| format!("output{i}")),
                difference: difference((i, actual, wanted)),
            })
            .collect()
    }
}

/// Whether an op gives floats of less than 32 bits, or integers of 8 or 16 by rounding floats: one step of either is
/// more than [`OUTPUT_TOLERANCE`].
fn rounds_coarsely(program: &TensorProgram) -> bool {
    let func = program.entry();
    let dtypes =
        |values: &[Value]| -> Vec<DType> { values.iter().map(|value| func.ty(*value).dtype).collect() };
    let is_coarse = |op: OpId| {
        let of_floats = dtypes(func.operands(op)).into_iter().any(DType::is_float);
        let is_narrow =
            |ty: DType| ty.is_float() && ty.size() < 4 || of_floats && ty.is_int() && ty.bits() <= 16;
        dtypes(func.results(op)).into_iter().any(is_narrow)
    };
    func.walk().into_iter().any(is_coarse)
}

/// Watches the kernel graph run and repeats each launch on the values that it was given there.
fn check_launches(
    stages: &Stages,
    host: &HostModule,
    on: Device<'_>,
    inputs: &[HostTensor],
) -> Result<Vec<LaunchCheck>, Diagnostics> {
    let launches = launch::by_op(host);
    let mut checks = Vec::new();
    let mut watch = |op: OpId, operands: &[Arc<HostTensor>], expected: &[Bounded], bindings: &Bindings| {
        let Some(launches) = launches.get(&op) else { return Ok(()) };
        let kernel = &host.kernels[launches[0]];
        let computed = launch::run(host, launches, on, stages.tensor.entry(), op, operands, bindings);
        let difference = computed.map(|computed| judge(&computed, expected));
        checks.push(LaunchCheck { kernel: kernel.name.clone(), nodes: kernel.source.to_vec(), difference });
        Ok(())
    };
    watch_kernels(&stages.tensor, inputs, &mut watch)?;
    Ok(checks)
}
