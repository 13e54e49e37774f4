//! Rules that the text of each file keeps: a heading, no stubs, no panics on input, unsafe code behind its doors,
//! a length that one can read, and no path that only one workplace has.

use std::fs;
use std::path::Path;

use anyhow::Result;
use tegula_automation::workspace;

use super::Findings;

/// A file beyond this many lines wants to be two.
const LONGEST: usize = 600;

/// Tables that are long by nature, each with its ceiling; only lower a ceiling, or say here why it grew.
const LONG_FILES: &[(&str, usize)] = &[
    // One generator arm per instruction.
    ("crates/target-cpu/tests/native/generate.rs", 700),
];

/// `unwrap()` is banned here outside tests: these crates read what the user hands over.
const NO_UNWRAP: &[&str] = &["crates/import/", "crates/package/", "crates/runtime/", "crates/mlir/"];

/// Where `unsafe` may stand: the runtime, calls into emitted code, the mapping of files, and where the border is C: a
/// driver for tests, and the C interface.
const MAY_BE_UNSAFE: &[&str] =
    &["crates/runtime/", "crates/fake-cuda/", "crates/capi/src/", "crates/target-cpu/tests/native/call.rs"];

/// Paths that exist on one machine only, spelt in two parts so that this file keeps its own rule.
const FOREIGN_PATHS: &[&str] =
    &[concat!("/work", "/shared"), concat!("../", "shared"), concat!("/work", "/main")];

/// Files that may name a path beside the checkout, and which: CI's script looks whether data lies there.
const MAY_NAME: &[(&str, &str)] = &[(".ci/run", concat!("../", "shared/data"))];

const STUBS: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!(")];

const TEXT_EXTENSIONS: &[&str] =
    &["rs", "md", "toml", "py", "sh", "json", "txt", "mlir", "proto", "yml", "yaml", ""];

/// Checks every file of the project that git tracks or would, whatever its folder is called; returns how many there are.
pub fn check(findings: &mut Findings) -> Result<usize> {
    check_in(&workspace::root(), findings)
}

fn check_in(root: &Path, findings: &mut Findings) -> Result<usize> {
    let mut n_files = 0;
    for file in workspace::tracked_files(root)? {
        let extension =
            file.extension().map_or(String::new(), |extension| extension.to_string_lossy().into_owned());
        if !TEXT_EXTENSIONS.contains(&extension.as_str()) {
            continue;
        }
        // What is not text is somebody's data.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        n_files += 1;
        let is_free =
            |line: &str| MAY_NAME.iter().any(|(free, path)| file.ends_with(free) && line.contains(path));
        for (number, line) in numbered(&text).filter(|(_, line)| !is_free(line)) {
            for path in FOREIGN_PATHS.iter().filter(|path| line.contains(**path)) {
                findings.add(&file, number, format!("names `{path}`, which other machines do not have"));
            }
        }
        if extension == "rs" {
            check_rust(root, &file, &text, findings);
            check_test(root, &file, findings);
        }
    }
    Ok(n_files)
}

fn check_rust(root: &Path, file: &Path, text: &str, findings: &mut Findings) {
    let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    let is_generated =
        path.contains("/generated") || text.lines().next().is_some_and(|line| line.contains("@generated"));
    let has_heading =
        text.lines().find(|line| !line.starts_with("#![")).is_some_and(|line| line.starts_with("//!"));
    if is_generated {
        return;
    }
    if !has_heading {
        findings.add(file, 1, "does not open with `//!`");
    }
    let n_lines = text.lines().count();
    let ceiling = LONG_FILES.iter().find(|(long, _)| *long == path).map_or(LONGEST, |(_, ceiling)| *ceiling);
    if n_lines > ceiling {
        findings.add(file, 0, format!("has {n_lines} lines, more than {ceiling}"));
    }
    let starts_in = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_test_file = path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/benches/");
    let code = code_before_tests(text);
    for (number, line) in numbered(code).map(|(number, line)| (number, without_comment(line))) {
        for stub in STUBS.iter().filter(|stub| line.contains(**stub)) {
            findings.add(file, number, format!("`{}` is a stub", stub.trim_end_matches('(')));
        }
        if !is_test_file && starts_in(NO_UNWRAP) && line.contains(".unwrap()") {
            findings.add(
                file,
                number,
                "`unwrap()` where input is read: give an error, or `expect` an invariant",
            );
        }
        if !starts_in(MAY_BE_UNSAFE) && says_unsafe(line) {
            findings.add(file, number, "`unsafe` outside of its doors");
        }
    }
}

/// A crate's tests are one program, `tests/main.rs`: a file beside it that is none of its modules would never run.
fn check_test(root: &Path, file: &Path, findings: &mut Findings) {
    let is_beside = file
        .parent()
        .is_some_and(|folder| folder.ends_with("tests") && folder.starts_with(root.join("crates")));
    let main = file.with_file_name("main.rs");
    if !is_beside || file == main || !main.exists() {
        return;
    }
    let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let modules = fs::read_to_string(&main).unwrap_or_default();
    let named = [format!("mod {name};"), format!("\"{name}.rs\"")];
    if !modules.lines().any(|line| named.iter().any(|name| line.contains(name))) {
        findings.add(file, 0, "is no module of `tests/main.rs`, so that its tests never run");
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// A file's unit tests stand at its end.
fn code_before_tests(text: &str) -> &str {
    let marker = concat!("#[cfg(", "test)]\nmod ");
    text.find(marker).map_or(text, |at| &text[..at])
}

fn without_comment(line: &str) -> &str {
    line.find("//").map_or(line, |at| &line[..at])
}

/// An unsafe block, function, impl, or the permission for one.
fn says_unsafe(line: &str) -> bool {
    let keyword = concat!("un", "safe");
    [" {", " fn ", " impl ", " extern "].iter().any(|after| line.contains(&format!("{keyword}{after}")))
        || line.contains(concat!("allow(un", "safe_code)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_automation::shell::Shell;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let root = workspace::root();
        let mut findings = Findings::default();
        check_rust(&root, &root.join(path), text, &mut findings);
        findings.0
    }

    #[test]
    fn each_rule_finds_its_breach() {
        let bad = concat!("fn f() {\n    x.unwrap();\n    un", "safe { y() }\n    todo", "!()\n}\n");
        let found = findings("crates/import/src/f.rs", bad);
        assert_eq!(
            found.iter().map(|finding| finding.split(": ").next().unwrap_or("")).collect::<Vec<_>>(),
            [
                "crates/import/src/f.rs:1",
                "crates/import/src/f.rs:2",
                "crates/import/src/f.rs:3",
                "crates/import/src/f.rs:4"
            ]
        );
        let long = format!("//! Long.\n{}", "\n".repeat(LONGEST));
        assert_eq!(findings("crates/opt/src/f.rs", &long).len(), 1);
    }

    /// Folders that cargo or an editor would use hide nothing, nor do files that are new.
    #[test]
    fn a_file_in_a_folder_named_target_is_found() {
        let root = workspace::target().join("tidy-test");
        let _ = fs::remove_dir_all(&root);
        let planted = root.join("crates/target/src/lib.rs");
        let ignored = root.join("ignored/lib.rs");
        for file in [&planted, &ignored] {
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, concat!("//! Planted.\nfn f() { todo", "!() }\n")).expect("a file");
        }
        fs::write(root.join(".gitignore"), "/ignored\n").expect("a file");
        Shell::new("git").args(["init", "--quiet"]).dir(&root).run().expect("git");
        let found = || {
            let mut findings = Findings::default();
            check_in(&root, &mut findings).expect("a list of files");
            findings.0
        };
        let untracked = found();
        assert_eq!(untracked.len(), 1, "{untracked:?}");
        assert!(untracked[0].contains("crates/target/src/lib.rs:2: `todo!` is a stub"), "{untracked:?}");
        Shell::new("git").args(["add", "."]).dir(&root).run().expect("git");
        assert_eq!(found(), untracked);
    }

    #[test]
    fn a_test_that_never_runs_is_found() {
        let root = workspace::target().join("tidy-test-modules");
        let tests = root.join("crates/a/tests");
        fs::create_dir_all(&tests).expect("a folder");
        for (name, text) in
            [("main.rs", "//! All.\nmod one;\n"), ("one.rs", "//! One.\n"), ("two.rs", "//! Two.\n")]
        {
            fs::write(tests.join(name), text).expect("a file");
        }
        let mut findings = Findings::default();
        ["main.rs", "one.rs", "two.rs"]
            .iter()
            .for_each(|name| check_test(&root, &tests.join(name), &mut findings));
        assert_eq!(findings.0.len(), 1, "{:?}", findings.0);
        assert!(findings.0[0].contains("two.rs: is no module"), "{:?}", findings.0);
    }

    #[test]
    fn tests_comments_and_doors_are_free() {
        let text =
            "//! Fine.\nfn f() {} // x.unwrap()\n#[cfg(test)]\nmod tests {\n    fn g() { x.unwrap() }\n}\n";
        assert!(findings("crates/import/src/f.rs", text).is_empty());
        let text = concat!("//! Fine.\n#![allow(un", "safe_code)]\nfn f() { un", "safe { y() } }\n");
        assert!(findings("crates/runtime/src/f.rs", text).is_empty());
        assert_eq!(findings("crates/driver/src/f.rs", text).len(), 2);
    }
}
