//! `wheel`: builds the Python wheel and uses it as one who has nothing else: a fresh environment, `pip install`, the
//! README's example, the suite of `crates/python/tests`, its types, then the bad requests of `bad-input`.
//! Bar: all of it works, stubs say what there is, and each bad request is refused in the command's words. The wheel's name says which glibc it needs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::python;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;

use crate::bad_input::requests::Requests;

const MATURIN: &str = "maturin==1.16.0";
const PYTEST: &str = "pytest==9.2.0";
const MYPY: &str = "mypy==2.4.1";
/// The model that the README's example runs.
const MODEL: &str = "magika";

pub fn run(_args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let folder = workspace::target().join("wheel");
    let wheel = build(&folder)?;
    let bytes = fs::metadata(&wheel)?.len();
    let fresh = folder.join("fresh");
    // What an earlier run installed must not stand in for what the wheel asks for.
    let _ = fs::remove_dir_all(&fresh);
    let python = python::environment(&fresh)?;
    python::install(&python, &[wheel.display().to_string()])?;

    fetch(&catalog, MODEL)?;
    let readme = fs::read_to_string(workspace::root().join("README.md"))?;
    let (mut examples, mut failed) = (0, 0);
    for (number, code) in python_blocks(&readme).into_iter().enumerate() {
        let file = folder.join(format!("example_{number}.py"));
        fs::write(&file, &code)?;
        let holds = Shell::new(&python).arg("-W").arg("error").arg(&file).stream()?.code == Some(0);
        if !holds {
            println!("FAIL the README's example {number}");
        }
        examples += 1;
        failed += usize::from(!holds);
    }

    let import_ms = import_ms(&python)?;
    let mut wanted = vec![PYTEST.to_string(), MYPY.to_string()];
    for package in ["onnx", "onnxruntime"] {
        wanted.push(python::pinned(&catalog, package)?);
    }
    python::install(&python, &wanted)?;
    let tests = workspace::root().join("crates/python/tests");
    let said = Shell::new(&python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(&tests)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stream()?;
    let typed = are_typed(&python, &tests)?;
    let summary = said.lines.iter().rev().find(|line| line.contains(" passed")).cloned().unwrap_or_default();
    let count = |word: &str| counted(&summary, word);
    let requests = Requests::prepare(&Tegula::build()?, &folder.join("files"))?;
    let ask = workspace::root().join("crates/python/tests/ask.py");
    let otherwise = requests.said_otherwise(|request| {
        let mut command = Shell::new(&python).arg(&ask).arg(request.file);
        if let Some((name, file)) = request.input {
            command = command.args([name, file]);
        }
        Ok(command)
    })?;
    let holds =
        failed == 0 && otherwise == 0 && typed && examples > 0 && said.code == Some(0) && count("passed") > 0;
    Ok(Outcome::pass_if(holds)
        .with("bytes", bytes)
        .with("platform", platform(&wheel))
        .with("import_ms", format!("{import_ms:.1}"))
        .with("examples", examples)
        .with("failed_examples", failed)
        .with("tests", count("passed"))
        .with("failed_tests", count("failed") + count("error"))
        .with("typed", typed)
        .with("bad_requests", requests.list.len())
        .with("said_otherwise", otherwise))
}

/// Builds the wheel, of the profile that is set, in the project's own target folder, so that its crates are built once.
pub fn build(folder: &Path) -> Result<PathBuf> {
    let python = python::environment(&folder.join("tools"))?;
    let stamp = folder.join("tools/maturin.txt");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(MATURIN) {
        python::install(&python, &[MATURIN.to_string()])?;
        fs::write(&stamp, MATURIN)?;
    }
    let out = folder.join("dist");
    let _ = fs::remove_dir_all(&out);
    // Those of the programs of the checks, which are of the same crates.
    let features: &[&str] =
        if workspace::profile() == workspace::CI { &["--features", "tegula/null"] } else { &[] };
    Shell::new(&python)
        .args(["-m", "maturin", "build", "--profile", &workspace::profile(), "--locked", "--quiet"])
        .args(features)
        .arg("--manifest-path")
        .arg(workspace::root().join("crates/python/Cargo.toml"))
        .arg("--out")
        .arg(&out)
        .run()?;
    let wheels: Vec<PathBuf> = fs::read_dir(&out)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    ensure!(wheels.len() == 1, "maturin left {} files in {}", wheels.len(), out.display());
    wheels.into_iter().next().context("maturin left no wheel")
}

/// Whether the stubs say what the module has, and a program with types is read without complaint.
fn are_typed(python: &Path, tests: &Path) -> Result<bool> {
    let mypy = |args: &[&str]| {
        let cache = workspace::target().join("wheel/mypy");
        Shell::new(python).arg("-m").args(args).env("MYPY_CACHE_DIR", cache)
    };
    let stubs = mypy(&["mypy.stubtest", "tegula"]).stream()?.code == Some(0);
    let program = mypy(&["mypy", "--strict"]).arg(tests.join("typed.py")).stream()?.code == Some(0);
    Ok(stubs && program)
}

/// What the wheel runs on, as its name ends: `manylinux_2_34_x86_64`.
fn platform(wheel: &Path) -> String {
    let name = wheel.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.rsplit('-').next().unwrap_or_default().to_string()
}

/// Milliseconds that `import tegula` takes after numpy's; the least of some processes.
fn import_ms(python: &Path) -> Result<f64> {
    let script = "import time, numpy; start = time.perf_counter(); import tegula; \
                  print((time.perf_counter() - start) * 1000)";
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let said = Shell::new(python).args(["-c", script]).read()?;
        least = least.min(said.trim().parse().context("`import tegula` printed something")?);
    }
    Ok(least)
}

/// The ```python blocks of a text.
fn python_blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_inside = language == "python";
            if is_inside {
                blocks.push(String::new());
            }
        } else if let (true, Some(block)) = (is_inside, blocks.last_mut()) {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks
}

/// The number before a word of pytest's last line: `2 failed, 71 passed in 3.1s`.
fn counted(summary: &str, word: &str) -> usize {
    let words: Vec<&str> = summary.split([' ', ',', '=']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|found| found.trim_end_matches('s') == word);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_counts_and_platforms() {
        let text = "```python\na\n\nb\n```\n```text\nc\n```\nd\n```python\ne\n```\n";
        assert_eq!(python_blocks(text), ["a\n\nb\n", "e\n"]);
        let summary = "==== 2 failed, 71 passed, 1 error in 3.1s ====";
        assert_eq!(
            [counted(summary, "failed"), counted(summary, "passed"), counted(summary, "error")],
            [2, 71, 1]
        );
        assert_eq!(counted("73 passed in 3.1s", "failed"), 0);
        assert_eq!(platform(Path::new("d/tegula-0.1.0-cp311-abi3-linux_x86_64.whl")), "linux_x86_64");
    }
}
