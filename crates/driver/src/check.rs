//! Compiled against evaluated: the whole model, then launch by launch, each on what the launches before it gave, so that
//! the first wrong kernel has a name and the run of the whole is, bit for bit, what right launches give.
//!
//! Before: a model and inputs.  After: a report; a difference is a finding, not an error.
//! Each element that a launch gives must lie within its own bound by `docs/numerics.md` (`bound.rs`); outputs, to which
//! errors of many launches add up, are judged by what `wanted.rs` allows; with factors rounded (`--precision`) launches
//! are those of the rounded program, outputs are compared with the model's.

mod difference;
mod fitting_sizes;
mod growth;
mod launch;
mod wanted;

pub use difference::{Difference, judge};
pub use fitting_sizes::fitting_sizes;
pub use growth::{Growth, Judgement};
pub(crate) use wanted::Wanted;

use crate::bound::{Bounded, watch_kernels_at};
use crate::compile::{Compiled, Stages, compile};
use crate::model::Model;
use crate::options::CompileOptions;
use difference::are_same;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics, HostTensor};
use tegula_ir::{OpId, PassCx};
use tegula_opt::lower_to_host::HostModule;
use tegula_opt::passes::Precision;
use tegula_package::About;
use tegula_runtime::{Hardware, Session};
use tegula_tensor::TensorProgram;
use tegula_tensor::eval::Bindings;

#[derive(Clone, Debug)]
pub struct OutputCheck {
    pub name: String,
    pub difference: Difference,
    /// Of the elements without bounds, where there are any.
    pub growth: Option<Growth>,
    /// Whether the run gave what its launches give one after another; `None` where one of them is wrong.
    pub as_launched: Option<bool>,
}

impl OutputCheck {
    pub fn is_fine(&self) -> bool {
        let as_whole = self.growth.is_none_or(|growth| growth.is_fine());
        self.difference.is_fine() && as_whole && self.as_launched != Some(false)
    }
}

/// One launch on what the launches before it gave, or the evaluator where one of those is wrong.
#[derive(Clone, Debug)]
pub struct LaunchCheck {
    pub kernel: String,
    pub nodes: Vec<String>,
    /// The worst of its results, or why the launch itself failed.
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
            && self.outputs.iter().all(OutputCheck::is_fine)
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
    let compiled = compile(model, options, None, cx)?;
    let imported = model.import(&options.dims)?;
    check_compiled(&compiled, &imported, options.precision, inputs, expected, hardware)
}

/// As [`check`], of a compilation that there is, by `precision`, of a program as it was imported.
pub fn check_compiled(
    compiled: &Compiled,
    imported: &TensorProgram,
    precision: Precision,
    inputs: &[HostTensor],
    expected: Option<&[HostTensor]>,
    hardware: &Hardware,
) -> Result<CheckReport, Diagnostics> {
    let Compiled { stages, package, .. } = compiled;
    let (Some(host), Some(package)) = (&stages.host, package) else {
        return Err(
            Diagnostic::error("stopped", "the compilation was stopped before a package was made").into()
        );
    };
    let bytes = package.to_bytes();
    let about = tegula_package::Package::parse(bytes.clone())?.manifest.about;
    let wanted = Wanted::of(imported, precision, inputs, expected)?;
    // Before the whole run, which does not give up on a loop without an end.
    let Chain { launches, values } =
        check_launches(stages, host, Device { about: &about, hardware }, precision, inputs)?;
    let options = crate::session_options(1, hardware.clone());
    let actual = Session::from_bytes(bytes, options).and_then(|session| session.run(inputs));
    let actual = match actual {
        Ok(actual) => actual,
        Err(found) => return Ok(CheckReport { outputs: vec![], launches, failure: Some(found.to_string()) }),
    };
    let mut outputs = wanted.compare(&stages.tensor.entry().result_names, &actual);
    if launches.iter().all(LaunchCheck::is_fine) {
        for ((output, actual), value) in outputs.iter_mut().zip(&actual).zip(&values) {
            output.as_launched = Some(are_same(actual, value));
        }
    }
    Ok(CheckReport { outputs, launches, failure: None })
}

/// What launches are for, and what runs them.
#[derive(Clone, Copy)]
pub struct Device<'a> {
    /// The package's manifest, which names the machines.
    pub about: &'a About,
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

/// Every launch, and what they give one after another.
struct Chain {
    launches: Vec<LaunchCheck>,
    values: Vec<HostTensor>,
}

/// Watches the kernel graph run and repeats each launch on the values that it is given there. What a right launch gives
/// goes on.
fn check_launches(
    stages: &Stages,
    host: &HostModule,
    on: Device<'_>,
    precision: Precision,
    inputs: &[HostTensor],
) -> Result<Chain, Diagnostics> {
    let by_op = launch::by_op(host);
    let mut launches = Vec::new();
    let mut watch = |op: OpId, operands: &[Arc<HostTensor>], expected: &[Bounded], bindings: &Bindings| {
        let Some(indices) = by_op.get(&op) else { return Ok(None) };
        let kernel = &host.kernels[indices[0]];
        let computed = launch::run(host, indices, on, stages.tensor.entry(), op, operands, bindings);
        let difference = computed.as_ref().map(|computed| judge(computed, expected)).map_err(String::clone);
        let check = LaunchCheck { kernel: kernel.name.clone(), nodes: kernel.source.to_vec(), difference };
        let is_fine = check.is_fine();
        launches.push(check);
        Ok(computed.ok().filter(|_| is_fine))
    };
    let values = watch_kernels_at(precision, &stages.tensor, inputs, &mut watch)?;
    Ok(Chain { launches, values })
}
