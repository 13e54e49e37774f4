//! Sizes for a check: the smallest above 1 at which the model's assertions hold; where none are found, what fails is told.

use crate::program;

use program::program;
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_driver::check::fitting_sizes;
use tegula_tensor::Builder;
use tegula_tensor::build::Built;

/// Of a program with an input of dims `h` and `w` that asserts what `body` adds.
fn chosen(given: &[(&str, i64)], body: impl FnOnce(&mut Builder) -> Built<()>) -> String {
    let mut program = program(|b| {
        let x = b.arg(DType::F32, [h(), w()]);
        body(b)?;
        Ok(vec![x])
    });
    for (axis, name) in ["h", "w"].into_iter().enumerate() {
        program.symbols.insert(name, SymbolInfo::input(0, axis as u32));
    }
    let given = given.iter().map(|(name, size)| (name.to_string(), *size)).collect();
    match fitting_sizes(&program, &given) {
        Ok(sizes) => format!("{sizes:?}"),
        Err(refusal) => refusal.to_string(),
    }
}

fn h() -> Dim {
    Dim::symbol("h")
}

fn w() -> Dim {
    Dim::symbol("w")
}

fn n(n: i64) -> Dim {
    Dim::from(n)
}

#[test]
fn sizes_are_the_smallest_above_1() {
    assert_eq!(chosen(&[], |_| Ok(())), r#"{"h": 2, "w": 2}"#);
    assert_eq!(chosen(&[("h", 7)], |_| Ok(())), r#"{"w": 2}"#);
    assert_eq!(chosen(&[("h", 7), ("w", 0)], |_| Ok(())), "{}");
}

#[test]
fn assertions_decide() {
    assert_eq!(chosen(&[], |b| b.assert_size(&h().modulo(&n(32)), &n(0), "sides")), r#"{"h": 32, "w": 2}"#);
    let joined = |b: &mut Builder| {
        b.assert_size(&(h() * w()), &n(3 * 667), "product")?;
        b.assert_size(&(h() + n(664)), &w(), "difference")
    };
    assert_eq!(chosen(&[], joined), r#"{"h": 3, "w": 667}"#);
    assert_eq!(chosen(&[], |b| b.assert_size(&h(), &n(1), "one")), r#"{"h": 1, "w": 2}"#);
}

#[test]
fn no_tensor_is_empty_where_that_can_be() {
    fn eighths(b: &mut Builder) -> Built<()> {
        let one = b.scalar_f32(1.0)?;
        b.broadcast(one, [h().floor_div(&n(8))]).map(|_| ())
    }
    assert_eq!(chosen(&[], eighths), r#"{"h": 8, "w": 2}"#);
    let must_be_empty = |b: &mut Builder| {
        b.assert_size(&h().floor_div(&n(8)), &n(0), "no eighth")?;
        eighths(b)
    };
    assert_eq!(chosen(&[], must_be_empty), r#"{"h": 2, "w": 2}"#);
}

#[test]
fn what_fails_is_told() {
    let text = chosen(&[], |b| b.assert_size(&(h() * n(2)), &(w() * n(2) + n(1)), "parts"));
    let expected = "error[no-sizes]: no sizes of `h`, `w` are found at which the model's assertions hold
note: one that fails, at h=2, w=2: parts: 2*h is 4, 2*w + 1 is 5
help: give them: `--dim h=N` `--dim w=N`";
    assert_eq!(text, expected);
}
