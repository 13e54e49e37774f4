//! Canonical forms as text, and random expressions against plain integer arithmetic.

use super::Dim;
use crate::Shape;

fn check(text: &str, canonical: &str) {
    let dim: Dim = text.parse().unwrap();
    assert_eq!(dim.to_string(), canonical, "canonical form of `{text}`");
    assert_eq!(canonical.parse::<Dim>().unwrap(), dim, "`{canonical}` parses back");
}

#[test]
fn canonical_forms() {
    check("1 + 2*3", "7");
    check("b*a + a*b", "2*a*b");
    check("n - n", "0");
    check("floordiv(4*n + 6, 4)", "n + 1");
    check("floordiv(floordiv(n, 2), 3)", "floordiv(n, 6)");
    check("floordiv(6*a*b, 2*a)", "3*b");
    check("mod(8*n + 3, 4)", "3");
    check("max(n + 1, n)", "n + 1");
    check("min(b, a)", "min(a, b)");
    check("min(n, min(3, n))", "min(3, n)");
    check("min(4, min(3, n))", "min(3, n)");
    check("max(n + 1, max(m, n))", "max(n + 1, m)");
    check("min(n - 1, max(m, n))", "n - 1");
    check("max(min(m, n), n)", "n");
    check("max(min(m, n), n - 1)", "max(0, -m + n - 1) + min(m, n)");
    check("max(n - 3, 0) + min(3, n)", "n");
    check("max(3 - n, 0) + min(n, 3)", "3");
    check("min(a*b, c) + max(c, a*b)", "a*b + c");
    check("max(max(n - 1, 0) - 1, 0)", "max(0, n - 2)");
    check("max(0, min(n, 7) - 3)", "min(4, max(0, n - 3))");
    check("2*min(n, 3)*m", "2*m*n - 2*m*max(0, n - 3)");
    check("2*min(2*n, 6)", "4*min(3, n)");
    check("floordiv(max(0, n - 3), 2)", "max(0, floordiv(n + 1, 2) - 2)");
    check("floordiv(a*a + a*b, a + b)", "a");
}

#[test]
fn errors_are_plain() {
    for (text, error) in [
        ("", "a size or a symbol is expected at ``"),
        ("min(a", "`,` is expected in `min`"),
        ("99999999999999999999", "`99999999999999999999` is no 64-bit size"),
        ("a b", "unexpected `b` in size `a b`"),
    ] {
        assert_eq!(text.parse::<Dim>().unwrap_err(), error);
    }
}

/// Text costs time in proportion to its length: thousands of terms are sorted once, products do not expand far.
#[test]
fn long_text_is_cheap() {
    let factor = |i: usize| format!("max(n{i} + 1, n{i})");
    let product = |n| (0..n).map(factor).collect::<Vec<_>>().join("*");
    assert_eq!(product(2).parse::<Dim>().unwrap().to_string(), "n0 + n0*n1 + n1 + 1");
    let long: Dim = product(200).parse().unwrap();
    assert!(long.nodes() < 4000, "{}", long.nodes());
    assert_eq!(long.to_string().parse::<Dim>().unwrap(), long);
    assert_eq!(product(12).parse::<Dim>().unwrap().eval(&|_| Some(1)), Some(1 << 12));
    let sum: Vec<String> = (0..50_000).map(|i| format!("n{i}")).collect();
    assert_eq!(sum.join(" + ").parse::<Dim>().unwrap().terms().len(), 50_000);
    let nested = "floordiv(".repeat(200);
    assert_eq!(nested.parse::<Dim>().unwrap_err(), "a size nests deeper than 128");
}

/// Factors are gathered and sorted once: one by one, each of these would take minutes.
#[test]
fn long_products_are_cheap() {
    const FACTORS: usize = 50_000;
    let quotient = |i: usize| format!("floordiv(n, {})", i + 2);
    for factor in [|_| "n".to_string(), |_| "max(n + 1, n)".to_string(), quotient, |i| format!("n{i}")] {
        let text: Vec<String> = (0..FACTORS).map(factor).collect();
        let text = text.join("*");
        let dim: Dim = text.parse().unwrap();
        assert!((FACTORS..8 * FACTORS).contains(&dim.nodes()), "{}", dim.nodes());
        assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim, "{}", factor(0));
        assert_eq!(dim.substitute(&|_| None), dim, "{}", factor(0));
    }
    // A sum against a long term.
    let power = vec!["n"; FACTORS].join("*");
    assert_eq!(format!("max(m + 1, m)*{power}").parse::<Dim>().unwrap().terms().len(), 1);
}

/// Whether sums are multiplied out does not depend on the order of factors.
#[test]
fn products_have_one_form() {
    let factors: Vec<String> = (0..12).map(|i| format!("max({}{i} + 1, 0 - 1)", ["a", "z"][i % 2])).collect();
    let sums: Vec<String> = (0..12).map(|i| format!("floordiv({}{i} + 1, 1)", ["a", "z"][i % 2])).collect();
    for factors in [factors, sums] {
        let forward: Dim = factors.join("*").parse().unwrap();
        let backward: Dim = factors.iter().rev().cloned().collect::<Vec<_>>().join("*").parse().unwrap();
        assert_eq!(forward, backward);
        assert_eq!(forward.to_string().parse::<Dim>().unwrap(), forward);
    }
}

/// One symbol in several terms: halves of an axis, what is left of a cut, what rounding adds.
#[test]
fn bounds_see_what_terms_share() {
    for (text, bounds) in [
        ("min(3, n)", (0, 3)),
        ("n - min(3, n)", (0, 97)),
        ("m*min(3, n)", (0, 30)),
        ("max(n, 2) - n", (0, 2)),
        ("n - floordiv(n, 2)", (0, 50)),
        ("floordiv(n, 2) - n", (-50, 0)),
        ("7*floordiv(n + 6, 7) - n", (0, 6)),
        ("min(m, n) - m", (-10, 0)),
        ("min(1, max(0, n - 2))", (0, 1)),
        ("n - min(1, max(0, n - 2))", (0, 99)),
    ] {
        let symbol = |name: &str| if name == "n" { (0, 100) } else { (0, 10) };
        assert_eq!(text.parse::<Dim>().unwrap().bounds(&symbol), bounds, "{text}");
    }
    assert!("min(4*n, 8) + 12".parse::<Dim>().unwrap().is_multiple_of(4, &|_| 1));
}

#[test]
fn sizes_grow_with_symbols() {
    for (text, grows) in [
        ("min(3, k) + n", true),
        ("k - n", true),
        ("max(0, k - 3) - 1", true),
        ("min(n, 3) - k", false),
        ("max(0, 3 - k)", false),
        ("mod(k, 7)", false),
    ] {
        assert_eq!(text.parse::<Dim>().unwrap().grows_with(&|name| name == "k"), grows, "{text}");
    }
}

/// Extrema in each other cost time in proportion to their text, not more with each level.
#[test]
fn nested_extrema_stay_small() {
    let mut text = "n".to_string();
    for level in 0..60 {
        text = format!("{}({text} + a{level}, b{level} - 1)", if level % 2 == 0 { "max" } else { "min" });
    }
    let dim: Dim = text.parse().unwrap();
    assert!(dim.nodes() < 2000, "{}", dim.nodes());
    assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim);
    assert!(dim.eval(&|_| Some(3)) == Some(2));
}

/// A symbol whose bounds contradict each other has no value, and its quotients no bounds.
#[test]
fn empty_ranges_have_no_quotients() {
    let dim: Dim = "floordiv(n, k)".parse().unwrap();
    for k in [(1, 0), (1, -1), (5, i64::MIN)] {
        assert_eq!(dim.bounds(&|name| if name == "k" { k } else { (i64::MIN, 9) }), (i64::MIN, i64::MAX));
    }
}

/// xorshift64: enough for expressions, and the seed is in the failure's text.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn random(state: &mut u64, depth: u32, values: &[i64; 3]) -> (Dim, i64) {
    if depth == 0 {
        let i = (next(state) % 4) as usize;
        return if i == 3 {
            let n = (next(state) % 7) as i64;
            (Dim::from(n), n)
        } else {
            (Dim::symbol(["a", "b", "c"][i]), values[i])
        };
    }
    let (x, vx) = random(state, depth - 1, values);
    let (y, vy) = random(state, depth - 1, values);
    let n = (next(state) % 6 + 1) as i64;
    match next(state) % 7 {
        0 => (x + y, vx + vy),
        1 => (x - y, vx - vy),
        2 => (x * y, vx * vy),
        3 => (x.floor_div(&Dim::from(n)), vx.div_euclid(n)),
        4 => (x.modulo(&Dim::from(n)), vx.rem_euclid(n)),
        5 => (x.minimum(&y), vx.min(vy)),
        _ => (x.maximum(&y), vx.max(vy)),
    }
}

#[test]
fn random_expressions_mean_what_they_say() {
    for seed in 1..3000u64 {
        let mut state = seed * 0x9e37_79b9;
        let values = [0; 3].map(|_| (next(&mut state) % 9) as i64);
        let (dim, expected) = random(&mut state, 3, &values);
        let lookup = |name: &str| Some(values[(name.as_bytes()[0] - b'a') as usize]);
        assert_eq!(dim.eval(&lookup), Some(expected), "seed {seed}: {dim} at {values:?}");
        let (low, high) = dim.bounds(&|_| (0, 8));
        assert!((low..=high).contains(&expected), "seed {seed}: {dim} outside [{low}, {high}]");
        assert_eq!(dim.to_string().parse::<Dim>().unwrap(), dim, "seed {seed}: {dim}");
        let bound = dim.substitute(&|name| lookup(name).map(Dim::from));
        assert_eq!(bound.as_const(), Some(expected), "seed {seed}: {dim} substituted");
        let divisor = super::bounds::known_divisor(&dim, &|_| 1);
        assert!(
            divisor == 0 && expected == 0 || divisor != 0 && expected % divisor == 0,
            "seed {seed}: {dim}"
        );
    }
}

/// Extrema of numbers too large for differences stay in one piece. What divides both arguments divides them, and no more.
#[test]
fn large_extrema_are_divisible_by_what_divides_both_arguments() {
    const LARGE: i64 = 1 << 41;
    for (a, b, common) in [(LARGE, 3, 1), (3 * LARGE, 6, 6), (10, 4 * LARGE, 2), (LARGE, 6 * LARGE, LARGE)] {
        let (x, y) = (Dim::symbol("n").times(a), Dim::symbol("m").times(b));
        for dim in [x.maximum(&y), x.minimum(&y), x.maximum(&y).times(5)] {
            let divisor = super::bounds::known_divisor(&dim, &|_| 1);
            assert!(divisor % common == 0, "{dim} is divisible by {common}, not only by {divisor}");
            for (n, m) in [(0, 1), (1, 0), (1, 1), (1, 7), (7, 1)] {
                let value = dim.eval(&|name| Some(if name == "n" { n } else { m })).unwrap();
                assert_eq!(value % divisor, 0, "{dim} is {value} at {n} and {m}, no multiple of {divisor}");
            }
        }
    }
}

/// What is told of products by their factors, multiplication tells too.
#[test]
fn products_are_known_by_their_factors() {
    let (mut equal, mut zero) = (0, 0);
    for seed in 1..3000u64 {
        let mut state = seed * 0x9e37_79b9;
        let one = factors(&mut state);
        let other =
            if seed.is_multiple_of(2) { regrouped(one.clone(), &mut state) } else { factors(&mut state) };
        let whole = product(&one);
        let expected = whole == product(&other);
        assert!(whole.is_product_of(&one), "seed {seed}: {one:?}");
        assert_eq!(whole.is_product_of(&other), expected, "seed {seed}: {whole} and {other:?}");
        let has_factors = Shape::from(one.clone()).has_factors_of(&Shape::from(other.clone()));
        assert!(expected || !has_factors, "seed {seed}: {one:?} and {other:?}");
        let are_known = one.iter().chain(&other).all(|dim| dim.as_product().is_some());
        if expected && are_known && one.len() > 1 && other.len() > 1 {
            assert!(has_factors || whole.is_const(0), "seed {seed}: {one:?} and {other:?}");
            *if whole.is_const(0) { &mut zero } else { &mut equal } += 1;
        }
    }
    assert!(equal > 300 && zero > 50, "{equal} of the products are equal, {zero} are 0");
    let [n, m] = ["n", "m"].map(Dim::symbol);
    let (left, right) = (Shape::from([Dim::from(0), n]), Shape::from([m, Dim::from(0)]));
    assert!(left.has_factors_of(&right) && left.count().is_product_of(&right));
}

fn product(factors: &[Dim]) -> Dim {
    factors.iter().cloned().fold(Dim::from(1), |a, b| a * b)
}

/// Up to four sizes: constants and symbols, or sums and quotients of them.
fn factors(state: &mut u64) -> Vec<Dim> {
    let n = next(state) % 5;
    let depth = u32::from(next(state).is_multiple_of(4));
    (0..n).map(|_| random(state, depth, &[0; 3]).0).collect()
}

/// The factors in another order, some multiplied with each other; in every fourth case one of them is doubled.
fn regrouped(mut factors: Vec<Dim>, state: &mut u64) -> Vec<Dim> {
    let mut groups: Vec<Dim> = Vec::new();
    while !factors.is_empty() {
        let factor = factors.swap_remove(next(state) as usize % factors.len());
        match groups.last_mut().filter(|_| next(state).is_multiple_of(3)) {
            Some(group) => *group = group.clone() * factor,
            None => groups.push(factor),
        }
    }
    if let Some(group) = groups.last_mut().filter(|_| next(state).is_multiple_of(4)) {
        *group = group.clone() * Dim::from(2);
    }
    groups
}

#[test]
fn quotients_of_the_longest_numbers_are_exact() {
    let ceil = |n: i64, divisor: i64| Dim::from(n).ceil_div(&Dim::from(divisor)).as_const();
    assert_eq!(ceil(4, i64::MAX), Some(1));
    assert_eq!(ceil(i64::MAX, i64::MAX), Some(1));
    assert_eq!(ceil(i64::MAX, 2), Some(1 << 62));
    assert_eq!(ceil(-4, i64::MAX), Some(0));
    assert_eq!((ceil(0, 3), ceil(7, 3), ceil(-7, 3)), (Some(0), Some(3), Some(-2)));
}
