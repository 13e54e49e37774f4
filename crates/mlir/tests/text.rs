//! Golden texts: `parse/*.mlir` print as blessed, `error/*.mlir` fail as blessed.  `BLESS=1` rewrites them.

use crate::common;

use common::{RULE, cases, read};
use tegula_mlir::{parse_module, print_module};

/// Compares every case of a folder with what `run` makes of its input, and fails once with all differences.
fn check(folder: &str, run: impl Fn(&str) -> String) {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    for path in cases(folder) {
        let (input, blessed) = read(&path);
        let actual = run(&input);
        if actual == blessed {
            continue;
        }
        if bless {
            // Renamed into place: the tests beside this one read the same files.
            let draft = path.with_extension("draft");
            std::fs::write(&draft, format!("{input}{RULE}{actual}")).expect("writable folder");
            std::fs::rename(&draft, &path).expect("writable case");
        } else {
            failures.push(format!("{}\n--- blessed\n{blessed}--- actual\n{actual}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nBLESS=1 accepts the actual texts", failures.join("\n"));
}

#[test]
fn parse() {
    check("parse", |input| match parse_module(input) {
        Ok(module) => print_module(&module),
        Err(error) => format!("// unexpected error: {error}\n"),
    });
}

#[test]
fn error() {
    check("error", |input| match parse_module(input) {
        Ok(module) => format!("// unexpected success\n{module}"),
        Err(error) => format!("// {error}\n"),
    });
}

#[test]
fn printing_is_a_fixpoint() {
    for path in cases("parse") {
        let (input, _) = read(&path);
        let tree = parse_module(&input).expect("parses");
        let printed = print_module(&tree);
        let again = parse_module(&printed).unwrap_or_else(|e| panic!("{}: {e}\n{printed}", path.display()));
        // Resources are grouped by owner, so only their text must stay.
        assert_eq!((&again.attr_aliases, &again.type_aliases), (&tree.attr_aliases, &tree.type_aliases));
        assert_eq!(again.ops, tree.ops, "{}", path.display());
        assert_eq!(print_module(&again), printed, "{}", path.display());
    }
}
