//! Planted bugs: each file of `tests/bugs` is a kernel with one, and says what the report must contain.

use std::path::Path;

#[test]
fn each_bug_is_named_and_no_twin_is() {
    let bugs = tegula_testkit::planted::bugs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bugs"));
    let bugs = bugs.unwrap_or_else(|error| panic!("{error}"));
    assert!(bugs.len() >= 20);
    let wrong: Vec<String> = bugs.iter().filter_map(|bug| bug.judge().err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
