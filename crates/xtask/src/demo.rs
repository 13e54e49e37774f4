//! `demo [FILE]`: says what kind of file FILE is (default: README.md) by the `magika` classifier: builds Tegula,
//! fetches the model, compiles it and runs it.
//! The features are Magika's (its Python package, `_extract_features_from_seekable`): the first and last 4096 bytes,
//! blanks stripped, cut to 1024 each and padded with the token 256.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tegula_automation::catalog::{Catalog, Entry};
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::{RunError, RunOptions, Tegula};
use tegula_automation::{fetch, workspace};

use crate::npy::Npy;

const MODEL: &str = "magika";
/// The model's input.
pub const INPUT: &str = "bytes";

/// Magika's `config.min.json`.
#[derive(Deserialize)]
pub struct Config {
    beg_size: usize,
    end_size: usize,
    block_size: usize,
    padding_token: i32,
    target_labels_space: Vec<String>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let file = match args.first() {
        Some(file) => PathBuf::from(file),
        None => workspace::root().join("README.md"),
    };
    let content = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    ensure!(
        !content.trim_ascii().is_empty(),
        "{} has nothing to tell its kind by: it is empty or blank",
        file.display()
    );
    let tegula = Tegula::build()?;
    let Prepared { model, config, input } = prepare(&content, &workspace::target().join("demo"))?;
    let inputs = BTreeMap::from([(INPUT.to_string(), input)]);
    let out = workspace::target().join("demo/out");
    let report = match tegula.run_files(&model, &inputs, &out, RunOptions::default()) {
        Ok(report) => report,
        Err(RunError::Refused(reason) | RunError::Crashed(reason)) => anyhow::bail!("`tegula run`: {reason}"),
    };
    let output = report.outputs.first().context("the model gave no output")?;
    let (label, score) = best(&output.path_in(&out), &config)?;
    let ms = |ns: u64| ns as f64 / 1e6;
    println!("{}: {label} ({:.2} %)", shown(&file), score * 100.0);
    println!(
        "compiled in {:.1} ms, loaded in {:.2} ms, ran in {:.2} ms",
        ms(report.compile_ns),
        ms(report.load_ns),
        ms(report.run_ns)
    );
    Ok(Outcome::pass().with("label", label).with("probability", format!("{score:.4}")))
}

/// What a run of the classifier needs.
pub struct Prepared {
    pub model: PathBuf,
    pub config: Config,
    /// The features, as a file for [`INPUT`].
    pub input: PathBuf,
}

/// Fetches the model, and writes a content's features into a folder.
pub fn prepare(content: &[u8], folder: &Path) -> Result<Prepared> {
    let catalog = Catalog::load()?;
    let model = fetch::fetch(&catalog, MODEL)?;
    let config = config(&catalog)?;
    fs::create_dir_all(folder)?;
    let input = folder.join("bytes.npy");
    let features = features(content, &config);
    Npy::of_i32(&[1, features.len()], &features).write(&input)?;
    Ok(Prepared { model, config, input })
}

/// The label with the highest score, and that score, of the model's output.
pub fn best<'a>(output: &Path, config: &'a Config) -> Result<(&'a str, f32)> {
    let scores = Npy::read(output)?.f32s().context("the scores are not f32")?;
    let labels = &config.target_labels_space;
    ensure!(scores.len() == labels.len(), "{} scores for {} labels", scores.len(), labels.len());
    let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let best = best.context("there are no scores")?;
    Ok((&labels[best], scores[best]))
}

/// Reads Magika's settings from the wheel that the model came in.
fn config(catalog: &Catalog) -> Result<Config> {
    let Entry::Shipped(model) = catalog.find(MODEL)? else {
        anyhow::bail!("`{MODEL}` is listed as derived");
    };
    let file = workspace::models().join("magika-config.json");
    if !file.exists() {
        let member = model.path.replace("model.onnx", "config.min.json");
        fetch::extract_member(model, &member, &file)?;
    }
    serde_json::from_str(&fs::read_to_string(&file)?)
        .with_context(|| format!("{} is malformed", file.display()))
}

fn features(content: &[u8], config: &Config) -> Vec<i32> {
    let block = config.block_size.min(content.len());
    let (head, tail) = (&content[..block], &content[content.len() - block..]);
    let head = &head[head.iter().take_while(|byte| is_blank(**byte)).count()..];
    let tail = &tail[..tail.len() - tail.iter().rev().take_while(|byte| is_blank(**byte)).count()];
    let head = &head[..head.len().min(config.beg_size)];
    let tail = &tail[tail.len().saturating_sub(config.end_size)..];

    let mut features = vec![config.padding_token; config.beg_size + config.end_size];
    let end = features.len();
    for (feature, byte) in features.iter_mut().zip(head) {
        *feature = i32::from(*byte);
    }
    for (feature, byte) in features[end - tail.len()..].iter_mut().zip(tail) {
        *feature = i32::from(*byte);
    }
    features
}

/// What Python's `bytes.strip` removes.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn shown(file: &Path) -> String {
    file.strip_prefix(workspace::root()).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_files_are_padded_in_the_middle() {
        let config = Config {
            beg_size: 4,
            end_size: 3,
            block_size: 16,
            padding_token: 256,
            target_labels_space: Vec::new(),
        };
        assert_eq!(features(b" ab\n", &config), [97, 98, 10, 256, 32, 97, 98]);
        assert_eq!(features(b"", &config), [256; 7]);
    }
}
