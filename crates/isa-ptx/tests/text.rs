//! PTX as text files. `ptx/*.ptx`: each file reads, and prints as it stands (comments at its head aside).
//! `error/*.ptx`: each file is refused, with the messages in the comments at its end.
//! `BLESS=1` rewrites what does not fit; read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use tegula_isa_ptx::{parse, print};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Compares with the file, or writes it.
fn check(file: &Path, found: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, found).unwrap();
    }
    let text = fs::read_to_string(file).unwrap();
    assert!(text == found, "{} is now:\n{found}", file.display());
}

#[test]
fn files_print_as_they_stand() {
    for file in files("ptx") {
        let text = fs::read_to_string(&file).unwrap();
        let head: String =
            text.lines().take_while(|line| line.starts_with("//")).map(|line| format!("{line}\n")).collect();
        let name = file.file_name().unwrap().to_string_lossy();
        let module = parse(&text, &name).unwrap_or_else(|errors| panic!("{errors}"));
        let printed = print(&module).unwrap();
        assert!(parse(&printed, &name).unwrap() == module, "{name} reads otherwise after printing");
        check(&file, &format!("{head}{printed}"));
    }
}

#[test]
fn wrong_files_are_refused() {
    for file in files("error") {
        let text = fs::read_to_string(&file).unwrap();
        let source: String = text
            .lines()
            .take_while(|line| !line.starts_with("// "))
            .map(|line| format!("{line}\n"))
            .collect();
        let name = file.file_name().unwrap().to_string_lossy();
        let errors = parse(&source, &name).expect_err(&name).to_string();
        let comment: String = errors.lines().map(|line| format!("// {line}\n")).collect();
        check(&file, &format!("{source}{comment}"));
    }
}
