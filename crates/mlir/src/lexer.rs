//! Text -> tokens, one at a time, each with its place.
//! Before: any text.  After: every token is a slice of it; what is no token is `Kind::Invalid` with the reason, so that
//! the parser reports it where it stands.  The parser may `seek` (shapes such as `4x0xf32` and verbatim dialect bodies
//! are read by characters); every byte is then still visited a bounded number of times.
//! Source: LangRef, "Common syntax"; the token rules of MLIR 22.

use crate::ast::Position;
use crate::spell::{continues_bare, continues_suffix, hex_digit, starts_bare};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    End,
    /// `%name`
    Value,
    /// `^name`
    Block,
    /// `@name` or `@"name"`
    Symbol,
    /// `#name`
    Hash,
    /// `!name`
    Bang,
    /// `name`
    Word,
    /// `12` or `0x1F`
    Integer,
    /// `1.5e-3`
    Float,
    /// `"text"`
    String,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Less,
    Greater,
    Comma,
    Colon,
    Equal,
    Minus,
    Star,
    Question,
    Arrow,
    /// `{-#`
    OpenMetadata,
    /// `#-}`
    CloseMetadata,
    /// Not a token; says what was expected instead.
    Invalid(&'static str),
}

impl Kind {
    /// The word for this token in "expected ...".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Kind::End => "end of text",
            Kind::Value => "a value name `%...`",
            Kind::Block => "a block label `^...`",
            Kind::Symbol => "a symbol name `@...`",
            Kind::Hash => "an attribute `#...`",
            Kind::Bang => "a type `!...`",
            Kind::Word => "a word",
            Kind::Integer => "an integer",
            Kind::Float => "a number",
            Kind::String => "a string",
            Kind::LParen => "`(`",
            Kind::RParen => "`)`",
            Kind::LBrace => "`{`",
            Kind::RBrace => "`}`",
            Kind::LBracket => "`[`",
            Kind::RBracket => "`]`",
            Kind::Less => "`<`",
            Kind::Greater => "`>`",
            Kind::Comma => "`,`",
            Kind::Colon => "`:`",
            Kind::Equal => "`=`",
            Kind::Minus => "`-`",
            Kind::Star => "`*`",
            Kind::Question => "`?`",
            Kind::Arrow => "`->`",
            Kind::OpenMetadata => "`{-#`",
            Kind::CloseMetadata => "`#-}`",
            Kind::Invalid(expected) => expected,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) at: Position,
}

#[derive(Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
    line_start: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Lexer { text, offset: 0, line: 1, line_start: 0 }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Where reading continues.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Line and column of `offset`, which lies on the line last read or after it.
    pub(crate) fn position(&self, offset: usize) -> Position {
        Position { line: self.line, column: (offset - self.line_start + 1) as u32 }
    }

    /// Continues reading at `offset`: on the current line, or anywhere after what was read.
    pub(crate) fn seek(&mut self, offset: usize) {
        if offset > self.offset {
            self.count_lines(self.offset, offset);
        }
        self.offset = offset;
    }

    pub(crate) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.offset;
        let at = self.position(start);
        let (kind, end) = self.scan(start);
        self.offset = end;
        Token { kind, start, end, at }
    }

    fn byte(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(offset).copied().unwrap_or(0)
    }

    fn run(&self, start: usize, belongs: impl Fn(u8) -> bool) -> usize {
        let bytes = &self.text.as_bytes()[start..];
        start + bytes.iter().position(|&b| !belongs(b)).unwrap_or(bytes.len())
    }

    fn count_lines(&mut self, from: usize, to: usize) {
        for (index, byte) in self.text.as_bytes()[from..to].iter().enumerate() {
            if *byte == b'\n' {
                self.line += 1;
                self.line_start = from + index + 1;
            }
        }
    }

    /// Skips spaces, line ends, null characters (as upstream does) and `//` comments.
    pub(crate) fn skip_blank(&mut self) {
        loop {
            match self.byte(self.offset) {
                b' ' | b'\t' | b'\r' => self.offset += 1,
                0 if self.offset < self.text.len() => self.offset += 1,
                b'\n' => {
                    self.offset += 1;
                    self.line += 1;
                    self.line_start = self.offset;
                }
                b'/' if self.byte(self.offset + 1) == b'/' => {
                    self.offset = self.run(self.offset, |b| b != b'\n')
                }
                _ => return,
            }
        }
    }

    fn scan(&self, start: usize) -> (Kind, usize) {
        if start == self.text.len() {
            return (Kind::End, start);
        }
        let rest = &self.text.as_bytes()[start..];
        let one = |kind| (kind, start + 1);
        match rest[0] {
            b'{' if rest.starts_with(b"{-#") => (Kind::OpenMetadata, start + 3),
            b'#' if rest.starts_with(b"#-}") => (Kind::CloseMetadata, start + 3),
            b'-' if rest.starts_with(b"->") => (Kind::Arrow, start + 2),
            b'(' => one(Kind::LParen),
            b')' => one(Kind::RParen),
            b'{' => one(Kind::LBrace),
            b'}' => one(Kind::RBrace),
            b'[' => one(Kind::LBracket),
            b']' => one(Kind::RBracket),
            b'<' => one(Kind::Less),
            b'>' => one(Kind::Greater),
            b',' => one(Kind::Comma),
            b':' => one(Kind::Colon),
            b'=' => one(Kind::Equal),
            b'-' => one(Kind::Minus),
            b'*' => one(Kind::Star),
            b'?' => one(Kind::Question),
            b'"' => self.scan_string(start),
            b'0'..=b'9' => self.scan_number(start),
            b'%' => self.scan_suffix(start, Kind::Value, "a name after `%`"),
            b'^' => self.scan_suffix(start, Kind::Block, "a name after `^`"),
            b'#' => self.scan_suffix(start, Kind::Hash, "a name after `#`"),
            b'!' => self.scan_suffix(start, Kind::Bang, "a name after `!`"),
            b'@' => self.scan_symbol(start),
            first if starts_bare(first) => (Kind::Word, self.run(start, continues_bare)),
            _ => {
                let width = self.text[start..].chars().next().map_or(1, char::len_utf8);
                (Kind::Invalid("MLIR text"), start + width)
            }
        }
    }

    fn scan_suffix(&self, start: usize, kind: Kind, expected: &'static str) -> (Kind, usize) {
        let body = start + 1;
        let end = match self.byte(body) {
            b'0'..=b'9' => self.run(body, |b| b.is_ascii_digit()),
            _ => self.run(body, continues_suffix),
        };
        if end == body { (Kind::Invalid(expected), end) } else { (kind, end) }
    }

    fn scan_symbol(&self, start: usize) -> (Kind, usize) {
        match self.byte(start + 1) {
            b'"' => match self.scan_string(start + 1) {
                (Kind::String, end) => (Kind::Symbol, end),
                invalid => invalid,
            },
            first if starts_bare(first) => (Kind::Symbol, self.run(start + 1, continues_bare)),
            _ => (Kind::Invalid("a name or a string after `@`"), start + 1),
        }
    }

    fn scan_number(&self, start: usize) -> (Kind, usize) {
        if self.text[start..].starts_with("0x") && hex_digit(self.byte(start + 2)).is_some() {
            return (Kind::Integer, self.run(start + 2, |b| b.is_ascii_hexdigit()));
        }
        let digit = |b: u8| b.is_ascii_digit();
        let whole = self.run(start, digit);
        if self.byte(whole) != b'.' {
            return (Kind::Integer, whole);
        }
        let fraction = self.run(whole + 1, digit);
        if !matches!(self.byte(fraction), b'e' | b'E') {
            return (Kind::Float, fraction);
        }
        let sign = usize::from(matches!(self.byte(fraction + 1), b'+' | b'-'));
        let exponent = self.run(fraction + 1 + sign, digit);
        let end = if exponent > fraction + 1 + sign { exponent } else { fraction };
        (Kind::Float, end)
    }

    fn scan_string(&self, start: usize) -> (Kind, usize) {
        match string_end(self.text, start) {
            Ok(end) => (Kind::String, end),
            Err((expected, end)) => (Kind::Invalid(expected), end),
        }
    }
}

/// The offset after the string literal that opens at `start`; an error says what is missing and where reading stopped.
pub(crate) fn string_end(text: &str, start: usize) -> Result<usize, (&'static str, usize)> {
    let mut offset = start + 1;
    loop {
        match text.as_bytes().get(offset..).unwrap_or_default() {
            [b'"', ..] => return Ok(offset + 1),
            [b'\\', b'"' | b'\\' | b'n' | b't', ..] => offset += 2,
            [b'\\', high, low, ..] if hex_digit(*high).is_some() && hex_digit(*low).is_some() => offset += 3,
            [b'\\', ..] => {
                let escaped = text[offset + 1..].chars().next().map_or(0, char::len_utf8);
                return Err((
                    "a string with escapes \\\\, \\\", \\n, \\t or two hex digits",
                    offset + 1 + escaped,
                ));
            }
            [] | [b'\n' | 0x0B | 0x0C | 0, ..] => return Err(("`\"` at the end of the string", offset)),
            [_, ..] => offset += 1,
        }
    }
}
