//! The pieces of a line of text, taken one after the other.

use crate::floor::{Direction, Half, QueueId, Stream};
use crate::image::Address;
use crate::tag::Tag;
use tegula_base::Diagnostic;

/// What is left of a line.
pub(crate) struct Line<'a> {
    rest: &'a str,
    number: usize,
}

pub(crate) type Parsed<T> = Result<T, Diagnostic>;

impl<'a> Line<'a> {
    pub(crate) fn new(text: &'a str, number: usize) -> Line<'a> {
        Line { rest: text.trim(), number }
    }

    pub(crate) fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error("lpu-text", message).at(format!("line {}", self.number))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn peek(&self) -> &'a str {
        self.rest.split_whitespace().next().unwrap_or("")
    }

    /// The next piece up to a space.
    pub(crate) fn piece(&mut self) -> Parsed<&'a str> {
        let piece = self.peek();
        if piece.is_empty() {
            return Err(self.error("the line ends too early".into()));
        }
        self.rest = self.rest[piece.len()..].trim_start();
        Ok(piece)
    }

    /// Takes a word if it comes next.
    pub(crate) fn takes(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        if found {
            self.rest = self.rest[word.len()..].trim_start();
        }
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> Parsed<()> {
        match self.takes(word) {
            true => Ok(()),
            false => Err(self.error(format!("`{word}` should stand before `{}`", self.rest))),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let piece = self.piece()?;
        self.parsed(piece, "a number")
    }

    fn parsed<T: std::str::FromStr>(&self, text: &str, what: &str) -> Parsed<T> {
        text.parse().map_err(|_| self.error(format!("`{text}` is not {what}")))
    }

    /// As `0x1f`.
    pub(crate) fn bits(&self, text: &str) -> Parsed<u32> {
        let digits = text.strip_prefix("0x").unwrap_or("-");
        u32::from_str_radix(digits, 16).map_err(|_| self.error(format!("`{text}` is not a number like 0x1f")))
    }

    /// As `x4`.
    pub(crate) fn count<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let piece = self.piece()?;
        self.parsed(piece.strip_prefix('x').unwrap_or("-"), "a count like x4")
            .map_err(|_| self.error(format!("`{piece}` is not a count like x4")))
    }

    /// As `3:42`.
    pub(crate) fn place(&mut self) -> Parsed<(u8, u16)> {
        let piece = self.piece()?;
        let (bank, word) = piece.split_once(':').unwrap_or((piece, "-"));
        Ok((
            self.parsed(bank, "a bank and a word like 1:42")?,
            self.parsed(word, "a bank and a word like 1:42")?,
        ))
    }

    pub(crate) fn stream(&mut self) -> Parsed<Stream> {
        let piece = self.piece()?;
        self.stream_of(piece)
    }

    pub(crate) fn stream_of(&self, text: &str) -> Parsed<Stream> {
        let direction = match text.as_bytes().first() {
            Some(b'e') => Direction::East,
            Some(b'w') => Direction::West,
            _ => return Err(self.error(format!("`{text}` is not a stream like e3"))),
        };
        Ok(Stream { direction, id: self.parsed(&text[1..], "a stream like e3")? })
    }

    /// `-> e3`.
    pub(crate) fn to(&mut self) -> Parsed<Stream> {
        self.expect("->")?;
        self.stream()
    }

    pub(crate) fn tag(&mut self) -> Parsed<Tag> {
        let piece = self.piece()?;
        let (whole, part) = match piece.split_once("].") {
            Some((whole, part)) => (whole, part),
            None => (piece.strip_suffix(']').unwrap_or(""), "0"),
        };
        let inner = whole.strip_prefix('%').and_then(|rest| rest.split_once('['));
        let Some((value, index)) = inner else {
            return Err(self.error(format!("`{piece}` is not a tag like %3[7]")));
        };
        let what = "a tag like %3[7]";
        let tag = Tag::new(self.parsed(value, what)?, self.parsed(index, what)?);
        Ok(tag.part(self.parsed(part, what)?))
    }

    /// The number of a value, as `%3`.
    pub(crate) fn value(&mut self) -> Parsed<u32> {
        let piece = self.piece()?;
        self.parsed(piece.strip_prefix('%').unwrap_or("-"), "a value like %3")
    }

    /// Text in quotes, as Rust writes it.
    pub(crate) fn quoted(&mut self) -> Parsed<String> {
        let inner = self.rest.strip_prefix('"');
        let Some(inner) = inner else {
            return Err(self.error(format!("text in quotes should stand before `{}`", self.rest)));
        };
        let mut text = String::new();
        let mut letters = inner.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = inner[at + 1..].trim_start();
                    return Ok(text);
                }
                '\\' => match letters.next().map(|(_, escaped)| escaped) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('0') => text.push('\0'),
                    Some('u') => text.push(self.unicode(&mut letters)?),
                    Some(escaped) => text.push(escaped),
                    None => break,
                },
                _ => text.push(letter),
            }
        }
        Err(self.error("a quote is not closed".into()))
    }

    /// The rest of `\u{1f}`.
    fn unicode(&self, letters: &mut std::str::CharIndices) -> Parsed<char> {
        let digits: String = letters
            .map(|(_, letter)| letter)
            .skip_while(|letter| *letter == '{')
            .take_while(|letter| *letter != '}')
            .collect();
        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        code.ok_or_else(|| self.error(format!("`{digits}` is no letter's number")))
    }

    pub(crate) fn queue(&mut self) -> Parsed<QueueId> {
        let piece = self.piece()?;
        let wrong = || self.error(format!("`{piece}` is no queue"));
        if let Some(alu) = piece.strip_prefix("alu") {
            return Ok(QueueId::Alu(alu.parse().map_err(|_| wrong())?));
        }
        let mut parts = piece.split('.');
        let half = match parts.next() {
            Some("W") => Half::West,
            Some("E") => Half::East,
            _ => return Err(wrong()),
        };
        let unit = parts.next().unwrap_or("");
        let digits = unit.find(|letter: char| letter.is_ascii_digit()).unwrap_or(unit.len());
        let number = unit[digits..].parse().map_err(|_| wrong())?;
        let queue = match (&unit[..digits], parts.next()) {
            ("mem", None) => QueueId::Mem { half, slice: number },
            ("sxm", None) => QueueId::Sxm { half, queue: number },
            ("mxm", Some("weights")) => QueueId::Weights { half, plane: number },
            ("mxm", Some("rows")) => QueueId::Rows { half, plane: number },
            ("mxm", Some("sums")) => QueueId::Sums { half, plane: number },
            _ => return Err(wrong()),
        };
        if parts.next().is_some() { Err(wrong()) } else { Ok(queue) }
    }

    /// A slice's word, as `E.mem3 1:42`.
    pub(crate) fn address(&mut self) -> Parsed<Address> {
        match self.queue()? {
            QueueId::Mem { half, slice } => {
                let (bank, word) = self.place()?;
                Ok(Address { half, slice, bank, word })
            }
            other => Err(self.error(format!("`{other}` has no words"))),
        }
    }
}
