//! `mutants [--only NAME ...] [--crate NAME] [--resume]`: plants the faults of `data/mutants.toml`, one at a time, in a copy of
//! the checkout, and says which check finds each. By hand: a whole run builds every crate some times.
//! Before: each check holds without a fault; one that does not finds nothing.  After: `data/mutants_found.json` has a row
//! for each fault that was planted.
//! Bar: at least [`LEAST_FOUND`] of the list found, and each fault is found or missed as its row says.
//! `--resume` keeps the rows of faults that were found and stand in the list as they did.

mod copy;
mod found;
pub mod list;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use tegula_automation::outcome::Outcome;

use copy::{Answer, Copy};
use found::{Found, Record, Verdict};
use list::Fault;

/// Faults that are found at least.
const LEAST_FOUND: usize = 57;

pub fn run(args: &[String]) -> Result<Outcome> {
    let faults = list::read()?;
    let stale = list::problems(&faults)?;
    ensure!(stale.is_empty(), "{}: {}", list::FILE, stale.join("; "));
    let (names, crates) = (values(args, "--only"), values(args, "--crate"));
    let asked = |fault: &Fault| {
        let is_named = names.as_ref().is_none_or(|names| names.contains(&fault.name));
        is_named && crates.as_ref().is_none_or(|crates| crates.iter().any(|name| name == fault.crate_name()))
    };
    ensure!(faults.iter().any(asked), "the list has no such fault");
    let mut record = Record::read()?;
    if !args.iter().any(|arg| arg == "--resume") {
        record.forget(|name| faults.iter().any(|fault| fault.name == name && asked(fault)));
    }
    record.keep(&faults);
    let copy = Copy::of_checkout()?;
    let mut baselines = BTreeMap::new();
    for fault in faults.iter().filter(|fault| asked(fault)) {
        if record.has_found(fault) {
            continue;
        }
        let found = plant(&copy, fault, &mut baselines)?;
        println!("{}", found.line(fault));
        record.add(fault, found)?;
    }
    Ok(outcome(&faults, &record))
}

/// What follows a flag.
fn values(args: &[String], flag: &str) -> Option<Vec<String>> {
    let at = args.iter().position(|arg| arg == flag)?;
    Some(args[at + 1..].iter().take_while(|arg| !arg.starts_with('-')).cloned().collect())
}

/// Asks the checks of a fault in turn, each first without it, until one finds it.
fn plant(copy: &Copy, fault: &Fault, baselines: &mut BTreeMap<String, Answer>) -> Result<Found> {
    let mut verdict = Verdict::Missed;
    let mut by = String::new();
    for check in fault.checks() {
        if !baselines.contains_key(&check) {
            baselines.insert(check.clone(), copy.ask(&check)?);
        }
        if baselines[&check] != Answer::Holds {
            (verdict, by) = (Verdict::FailsWithout, check);
            continue;
        }
        match copy.with(fault, || copy.ask(&check))? {
            Answer::Holds => {}
            Answer::NotBuilt(reason) => return Found::now(fault, Verdict::NotBuilt, reason),
            Answer::Fails(first) => return Found::now(fault, Verdict::Found, first),
        }
    }
    Found::now(fault, verdict, by)
}

fn outcome(faults: &[Fault], record: &Record) -> Outcome {
    let verdict = |fault: &Fault| record.verdict(fault);
    let count = |wanted| faults.iter().filter(|fault| verdict(fault) == Some(wanted)).count();
    let strange: Vec<&Fault> = faults
        .iter()
        .filter(|fault| verdict(fault).is_some_and(|verdict| verdict != fault.expected()))
        .collect();
    for fault in faults.iter().filter(|fault| verdict(fault) == Some(Verdict::Missed)) {
        println!("missed   {}: {}", fault.name, fault.missed.as_deref().unwrap_or("no reason is given"));
    }
    for fault in &strange {
        println!("{} is not {}, as the list says", fault.name, fault.expected());
    }
    let found = count(Verdict::Found);
    Outcome::pass_if(found >= LEAST_FOUND && strange.is_empty())
        .with("faults", faults.len())
        .with("found", found)
        .with("missed", count(Verdict::Missed))
        .with("not_built", count(Verdict::NotBuilt))
        .with("fails_without", count(Verdict::FailsWithout))
        .with("not_planted", faults.iter().filter(|fault| verdict(fault).is_none()).count())
}
