//! `provenance [--all] [--only ID ...] [--part K/N]`: every node of a model that does real work is named by exactly the
//! kernels that compute it.
//!
//! Such a node is a contraction, an attention, a recurrent layer or a pool; its *work* is its multiply-adds, or elements of
//! windows, at its import. A kernel is *named* by the nodes that its launch lists, and does the work of the ops in it. Those
//! that are named by a node first are its *home*; where there is none, as for the second product of an attention, all are.
//! * **missing**: no kernel is named by the node. That is right where the file alone gives a reason (`source.rs`): the node is
//!   dead, known before the run, in a branch that is, or equal to another node; or where its sums have one step, so that it is
//!   no contraction. These are listed, by reason.
//! * **doubled**: the home of a node does more than its work and that of the nodes that share its home, or much less. A node
//!   may have several kernels, such as a projection and the steps of a recurrent layer: they share its work. Any other kernel
//!   has the node's name only for a part without such work, a bias or a padding: it reads, or is read by, a kernel of the node.
//! * **misnamed**: a kernel is named by a node without work before the one whose work it does.
//! * **misplaced**: a node reads another one in the file, but none of its kernels comes after a kernel of that other.
//!
//! Without `--all`: the models that CI checks, for one machine class; with it, the whole catalogue for three.

mod judge;
mod kernels;
mod source;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Result, anyhow};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_driver::{CompileOptions, Form, Model, PassCx};

use self::judge::{Findings, judge};
use self::kernels::{Kernels, work_by_node};
use self::source::nodes_of;
use crate::in_process::{self, NoFiles};

/// Both tiers of processors and a GPU: their passes differ.
const CLASSES: [&str; 3] = ["zen5", "avx2-generic", "h200"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let catalog = Catalog::load()?;
    let models = part.take(catalog.selected(&args));
    let classes = if args.iter().any(|arg| arg == "--all") { &CLASSES[..] } else { &CLASSES[..1] };
    let (mut compiled, mut refused) = (0, 0);
    let mut total = Findings::default();
    for id in &models {
        let bytes = fs::read(fetch(&catalog, id)?)?;
        for class in classes {
            let Some(findings) = of_model(&bytes, class)? else {
                refused += 1;
                continue;
            };
            compiled += 1;
            for line in &findings.faults {
                println!("FAIL {id} for {class}: {line}");
            }
            total.add(findings);
        }
    }
    let listed: Vec<String> =
        total.listed.iter().map(|(reason, count)| format!("{reason}:{count}")).collect();
    Ok(Outcome::pass_if(total.faults.is_empty() && total.nodes > 0)
        .with("models", models.len())
        .with("compiled", compiled)
        .with("refused", refused)
        .with("nodes", total.nodes)
        .with("kernels", total.kernels)
        .with("orders", total.orders)
        .with("faults", total.faults.len())
        .with("listed", if listed.is_empty() { "none".to_string() } else { listed.join(",") }))
}

/// `None`: the target refuses the model.
fn of_model(bytes: &[u8], class: &str) -> Result<Option<Findings>> {
    let nodes = nodes_of(bytes)?;
    let plain = |found| anyhow!("{found}");
    let model = Model {
        name: "model".into(),
        bytes: bytes.to_vec().into(),
        results: vec![],
        checked: false,
        files: &NoFiles,
    };
    let work = work_by_node(&model.import(&BTreeMap::new()).map_err(plain)?);
    let options = in_process::options(class, Form::Machine).map_err(plain)?;
    let options = CompileOptions { verify: false, ..options };
    match tegula_driver::compile(&model, &options, None, &mut PassCx::default()) {
        Ok(compiled) => Ok(Some(judge(&nodes, &work, &Kernels::of(&compiled.stages)?))),
        Err(found) if found.0.iter().any(|diagnostic| diagnostic.is_internal()) => Err(plain(found)),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
