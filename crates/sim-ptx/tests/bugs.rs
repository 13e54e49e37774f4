//! Planted bugs: each file of `tests/bugs` is a kernel with one, and says what the report must contain.
//! A line that ends in `//-` is the bug; one that begins with `//+` is what stands there in the correct twin, of which
//! nothing may be reported.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Buffers, run};
use tegula_isa_ptx::ParamType;
use tegula_sim_ptx::{Launch, Options};

/// Bytes of each buffer.
const BYTES: usize = 4096;

fn outcome(text: &str, name: &str, seed: Option<u64>) -> Result<(), String> {
    let module = tegula_isa_ptx::parse(text, name).unwrap_or_else(|errors| panic!("{name}: {errors}"));
    let entry = &module.entries[0];
    let memory = Buffers::default();
    let mut params = Vec::new();
    for param in &entry.params {
        assert!(matches!(param.ty, ParamType::Scalar(_)), "{name}: parameters are buffers");
        params.extend(memory.add(vec![0; BYTES]).to_le_bytes());
    }
    let options = Options { seed, races: true, max_delay: 400, patience: 100_000 };
    let grid =
        if name == "overlapping_ctas" { 2 } else { entry.directives.cluster.map_or(1, |cluster| cluster[0]) };
    let block = entry.directives.reqntid.expect("each kernel says its threads");
    run(entry, &Launch { grid: [grid, 1, 1], block, dynamic_shared: 0, params, options }, &memory).map(|_| ())
}

fn twin(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.ends_with("//-"));
    lines.map(|line| format!("{}\n", line.strip_prefix("//+").unwrap_or(line))).collect()
}

#[test]
fn each_bug_is_named_and_no_twin_is() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bugs");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20);
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        let wanted = text.lines().find_map(|line| line.strip_prefix("// wanted: ")).expect("a wanted report");
        let seeds = [None, Some(1), Some(2), Some(3)];
        let found: Vec<_> = seeds.iter().map(|seed| outcome(&text, &name, *seed)).collect();
        let is_named = found.iter().any(|found| found.as_ref().is_err_and(|report| report.contains(wanted)));
        if !is_named {
            wrong.push(format!("{name}: wanted `{wanted}`, got {found:?}"));
        }
        for seed in seeds {
            if let Err(report) = outcome(&twin(&text), &name, seed) {
                wrong.push(format!("{name}, correct, {seed:?}: {report}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
