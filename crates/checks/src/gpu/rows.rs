//! What was found, one JSON line a row, written when the row is done; and the table made of it.
//! A row stands for a card, a kernel's sizes and the very code that ran: any other is done again.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tegula_automation::outcome::Outcome;
use tegula_testkit::gpu_kernels::Sizes;

pub struct Rows {
    folder: PathBuf,
    all: Vec<Value>,
    card: String,
}

/// The file of all rows.
const FILE: &str = "gpu.jsonl";

/// Adds a line at once: several processes write to one file.
pub fn append(file: &Path, facts: &Value) -> Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(file)?;
    Ok(file.write_all(format!("{facts}\n").as_bytes())?)
}

/// What a row is of: a part, and a kernel at sizes with the code that ran.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    pub part: &'a str,
    pub kernel: &'a str,
    pub sizes: &'a Sizes,
    /// Whether it was compiled for just these sizes.
    pub fixed: bool,
    /// [`code`] of the package.
    pub code: String,
}

/// The name of a package's content, or of why there is none.
pub fn code(package: &Result<Bytes, String>) -> String {
    let content = match package {
        Ok(package) => package,
        Err(reason) => reason.as_bytes(),
    };
    Sha256::digest(content).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl Subject<'_> {
    /// The row's name among those of its part.
    fn row(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
        format!("{} {}", self.kernel, sizes.join(" "))
    }

    fn is_of(&self, row: &Value) -> bool {
        row["part"] == self.part && row["row"] == self.row().as_str()
    }
}

impl Rows {
    /// Opens a folder's rows; those of another card do not count. A simulated card begins anew.
    pub fn open(folder: &Path, card: &str, anew: bool) -> Result<Rows> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let path = folder.join(FILE);
        if anew && path.exists() {
            std::fs::remove_file(&path)?;
        }
        let text = if path.exists() { std::fs::read_to_string(&path)? } else { String::new() };
        // A line that was cut off is done again; of several for a row the last one counts.
        let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut all: Vec<Value> = Vec::new();
        for row in rows.filter(|row| row["card"] == card) {
            all.retain(|known| known["part"] != row["part"] || known["row"] != row["row"]);
            all.push(row);
        }
        Ok(Rows { folder: folder.to_path_buf(), all, card: card.to_string() })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Whether the row was done with this very code.
    pub fn has(&self, subject: &Subject) -> bool {
        self.all.iter().any(|row| subject.is_of(row) && row["code"] == subject.code.as_str())
    }

    /// A row's line: what was found, and what it is of.
    pub fn facts(&self, subject: &Subject, seed: u64, mut facts: Value) -> Value {
        let row = subject.row();
        let code = subject.code.as_str();
        for (name, value) in [
            ("part", subject.part),
            ("row", &row),
            ("card", &self.card),
            ("kernel", subject.kernel),
            ("code", code),
        ] {
            facts[name] = Value::from(value);
        }
        facts["sizes"] = json!(subject.sizes);
        facts["fixed"] = json!(subject.fixed);
        facts["seed"] = json!(seed);
        facts
    }

    pub fn add(&mut self, subject: &Subject, seed: u64, facts: Value) -> Result<()> {
        let facts = self.facts(subject, seed, facts);
        println!("{facts}");
        append(&self.path(), &facts)?;
        self.all.retain(|known| !subject.is_of(known));
        self.all.push(facts);
        Ok(())
    }

    /// Leaves out rows of code that the list does not compile to any more: they say nothing of today's.
    /// `today` gives the code of a kernel at sizes, compiled for them or not; `None`: there is no such kernel.
    pub fn forget_older(&mut self, mut today: impl FnMut(&str, &Sizes, bool) -> Option<String>) {
        self.all.retain(|row| {
            let sizes = serde_json::from_value(row["sizes"].clone()).ok();
            let kernel = row["kernel"].as_str().zip(row["fixed"].as_bool()).zip(sizes);
            let code = kernel.and_then(|((kernel, fixed), sizes)| today(kernel, &sizes, fixed));
            code.is_some_and(|code| row["code"] == code.as_str())
        });
    }

    /// Writes the table, and says whether all results are right: some must be, for times of wrong code say nothing.
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
                _ => {
                    "| row | us | TFLOP/s | GB/s | of a copy | baseline us | which | ratio |\n|---|---|---|---|---|---|---|---|\n"
                }
            };
            for row in rows {
                text += &line(part, row);
            }
        }
        std::fs::write(self.folder.join("gpu.md"), text)?;
        let count = |wanted: &str| self.all.iter().filter(|row| row["verdict"] == wanted).count();
        let ratios: Vec<f64> = self.all.iter().filter_map(|row| row["ratio"].as_f64()).collect();
        let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64;
        if count("right") == 0 {
            println!("no result was found right: `--part correctness` comes first");
        }
        let outcome = Outcome::pass_if(count("wrong") == 0 && count("right") > 0)
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
        number("of_copy", 1.0),
        number("baseline_ns", 1e-3),
        text("baseline"),
        number("ratio", 1.0),
    ];
    match row["why"].is_null() {
        true => format!("| {} | {} |\n", text("row"), cells.join(" | ")),
        false => format!("| {} | {} |  |  |  |  |  |  |\n", text("row"), text("why")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(m: i64) -> Sizes {
        [("m".to_string(), m)].into()
    }

    fn subject<'a>(sizes: &'a Sizes, text: &str) -> Subject<'a> {
        let code = code(&Ok(Bytes::from(text.to_string())));
        Subject { part: "correctness", kernel: "gemm", sizes, fixed: false, code }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tegula-rows-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn rows_go_on_for_the_same_card_sizes_and_code() {
        let folder = folder("resume");
        let (small, large) = (sizes(1), sizes(2));
        let mut rows = Rows::open(&folder, "a card", false).unwrap();
        rows.add(&subject(&small, "code"), 1, json!({ "verdict": "wrong" })).unwrap();
        rows.add(&subject(&small, "better code"), 1, json!({ "verdict": "right" })).unwrap();
        let rows = Rows::open(&folder, "a card", false).unwrap();
        assert!(rows.has(&subject(&small, "better code")));
        assert!(!rows.has(&subject(&small, "code")) && !rows.has(&subject(&large, "better code")));
        assert_eq!(rows.all.len(), 1);
        let other = Rows::open(&folder, "another card", false).unwrap();
        assert!(!other.has(&subject(&small, "better code")));
        let mut rows = rows;
        rows.forget_older(|kernel, sizes, _| (kernel == "gemm").then(|| subject(sizes, "newest").code));
        assert!(rows.all.is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_run_without_right_results_does_not_pass() {
        let folder = folder("none");
        let small = sizes(1);
        for (verdict, passes) in [("refused", false), ("unsampled", false), ("right", true)] {
            let mut rows = Rows::open(&folder, "a card", true).unwrap();
            rows.add(&subject(&small, "code"), 1, json!({ "verdict": verdict })).unwrap();
            let outcome = rows.finish().unwrap();
            assert_eq!(outcome.status == tegula_automation::outcome::Status::Pass, passes, "{verdict}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
