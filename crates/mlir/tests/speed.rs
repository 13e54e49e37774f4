//! Reading and printing 10,000 operations takes milliseconds, and time grows with the text and no faster.
//! Bounds hold for optimised builds; others only run the code.

use std::fmt::Write;
use std::time::{Duration, Instant};

use tegula_mlir::{parse_module, print_module};

fn module_text(ops: usize) -> String {
    let mut text = String::from("\"builtin.module\"() ({\n  %0 = \"tgn.arg\"() : () -> tensor<?x128xf32>\n");
    for i in 1..ops {
        let ty = "tensor<?x128xf32>";
        _ = writeln!(
            text,
            "  %{i} = \"tgn.add\"(%{}, %0) <{{axis = {i}, note = \"node \\22{i}\\22\", perm = array<i64: 0, 1>}}> : ({ty}, {ty}) -> {ty} loc(\"layer/{i}\")",
            i - 1
        );
    }
    text + "}) : () -> ()\n"
}

/// The fastest of five runs.
fn time<T>(mut run: impl FnMut() -> T) -> Duration {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            drop(run());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

#[test]
fn ten_thousand_operations() {
    let text = module_text(10_000);
    let module = parse_module(&text).expect("parses");
    assert_eq!(print_module(&module).lines().count(), 10_002);
    let (parse, print) = (time(|| parse_module(&text)), time(|| print_module(&module)));
    eprintln!("10,000 operations: parse {parse:?}, print {print:?}");
    if !cfg!(debug_assertions) {
        assert!(parse < Duration::from_millis(50), "{parse:?}");
        assert!(print < Duration::from_millis(30), "{print:?}");
    }
}

#[test]
fn long_lines_and_long_lists_are_linear() {
    let text = module_text(50_000).replace('\n', " ");
    let list = format!("dense<[{}]> : tensor<500000xi32>", vec!["-12"; 500_000].join(", "));
    let body = format!("#d.x<{}>", "(\"a\" -> [b])".repeat(200_000));
    let lines = format!("#d.x<{}>", "\n".repeat(2_000_000));
    let start = Instant::now();
    assert!(parse_module(&text).is_ok());
    for attr in [list, body, lines] {
        assert!(tegula_mlir::parse_attr(&attr).is_ok());
    }
    // Quadratic reading of any of these takes minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
