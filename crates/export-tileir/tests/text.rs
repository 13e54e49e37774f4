//! Tile IR of small tile kernels as reviewed text: the kernels of `target-gpu/tests/lower/text`, each with its `.tileir`
//! here. `UPDATE_EXPECT=1` blesses.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use tegula_base::Symbols;
use tegula_testkit::tiles;

#[test]
fn text_is_as_reviewed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries =
        std::fs::read_dir(here.join("../target-gpu/tests/lower/text")).expect("the folder of kernels");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tgt"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let (_, kernel) = tiles::text::parse(&text);
        let exported = tegula_export_tileir::export("kernel", &kernel, &Symbols::default())
            .unwrap_or_else(|refused| panic!("{}: {refused}", path.display()));
        let sizes: Vec<String> = exported.sizes.iter().map(|dim| dim.to_string()).collect();
        let expected =
            here.join("tests/text").join(path.with_extension("tileir").file_name().expect("a name"));
        expect_file![expected].assert_eq(&format!("// sizes: [{}]\n{}", sizes.join(", "), exported.text()));
    }
}
