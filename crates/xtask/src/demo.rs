//! `demo [FILE]`: says what kind of file FILE is (default: README.md) by the `magika` classifier: builds Tegula,
//! fetches the model, compiles it and runs it.
//! The features are Magika's (its Python package, `_extract_features_from_seekable`): the first and last 4096 bytes,
//! blanks stripped, cut to 1024 each and padded with the token 256.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tegula_base::HostTensor;
use tegula_testkit::onnx_suite::RunError;

use crate::catalog::{Catalog, Entry};
use crate::fetch_models;
use crate::outcome::Outcome;
use crate::tegula_cli::{RunOptions, Tegula, read_npy, write_npy};
use crate::workspace;

const MODEL: &str = "magika";

/// Magika's `config.min.json`.
#[derive(Deserialize)]
struct Config {
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
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let model = fetch_models::fetch(&catalog, MODEL)?;
    let config = config(&catalog)?;

    let dir = workspace::target().join("demo");
    fs::create_dir_all(&dir)?;
    let input = dir.join("bytes.npy");
    let features = features(&content, &config);
    write_npy(&input, &HostTensor::from_elements(&[1, features.len()], &features))?;

    let inputs = BTreeMap::from([("bytes".to_string(), input)]);
    let out = dir.join("out");
    let report = match tegula.run_files(&model, &inputs, &out, RunOptions::default()) {
        Ok(report) => report,
        Err(RunError::Refused(reason) | RunError::Crashed(reason)) => anyhow::bail!("`tegula run`: {reason}"),
    };
    let output = report.outputs.first().context("the model gave no output")?;
    let scores = read_npy(&output.path_in(&out))?.elements::<f32>().context("the scores are not f32")?;
    ensure!(
        scores.len() == config.target_labels_space.len(),
        "{} scores for {} labels",
        scores.len(),
        config.target_labels_space.len()
    );
    let best =
        (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).context("there are no scores")?;
    let label = &config.target_labels_space[best];

    let ms = |ns: u64| ns as f64 / 1e6;
    println!("{}: {label} ({:.2} %)", shown(&file), scores[best] * 100.0);
    println!(
        "compiled in {:.1} ms, loaded in {:.2} ms, ran in {:.2} ms",
        ms(report.compile_ns),
        ms(report.load_ns),
        ms(report.run_ns)
    );
    Ok(Outcome::pass().with("label", label).with("probability", format!("{:.4}", scores[best])))
}

/// Reads Magika's settings from the wheel that the model came in.
fn config(catalog: &Catalog) -> Result<Config> {
    let Entry::Shipped(model) = catalog.find(MODEL)? else {
        anyhow::bail!("`{MODEL}` is listed as derived");
    };
    let file = workspace::models().join("magika-config.json");
    if !file.exists() {
        let member = model.path.replace("model.onnx", "config.min.json");
        fetch_models::extract_member(model, &member, &file)?;
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
