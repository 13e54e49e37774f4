//! `text`: the golden tests, which are every crate's integration tests; `BLESS=1` rewrites what they print. Tests of many
//! cases take the part that `--part K/N` names (`testkit::turn`).

use std::fs;

use anyhow::Result;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

pub fn run(args: &[String]) -> Result<Outcome> {
    let Tests { passed, failed, skipped, ended_well } = cargo_test(&["--test", "*"], Part::asked(args)?)?;
    let golden = workspace::files_under(&workspace::root().join("crates"))?
        .iter()
        .filter(|file| file.components().any(|part| part.as_os_str() == "tests"))
        .filter(|file| fs::read_to_string(file).is_ok_and(|text| text.lines().any(|line| line == "// -----")))
        .count();
    Ok(Outcome::pass_if(ended_well && failed == 0 && passed > 0)
        .with("tests", passed)
        .with("failed", failed)
        .with("skipped", skipped)
        .with("golden_files", golden))
}

/// `unit`: the tests inside of the crates and those of the documentation, which `text` leaves out.
pub fn unit(_args: &[String]) -> Result<Outcome> {
    let inside = cargo_test(&["--lib", "--bins"], Part::WHOLE)?;
    let documented = cargo_test(&["--doc"], Part::WHOLE)?;
    let failed = inside.failed + documented.failed;
    let ended_well = inside.ended_well && documented.ended_well;
    Ok(Outcome::pass_if(ended_well && failed == 0 && inside.passed > 0)
        .with("tests", inside.passed)
        .with("doc_tests", documented.passed)
        .with("failed", failed)
        .with("skipped", inside.skipped + documented.skipped))
}

struct Tests {
    /// Without those that skip.
    passed: u64,
    failed: u64,
    /// They lack a tool, and write a line `SKIPPED: ...`.
    skipped: u64,
    /// Cargo itself was content.
    ended_well: bool,
}

fn cargo_test(filter: &[&str], part: Part) -> Result<Tests> {
    let streamed = Shell::new("cargo")
        .args(["test", "--workspace", "--profile", &workspace::profile(), "--no-fail-fast"])
        .args(filter)
        .env("TEGULA_PART", part.to_string())
        .stream()?;
    let (mut passed, mut failed) = (0, 0);
    for line in streamed.lines.iter().filter_map(|line| line.strip_prefix("test result: ")) {
        // ok. 4 passed; 0 failed; 0 ignored; ...
        for part in line.split([';', '.']) {
            match part.trim().split_once(' ') {
                Some((count, "passed")) => passed += count.parse::<u64>().unwrap_or(0),
                Some((count, "failed")) => failed += count.parse::<u64>().unwrap_or(0),
                _ => {}
            }
        }
    }
    let skipped = streamed.lines.iter().filter(|line| line.starts_with("SKIPPED: ")).count() as u64;
    Ok(Tests { passed: passed - skipped.min(passed), failed, skipped, ended_well: streamed.code == Some(0) })
}
