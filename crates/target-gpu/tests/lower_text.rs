//! PTX of small tile kernels as reviewed text: `lower/text/*.tgt` hold a kernel, the `.ptx` beside it what it becomes.
//! `UPDATE_EXPECT=1` blesses.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use tegula_base::{Dim, Symbols};
use tegula_machine::Machine;
use tegula_target_gpu::model::GpuTarget;
use tegula_testkit::tiles;

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let (chip, kernel) = tiles::text::parse(&text);
    let target = GpuTarget::new(Machine::class(chip).expect("a class")).expect("a GPU");
    let (module, lowered) =
        target.module("kernel", &kernel, &Symbols::default()).expect("nothing is refused");
    let printed =
        tegula_isa_ptx::print(&module).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    let sizes: Vec<String> = lowered.sizes.iter().map(Dim::to_string).collect();
    let facts = format!("// sizes: [{}]\n", sizes.join(", "));
    expect_file![path.with_extension("ptx")].assert_eq(&format!("{facts}{printed}"));
}

#[test]
fn ptx_is_as_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower/text");
    let entries = std::fs::read_dir(&folder).expect("the folder of kernels");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tgt"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        check(&path);
    }
}
