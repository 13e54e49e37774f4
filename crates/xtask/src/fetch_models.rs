//! `fetch-models [ID ...] [--all]`: fetches what `data/models.json` lists into `target/models/<id>.<format>`, and prints the
//! licences. `model-ops`: what the models consist of.

use std::fs;

use anyhow::Result;
use tegula_automation::catalog::{Catalog, Entry};
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let ids = if args.iter().any(|arg| arg == "--all") {
        catalog.ids()
    } else if args.is_empty() {
        catalog.checked.clone()
    } else {
        args.to_vec()
    };
    for id in &ids {
        let file = fetch(&catalog, id)?;
        let licence = match catalog.find(id)? {
            Entry::Shipped(model) => model.licence.as_str(),
            Entry::Derived(_) => "as its source",
        };
        println!("{id:22} {:>11} bytes  {}  licence: {licence}", fs::metadata(&file)?.len(), file.display());
    }
    Ok(Outcome::pass().with("models", ids.len()))
}

/// `model-ops [--all] [--only ID ...]`: what the models consist of, written to `target/models/OPS.txt`.
pub fn ops(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let ids = catalog.selected(args);
    let files = ids.iter().map(|id| fetch(&catalog, id)).collect::<Result<Vec<_>>>()?;
    let script = python::script(python::with_pins(&catalog)?, "model_ops");
    let summary = workspace::models().join("OPS.txt");
    fs::write(&summary, script.args(&files).read()?)?;
    println!("{}", summary.display());
    Ok(Outcome::pass().with("models", ids.len()))
}
