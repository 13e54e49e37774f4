//! `status [--add FILE]`: writes `docs/status.md` from `data/status.json`: what each check gave when it was last run whole.
//! `--add` first takes the rows of a file of the same form.
//!
//! A row is a check with its arguments on one machine class; a check that records itself replaces its row.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;

/// The page, from the project's root.
pub const PAGE: &str = "docs/status.md";

const DATA: &str = "status.json";

/// As many characters as a cell of a table may have.
const LONGEST_CELL: usize = 160;

/// All rows, in the order of check and machine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Status {
    pub rows: Vec<Row>,
}

/// What one check gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The verb and the arguments that matter, as after `cargo xtask`.
    pub check: String,
    /// Whether its bar is reached.
    pub holds: bool,
    /// The figures of its `RESULT` line.
    pub counts: BTreeMap<String, String>,
    /// The commit it ran on; none where it is not known.
    pub commit: Option<String>,
    /// The machine class it ran on; none where the result does not depend on it.
    pub machine: Option<String>,
    /// The day, as `2026-11-29`.
    pub date: Option<String>,
    /// Wall-clock time.
    pub seconds: Option<f64>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    if let Some(at) = args.iter().position(|arg| arg == "--add") {
        let file = args.get(at + 1).context("`--add` needs a file of rows")?;
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let added: Status =
            serde_json::from_str(&text).with_context(|| format!("{file} is no list of rows"))?;
        for row in added.rows {
            fs::write(workspace::data(DATA), with_row(read()?, row)?)?;
        }
    }
    let status = read()?;
    let failing = status.rows.iter().filter(|row| !row.holds).count();
    let path = workspace::root().join(PAGE);
    fs::write(&path, page()?).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Outcome::pass().with("rows", status.rows.len()).with("not_held", failing))
}

/// The rows as they are recorded.
pub fn read() -> Result<Status> {
    let path = workspace::data(DATA);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no list of rows", path.display()))
}

/// The text of `data/status.json` with this row in place of the one of the same check and machine. A row without a
/// machine stands for all of them.
pub fn with_row(mut status: Status, row: Row) -> Result<String> {
    let is_replaced = |old: &Row| {
        old.check == row.check
            && (old.machine.is_none() || row.machine.is_none() || old.machine == row.machine)
    };
    status.rows.retain(|old| !is_replaced(old));
    status.rows.push(row);
    status.rows.sort_by(|a, b| (&a.check, &a.machine).cmp(&(&b.check, &b.machine)));
    Ok(serde_json::to_string_pretty(&status)? + "\n")
}

/// What `docs/status.md` should say.
pub fn page() -> Result<String> {
    let status = read()?;
    let held = status.rows.iter().filter(|row| row.holds).count();
    let mut text = format!(
        "# Status\n\n\
        What each check gave when it was last run whole; `cargo xtask status` writes this page from [data/status.json](../data/status.json).\n\
        {held} of {} rows hold.\n\
        Single cases that are known not to hold are listed in [data/open_rows.txt](../data/open_rows.txt), and a check fails when one of them changes.\n\
        Times by machine are in [bench](../bench/README.md).\n\n\
        | check | holds | machine | day | commit | seconds | figures |\n|---|---|---|---|---|--:|---|\n",
        status.rows.len()
    );
    for row in &status.rows {
        text += &row.line();
    }
    Ok(text)
}

impl Row {
    fn line(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!(
            "| `{}` | {} | {} | {} | {} | {} | {} |\n",
            self.check,
            if self.holds { "yes" } else { "**no**" },
            self.machine.as_deref().unwrap_or(""),
            self.date.as_deref().unwrap_or(""),
            self.commit.as_deref().map_or("", |commit| commit.get(..9).unwrap_or(commit)),
            self.seconds.map_or(String::new(), |seconds| format!("{seconds:.0}")),
            cut(&counts.join(", ").replace('|', "\\|"))
        )
    }
}

/// The text as far as a cell may be long.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_CELL - 1) {
        Some((at, _)) if text.chars().count() > LONGEST_CELL => format!("{}…", &text[..at]),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(check: &str, machine: Option<&str>, holds: bool) -> Row {
        Row {
            check: check.to_string(),
            holds,
            counts: BTreeMap::from([("cases".to_string(), "3".to_string())]),
            commit: Some("0123456789abcdef".to_string()),
            machine: machine.map(str::to_string),
            date: Some("2026-11-29".to_string()),
            seconds: Some(1.6),
        }
    }

    #[test]
    fn a_row_takes_the_place_of_its_check_on_its_machine() {
        let status = Status { rows: vec![row("b", Some("zen4"), true), row("b", Some("zen5"), true)] };
        let text = with_row(status, row("b", Some("zen4"), false)).expect("it prints");
        let status: Status = serde_json::from_str(&text).expect("it reads");
        assert_eq!(status.rows, [row("b", Some("zen4"), false), row("b", Some("zen5"), true)]);
        let status: Status =
            serde_json::from_str(&with_row(status, row("a", None, true)).expect("it prints"))
                .expect("it reads");
        assert_eq!(status.rows[0], row("a", None, true));
        let text = with_row(status, row("a", Some("zen4"), false)).expect("it prints");
        let status: Status = serde_json::from_str(&text).expect("it reads");
        assert_eq!(status.rows.iter().filter(|row| row.check == "a").count(), 1);
    }

    #[test]
    fn a_line_has_every_column_and_fits() {
        let line = row("a --all", Some("zen4"), false).line();
        assert_eq!(line, "| `a --all` | **no** | zen4 | 2026-11-29 | 012345678 | 2 | cases 3 |\n");
        assert_eq!(cut(&"a".repeat(200)).chars().count(), LONGEST_CELL);
        assert_eq!(cut(&"a".repeat(160)).chars().count(), 160);
    }
}
