//! Sizes as text: `2*batch*seq + floordiv(h + 1, 2) - 3`, and back.

use super::{Atom, Dim};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(n) = self.as_const() {
            return write!(f, "{n}");
        }
        // Symbolic terms first, the constant last: `n + 1`.
        let terms = self.as_terms();
        let (constant, symbolic) = terms.split_at(terms.partition_point(|(atoms, _)| atoms.is_empty()));
        for (i, (atoms, coefficient)) in symbolic.iter().chain(constant).enumerate() {
            let coefficient = *coefficient;
            let magnitude = coefficient.unsigned_abs();
            match (i, coefficient < 0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            if atoms.is_empty() {
                write!(f, "{magnitude}")?;
                continue;
            }
            if magnitude != 1 {
                write!(f, "{magnitude}*")?;
            }
            for (k, atom) in atoms.iter().enumerate() {
                if k > 0 {
                    f.write_str("*")?;
                }
                atom.fmt(f)?;
            }
        }
        Ok(())
    }
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
            Atom::Min(a, b) => write!(f, "min({a}, {b})"),
            Atom::Max(a, b) => write!(f, "max({a}, {b})"),
        }
    }
}

/// Nesting beyond this is refused, so that hostile text cannot exhaust the stack.
const MAX_DEPTH: usize = 2 * super::MAX_DEPTH;

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

impl FromStr for Dim {
    type Err = String;
    fn from_str(text: &str) -> Result<Dim, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let dim = parser.sum()?;
        if parser.rest.trim_start().is_empty() {
            Ok(dim)
        } else {
            Err(format!("unexpected `{}` in size `{text}`", parser.rest.trim_start()))
        }
    }
}

impl Parser<'_> {
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
        Ok(combine(&a, &b))
    }
}
