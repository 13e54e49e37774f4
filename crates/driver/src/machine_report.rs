//! What a model should take on a machine, kernel by kernel, and what other values of the machine's facts change.
//!
//! Before: a model, options with a machine, and what to vary.  After: a [`MachineReport`], which keeps names and times, not the
//! package.

use crate::forecast::{Basis, Forecast, KernelForecast, without_effect};
use crate::lpu::OnChips;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::what_if::{Outlook, Swing, outlook, outlook_with, swings};
use tegula_base::Diagnostics;
use tegula_ir::PassCx;
use tegula_package::Package;

/// One kernel by name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedKernel {
    pub name: String,
    pub class: String,
    /// Nodes of the model that it computes.
    pub nodes: Vec<String>,
    pub forecast: KernelForecast,
}

/// All kernels of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernels {
    /// Nanoseconds of all launches.
    pub ns: f64,
    /// Of those on streaming chips.
    pub cycles: Option<u64>,
    /// The longest first.
    pub rows: Vec<NamedKernel>,
}

impl Kernels {
    /// The kernels of a package by the forecast of it.
    pub fn of(package: &Package, forecast: &Forecast) -> Kernels {
        let named = |forecast: KernelForecast| {
            let kernel = &package.program.kernels[forecast.kernel as usize];
            let (name, class) = (kernel.name.clone(), kernel.cost.class.clone());
            NamedKernel { name, class, nodes: kernel.source.to_vec(), forecast }
        };
        let rows = forecast.by_kernel().into_iter().map(named).collect();
        Kernels { ns: forecast.ns(), cycles: forecast.cycles(), rows }
    }

    fn of_outlook(outlook: &Outlook) -> Kernels {
        Kernels::of(&outlook.package, &outlook.forecast)
    }

    /// Bytes of memory traffic.
    pub fn bytes(&self) -> f64 {
        self.rows.iter().map(|kernel| kernel.forecast.bytes).sum()
    }

    pub fn flops(&self) -> f64 {
        self.rows.iter().map(|kernel| kernel.forecast.flops).sum()
    }

    pub fn launches(&self) -> usize {
        self.rows.iter().map(|kernel| kernel.forecast.launches).sum()
    }

    /// What holds back most of the time; `-` without kernels.
    pub fn bound(&self) -> &str {
        let bounds = || self.rows.iter().map(|kernel| kernel.forecast.bound.as_str());
        let of = |bound: &str| -> f64 {
            let own = self.rows.iter().filter(|kernel| kernel.forecast.bound == bound);
            own.map(|kernel| kernel.forecast.ns).sum()
        };
        bounds().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or("-")
    }
}

/// The machine with other values of facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    pub facts: Vec<(String, f64)>,
    pub kernels: Kernels,
    /// Of what runs on streaming chips.
    pub chip: Option<OnChips>,
    /// Cycles of chips for 1 more of the first fact, from the neighbours in the order in which points were given. None: of
    /// other machines, of one point, of neighbours of the same value.
    pub slope: Option<f64>,
    /// Why no prediction on the machine depends on these facts.
    pub without_effect: Option<&'static str>,
}

impl Varied {
    /// As `l2=524288 l3=8388608`.
    pub fn setting(&self) -> String {
        let facts = self.facts.iter().map(|(name, value)| format!("{name}={value}"));
        let setting = facts.collect::<Vec<_>>().join(" ");
        match self.without_effect {
            Some(why) => format!("{setting} (no effect: {why})"),
            None => setting,
        }
    }
}

/// What is told of one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineReport {
    pub basis: Basis,
    pub kernels: Kernels,
    /// Of what runs on streaming chips.
    pub chip: Option<OnChips>,
    pub varied: Vec<Varied>,
    pub swings: Vec<Swing>,
    /// Sizes of the inputs that were not given; 1 was taken.
    pub made_up: Vec<String>,
    /// Why the model does not run at these sizes, where that is known.
    pub refusal: Option<String>,
}

/// Predicts a model on the machine of the options, with each setting of facts in `settings`, and with every fact swung if
/// `sensitivities` are asked for. Errors: `unknown-fact`; values that are refused; those of compilation.
pub fn predict(
    model: &Model,
    options: &CompileOptions,
    settings: Vec<Vec<(String, f64)>>,
    sensitivities: bool,
    cx: &mut PassCx,
) -> Result<MachineReport, Diagnostics> {
    let base = outlook(model, options, cx)?;
    let mut varied = Vec::new();
    for facts in settings {
        let other = outlook_with(model, options, &facts, cx)?;
        let (kernels, chip) = (Kernels::of_outlook(&other), other.chip);
        let why =
            |(name, _): &(String, f64)| without_effect(&options.machine, base.forecast.basis.model, name);
        let reasons: Option<Vec<&str>> = facts.iter().map(why).collect();
        let without_effect = reasons.and_then(|reasons| reasons.first().copied());
        varied.push(Varied { facts, kernels, chip, slope: None, without_effect });
    }
    slopes(&mut varied);
    let swings = if sensitivities { swings(model, options, &base, cx)? } else { vec![] };
    let (kernels, chip) = (Kernels::of_outlook(&base), base.chip);
    let made_up = base.forecast.made_up.iter().cloned().collect();
    let Forecast { basis, refusal, .. } = base.forecast;
    Ok(MachineReport { basis, kernels, chip, varied, swings, made_up, refusal })
}

/// Of each sweep: the points one after another that vary the same facts.
fn slopes(varied: &mut [Varied]) {
    let names = |varied: &Varied| varied.facts.iter().map(|(name, _)| name.clone()).collect::<Vec<String>>();
    let point = |varied: &Varied| Some((varied.facts.first()?.1, varied.chip?.cycles as f64));
    for sweep in varied.chunk_by_mut(|a, b| names(a) == names(b)) {
        let points: Vec<Option<(f64, f64)>> = sweep.iter().map(point).collect();
        for (at, own) in sweep.iter_mut().enumerate() {
            let ends = [at.saturating_sub(1), (at + 1).min(points.len() - 1)].map(|at| points[at]);
            let [Some(from), Some(to)] = ends else { continue };
            own.slope = (from.0 != to.0).then(|| (to.1 - from.1) / (to.0 - from.0));
        }
    }
}
