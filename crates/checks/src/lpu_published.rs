//! `lpu-published [--quick] [--all] [--only ID] [--part K/N]`: published figures of streaming chips beside our own, on `tsp1`.
//!
//! [`figures`] are those of `data/lpu_published.json`, each with its source. Sizes, programs by hand and closed forms
//! ([`fixed`]) must hold their bars. Models that the compiler schedules ([`goals`]) have goals: their cycles are those of the
//! image, which is not run, and a row below its goal, or one that does not compile, says so and does not fail.
//! `tsp1` is an abstract machine: nothing here is measured on silicon.
//! Bar: every row without a goal holds. `--quick` takes these alone; `--only` rows whose id is `ID`.
//! Of an encoder one layer is compiled, and its cycles are multiplied by the layers; `--all` compiles them all, in many minutes.

mod figures;
mod fixed;
mod goals;
pub(crate) mod programs;
mod residual;

use anyhow::{Context, Result, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_machine::Machine;

use crate::in_process::keep_panics;
use figures::{Figure, Kind, Ours, Verdict};

/// The machine of published sizes.
const MACHINE: &str = "tsp1";

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let is_whole = args.iter().any(|arg| arg == "--all");
    let mut rows = figures::read()?;
    if let Some(id) = only {
        rows.retain(|row| row.id == *id);
    }
    rows.retain(|row| !is_quick || !matches!(row.kind, Kind::Goal { .. }));
    let rows = part.take(rows);
    ensure!(!rows.is_empty(), "no figure is called `{}`", only.map_or("", String::as_str));
    let machine = Machine::class(MACHINE).with_context(|| format!("there is no class `{MACHINE}`"))?;
    keep_panics();
    println!("{}", figures::heading());
    let verdicts: Vec<Verdict> = rows
        .iter()
        .map(|row| {
            let ours = ours(row, is_whole, &machine);
            println!("{}", row.line(&ours));
            row.verdict(&ours)
        })
        .collect();
    println!();
    figures::sources(&rows).iter().for_each(|line| println!("{line}"));
    let count = |wanted: Verdict| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let (holding, failed) = (count(Verdict::Holds), count(Verdict::Fails));
    Ok(Outcome::pass_if(failed == 0)
        .with("rows", rows.len())
        .with("holding", holding)
        .with("failed", failed)
        .with("goals_reached", count(Verdict::Reached))
        .with("goals_open", count(Verdict::Open)))
}

fn ours(row: &Figure, is_whole: bool, machine: &Machine) -> Result<Ours> {
    match row.kind {
        Kind::Exact | Kind::AtMost { .. } | Kind::Ratio { .. } => fixed::ours(row, machine),
        Kind::Goal { .. } => goals::ours(row, is_whole, machine),
    }
}
