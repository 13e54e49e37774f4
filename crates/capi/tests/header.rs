//! The checked-in header is what the code says; BLESS=1 writes it.

use std::path::Path;

#[test]
fn header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("the configuration is read");
    let made = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("src/dtypes.rs"))
        .with_src(root.join("src/types.rs"))
        .with_src(root.join("src/functions.rs"))
        .generate()
        .expect("the sources are read");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("the header is text");
    let file = root.join("include/tegula.h");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &text).expect("the header is written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == text, "include/tegula.h is stale: BLESS=1 cargo test -p tegula-capi writes it");
}
