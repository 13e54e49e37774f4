//! `text`: the golden tests, which are every crate's integration tests; `BLESS=1` rewrites what they print. Tests of many
//! cases take the part that `--part K/N` names (`testkit::turn`).

use std::fs;

use anyhow::Result;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

pub fn run(args: &[String]) -> Result<Outcome> {
    let (passed, failed, ended_well) = cargo_test(&["--test", "*"], Part::asked(args)?)?;
    let golden = workspace::files_under(&workspace::root().join("crates"))?
        .iter()
        .filter(|file| file.components().any(|part| part.as_os_str() == "tests"))
        .filter(|file| fs::read_to_string(file).is_ok_and(|text| text.lines().any(|line| line == "// -----")))
        .count();
    Ok(Outcome::pass_if(ended_well && failed == 0 && passed > 0)
        .with("tests", passed)
        .with("failed", failed)
        .with("golden_files", golden))
}

/// `unit`: the tests inside of the crates and those of the documentation, which `text` leaves out.
pub fn unit(_args: &[String]) -> Result<Outcome> {
    let (passed, failed, inside) = cargo_test(&["--lib", "--bins"], Part::WHOLE)?;
    let (documented, broken, documentation) = cargo_test(&["--doc"], Part::WHOLE)?;
    let holds = inside && documentation && failed + broken == 0 && passed > 0;
    Ok(Outcome::pass_if(holds)
        .with("tests", passed)
        .with("doc_tests", documented)
        .with("failed", failed + broken))
}

/// Tests passed, tests failed, and whether cargo itself was content.
fn cargo_test(filter: &[&str], part: Part) -> Result<(u64, u64, bool)> {
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
    Ok((passed, failed, streamed.code == Some(0)))
}
