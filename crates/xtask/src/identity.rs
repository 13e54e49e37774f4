//! `identity`: the same model compiles to the same bytes: twice, in two directories, with 1 and 2 compile threads.

use std::fs;

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::{fetch, hash_file};
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;

/// Directory, run and compile threads of each compilation.
const COMPILATIONS: [(&str, &str, usize); 4] =
    [("here", "first", 1), ("here", "second", 1), ("elsewhere/deeper", "first", 1), ("here", "third", 2)];

pub fn run(_args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let base = workspace::target().join("identity");
    let mut failed = 0;
    for id in &catalog.checked {
        let model = fetch(&catalog, id)?;
        let mut hashes = Vec::new();
        for (dir, run, threads) in COMPILATIONS {
            let dir = base.join(dir);
            fs::create_dir_all(&dir)?;
            fs::copy(&model, dir.join("model.onnx"))?;
            let package = format!("{run}.tgl");
            let compiled = tegula
                .command()
                .dir(&dir)
                .args(["compile", "model.onnx", "-o", &package, "--compile-threads", &threads.to_string()])
                .read();
            match compiled {
                Ok(_) => hashes.push(hash_file(&dir.join(package))?),
                Err(error) => {
                    println!("{error:#}");
                    break;
                }
            }
        }
        let same = hashes.len() == COMPILATIONS.len() && hashes.iter().all(|hash| *hash == hashes[0]);
        println!("{id:22} {}", if same { &hashes[0] } else { "DIFFERS" });
        failed += usize::from(!same);
    }
    Ok(Outcome::pass_if(failed == 0).with("models", catalog.checked.len()).with("failed", failed))
}
