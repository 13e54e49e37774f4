//! Text that is kept as written: dialect symbols, affine maps, strided layouts, distinct attributes.
//! Bodies are read by characters with a stack of brackets; strings inside them hide brackets, and the `>` of `->`
//! closes nothing.  Source: MLIR 22, `parsePrettyDialectSymbolBody`.

use super::{Parser, Result, quote};
use crate::ast::Attr;
use crate::error::SyntaxError;
use crate::lexer::{Kind, string_end};

impl Parser<'_> {
    /// `#name`, `#dialect.body<...>` or `#dialect<...>` (and the same with `!`), without the sigil; the flag tells a
    /// dialect's symbol from an alias.
    pub(super) fn dialect_symbol(&mut self) -> Result<(String, bool)> {
        let (start, mut end) = (self.token.start, self.token.end);
        let text = self.lexer.text();
        let has_body = text[end..].starts_with('<');
        if has_body {
            end = self.balanced(end)?;
        }
        self.seek(end);
        let symbol = &text[start + 1..end];
        Ok((symbol.to_owned(), has_body || symbol.contains('.')))
    }

    /// `affine_map<...>` or `affine_set<...>`.
    pub(super) fn affine(&mut self) -> Result<Attr> {
        let keyword = self.spelling();
        self.advance();
        if !self.at(Kind::Less) {
            return Err(self.fail(&format!("`<` after `{keyword}`")));
        }
        let open = self.token;
        let Some(length) = affine_body(&self.lexer.text()[open.end..]) else {
            return Err(self.fail("a body that ends with `>`"));
        };
        let close = open.end + length;
        let body = without_comments(&self.lexer.text()[open.end..close]);
        self.seek(close + 1);
        Ok(Attr::Affine(keyword.to_owned(), body))
    }

    /// `strided<[1, ?], offset: 3>`.
    pub(super) fn strided(&mut self) -> Result<Attr> {
        let keyword = self.spelling();
        self.advance();
        let body = self.bracketed(Kind::Less, keyword)?;
        Ok(Attr::Verbatim(format!("{keyword}{body}")))
    }

    /// `distinct[0]<attr>`.
    pub(super) fn distinct(&mut self) -> Result<Attr> {
        let keyword = self.spelling();
        self.advance();
        let number = self.bracketed(Kind::LBracket, keyword)?;
        let body = self.bracketed(Kind::Less, "distinct[...]")?;
        Ok(Attr::Verbatim(format!("{keyword}{number}{body}")))
    }

    /// The balanced text from the bracket `open`, which must stand here, to its partner.
    fn bracketed(&mut self, open: Kind, before: &str) -> Result<String> {
        if !self.at(open) {
            return Err(self.fail(&format!("{} after `{before}`", open.describe())));
        }
        let start = self.token.start;
        let end = self.balanced(start)?;
        let text = self.lexer.text()[start..end].to_owned();
        self.seek(end);
        Ok(text)
    }

    /// The offset after the partner of the bracket at `start`; the lexer stands at `start` or just behind it.
    fn balanced(&mut self, start: usize) -> Result<usize> {
        let text = self.lexer.text();
        let bytes = text.as_bytes();
        let mut open = Vec::new();
        let mut offset = start;
        loop {
            match bytes.get(offset..).unwrap_or_default() {
                [] => return Err(self.fail_body(start, start + 1, "a body with balanced brackets")),
                [b'-', b'>', ..] => offset += 1,
                [bracket @ (b'<' | b'(' | b'[' | b'{'), ..] => open.push(*bracket),
                [bracket @ (b'>' | b')' | b']' | b'}'), ..] => {
                    if open.pop() != Some(opening(*bracket)) {
                        return Err(self.fail_body(offset, offset + 1, "the partner of an earlier bracket"));
                    }
                    if open.is_empty() {
                        return Ok(offset + 1);
                    }
                }
                [b'"', ..] => match string_end(text, offset) {
                    Ok(end) => offset = end - 1,
                    Err((expected, end)) => return Err(self.fail_body(offset, end, expected)),
                },
                _ => {}
            }
            offset += 1;
        }
    }

    fn fail_body(&mut self, start: usize, end: usize, expected: &str) -> SyntaxError {
        let found = quote(&self.lexer.text()[start..end]);
        self.lexer.seek(start);
        let at = self.lexer.position(start);
        SyntaxError { line: at.line, column: at.column, expected: expected.to_owned(), found }
    }
}

fn opening(close: u8) -> u8 {
    match close {
        b'>' => b'<',
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}

/// A body on as many lines as it had, each up to its `//`; affine expressions have no such operator.
fn without_comments(body: &str) -> String {
    let lines: Vec<&str> =
        body.trim().split('\n').map(|line| line.split("//").next().unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// The length of an affine body: up to the `>` that stands outside parentheses and belongs to no `->`.
/// Inside parentheses `>` compares, as in `(d0 - 1 >= 0)`.
fn affine_body(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut offset) = (0usize, 0);
    while let Some(&byte) = bytes.get(offset) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.checked_sub(1)?,
            b'-' if bytes.get(offset + 1) == Some(&b'>') => offset += 1,
            b'/' if bytes.get(offset + 1) == Some(&b'/') => {
                offset += bytes[offset..].iter().position(|&b| b == b'\n')?;
            }
            b'>' if depth == 0 => return Some(offset),
            _ => {}
        }
        offset += 1;
    }
    None
}
