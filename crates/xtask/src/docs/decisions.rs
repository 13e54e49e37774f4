//! The index of `docs/decisions`: each page is `NNN-title.md`, and its heading names what was decided.

use std::fs;

use anyhow::{Context, Result, ensure};

use tegula_automation::workspace;

const HEAD: &str = "# Decisions

Each page says why something is as it is: what constrains it, what was chosen, what was rejected, and the evidence.
A change that contradicts a page changes the page in the same commit.
Measurements on these pages say what decided; today's figures are in [bench](../../bench/README.md).
";

/// Parts that every page has, in this order; pages may have only some of them, but these two always.
const PARTS: [&str; 2] = ["## Constraint", "## Solution"];

pub fn index() -> Result<String> {
    let folder = workspace::root().join("docs/decisions");
    let mut text = format!("{HEAD}\n| page | decision |\n|---|---|\n");
    for file in workspace::files_with_extension(&folder, "md")? {
        let name = file.file_name().expect("invariant: a file has a name").to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let page = fs::read_to_string(&file)?;
        let heading = page.lines().next().and_then(|line| line.strip_prefix("# "));
        let heading = heading.with_context(|| format!("{name} does not begin with a heading"))?;
        for part in PARTS {
            ensure!(page.contains(part), "{name} has no part `{part}`");
        }
        let number = name.split('-').next().unwrap_or("");
        ensure!(number.len() == 3 && number.parse::<u16>().is_ok(), "{name} is not named `NNN-title.md`");
        text += &format!("| [{number}]({name}) | {heading} |\n");
    }
    Ok(text)
}
