//! Upstream's `mlir-opt` reads every input and every printed text of `parse/`, and sees the same program in both.
//! Skips, and says so, where no `mlir-opt` is installed; `MLIR_OPT` names one that is not on the path.

mod common;

use std::path::Path;
use std::process::Command;

use common::mutate::{Random, mutate};
use common::{cases, read};
use tegula_mlir::{parse_module, print_module};

#[test]
fn mlir_opt_sees_the_same_program() {
    let Some(mlir_opt) = find_mlir_opt() else {
        eprintln!("SKIPPED: no mlir-opt found (Debian: mlir-22-tools; or set MLIR_OPT)");
        return;
    };
    for path in cases("parse") {
        let (input, printed) = read(&path);
        if input.lines().next().is_some_and(|line| line.contains("mlir-opt: refuses")) {
            assert!(
                normal_form(&mlir_opt, &input, "case.mlir").is_err(),
                "{}: mlir-opt takes it now",
                path.display()
            );
            continue;
        }
        let from_input = normal_form(&mlir_opt, &input, "case.mlir")
            .unwrap_or_else(|e| panic!("{}, input:\n{e}", path.display()));
        let from_print = normal_form(&mlir_opt, &printed, "case.mlir")
            .unwrap_or_else(|e| panic!("{}, printed:\n{e}", path.display()));
        assert_eq!(from_input, from_print, "{}", path.display());
    }
}

/// What upstream reads, we read, also off the beaten track; and our print of it means the same to upstream.
#[test]
fn we_read_what_mlir_opt_reads() {
    let Some(mlir_opt) = find_mlir_opt() else {
        eprintln!("SKIPPED: no mlir-opt found (Debian: mlir-22-tools; or set MLIR_OPT)");
        return;
    };
    let mutants = std::env::var("MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    let lines: Vec<String> = cases("parse").iter().flat_map(|path| pieces(&read(path).0)).collect();
    let mut failures = Vec::new();
    for seed in 0..mutants {
        let mut random = Random::new(seed);
        let text = mutate(&lines[random.below(lines.len())], &mut random);
        let Ok(wanted) = normal_form(&mlir_opt, &text, "mutant.mlir") else { continue };
        match parse_module(&text) {
            Err(error) => failures.push(format!("seed {seed}: {error}\n{text}")),
            Ok(module) => match normal_form(&mlir_opt, &print_module(&module), "mutant.mlir") {
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

/// What upstream prints for `text`, or its complaint.  Places in the temporary file itself are locations that only
/// operations without one get, and are dropped.
fn normal_form(mlir_opt: &str, text: &str, name: &str) -> Result<String, String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).expect("writable target folder");
    let flags = ["--allow-unregistered-dialect", "--mlir-print-op-generic"];
    let output = Command::new(mlir_opt).args(flags).arg(&file).output().expect("mlir-opt starts");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let plain = String::from_utf8_lossy(&output.stdout).into_owned();
    let local = ["--mlir-print-debuginfo", "--mlir-print-local-scope"];
    let output = Command::new(mlir_opt).args(flags).args(local).arg(&file).output().expect("mlir-opt starts");
    let located = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(plain + &without_own_places(&located, &format!("{name}\":")))
}

/// Removes ` loc("...case.mlir":1:2)`.
fn without_own_places(text: &str, own: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(own) {
        let start = rest[..place].rfind(" loc(\"").unwrap_or(place);
        let end = place + rest[place..].find(')').map_or(rest.len() - place, |close| close + 1);
        kept.push_str(&rest[..start]);
        rest = &rest[end..];
    }
    kept + rest
}
