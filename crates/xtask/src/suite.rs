//! `test` and `acceptance`: the rows of `data/checks.toml` that a lane runs, each in a process of its own, and a table at the
//! end. `test` is what CI runs of each commit, `test --merge` before a change is taken, `acceptance` at night.
//! `--again` runs rows that are cached; `--record` writes what they came to into `data/status.json`.

mod cache;
mod record;
mod rows;
mod schedule;

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use tegula_automation::outcome::{Outcome, Status};
use tegula_automation::shell::{Shell, own_program};
use tegula_automation::{commits, cpu_time, verb, workspace};

use record::{Place, Record};
use rows::{Lane, Row};
use schedule::{Ended, Task};

pub fn test(args: &[String]) -> Result<Outcome> {
    run_lane(if args.iter().any(|arg| arg == "--merge") { Lane::Merge } else { Lane::Commit }, args)
}

pub fn acceptance(args: &[String]) -> Result<Outcome> {
    run_lane(Lane::Night, args)
}

/// A row as this lane runs it on this commit.
struct Planned {
    row: Row,
    args: Vec<String>,
    is_whole: bool,
    key: String,
    /// The result line of an earlier run on the same inputs.
    cached: Option<String>,
}

/// A line of the table.
struct Line {
    status: Status,
    wall: f64,
    cpu: f64,
    /// The result line, or why there is none.
    said: String,
    note: String,
}

fn run_lane(lane: Lane, args: &[String]) -> Result<Outcome> {
    let start = Instant::now();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let chosen = chosen(rows::of_lane(rows::read()?, lane), args)?;
    if has("--record") {
        record::ensure_clean()?;
    }
    fs::create_dir_all(cache::folder())?;
    let built = build(&chosen)?;
    let planned = plan(chosen, lane, has("--again"))?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let commit = commits::count()?;
    println!("{} rows of commit {commit}, {} cached, on {cores} processors", planned.len(), cached(&planned));

    let tasks: Vec<(usize, Task)> = tasks(&planned)?;
    let (numbers, tasks): (Vec<usize>, Vec<Task>) = tasks.into_iter().unzip();
    let mut lines: BTreeMap<usize, Line> = BTreeMap::new();
    for (number, plan) in planned.iter().enumerate() {
        if let Some(said) = &plan.cached {
            let note = "  (cached)".to_string();
            lines
                .insert(number, Line { status: Status::Pass, wall: 0.0, cpu: 0.0, said: said.clone(), note });
        }
    }
    schedule::run(&tasks, cores, |task, ended| {
        let plan = &planned[numbers[task]];
        let line = judge(plan, &ended);
        if line.status == Status::Pass {
            cache::keep(&plan.row, &plan.args, &plan.key, &line.said)?;
        }
        lines.insert(numbers[task], line);
        Ok(())
    })?;
    keep_records(&planned, &lines, has("--record"))?;
    let timed: Vec<(&Row, &Line)> =
        lines.iter().map(|(number, line)| (&planned[*number].row, line)).collect();
    print_table(&built, &timed);
    let count = |status: Status| lines.values().filter(|line| line.status == status).count();
    if !cache::is_allowed() && !built.is_empty() {
        let twice = built_twice()?;
        println!(
            "built more than once: {}",
            if twice.is_empty() { "none".to_string() } else { twice.join(", ") }
        );
    }
    let [passed, failed, skipped] = [Status::Pass, Status::Fail, Status::Skip].map(count);
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    Ok(Outcome::pass_if(failed == 0 && passed > 0)
        .with("passed", passed)
        .with("failed", failed)
        .with("skipped", skipped)
        .with("cached", cached(&planned))
        .with("seconds", start.elapsed().as_secs())
        .with("cpu_seconds", cpu_time::of_children().round()))
}

/// The rows that `args` name; all where they name none.
fn chosen(rows: Vec<Row>, args: &[String]) -> Result<Vec<Row>> {
    let names: Vec<&String> = args.iter().filter(|arg| !arg.starts_with("--")).collect();
    if let Some(unknown) = names.iter().find(|name| rows.iter().all(|row| row.name != ***name)) {
        if verb::find(unknown).is_some() {
            bail!("`{unknown}` is not one of these; it runs alone: `cargo xtask {unknown}`");
        }
        let all: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        bail!("there is no check `{unknown}`; the checks are {}", all.join(", "));
    }
    Ok(rows.into_iter().filter(|row| names.is_empty() || names.contains(&&row.name)).collect())
}

/// Builds what the rows run, so that no row waits for another's build; what was built, with seconds for the table.
fn build(rows: &[Row]) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    if workspace::is_built() {
        return Ok(lines);
    }
    for (profile, release) in [(workspace::CI, false), (workspace::RELEASE, true)] {
        let mut packages: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|row| row.release == release) {
            packages.extend(verb::find(&row.name).map(|verb| verb.packages()).unwrap_or_default());
        }
        packages.sort_unstable();
        packages.dedup();
        if !packages.is_empty() {
            let named = packages.iter().flat_map(|package| ["-p", package]);
            let cargo = Shell::new("cargo").args(["build", "--profile", profile]).args(named);
            lines.push(built(cargo, format!("build {profile}: {}", packages.join(", ")))?);
        }
    }
    if rows.iter().any(|row| row.tests) {
        let cargo = Shell::new("cargo").args([
            "test",
            "--workspace",
            "--profile",
            workspace::CI,
            "--no-run",
            "--quiet",
            "--lib",
            "--bins",
            "--tests",
        ]);
        lines.push(built(cargo, format!("build {}: tests", workspace::CI))?);
    }
    Ok(lines)
}

/// Crates of this project that were built more than once, with other features each time: a clean clone should have none.
/// Only there does it mean something; elsewhere files of earlier builds lie about.
fn built_twice() -> Result<Vec<String>> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in fs::read_dir(workspace::target().join(workspace::CI).join("deps"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some((name, _)) = name.strip_suffix(".rlib").and_then(|name| name.rsplit_once('-')) {
            *counts.entry(name.trim_start_matches("lib").to_string()).or_default() += 1;
        }
    }
    let twice = counts.into_iter().filter(|(name, count)| name.starts_with("tegula") && *count > 1);
    Ok(twice.map(|(name, _)| name).collect())
}

/// Errors: the build fails, so that nothing can be checked.
fn built(cargo: Shell, said: String) -> Result<Line> {
    println!("==== {said}");
    let (began, before) = (Instant::now(), cpu_time::of_children());
    cargo.run()?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_time::of_children() - before);
    Ok(Line { status: Status::Pass, wall, cpu, said, note: String::new() })
}

/// Longest first.
fn plan(rows: Vec<Row>, lane: Lane, again: bool) -> Result<Vec<Planned>> {
    let turn = commits::count()?;
    let inputs = cache::Inputs::read()?;
    let may_cache = !again && cache::is_allowed();
    let mut planned = Vec::new();
    for row in rows {
        let part = row.part(lane, turn);
        let args = row.arguments(lane, part);
        let key = inputs.key(&row, &args)?;
        let cached = cache::passed(&row, &args, &key).filter(|_| may_cache && !row.times);
        planned.push(Planned { args, is_whole: part.is_whole(), key, cached, row });
    }
    planned.sort_by_key(|plan| std::cmp::Reverse(plan.row.budget));
    Ok(planned)
}

fn cached(planned: &[Planned]) -> usize {
    planned.iter().filter(|plan| plan.cached.is_some()).count()
}

/// A process for each row that is not cached, with its number.
fn tasks(planned: &[Planned]) -> Result<Vec<(usize, Task)>> {
    let program = own_program()?;
    let to_run = planned.iter().enumerate().filter(|(_, plan)| plan.cached.is_none());
    let task = |(number, plan): (usize, &Planned)| {
        let row = &plan.row;
        let profile = if row.release { workspace::RELEASE } else { workspace::CI };
        let task = Task {
            title: std::iter::once(&row.name)
                .chain(&plan.args)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            program: program.clone(),
            args: std::iter::once(row.name.clone()).chain(plan.args.iter().cloned()).collect(),
            env: vec![("TEGULA_PROFILE", profile.to_string()), ("TEGULA_BUILT", "1".to_string())],
            cores: row.cores,
            alone: row.times,
            log: cache::folder().join(format!("{}.log", cache::stem(row, &plan.args))),
        };
        (number, task)
    };
    Ok(to_run.map(task).collect())
}

/// A row that has ended, against what `data/checks.toml` asks of it.
fn judge(plan: &Planned, ended: &Ended) -> Line {
    let row = &plan.row;
    let result = ended.output.lines().rev().find(|line| line.starts_with("RESULT "));
    let said =
        result.map_or_else(|| format!("RESULT {} fail reason=no_result_line", row.name), str::to_string);
    let mut status = Status::from_exit_code(ended.code);
    let mut note = String::new();
    if status == Status::Skip && !row.may_skip {
        status = Status::Fail;
        note += "  (may not skip)";
    }
    let lost = lost_cases(row, &said);
    if plan.is_whole && status == Status::Pass && !lost.is_empty() {
        status = Status::Fail;
        note += &format!("  (LOST CASES: {})", lost.join(", "));
    }
    if ended.cpu > 2.0 * row.budget as f64 {
        note += &format!("  (its budget is {} s)", row.budget);
    }
    Line { status, wall: ended.wall, cpu: ended.cpu, said, note }
}

/// The counts of a result line that are below those of the row.
fn lost_cases(row: &Row, said: &str) -> Vec<String> {
    let figures: BTreeMap<&str, &str> =
        said.split_whitespace().filter_map(|word| word.split_once('=')).collect();
    let count = |key: &str| {
        let digits = figures.get(key).map_or("", |value| value.split('/').next().unwrap_or_default());
        digits.parse::<u64>().unwrap_or(0)
    };
    let below = row.cases.iter().filter(|(key, least)| count(key) < **least);
    below.map(|(key, least)| format!("{key} {} of {least}", count(key))).collect()
}

/// Leaves what the rows came to in `target/checks/results.json`, and in `data/status.json` where it is asked for.
fn keep_records(planned: &[Planned], lines: &BTreeMap<usize, Line>, is_asked: bool) -> Result<()> {
    let place = Place::here()?;
    let ran = lines
        .iter()
        .filter(|(number, line)| planned[**number].cached.is_none() && line.status != Status::Skip);
    let records: Vec<Record> = ran
        .map(|(number, line)| {
            let plan = &planned[*number];
            let words: Vec<&str> =
                std::iter::once(&plan.row.name).chain(&plan.args).map(String::as_str).collect();
            Record {
                holds: line.status == Status::Pass,
                ..place.record(&words.join(" "), &line.said, line.wall)
            }
        })
        .collect();
    record::write(&cache::folder().join("results.json"), records.clone())?;
    if is_asked {
        ensure!(!records.is_empty(), "`--record`: no row ran; `--again` runs those that are cached");
        record::keep(&records)?;
    }
    Ok(())
}

/// What CI's machine has; a table of another machine tells what it would take there.
const CI_CORES: usize = 2;

fn print_table(built: &[Line], timed: &[(&Row, &Line)]) {
    println!("\n wall s   cpu s");
    let (mut wall, mut cpu) = (0.0, 0.0);
    for line in built.iter().chain(timed.iter().map(|(_, line)| *line)) {
        println!("{:7.1} {:7.1}  {}{}", line.wall, line.cpu, line.said, line.note);
        (wall, cpu) = (wall + line.wall, cpu + line.cpu);
    }
    println!("{wall:7.1} {cpu:7.1}  in all");
    let building: f64 = built.iter().map(|line| line.cpu / CI_CORES as f64).sum();
    let rows: Vec<(f64, usize)> = timed
        .iter()
        .map(|(row, line)| match row.times {
            true => (line.wall, CI_CORES),
            false => (line.cpu / row.cores.min(CI_CORES) as f64, row.cores),
        })
        .collect();
    let span = building + schedule::span(&rows, CI_CORES);
    println!("{span:7.1}          by the schedule of these CPU seconds on {CI_CORES} processors");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cases: &[(&str, u64)]) -> Row {
        let mut row = rows::read().unwrap().into_iter().find(|row| row.name == "onnx").unwrap();
        row.cases = cases.iter().map(|(key, count)| (key.to_string(), *count)).collect();
        row
    }

    #[test]
    fn a_row_that_loses_cases_fails() {
        let said = "RESULT onnx pass cases=12 core_pass=5/6";
        assert!(lost_cases(&row(&[("cases", 12), ("core_pass", 5)]), said).is_empty());
        assert_eq!(lost_cases(&row(&[("cases", 13), ("gone", 1)]), said), ["cases 12 of 13", "gone 0 of 1"]);
        let ended = |code| Ended { code: Some(code), output: said.to_string(), wall: 1.0, cpu: 1.0 };
        let plan = |is_whole| Planned {
            row: row(&[("cases", 13)]),
            args: vec![],
            is_whole,
            key: String::new(),
            cached: None,
        };
        assert_eq!(judge(&plan(true), &ended(0)).status, Status::Fail);
        // A part has fewer.
        assert_eq!(judge(&plan(false), &ended(0)).status, Status::Pass);
        // Only rows that say so may skip.
        assert_eq!(judge(&plan(false), &ended(3)).status, Status::Fail);
    }
}
