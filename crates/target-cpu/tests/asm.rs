//! Kernels as text with the code that both tiers get: `asm/*.mlir`. `BLESS=1` accepts the actual code.

use std::path::Path;
use tegula_target_cpu::exec::decode;
use tegula_target_cpu::native::compile;
use tegula_target_cpu::tier::Tier;

const RULE: &str = "// -----\n";

#[test]
fn asm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/asm");
    let entries = std::fs::read_dir(folder).expect("the folder of cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable folder").path()).collect();
    paths.sort();
    let mut failures = vec![];
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable case");
        let (input, blessed) = text.split_once(RULE).unwrap_or((&text, ""));
        let actual: String = listings(input).lines().map(|line| format!("// {line}\n")).collect();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, format!("{input}{RULE}{actual}")).expect("writable case");
        } else if actual != blessed {
            failures.push(format!("{}\n--- blessed\n{blessed}--- actual\n{actual}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nBLESS=1 accepts the actual code", failures.join("\n"));
}

fn listings(input: &str) -> String {
    let func = decode(input.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{input}"));
    Tier::ALL
        .into_iter()
        .map(|tier| match compile(&func, tier) {
            Ok(code) => {
                let (frame, spills) = (code.frame_bytes, code.n_spills);
                format!("{}: frame {frame}, spills {spills}\n{}", tier.name(), code.listing(&func))
            }
            Err(error) => format!("{}: {error}\n", tier.name()),
        })
        .collect()
}
