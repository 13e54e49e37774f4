//! Why a model was compiled as it was: what passes remarked, and what each kernel costs.

use crate::compile::{Compiled, compile};
use crate::forecast::{Basis, Forecast, KernelForecast, forecast};
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target::target;
use std::collections::BTreeSet;
use tegula_backend::Preferences;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::PassCx;
use tegula_ir::pass::Remark;
use tegula_package::CostRecord;

/// One launch, as `explain` tells it.
#[derive(Clone, Debug)]
pub struct KernelStory {
    pub name: String,
    pub nodes: Vec<String>,
    pub cost: CostRecord,
    /// Of its launches at the sizes of the options; none where none is launched.
    pub time: Option<KernelForecast>,
    /// What passes said about its nodes, in the order of passes.
    pub remarks: Vec<Remark>,
}

/// The kernels of a model, and the model that their times come from.
#[derive(Clone, Debug)]
pub struct Explained {
    pub stories: Vec<KernelStory>,
    pub basis: Basis,
    /// Nanoseconds of all launches of the model.
    pub ns: f64,
    /// Cycles of its launches on streaming chips.
    pub cycles: Option<u64>,
    /// Sizes of the inputs that were not given; 1 was taken for times.
    pub made_up: BTreeSet<String>,
}

/// The kernels that compute `node` or are called so (all nodes when `None`), with the remarks on their nodes.
/// Errors: those of compilation, and a node that the model does not have.
pub fn explain(
    model: &Model,
    options: &CompileOptions,
    node: Option<&str>,
    cx: &mut PassCx,
) -> Result<Explained, Diagnostics> {
    cx.keep_remarks();
    let Compiled { stages, package, .. } = compile(model, options, None, cx)?;
    let (Some(host), Some(package)) = (&stages.host, package) else {
        return Err(
            Diagnostic::error("stopped", "the compilation was stopped before kernels were made").into()
        );
    };
    let forecast = forecast(&package.into_package(), &options.dims)?;
    let (times, ns, cycles) = (forecast.by_kernel(), forecast.ns(), forecast.cycles());
    let Forecast { basis, made_up, .. } = forecast;
    let explained = |stories| Ok(Explained { stories, basis, ns, cycles, made_up });
    let about = |nodes: &[String], remark: &Remark| {
        remark.location.as_deref().is_some_and(|node| nodes.iter().any(|known| known == node))
    };
    let stories: Vec<KernelStory> = host
        .kernels
        .iter()
        .enumerate()
        .filter(|(_, kernel)| {
            node.is_none_or(|node| kernel.name == node || kernel.source.iter().any(|known| known == node))
        })
        .map(|(number, kernel)| KernelStory {
            name: kernel.name.clone(),
            nodes: kernel.source.to_vec(),
            cost: (*kernel.cost).clone(),
            time: times.iter().find(|time| time.kernel as usize == number).cloned(),
            remarks: cx.remarks.iter().filter(|remark| about(&kernel.source, remark)).cloned().collect(),
        })
        .collect();
    match node {
        Some(node) if stories.is_empty() => {
            let remarks: Vec<Remark> = cx
                .remarks
                .iter()
                .filter(|remark| remark.location.as_deref() == Some(node))
                .cloned()
                .collect();
            if remarks.is_empty() {
                return Err(unknown_node(node, host.kernels.iter().flat_map(|kernel| kernel.source.iter())));
            }
            // Folded away, or part of a kernel that is named after another node.
            let nodes = vec![node.to_string()];
            let (name, cost) = ("(no kernel)".into(), CostRecord::default());
            explained(vec![KernelStory { name, nodes, cost, time: None, remarks }])
        }
        _ => explained(stories),
    }
}

/// What the target that options name makes passes do. Errors: those of the options.
pub fn preferences(options: &CompileOptions) -> Result<Preferences, Diagnostics> {
    Ok(target(options)?.host().preferences().clone())
}

fn unknown_node<'a>(node: &str, known: impl Iterator<Item = &'a String>) -> Diagnostics {
    let mut similar: Vec<&str> = known.map(String::as_str).filter(|name| name.contains(node)).collect();
    similar.sort_unstable();
    similar.dedup();
    similar.truncate(5);
    let diagnostic = Diagnostic::error("unknown-node", format!("there is no node or kernel named `{node}`"));
    match similar.is_empty() {
        true => diagnostic.help("`tegula explain MODEL` lists all nodes by kernel").into(),
        false => diagnostic.help(format!("similar names: {}", similar.join(", "))).into(),
    }
}
