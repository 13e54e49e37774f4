//! Rules of Markdown: lines and cells that fit a screen, a map that stays short, links that lead somewhere, and
//! blocks of code that are what a file of the project says.
//!
//! A block with `file=PATH` behind its language is an excerpt: its lines stand in that file in this order, `...` for
//! what is left out. Every Rust block of `docs/` is one, so that it compiles where it stands.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use tegula_automation::workspace;

/// The longest line of prose, and the longest cell of a table, in characters.
const LONGEST: usize = 160;

/// The map, its most lines and its longest line; tables and drawings count.
const MAP: (&str, usize, usize) = ("ARCHITECTURE.md", 250, 120);

/// Checks every Markdown file of the project.
pub fn check(findings: &mut Findings) -> Result<()> {
    let root = workspace::root();
    for file in workspace::files_with_extension(&root, "md")? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        check_file(&root, &file, &text, findings);
    }
    Ok(())
}

fn check_file(root: &Path, file: &Path, text: &str, findings: &mut Findings) {
    let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    if path == MAP.0 {
        check_map(file, text, findings);
    }
    let mut block: Option<Block> = None;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            match block.take() {
                None => block = Some(Block::new(info, number)),
                Some(done) => done.check(root, file, path.starts_with("docs/"), findings),
            }
        } else if let Some(block) = &mut block {
            block.lines.push(line.trim().to_string());
        } else {
            if !is_written_by_a_program(&path) {
                check_length(file, number, line, findings);
            }
            check_links(file, number, line, findings);
        }
    }
    if let Some(open) = block {
        findings.add(file, open.number, "a block of code has no end");
    }
}

fn check_map(file: &Path, text: &str, findings: &mut Findings) {
    let (_, most, longest) = MAP;
    let n_lines = text.lines().count();
    if n_lines > most {
        findings.add(file, 0, format!("has {n_lines} lines, more than {most}"));
    }
    for (index, line) in text.lines().enumerate() {
        let length = line.chars().count();
        if length > longest {
            findings.add(file, index + 1, format!("has {length} characters, more than {longest}"));
        }
    }
}

/// Reports of measurements, and the op reference, which repeats the definitions' comments.
fn is_written_by_a_program(path: &str) -> bool {
    path == "docs/ops.md" || (path.starts_with("bench/") && path != "bench/README.md")
}

fn check_length(file: &Path, number: usize, line: &str, findings: &mut Findings) {
    if !line.trim_start().starts_with('|') {
        let length = line.chars().count();
        if length > LONGEST {
            findings.add(file, number, format!("a line of {length} characters, more than {LONGEST}"));
        }
        return;
    }
    for cell in cells(line) {
        let length = cell.chars().count();
        if length > LONGEST {
            findings.add(file, number, format!("a cell of {length} characters, more than {LONGEST}"));
        }
    }
}

/// The cells of a table's row; `\|` is no border.
fn cells(row: &str) -> Vec<String> {
    let whole = row.trim().trim_matches('|').replace("\\|", "\u{0}");
    whole.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

fn check_links(file: &Path, number: usize, line: &str, findings: &mut Findings) {
    for link in links(line) {
        // The op reference repeats comments, whose links are to items.
        if link.contains("://") || link.contains("::") || link.starts_with("mailto:") {
            continue;
        }
        let (to, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let there = if to.is_empty() {
            file.to_path_buf()
        } else {
            file.parent().expect("invariant: a file has a folder").join(to)
        };
        if !there.exists() {
            findings.add(file, number, format!("links to `{link}`, which is not there"));
        } else if !anchor.is_empty() && there.extension().is_some_and(|extension| extension == "md") {
            let text = fs::read_to_string(&there).unwrap_or_default();
            if !anchors(&text).contains(anchor) {
                findings.add(file, number, format!("links to `{link}`, which has no such heading"));
            }
        }
    }
}

/// Where the links of a line lead; what stands in backticks is none.
fn links(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(link, _)| link.split_whitespace().next().unwrap_or("").to_string()).collect()
}

/// The names by which a page's headings are linked to.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// A fenced block, with its first line's number.
struct Block {
    number: usize,
    language: String,
    excerpt_of: Option<String>,
    lines: Vec<String>,
}

impl Block {
    fn new(info: &str, number: usize) -> Block {
        let mut words = info.split_whitespace();
        let language = words.next().unwrap_or("").to_string();
        let excerpt_of = words.find_map(|word| word.strip_prefix("file=")).map(str::to_string);
        Block { number, language, excerpt_of, lines: Vec::new() }
    }

    fn check(self, root: &Path, file: &Path, is_in_docs: bool, findings: &mut Findings) {
        let Some(source) = &self.excerpt_of else {
            if is_in_docs && self.language == "rust" {
                findings.add(file, self.number, "a Rust block names no `file=PATH` that it is an excerpt of");
            }
            return;
        };
        let Ok(text) = fs::read_to_string(root.join(source)) else {
            findings.add(file, self.number, format!("an excerpt of `{source}`, which is not there"));
            return;
        };
        if let Err(line) = stands_in(&self.lines, &text) {
            findings.add(file, self.number, format!("`{source}` does not say `{line}` there"));
        }
    }
}

/// Whether the lines stand in the text: in order, next to each other but where `...` is between, blank lines aside.
/// Errors: the line that the text does not go on with.
fn stands_in<'a>(excerpt: &'a [String], text: &str) -> Result<(), &'a str> {
    let source: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let pieces = excerpt.split(|line| line == "...");
    let mut from = 0;
    for piece in pieces {
        let piece: Vec<&str> = piece.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
        if piece.is_empty() {
            continue;
        }
        let places = source.len().saturating_sub(piece.len() - 1);
        match (from..places).find(|at| source[*at..].starts_with(&piece)) {
            Some(at) => from = at + piece.len(),
            None => {
                let lost = piece.iter().find(|line| !source[from..].contains(line));
                return Err(lost.unwrap_or(&piece[0]));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let root = workspace::root();
        let mut findings = Findings::default();
        check_file(&root, &root.join(path), text, &mut findings);
        findings.0
    }

    #[test]
    fn long_lines_and_cells_are_found_outside_of_code() {
        let long = "a".repeat(LONGEST + 1);
        let text = format!("{long}\n| x | {long} |\n```text\n{long}\n```\n| {0} | {0} |\n", &long[..100]);
        let found = findings("docs/x.md", &text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("docs/x.md:1: a line of 161"), "{found:?}");
        assert!(found[1].starts_with("docs/x.md:2: a cell of 161"), "{found:?}");
        assert!(findings("bench/zen4/onnx.md", &text).is_empty());
    }

    #[test]
    fn the_map_is_held_to_less() {
        let found = findings(MAP.0, &format!("{}{}\n", "\n".repeat(MAP.1), "a".repeat(MAP.2 + 1)));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let text = "[a](../README.md#licence), [b](https://x.y/z), `x[0](1)`, [`c`](../README.md)\n";
        assert!(findings("docs/x.md", text).is_empty());
        assert_eq!(findings("docs/x.md", "[a](../NONE.md)\n").len(), 1);
        assert_eq!(findings("docs/x.md", "[a](../README.md#no-such-heading)\n").len(), 1);
        assert_eq!(anchor("A `map`, and why: 1.2"), "a-map-and-why-12");
    }

    #[test]
    fn an_excerpt_is_what_its_file_says() {
        let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
        let text = "one\n  two\n\nthree\nfour\n";
        assert_eq!(stands_in(&lines("one\ntwo\nthree"), text), Ok(()));
        assert_eq!(stands_in(&lines("one\n...\nfour"), text), Ok(()));
        assert_eq!(stands_in(&lines("one\nfour"), text), Err("one"));
        assert_eq!(stands_in(&lines("four\n...\none"), text), Err("one"));
        assert_eq!(stands_in(&lines("two\nfive"), text), Err("five"));
        assert_eq!(findings("docs/x.md", "```rust\nfn f() {}\n```\n").len(), 1);
        assert_eq!(findings("docs/x.md", "```rust file=Cargo.toml\nfn f() {}\n```\n").len(), 1);
        assert!(findings("docs/x.md", "```toml file=Cargo.toml\n[workspace]\n```\n").is_empty());
    }
}
