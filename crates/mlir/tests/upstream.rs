//! Upstream's `mlir-opt` reads every input and every printed text of `parse/`, and sees the same program in both.
//! Skips, and says so, where no `mlir-opt` is installed; `MLIR_OPT` names one that is not on the path.

use crate::common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::mutate::{Random, mutate};
use common::{cases, read};
use tegula_mlir::{parse_module, print_module};

/// Says so past the capture of tests that pass: `cargo xtask text` counts these lines.
fn skip(reason: &str) {
    let said = writeln!(std::io::stdout(), "\nSKIPPED: {reason}");
    said.expect("the words of a test can be written");
}

#[test]
fn mlir_opt_sees_the_same_program() {
    let Some(mlir_opt) = find_mlir_opt() else {
        return skip("no mlir-opt found (Debian: mlir-22-tools; or set MLIR_OPT)");
    };
    for path in cases("parse") {
        let (input, printed) = read(&path);
        if input.lines().next().is_some_and(|line| line.contains("mlir-opt: refuses")) {
            assert!(normal_form(&mlir_opt, &input).is_err(), "{}: mlir-opt takes it now", path.display());
            continue;
        }
        let from_input =
            normal_form(&mlir_opt, &input).unwrap_or_else(|e| panic!("{}, input:\n{e}", path.display()));
        let from_print =
            normal_form(&mlir_opt, &printed).unwrap_or_else(|e| panic!("{}, printed:\n{e}", path.display()));
        assert_eq!(from_input, from_print, "{}", path.display());
    }
}

/// What upstream reads, we read, also off the beaten track; and our print of it means the same to upstream.
#[test]
fn we_read_what_mlir_opt_reads() {
    let Some(mlir_opt) = find_mlir_opt() else {
        return skip("no mlir-opt found (Debian: mlir-22-tools; or set MLIR_OPT)");
    };
    let mutants = std::env::var("MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    let lines: Vec<String> = cases("parse").iter().flat_map(|path| pieces(&read(path).0)).collect();
    let mut failures = Vec::new();
    for seed in 0..mutants {
        let mut random = Random::new(seed);
        let text = mutate(&lines[random.below(lines.len())], &mut random);
        let Ok(wanted) = normal_form(&mlir_opt, &text) else { continue };
        match parse_module(&text) {
            Err(error) => failures.push(format!("seed {seed}: {error}\n{text}")),
            Ok(module) => match normal_form(&mlir_opt, &print_module(&module)) {
                Err(error) => failures.push(format!("seed {seed}, printed: {error}\n{text}")),
                Ok(found) if found != wanted => {
                    failures.push(format!("seed {seed}:\n{text}\n=> {wanted}\nprinted => {found}"));
                }
                Ok(_) => {}
            },
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// A text whole, and each entry of its dictionaries' lists as an operation of its own, since a mutant of a small text
/// has the better chance to be valid.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![text.to_owned()];
    let Ok(module) = parse_module(text) else { return pieces };
    for (_, attr) in module.ops.iter().flat_map(|op| &op.attributes) {
        let items = attr.as_array().unwrap_or(std::slice::from_ref(attr));
        pieces.extend(items.iter().map(|item| format!("\"t.op\"() {{a = {item}}} : () -> ()\n")));
    }
    pieces
}

fn find_mlir_opt() -> Option<String> {
    let named = std::env::var("MLIR_OPT").ok();
    let usual = ["mlir-opt-22", "mlir-opt", "/usr/lib/llvm-22/bin/mlir-opt"].map(str::to_owned);
    named.into_iter().chain(usual).find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// What upstream prints for `text`, without and with locations, or its complaint.  Places in the text itself are the
/// locations of operations that have none, and are dropped.
fn normal_form(mlir_opt: &str, text: &str) -> Result<String, String> {
    let plain = run(mlir_opt, &[], text)?;
    let located = run(mlir_opt, &["--mlir-print-debuginfo", "--mlir-print-local-scope"], text)?;
    Ok(plain + &without_own_places(&located))
}

fn run(mlir_opt: &str, more: &[&str], text: &str) -> Result<String, String> {
    let mut command = Command::new(mlir_opt);
    command.args(["--allow-unregistered-dialect", "--mlir-print-op-generic"]).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mlir-opt starts");
    // It reads the whole text before it writes, so that neither side waits for the other.
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("mlir-opt reads");
    let output = child.wait_with_output().expect("mlir-opt ends");
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Removes ` loc("<stdin>":1:2)`, a place on standard input.
fn without_own_places(text: &str) -> String {
    let mut pieces = text.split(" loc(\"<stdin>\":");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |kept, piece| kept + piece.split_once(')').map_or(piece, |(_, rest)| rest))
}
