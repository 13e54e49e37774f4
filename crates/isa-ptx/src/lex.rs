//! Splits PTX text into words and signs, each with its place.

use tegula_base::{Code, Diagnostic};

/// A place in the text; both numbers count from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub line: u32,
    pub column: u32,
}

/// A word (names, opcodes, directives, numbers: letters, digits, `_ $ % .` and `::`), or one sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    pub place: Place,
}

impl Place {
    /// An error at this place of the text called `origin`.
    pub fn error(self, code: Code, origin: &str, message: String) -> Diagnostic {
        Diagnostic::error(code, message).at(format!("{origin}:{}:{}", self.line, self.column))
    }
}

/// The tokens without blanks and comments, and the place of the end. Errors: a sign that PTX has not.
pub(crate) fn tokens<'a>(text: &'a str, origin: &str) -> Result<(Vec<Token<'a>>, Place), Diagnostic> {
    let mut found = Vec::new();
    let mut place = Place { line: 1, column: 1 };
    let mut rest = text;
    while !rest.is_empty() {
        let length = match rest.chars().next() {
            Some(c) if c.is_whitespace() => c.len_utf8(),
            Some(_) if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            Some(_) if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => end + 2,
                None => return Err(place.error("ptx-syntax", origin, "a comment does not end".to_string())),
            },
            Some(c) if is_word(c) => {
                let length = word_length(rest);
                found.push(Token { text: &rest[..length], place });
                length
            }
            Some(c) if ",;:{}[]()<>|!@+-".contains(c) => {
                found.push(Token { text: &rest[..1], place });
                1
            }
            Some(c) => return Err(place.error("ptx-syntax", origin, format!("`{c}` is no sign of PTX"))),
            None => 0,
        };
        for c in rest[..length].chars() {
            if c == '\n' {
                place = Place { line: place.line + 1, column: 1 };
            } else {
                place.column += 1;
            }
        }
        rest = &rest[length..];
    }
    Ok((found, place))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%.".contains(c)
}

/// A colon belongs to a word only as `::`.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        if rest.starts_with(is_word) {
            length += 1;
        } else if rest.starts_with("::") {
            length += 2;
        } else {
            return length;
        }
    }
}
