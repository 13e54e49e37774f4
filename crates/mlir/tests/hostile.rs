//! No text makes the parser panic, hang or overflow: random mutations of the corpus, deep nesting, truncation.

use crate::common;

use common::mutate::{Random, mutate};
use common::{cases, read};
use tegula_mlir::{MAX_NESTING, parse_attr, parse_module, parse_type, print_module};

#[test]
fn mutations_do_not_panic_and_print_to_a_fixpoint() {
    let corpus: Vec<String> = ["parse", "error"]
        .into_iter()
        .flat_map(cases)
        .flat_map(|path| <[String; 2]>::from(read(&path)))
        .collect();
    let mut accepted = 0;
    for seed in 0..100_000 {
        let mut random = Random::new(seed);
        let text = mutate(&corpus[random.below(corpus.len())], &mut random);
        let Ok(module) = parse_module(&text) else { continue };
        accepted += 1;
        let printed = print_module(&module);
        let again =
            parse_module(&printed).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}\n=>\n{printed}"));
        assert_eq!(print_module(&again), printed, "seed {seed}");
    }
    assert!(accepted > 1_000, "only {accepted} mutants parse: the mutations are too wild to test printing");
}

#[test]
fn every_prefix_is_read_without_panic() {
    for path in cases("parse") {
        let (input, _) = read(&path);
        for (end, _) in input.char_indices() {
            _ = parse_module(&input[..end]);
        }
    }
}

#[test]
fn deep_nesting_is_an_error_not_an_overflow() {
    const DEEP: usize = 100_000;
    let attrs = [
        "[",
        "{a=",
        "dense<[",
        "[[",
        "tensor<2x",
        "loc(fused[",
        "loc(callsite(",
        "loc(\"a\"(",
        "(",
        "() -> (",
    ];
    for opening in attrs {
        assert!(parse_attr(&opening.repeat(DEEP)).is_err(), "{opening}");
    }
    for opening in
        ["tuple<", "complex<", "tensor<2x", "memref<", "(", "() -> (", "tensor<1xf32, [", "!d.x<[("]
    {
        assert!(parse_type(&opening.repeat(DEEP)).is_err(), "{opening}");
    }
    assert!(parse_attr(&format!("dense<{}", "[".repeat(DEEP))).is_err());
    assert!(parse_attr(&format!("loc({}", "fused[".repeat(DEEP))).is_err());
    let error = parse_module(&"\"a.b\"() ({".repeat(DEEP)).expect_err("too deep");
    assert_eq!(error.expected, format!("at most {MAX_NESTING} levels of nesting"));
}

#[test]
fn nesting_below_the_limit_is_read() {
    let depth = MAX_NESTING as usize - 2;
    let arrays = "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(parse_attr(&arrays).expect("parses").to_string(), arrays);
    let regions = "\"a.b\"() ({".repeat(depth) + &"}) : () -> ()".repeat(depth);
    let printed = parse_module(&regions).expect("parses").to_string();
    assert_eq!(parse_module(&printed).expect("parses").to_string(), printed);
}

#[test]
fn signatures_through_aliases_stay_bounded() {
    let types = vec!["i1"; 100_000].join(", ");
    let text = format!("!f = () -> ({types})\n{}", "\"a.b\"() : !f\n".repeat(100));
    assert!(parse_module(&text).is_err());
}
