//! `data/open_rows.txt`: rows of checks that are known not to hold, each with the figure measured and the reason.
//! Lines `CHECK<tab>ROW<tab>SHARE<tab>WHY`: SHARE is the share of the bar that was used, above 1.
//! Strict both ways: a row that is not listed must hold, and a listed one that holds again, uses more than its
//! share, or is never seen fails the check until the list is put right.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use tegula_automation::workspace;

/// Shares are printed with three digits, and processors round differently.
const SLACK: f64 = 1.05;

/// The listed rows of one check.
pub struct OpenRows {
    rows: BTreeMap<String, Row>,
}

struct Row {
    share: f64,
    why: String,
    seen: bool,
}

/// What became of one row.
pub enum Verdict {
    Holds,
    /// Does not hold, and the list says so and why.
    Open(String),
    /// Not as the bar and the list say.
    Fails(String),
}

impl OpenRows {
    pub fn of(check: &str) -> Result<OpenRows> {
        let path = workspace::data("open_rows.txt");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        parse(check, &text).with_context(|| format!("{} is malformed", path.display()))
    }

    /// `share` is the share of the bar that the row used.
    pub fn judge(&mut self, row: &str, share: f64) -> Verdict {
        let holds = share <= 1.0;
        match self.rows.get_mut(row) {
            None if holds => Verdict::Holds,
            None => Verdict::Fails(format!("uses {share:.3} of its bar")),
            Some(listed) => {
                listed.seen = true;
                if holds {
                    Verdict::Fails("holds now: take it from data/open_rows.txt".to_string())
                } else if share > listed.share * SLACK {
                    Verdict::Fails(format!("uses {share:.3} of its bar, {:.3} is listed", listed.share))
                } else {
                    Verdict::Open(listed.why.clone())
                }
            }
        }
    }

    /// Listed rows that were not judged; all rows of the check must have been.
    pub fn unseen(&self) -> Vec<&str> {
        self.rows.iter().filter(|(_, row)| !row.seen).map(|(name, _)| name.as_str()).collect()
    }
}

fn parse(check: &str, text: &str) -> Result<OpenRows> {
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let [listed, row, share, why] = line.split('\t').collect::<Vec<_>>()[..] else {
            bail!("`{line}` has not four columns");
        };
        let share: f64 = share.parse().with_context(|| format!("`{share}` is no number"))?;
        if share <= 1.0 || why.is_empty() {
            bail!("`{line}` needs a share above 1 and a reason");
        }
        if listed == check {
            rows.insert(row.to_string(), Row { share, why: why.to_string(), seen: false });
        }
    }
    Ok(OpenRows { rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_both_ways() {
        let text = "# check, row, share, why\nmodels\ta x\t1.2\tknown\nother\tb y\t2\tknown\n";
        let mut open = parse("models", text).expect("well-formed");
        assert_eq!(open.unseen(), ["a x"]);
        assert!(matches!(open.judge("c z", 0.5), Verdict::Holds));
        assert!(matches!(open.judge("c z", 1.5), Verdict::Fails(_)));
        assert!(matches!(open.judge("b y", 2.0), Verdict::Fails(_)));
        assert!(matches!(open.judge("a x", 1.2), Verdict::Open(_)));
        assert!(matches!(open.judge("a x", 1.3), Verdict::Fails(_)));
        assert!(matches!(open.judge("a x", 0.9), Verdict::Fails(_)));
        assert!(open.unseen().is_empty());
        assert!(parse("models", "models\ta x\t0.5\tknown").is_err());
        assert!(parse("models", "models\ta x").is_err());
    }
}
