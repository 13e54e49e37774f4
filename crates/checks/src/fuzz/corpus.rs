//! Well-formed inputs to damage, in a fixed order: the node cases of the onnx package where they were made, golden
//! texts, random programs and their packages.

use std::fs;

use anyhow::{Result, ensure};
use tegula_automation::workspace;
use tegula_driver::Form;
use tegula_ir::{PrintOptions, print_program};
use tegula_testkit::random::{Choices, generate};

use super::protobuf;
use super::subject::Target;
use crate::in_process::{compile_bytes, package};

pub struct Corpus {
    pub items: Vec<Vec<u8>>,
    /// Tokens of all texts, each once.
    pub words: Vec<String>,
}

/// Larger files slow the fuzzer more than they show.
const MAX_BYTES: usize = 20_000;

/// Random programs in a corpus.
const PROGRAMS: u64 = 40;

impl Corpus {
    pub fn load(target: Target) -> Result<Corpus> {
        let items = match target {
            Target::Onnx => models()?,
            Target::Text => texts()?,
            Target::Package => packages(),
        };
        ensure!(!items.is_empty(), "nothing to start from for target `{}`", target.name());
        let mut words: Vec<String> = vec![];
        if target == Target::Text {
            let all = items.iter().filter_map(|item| std::str::from_utf8(item).ok());
            words = all
                .flat_map(|text| tokens(text).map(str::to_string))
                .filter(|word| word.len() < 40)
                .collect();
            words.sort_unstable();
            words.dedup();
        }
        Ok(Corpus { items, words })
    }
}

/// Every fourth node case of the onnx package, if it was generated, and a few models built here.
fn models() -> Result<Vec<Vec<u8>>> {
    let folder = workspace::target().join("onnx-node");
    let mut files: Vec<_> = match fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path().join("model.onnx"))).collect(),
        Err(_) => vec![],
    };
    files.sort();
    let small = |bytes: &Vec<u8>| bytes.len() <= MAX_BYTES;
    let mut items: Vec<Vec<u8>> =
        files.iter().step_by(4).filter_map(|file| fs::read(file).ok()).filter(small).collect();
    items.extend(protobuf::small_models());
    Ok(items)
}

fn texts() -> Result<Vec<Vec<u8>>> {
    let files = workspace::files_with_extension(&workspace::root().join("crates"), "mlir")?;
    let mut items: Vec<Vec<u8>> = files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .filter(|bytes| bytes.len() <= MAX_BYTES)
        .collect();
    items.extend(programs().into_iter().map(String::into_bytes).filter(|text| text.len() <= MAX_BYTES));
    Ok(items)
}

/// Texts of random programs of a few ops.
fn programs() -> Vec<String> {
    let few = Choices { most_ops: Some(5), ..Choices::default() };
    (0..PROGRAMS).map(|seed| print_program(&generate(seed, &few).program, &PrintOptions::WHOLE)).collect()
}

/// Programs that do not compile are another check's matter.
fn packages() -> Vec<Vec<u8>> {
    let compiled = programs().into_iter().filter_map(|text| {
        let compiled = std::panic::catch_unwind(|| {
            compile_bytes(text.as_bytes(), "avx2-generic", Form::Portable).and_then(package)
        });
        compiled.ok()?.ok()
    });
    compiled.map(|bytes| bytes.to_vec()).filter(|bytes| bytes.len() <= 20 * MAX_BYTES).collect()
}

/// Words, numbers, strings whole, and single signs.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '#' | '!' | '@' | '^' | '$' | '-');
        let end = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |at| at + 2),
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}
