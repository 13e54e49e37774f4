//! A place in a row of tokens, and what went wrong there.

use crate::key::Key;
use crate::lex::{Place, Token};

/// What was found where something else was expected.
#[derive(Clone, Debug)]
pub struct Fault {
    pub place: Place,
    pub expected: Vec<String>,
    pub found: String,
}

/// Longer lists of what was expected are cut.
const MOST_EXPECTED: usize = 12;

impl Fault {
    pub fn expected(place: Place, expected: &str, found: &str) -> Fault {
        Fault { place, expected: vec![expected.to_string()], found: format!("`{found}`") }
    }

    /// The fault further on in the text; of two at the same place both expectations.
    pub fn or(self, other: Fault) -> Fault {
        if other.place > self.place {
            return other;
        }
        let mut fault = self;
        if other.place == fault.place {
            for expected in other.expected {
                if !fault.expected.contains(&expected) {
                    fault.expected.push(expected);
                }
            }
        }
        fault
    }

    pub fn message(&self) -> String {
        let mut expected = self.expected.clone();
        if expected.len() > MOST_EXPECTED {
            expected.truncate(MOST_EXPECTED);
            expected.push("...".to_string());
        }
        let list = match expected.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
            None => "nothing".to_string(),
        };
        format!("expected {list}, found {}", self.found)
    }
}

#[derive(Clone)]
pub struct Cursor<'a> {
    tokens: &'a [Token<'a>],
    end: Place,
}

impl<'a> Cursor<'a> {
    pub fn new(tokens: &'a [Token<'a>], end: Place) -> Cursor<'a> {
        Cursor { tokens, end }
    }

    pub fn at_end(&self) -> bool {
        self.tokens.is_empty()
    }

    pub fn place(&self) -> Place {
        self.tokens.first().map_or(self.end, |token| token.place)
    }

    pub fn peek(&self) -> Option<&'a str> {
        self.tokens.first().map(|token| token.text)
    }

    pub fn advance(&mut self) {
        self.tokens = &self.tokens[self.tokens.len().min(1)..];
    }

    /// That something else was expected here.
    pub fn fault(&self, expected: &str) -> Fault {
        match self.peek() {
            Some(found) => Fault::expected(self.place(), expected, found),
            None => Fault {
                place: self.end,
                expected: vec![expected.to_string()],
                found: "the end of the text".to_string(),
            },
        }
    }

    pub fn take(&mut self, text: &str) -> bool {
        let there = self.peek() == Some(text);
        if there {
            self.advance();
        }
        there
    }

    pub fn expect(&mut self, text: &str) -> Result<(), Fault> {
        if self.take(text) { Ok(()) } else { Err(self.fault(&format!("`{text}`"))) }
    }

    /// `text`, where all of `named` would do for the reader.
    pub fn expect_one(&mut self, text: &str, named: &[&str]) -> Result<(), Fault> {
        if self.take(text) {
            return Ok(());
        }
        let mut fault = self.fault("");
        fault.expected = named.iter().map(|name| format!("`{name}`")).collect();
        Err(fault)
    }

    /// A token that is no sign.
    pub fn word(&mut self, what: &str) -> Result<&'a str, Fault> {
        match self.peek() {
            Some(word) if word.starts_with(|c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c)) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.fault(what)),
        }
    }

    /// A word of a closed set after `before`.
    pub fn key<K: Key>(&mut self, before: &str) -> Result<K, Fault> {
        let bare = self.peek().and_then(|word| word.strip_prefix(before));
        let key = K::all().iter().find(|key| bare == Some(key.text()));
        match key {
            Some(key) => {
                self.advance();
                Ok(*key)
            }
            None => {
                let mut fault = self.fault("");
                fault.expected = K::all().iter().map(|key| format!("`{before}{}`", key.text())).collect();
                Err(fault)
            }
        }
    }

    /// A number without sign, decimal or `0x`.
    pub fn number(&mut self) -> Result<u32, Fault> {
        let number = self.peek().and_then(magnitude).and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| self.fault("a number of 32 bits"))?;
        self.advance();
        Ok(number)
    }

    /// A word with a colon behind it.
    pub fn take_label(&mut self) -> Option<&'a str> {
        match self.tokens {
            [label, colon, ..] if colon.text == ":" => {
                self.tokens = &self.tokens[2..];
                Some(label.text)
            }
            _ => None,
        }
    }

    /// To behind the next semicolon, or before a label or a brace at the start of a line.
    pub fn skip_statement(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            match token {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                _ => {}
            }
            self.advance();
            if token == ";" {
                return;
            }
        }
    }
}

/// Digits, or `0x` and digits; PTX's mark `U` may follow.
pub fn magnitude(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}
