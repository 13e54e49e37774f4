//! What was found, one JSON line a row, written when the row is done; and the table made of it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tegula_runtime::cuda::DeviceFacts;
use tegula_testkit::gpu_kernels::Sizes;

use crate::outcome::Outcome;

pub struct Rows {
    folder: PathBuf,
    file: File,
    all: Vec<Value>,
    card: String,
}

/// A row's name among those of its part.
pub fn key(kernel: &str, sizes: &Sizes) -> String {
    let sizes: Vec<String> = sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
    format!("{kernel} {}", sizes.join(" "))
}

impl Rows {
    /// Opens a folder's rows; those of another card do not count. A simulated card begins anew.
    pub fn open(folder: &Path, card: &DeviceFacts, anew: bool) -> Result<Rows> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join("gpu.jsonl");
        if anew && path.exists() {
            std::fs::remove_file(&path)?;
        }
        let text = if path.exists() { std::fs::read_to_string(&path)? } else { String::new() };
        // A line that was cut off is done again.
        let all = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let all = all.filter(|row| row["card"] == card.name.as_str()).collect();
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        Ok(Rows { folder: folder.to_path_buf(), file, all, card: card.name.clone() })
    }

    pub fn has(&self, part: &str, row: &str) -> bool {
        self.all.iter().any(|known| known["part"] == part && known["row"] == row)
    }

    pub fn add(&mut self, part: &str, row: &str, seed: u64, mut facts: Value) -> Result<()> {
        for (name, value) in [("part", part), ("row", row), ("card", &self.card)] {
            facts[name] = Value::from(value);
        }
        facts["seed"] = json!(seed);
        println!("{facts}");
        writeln!(self.file, "{facts}")?;
        self.all.push(facts);
        Ok(())
    }

    /// Writes the table, and says whether all results are right.
    pub fn finish(self) -> Result<Outcome> {
        let mut text = format!("# {}\n", self.card);
        for part in super::PARTS {
            let rows: Vec<&Value> = self.all.iter().filter(|row| row["part"] == part).collect();
            if rows.is_empty() {
                continue;
            }
            text += &format!("\n## {part}\n\n");
            text += match part {
                "correctness" => "| row | verdict |\n|---|---|\n",
                _ => "| row | us | TFLOP/s | GB/s | baseline us | ratio |\n|---|---|---|---|---|---|\n",
            };
            for row in rows {
                text += &line(part, row);
            }
        }
        std::fs::write(self.folder.join("gpu.md"), text)?;
        let count = |wanted: &str| self.all.iter().filter(|row| row["verdict"] == wanted).count();
        let ratios: Vec<f64> = self.all.iter().filter_map(|row| row["ratio"].as_f64()).collect();
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64;
        let outcome = Outcome::pass_if(count("wrong") == 0 && !self.all.is_empty())
            .with("right", count("right"))
            .with("wrong", count("wrong"))
            .with("refused", count("refused"))
            .with("timed", self.all.iter().filter(|row| !row["ns"].is_null()).count());
        Ok(match ratios.is_empty() {
            true => outcome,
            false => outcome.with("baseline_ratio", format!("{:.3}", mean.exp())),
        })
    }
}

fn line(part: &str, row: &Value) -> String {
    let text =
        |name: &str| row[name].as_str().unwrap_or_default().lines().next().unwrap_or_default().to_string();
    let number =
        |name: &str, scale: f64| row[name].as_f64().map_or(String::new(), |n| format!("{:.2}", n * scale));
    if part == "correctness" {
        return format!("| {} | {} {} |\n", text("row"), text("verdict"), text("why"));
    }
    let cells = [
        number("ns", 1e-3),
        number("tflops", 1.0),
        number("gbps", 1.0),
        number("baseline_ns", 1e-3),
        number("ratio", 1.0),
    ];
    match row["why"].is_null() {
        true => format!("| {} | {} |\n", text("row"), cells.join(" | ")),
        false => format!("| {} | {} |  |  |  |  |\n", text("row"), text("why")),
    }
}
