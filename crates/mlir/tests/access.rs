//! The short ways to build and ask trees agree with the text.

use tegula_mlir::ast::{Attr, Operation, ResultPack, Type, ValueRef};
use tegula_mlir::{parse_attr, parse_module, parse_type};

#[test]
fn numbers_print_so_that_they_read_back() {
    let round = |attr: Attr| parse_attr(&attr.to_string()).expect("parses");
    for value in [0, 7, -1, i64::MIN, i64::MAX] {
        assert_eq!(round(Attr::int(value)).as_int(), Some(value));
    }
    for value in
        [0.0, -0.0, 1.5, 1e20, -2.5e-30, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NEG_INFINITY]
    {
        let back = round(Attr::f32(value)).as_float().expect("a float") as f32;
        assert_eq!(back.to_bits(), value.to_bits(), "{value}");
    }
    for value in [1.0, 1e300, -5e-324, f64::INFINITY] {
        assert_eq!(round(Attr::f64(value)).as_float().map(f64::to_bits), Some(value.to_bits()), "{value}");
    }
    assert!(round(Attr::f32(f32::NAN)).as_float().is_some_and(f64::is_nan));
}

#[test]
fn hex_floats_are_their_bits() {
    let value = |text| parse_attr(text).expect("parses").as_float();
    assert_eq!(value("0x3C00 : f16"), Some(1.0));
    assert_eq!(value("0x0001 : f16"), Some(2f64.powi(-24)));
    assert_eq!(value("0xFC00 : f16"), Some(f64::NEG_INFINITY));
    assert_eq!(value("0xBF80 : bf16"), Some(-1.0));
    assert_eq!(value("0.1 : f32"), Some(f64::from(0.1f32)));
    assert_eq!(value("0x38 : f8E4M3FN"), None);
}

#[test]
fn an_operation_finds_properties_before_attributes() {
    let module = parse_module("\"t.op\"() <{a = 1}> {a = 2, b = \"x\", c = array<i64: 3, -4>} : () -> ()")
        .expect("parses");
    let op = &module.ops[0];
    assert_eq!(op.attr("a").and_then(Attr::as_int), Some(1));
    assert_eq!(op.attr("b").and_then(Attr::as_str), Some("x"));
    assert_eq!(op.attr("c").and_then(Attr::as_ints), Some(vec![3, -4]));
    assert_eq!(op.attr("d"), None);
    assert_eq!((op.at.line, op.at.column), (1, 1));
}

#[test]
fn built_trees_print_canonically() {
    let tensor = Type::tensor([Some(2), None], Type::float("f32"));
    assert_eq!(parse_type("tensor<2x?xf32>"), Ok(tensor.clone()));
    let op = Operation {
        results: vec![ResultPack::new("2")],
        operands: vec![ValueRef::new("0"), ValueRef::new("1")],
        properties: vec![("axes".to_owned(), Attr::ints(&[0, 1])), ("keep".to_owned(), Attr::Unit)],
        operand_types: vec![tensor.clone(), tensor.clone()],
        result_types: vec![tensor],
        ..Operation::new("tgn.add")
    };
    let text = "%2 = \"tgn.add\"(%0, %1) <{axes = array<i64: 0, 1>, keep}> : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>";
    assert_eq!(op.to_string(), text);
}

#[test]
fn errors_say_where_what_and_instead_of_what() {
    let error = parse_module("\"a.b\"()\n  : () }").expect_err("no arrow");
    assert_eq!(error.to_string(), "line 2:8: expected `->` between operand and result types, found `}`");
}
