//! Sizes as text: `2*batch*seq + floordiv(h + 1, 2) - 3`, and back.
//!
//! A program names few sizes many times, so a size keeps the text once it is made, and [`DimReader`] the sizes.

use super::{Atom, Dim, Repr, extremum};
use crate::hash::SeededMap;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Const(n) => write!(f, "{n}"),
            Repr::Poly(poly) => f.write_str(poly.text.get_or_init(|| Sum(self).to_string().into())),
        }
    }
}

/// A size written term by term.
struct Sum<'a>(&'a Dim);

impl fmt::Display for Sum<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rest, extrema) = split_extrema(self.0);
        let terms = rest.terms();
        // Symbolic terms first, then extrema, the constant last: `n + max(3, m) + 1`.
        let (constant, symbolic) = terms.split_at(terms.partition_point(|(_, atoms)| atoms.is_empty()));
        let mut is_first = true;
        for (coefficient, atoms) in symbolic {
            write_sign(f, &mut is_first, *coefficient)?;
            write_factor(f, *coefficient)?;
            for (k, atom) in atoms.iter().enumerate() {
                if k > 0 {
                    f.write_str("*")?;
                }
                atom.fmt(f)?;
            }
        }
        for Extremum { coefficient, name, args: [a, b] } in &extrema {
            write_sign(f, &mut is_first, *coefficient)?;
            write_factor(f, *coefficient)?;
            write!(f, "{name}({a}, {b})")?;
        }
        for (n, _) in constant {
            write_sign(f, &mut is_first, *n)?;
            write!(f, "{}", n.unsigned_abs())?;
        }
        if is_first { f.write_str("0") } else { Ok(()) }
    }
}

fn write_sign(f: &mut fmt::Formatter<'_>, is_first: &mut bool, coefficient: i64) -> fmt::Result {
    f.write_str(match (std::mem::take(is_first), coefficient < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    })
}

fn write_factor(f: &mut fmt::Formatter<'_>, coefficient: i64) -> fmt::Result {
    match coefficient.unsigned_abs() {
        1 => Ok(()),
        magnitude => write!(f, "{magnitude}*"),
    }
}

/// A term as `coefficient * name(args)`.
struct Extremum {
    coefficient: i64,
    name: &'static str,
    args: [Dim; 2],
}

/// Sizes of more terms are written as they are kept.
const MAX_READABLE: usize = 32;

/// Parts `n - max(0, n - 3)` of a size as `min(3, n)`, parts `m + max(0, n - m)` as `max(m, n)`, parts
/// `max(0, n - 2) - max(0, n - 3)` as `min(1, max(0, n - 2))`, and the rest.
fn split_extrema(dim: &Dim) -> (Dim, Vec<Extremum>) {
    let (mut rest, mut extrema) = (dim.clone(), vec![]);
    if dim.n_terms() > MAX_READABLE {
        return (rest, extrema);
    }
    for (monomial, _) in dim.as_terms() {
        let [Atom::Max(zero, x)] = monomial.as_slice() else { continue };
        let coefficient_in_rest = |wanted: &[Atom]| {
            rest.terms().iter().find(|(_, atoms)| *atoms == wanted).map_or(0, |(coefficient, _)| *coefficient)
        };
        let c = coefficient_in_rest(monomial);
        if c == 0 || !zero.is_const(0) {
            continue;
        }
        let shared = x
            .terms()
            .into_iter()
            .filter(|(n, atoms)| coefficient_in_rest(atoms) == c.saturating_mul(n.saturating_neg()));
        let shared = Dim::from_terms(shared.map(|(n, atoms)| (atoms.to_vec(), n)).collect());
        if let Some((k, other)) = clamped_twice(&rest, x, c).filter(|_| shared.is_const(0)) {
            rest = rest + (Dim::atom(monomial[0].clone()) - other.clone()).times(-c);
            extrema.push(Extremum { coefficient: -c, name: "min", args: [Dim::from(k), other] });
            continue;
        }
        if shared.is_const(0) || shared.nodes() + x.nodes() > extremum::MAX_NODES {
            continue;
        }
        let sign = Dim::from(c.signum());
        let a = -shared * sign.clone();
        let b = a.clone() + x.clone() * sign;
        let coefficient = c.saturating_abs();
        rest = rest - a.clone().times(coefficient) - Dim::atom(monomial[0].clone()).times(c);
        let args = if a <= b { [a, b] } else { [b, a] };
        extrema.push(Extremum { coefficient, name: if c > 0 { "max" } else { "min" }, args });
    }
    (rest, extrema)
}

/// What is clamped to `k` by the term `c * max(0, x)` beside it: `max(0, x + k)`.
fn clamped_twice(rest: &Dim, x: &Dim, c: i64) -> Option<(i64, Dim)> {
    rest.terms().into_iter().filter(|(factor, _)| *factor > 0 && -*factor == c).find_map(|(_, atoms)| {
        match atoms {
            [Atom::Max(zero, y)] if zero.is_const(0) => {
                let k = (y.clone() - x.clone()).as_const().filter(|k| *k > 0)?;
                (y.nodes() < extremum::MAX_NODES - 4).then(|| (k, Dim::atom(atoms[0].clone())))
            }
            _ => None,
        }
    })
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Symbol(name) => f.write_str(name),
            Atom::FloorDiv(a, b) => write!(f, "floordiv({a}, {b})"),
            Atom::Mod(a, b) => write!(f, "mod({a}, {b})"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
        }
    }
}

/// Nesting beyond this is refused, so that hostile text cannot exhaust the stack.
const MAX_DEPTH: usize = 2 * super::MAX_DEPTH;

/// Reads sizes of one source, which are made of the same parts again and again: the padded height of an image, and what
/// each layer halves it to.
#[derive(Default)]
pub struct DimReader {
    /// Whole sizes and calls in them (`floordiv(n + 1, 2)`) by their text.
    known: SeededMap<Box<str>, Dim>,
}

/// What a reader remembers at most, so that a hostile source does not become a multiple of itself.
const MAX_KNOWN: usize = 1 << 14;
const MAX_KNOWN_TEXT: usize = 512;

struct Parser<'a, 'r> {
    rest: &'a str,
    depth: usize,
    reader: &'r mut DimReader,
}

impl FromStr for Dim {
    type Err = String;
    fn from_str(text: &str) -> Result<Dim, String> {
        DimReader::default().read(text)
    }
}

impl DimReader {
    /// Errors: what is wrong with the text.
    pub fn read(&mut self, text: &str) -> Result<Dim, String> {
        if let Some(dim) = self.known.get(text) {
            return Ok(dim.clone());
        }
        let mut parser = Parser { rest: text, depth: 0, reader: self };
        let dim = parser.sum()?;
        let rest = parser.rest.trim_start();
        if !rest.is_empty() {
            return Err(format!("unexpected `{rest}` in size `{text}`"));
        }
        self.remember(text, &dim);
        Ok(dim)
    }

    fn remember(&mut self, text: &str, dim: &Dim) {
        if self.known.len() < MAX_KNOWN && text.len() <= MAX_KNOWN_TEXT {
            self.known.insert(text.into(), dim.clone());
        }
    }
}

impl Parser<'_, '_> {
    fn eat(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Result<Dim, String> {
        let mut parts = vec![if self.eat('-') { -self.product()? } else { self.product()? }];
        loop {
            if self.eat('+') {
                parts.push(self.product()?);
            } else if self.eat('-') {
                parts.push(-self.product()?);
            } else {
                return Ok(Dim::sum(parts.into_iter()));
            }
        }
    }

    fn product(&mut self) -> Result<Dim, String> {
        let first = self.factor()?;
        if !self.eat('*') {
            return Ok(first);
        }
        let mut factors = vec![first, self.factor()?];
        while self.eat('*') {
            factors.push(self.factor()?);
        }
        Ok(Dim::product(factors))
    }

    fn factor(&mut self) -> Result<Dim, String> {
        self.rest = self.rest.trim_start();
        let start = self.rest;
        let end =
            self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(format!("a size or a symbol is expected at `{}`", self.rest));
        }
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word.parse::<i64>().map(Dim::from).map_err(|_| format!("`{word}` is no 64-bit size"));
        }
        let combine: fn(&Dim, &Dim) -> Dim = match word {
            "floordiv" => Dim::floor_div,
            "mod" => Dim::modulo,
            "min" => Dim::minimum,
            "max" => Dim::maximum,
            _ => return Ok(Dim::symbol(word)),
        };
        if let Some(text) = call(start)
            && let Some(dim) = self.reader.known.get(text)
        {
            self.rest = &start[text.len()..];
            return Ok(dim.clone());
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("a size nests deeper than {MAX_DEPTH}"));
        }
        if !self.eat('(') {
            return Err(format!("`(` is expected after `{word}`"));
        }
        let a = self.sum()?;
        if !self.eat(',') {
            return Err(format!("`,` is expected in `{word}`"));
        }
        let b = self.sum()?;
        if !self.eat(')') {
            return Err(format!("`)` is expected after `{word}`"));
        }
        self.depth -= 1;
        let dim = combine(&a, &b);
        self.reader.remember(&start[..start.len() - self.rest.len()], &dim);
        Ok(dim)
    }
}

/// The text of the call that `text` begins with, if it is one that a reader may know.
fn call(text: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().take(MAX_KNOWN_TEXT) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(&text[..=at]),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gives_what_the_text_alone_gives() {
        let mut reader = DimReader::default();
        let half = "floordiv(n + 1, 2)";
        for text in [
            half,
            "3*floordiv(n + 1, 2)*floordiv(m + 1, 2)",
            "floordiv(floordiv(n + 1, 2) + 1, 2)",
            "max(floordiv(n + 1, 2), 3) - floordiv(n + 1, 2)",
            "mod(n, 2) + mod (n, 2)",
            half,
        ] {
            assert_eq!(reader.read(text).unwrap(), text.parse().unwrap(), "{text}");
        }
        for text in ["floordiv(n + 1, 2", "floordiv(n + 1, 2))", "floordiv(n + 1, 2)m", "min) ((n)", "mod()"]
        {
            assert_eq!(reader.read(text), text.parse::<Dim>(), "{text}");
            assert!(reader.read(text).is_err(), "{text}");
        }
    }
}
