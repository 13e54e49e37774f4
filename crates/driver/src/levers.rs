//! What a user can change where a model does not fit a streaming chip: each is tried before it is told.
//!
//! Before: the report of what is too little.  After: the same with the levers that fit, the cheapest first.
//! Method: the model is compiled with each, up to its kernels with their places and words. A dim is halved until it fits.

use crate::compile::compile_tensor;
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target::target;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::PassCx;
use tegula_machine::Machine;
use tegula_opt::passes::Precision;

/// The code of what does not fit.
const CAPACITY: &str = "lpu-capacity";

/// Classes of chips, those with more memory later.
const CLASSES: [&str; 3] = ["lpu-mini", "tsp1", "lpx"];

/// A change of options, as a user writes it.
struct Lever {
    text: String,
    options: CompileOptions,
}

/// A report with the levers that fit; others are left as they are.
pub(crate) fn with_levers(model: &Model, options: &CompileOptions, found: Diagnostics) -> Diagnostics {
    let (short, mut found): (Vec<_>, Vec<_>) = found.0.into_iter().partition(|error| error.code == CAPACITY);
    let others = short.len().saturating_sub(1);
    if let Some(first) = short.into_iter().next() {
        let (fitting, tried) = levers(model, options);
        let first = match others {
            0 => first,
            n => first.note(format!("{n} more parts of the model do not fit")),
        };
        found.push(told(first, &fitting, &tried));
    }
    Diagnostics(found)
}

fn told(error: Diagnostic, fitting: &[String], tried: &[String]) -> Diagnostic {
    let listed =
        |texts: &[String]| texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
    match (fitting, tried) {
        ([], []) => error.help("no option makes it smaller: the model needs a machine file with more of it"),
        ([], tried) => error.note(format!("these were compiled and do not fit either: {}", listed(tried))),
        ([one], _) => error.help(format!("it was compiled and fits with `{one}`")),
        (several, _) => error.help(format!("it was compiled and fits with one of {}", listed(several))),
    }
}

/// Those that fit, and the smallest that were tried of those that do not.
fn levers(model: &Model, options: &CompileOptions) -> (Vec<String>, Vec<String>) {
    let (mut fitting, mut tried) = (Vec::new(), Vec::new());
    for way in ways(options) {
        let fits = way.iter().find(|lever| fits(model, &lever.options));
        match fits {
            Some(lever) => fitting.push(lever.text.clone()),
            None => tried.extend(way.last().map(|lever| lever.text.clone())),
        }
    }
    (fitting, tried)
}

/// Ways to need less or have more, the cheapest first; of each the least change first.
fn ways(options: &CompileOptions) -> Vec<Vec<Lever>> {
    let mut ways = Vec::new();
    if options.precision == Precision::F16x2 {
        let text = format!("--precision {}", Precision::F16);
        ways.push(vec![Lever {
            text,
            options: CompileOptions { precision: Precision::F16, ..options.clone() },
        }]);
    }
    for (name, size) in options.dims.iter().filter(|(_, size)| **size > 1) {
        let halves = std::iter::successors(Some(size / 2), |size| Some(size / 2).filter(|size| *size > 0));
        let lever = |size: i64| {
            let mut smaller = options.clone();
            smaller.dims.insert(name.clone(), size);
            Lever { text: format!("--dim {name}={size}"), options: smaller }
        };
        ways.push(halves.map(lever).collect());
    }
    let has = options.machine.lpu().map_or(0, tegula_machine::Lpu::sram);
    let larger = CLASSES.iter().filter_map(|name| Machine::class(name));
    let larger = larger.filter(|class| class.lpu().is_some_and(|lpu| lpu.sram() > has));
    let lever = |machine: Machine| Lever {
        text: format!("--machine {}", machine.name),
        options: CompileOptions { machine, ..options.clone() },
    };
    ways.push(larger.map(lever).collect());
    ways.retain(|way| !way.is_empty());
    ways
}

fn fits(model: &Model, options: &CompileOptions) -> bool {
    let options = CompileOptions { verify: false, ..options.clone() };
    let mut cx = PassCx::new().without_remarks();
    let Ok(chosen) = target(&options) else { return false };
    let Ok(tensor) = model.import(&options.dims) else { return false };
    compile_tensor(tensor, chosen.targets(), &options, &mut cx).is_ok()
}
