//! A report's three files, and tables in Markdown.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use tegula_automation::statistics::Interval;
use tegula_automation::workspace;

use super::Options;

/// `--out`, or `bench/`.
pub fn folder(options: &Options) -> Result<PathBuf> {
    let dir = options.out.as_ref().map_or_else(|| workspace::root().join("bench"), PathBuf::from);
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

pub fn write(dir: &Path, name: &str, markdown: &str, figures: &impl Serialize, svg: &str) -> Result<()> {
    let json = serde_json::to_string_pretty(figures)? + "\n";
    for (extension, text) in [("md", markdown), ("json", json.as_str()), ("svg", svg)] {
        let path = dir.join(format!("{name}.{extension}"));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// A table whose first `n_words` columns are words and whose others are numbers.
pub fn table(header: &[&str], n_words: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = header.iter().map(|cell| cell.to_string()).collect();
    let rule: Vec<String> =
        (0..header.len()).map(|column| if column < n_words { "---" } else { "--:" }.to_string()).collect();
    let mut text = line(&header) + &line(&rule);
    rows.iter().for_each(|row| text += &line(row));
    text
}

/// `0.81 [0.79, 0.84]`.
pub fn interval(value: &Interval) -> String {
    format!("{:.2} [{:.2}, {:.2}]", value.median, value.low, value.high)
}

pub fn verdict(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "**missed**",
        None => "",
    }
}

/// `0.75`, or nothing where there is no bar.
pub fn bar(bar: Option<f64>) -> String {
    bar.map_or_else(String::new, |bar| format!("{bar:.2}"))
}

/// `1 thread`, `2 threads`.
pub fn threads(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
