//! Figures as they were published, what ours may be, and lines of the table.

use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use tegula_automation::workspace;

/// A row of `data/lpu_published.json`.
#[derive(Debug, Deserialize)]
pub struct Figure {
    pub id: String,
    /// Which of the rows of an id.
    #[serde(default)]
    pub case: String,
    pub what: String,
    /// Of a contraction `m`, `k`, `n`; of an LSTM units and rows.
    #[serde(default)]
    pub sizes: Vec<u64>,
    pub published: f64,
    pub unit: String,
    #[serde(flatten)]
    pub kind: Kind,
    /// Where the figure stands.
    pub source: String,
}

/// What ours must be, or should be.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    Exact,
    /// No more than `bar`, in the row's unit.
    AtMost {
        bar: f64,
    },
    /// Within a share of what is published.
    Ratio {
        bar: f64,
    },
    /// `bar`: what the cycles that ours are held against are of ours, at least.
    Goal {
        against: Against,
        bar: Option<f64>,
        /// In the row's unit.
        tile_bound: Option<f64>,
    },
}

/// The cycles of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    Published,
    /// All contractions one after another, each at its tile bound.
    TileBound,
}

/// What we have to put beside a figure.
#[derive(Clone, Debug, Default)]
pub struct Ours {
    /// In the row's unit.
    pub value: f64,
    /// Of a goal: the cycles that ours are held against, over ours.
    pub reach: f64,
    /// Behind the table's columns.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Fails,
    /// A goal that is met.
    Reached,
    /// A goal that is not met.
    Open,
}

/// All rows. Errors: the file is malformed.
pub fn read() -> Result<Vec<Figure>> {
    let path = workspace::data("lpu_published.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is malformed", path.display()))
}

impl Figure {
    /// What a row comes to. An error is a failure, or an open goal.
    pub fn verdict(&self, ours: &Result<Ours>) -> Verdict {
        let Ok(ours) = ours else {
            return if matches!(self.kind, Kind::Goal { .. }) { Verdict::Open } else { Verdict::Fails };
        };
        let (holds, yes, no) = match self.kind {
            Kind::Exact => (ours.value == self.published, Verdict::Holds, Verdict::Fails),
            Kind::AtMost { bar } => (ours.value <= bar, Verdict::Holds, Verdict::Fails),
            Kind::Ratio { bar } => {
                ((ours.value / self.published - 1.0).abs() <= bar, Verdict::Holds, Verdict::Fails)
            }
            Kind::Goal { bar, .. } => {
                (bar.is_some_and(|bar| ours.reach >= bar), Verdict::Reached, Verdict::Open)
            }
        };
        if holds { yes } else { no }
    }

    fn bar(&self) -> String {
        match self.kind {
            Kind::Exact => "the same".to_string(),
            Kind::AtMost { bar } => format!("at most {}", number(bar)),
            Kind::Ratio { bar } => format!("within {} %", number(bar * 100.0)),
            Kind::Goal { against, bar, tile_bound } => {
                let share = bar.map_or("near".to_string(), |bar| format!("{bar:.2} of"));
                let bound = tile_bound.map_or(String::new(), |bound| format!(" {}", number(bound)));
                match against {
                    Against::Published => "at most published".to_string(),
                    Against::TileBound => format!("{share} tile bound{bound}"),
                }
            }
        }
    }

    /// A row of the table.
    pub fn line(&self, ours: &Result<Ours>) -> String {
        let published = format!("{} {}", number(self.published), self.unit);
        let verdict = match self.verdict(ours) {
            Verdict::Holds => "holds",
            Verdict::Fails => "FAILS",
            Verdict::Reached => "reached",
            Verdict::Open => "goal",
        };
        let (own, ratio, note) = match ours {
            Ok(ours) => {
                (number(ours.value), format!("{:.2}", ours.value / self.published), ours.note.clone())
            }
            Err(error) => ("-".to_string(), "-".to_string(), first_line(&format!("{error:#}"))),
        };
        columns([&self.id, &self.what, &published, &own, &ratio, &self.bar(), verdict, &note])
    }
}

/// The names of the table's columns.
pub fn heading() -> String {
    columns(["id", "what", "published", "ours", "ratio", "bar", "", ""])
}

/// Where the figures stand, a line an id.
pub fn sources(rows: &[Figure]) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().map(|row| format!("{:4} {}", row.id, row.source)).collect();
    lines.dedup();
    lines
}

fn columns([id, what, published, ours, ratio, bar, verdict, note]: [&str; 8]) -> String {
    let line = format!("{id:4} {what:58} {published:>13} {ours:>9} {ratio:>7}  {bar:23} {verdict:8} {note}");
    line.trim_end().to_string()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

fn number(x: f64) -> String {
    // Bars are decimal fractions, whose products are not whole by a hair.
    if (x - x.round()).abs() < 1e-9 { format!("{x:.0}") } else { format!("{x:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str) -> Vec<Figure> {
        let mut rows = read().unwrap();
        rows.retain(|row| row.id == id);
        rows
    }

    fn published(id: &str) -> Vec<f64> {
        of(id).iter().map(|row| row.published).collect()
    }

    /// The numbers as they were collected from the sources.
    #[test]
    fn figures_are_those_published() {
        assert_eq!(published("V1"), [750.0, 188.0]);
        assert_eq!(published("V2"), [220.0, 2.5]);
        assert_eq!(
            (published("V3"), published("V4"), published("V5")),
            (vec![144.0], vec![40.0], vec![35.0])
        );
        let bounds: Vec<(u64, f64)> = of("V6")
            .iter()
            .map(|row| match row.kind {
                Kind::Goal { against: Against::TileBound, bar: Some(0.95), tile_bound: Some(bound) } => {
                    assert_eq!((row.published, row.sizes[..2].to_vec()), (80.0, vec![2304, 4096]));
                    (row.sizes[2], bound)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let sizes = [1376, 1728, 2048, 2304, 2752, 3072, 3500];
        let shares = [84.7, 88.6, 90.0, 88.6, 94.1, 94.5, 97.9];
        assert_eq!(bounds, sizes.into_iter().zip(shares).collect::<Vec<_>>());
        // The first four points of each are 646 + 24 b and 1894 + 64 b; that of 32 rows is one below.
        for row in of("V7") {
            let [units, rows] = row.sizes[..] else { panic!("{row:?}") };
            let (first, each) = if units == 512 { (646, 24) } else { (1894, 64) };
            let affine = first + each * rows;
            let off = if rows == 32 { 1 } else { 0 };
            assert_eq!(row.published as u64 + off, affine, "{units} x {rows}");
        }
        assert_eq!(of("V7").len(), 10);
        // 20.4 K images a second and 130 us at 0.9 GHz.
        assert_eq!(published("V8"), [(0.9e9f64 / 20_400.0).round()]);
        assert_eq!(published("V9"), [117_000.0; 2]);
        assert_eq!((published("V14"), published("V15")), (vec![379.0], vec![1277.0, 2237.0]));
        assert!(read().unwrap().iter().all(|row| !row.source.is_empty()));
    }

    #[test]
    fn kinds_have_their_verdicts() {
        let verdict = |id: &str, value: f64, reach: f64| {
            of(id)[0].verdict(&Ok(Ours { value, reach, note: String::new() }))
        };
        assert_eq!((verdict("V1", 737.28, 0.0), verdict("V1", 700.0, 0.0)), (Verdict::Holds, Verdict::Fails));
        assert_eq!((verdict("V3", 144.0, 0.0), verdict("V3", 145.0, 0.0)), (Verdict::Holds, Verdict::Fails));
        assert_eq!((verdict("V4", 39.0, 0.0), verdict("V4", 40.0, 0.0)), (Verdict::Holds, Verdict::Fails));
        assert_eq!((verdict("V6", 80.5, 0.95), verdict("V6", 80.4, 0.94)), (Verdict::Reached, Verdict::Open));
        assert_eq!((verdict("V7", 670.0, 1.0), verdict("V8", 0.0, 0.0)), (Verdict::Reached, Verdict::Open));
        let failed = || Err(anyhow::anyhow!("does not compile"));
        assert_eq!(
            (of("V9")[0].verdict(&failed()), of("V5")[0].verdict(&failed())),
            (Verdict::Open, Verdict::Fails)
        );
    }
}
