//! How a model's predicted time follows from a machine's facts: the model compiled for, and predicted on, machines that
//! differ in one of them.
//!
//! Before: a model, options and a machine.  After: an [`Outlook`] on a machine; for each fact a [`Swing`], which is the change
//! of time for a tenth more or less, or why there is none.

use crate::compile::compile;
use crate::forecast::{Forecast, forecast, without_effect};
use crate::lpu::{OnChips, on_units};
use crate::model::Model;
use crate::options::CompileOptions;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::PassCx;
use tegula_package::Package;

/// By how much facts are swung.
pub const SHARE: f64 = 0.1;

/// A model as compiled for a machine, and what it should take there.
#[derive(Clone, Debug)]
pub struct Outlook {
    pub package: Package,
    pub forecast: Forecast,
    /// None: nothing runs on a streaming chip.
    pub chip: Option<OnChips>,
}

/// What a change of a fact does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The fact's value, and nanoseconds of a run with it.
    Time { value: f64, ns: f64 },
    /// Other code, which is predicted to take as long.
    Code { value: f64 },
    /// Neither in this model; for a fact that no prediction on the machine reads, why.
    None { never: Option<&'static str> },
    /// The machine cannot have another value.
    Refused { why: String },
}

/// One fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Swing {
    pub fact: String,
    pub value: f64,
    /// Of more and of less.
    pub effects: [Effect; 2],
}

impl Swing {
    /// The change of time in shares of it for a tenth more, in proportion to how much the fact changed; from less where
    /// more is refused.
    pub fn sensitivity(&self, ns: f64) -> Option<f64> {
        let told = match &self.effects {
            [Effect::Refused { .. }, less] => less,
            [more, _] => more,
        };
        match told {
            Effect::Time { value, ns: other } => {
                Some((other / ns - 1.0) * SHARE / (value / self.value - 1.0))
            }
            Effect::Code { .. } | Effect::None { .. } | Effect::Refused { .. } => None,
        }
    }

    /// Why the time does not change.
    pub fn why_none(&self) -> String {
        let [more, less] = &self.effects;
        match (more, less) {
            (Effect::Code { .. }, _) | (Effect::Refused { .. }, Effect::Code { .. }) => {
                "other code, of the same predicted time".into()
            }
            (_, Effect::Time { value, .. }) => format!("only less of it changes the time: {value} does"),
            (Effect::Refused { why }, _) | (_, Effect::Refused { why }) => why.clone(),
            (Effect::None { never: Some(why) }, _) => (*why).into(),
            _ => "nothing in this model depends on it".into(),
        }
    }
}

/// Compiles and predicts. Errors: those of compilation.
pub fn outlook(model: &Model, options: &CompileOptions, cx: &mut PassCx) -> Result<Outlook, Diagnostics> {
    let package = compile(model, options, None, cx)?.package;
    let package = package.ok_or_else(|| Diagnostic::internal("the compilation made no package"))?;
    let package = package.into_package();
    let forecast = forecast(&package, &options.dims)?;
    let chip = on_units(&package, &forecast)?;
    Ok(Outlook { package, forecast, chip })
}

/// The outlook on a machine with other values of facts. Errors: `unknown-fact`; values that are refused; those of compilation.
pub fn outlook_with(
    model: &Model,
    options: &CompileOptions,
    facts: &[(String, f64)],
    cx: &mut PassCx,
) -> Result<Outlook, Diagnostics> {
    let mut machine = options.machine.clone();
    for (name, value) in facts {
        machine = machine.with_fact(name, *value)?;
    }
    outlook(model, &CompileOptions { machine, ..options.clone() }, cx)
}

/// Every fact of the machine. Errors: as [`swing`].
pub fn swings(
    model: &Model,
    options: &CompileOptions,
    base: &Outlook,
    cx: &mut PassCx,
) -> Result<Vec<Swing>, Diagnostics> {
    options.machine.facts.keys().map(|fact| swing(model, options, base, fact, cx)).collect()
}

/// One fact, a tenth more and a tenth less; `base` is the outlook on the machine as it is.
/// Errors: `unknown-fact`; those of compilation.
pub fn swing(
    model: &Model,
    options: &CompileOptions,
    base: &Outlook,
    fact: &str,
    cx: &mut PassCx,
) -> Result<Swing, Diagnostics> {
    let machine = &options.machine;
    let value = machine.facts.get(fact).map_or(1.0, |fact| fact.value);
    let mut effect = |factor: f64| {
        let value = swung(value, factor);
        let other = match machine.with_fact(fact, value) {
            Err(refused) if refused.0.iter().any(|found| found.code == "unknown-fact") => {
                return Err(refused);
            }
            Err(refused) => return Ok(Effect::Refused { why: first(&refused) }),
            Ok(machine) => outlook(model, &CompileOptions { machine, ..options.clone() }, cx)?,
        };
        let ns = other.forecast.ns();
        Ok(if ns != base.forecast.ns() {
            Effect::Time { value, ns }
        } else if code(&other.package) != code(&base.package) {
            Effect::Code { value }
        } else {
            Effect::None { never: without_effect(machine, base.forecast.basis.model, fact) }
        })
    };
    let effects = [effect(1.0 + SHARE)?, effect(1.0 - SHARE)?];
    Ok(Swing { fact: fact.to_string(), value, effects })
}

/// A fact's other value. What counts stays whole, and moves by 1 at least.
fn swung(value: f64, factor: f64) -> f64 {
    let other = value * factor;
    if value.fract() != 0.0 {
        return other;
    }
    match other.round() {
        rounded if rounded == value => value + (factor - 1.0).signum(),
        rounded => rounded,
    }
}

fn first(found: &Diagnostics) -> String {
    found.0.first().map_or_else(String::new, |first| first.message.clone())
}

fn code(package: &Package) -> Vec<&[u8]> {
    package.program.kernels.iter().map(|kernel| package.kernel_code(&kernel.code)).collect()
}
