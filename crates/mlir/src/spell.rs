//! How MLIR spells names, strings and hex: the rules that the lexer reads and the printer writes.
//! Source: `Lexer.cpp` and `AsmPrinter.cpp` of MLIR 22 describe them; LangRef "Identifiers and keywords".

use std::fmt::Write;

/// Whether `name` stands without quotes as an attribute name, resource key or symbol: `[A-Za-z_][A-Za-z0-9_$.]*`.
pub(crate) fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(starts_bare) && bytes.all(continues_bare)
}

pub(crate) fn starts_bare(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(crate) fn continues_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// A byte of a name behind `%`, `^`, `#` or `!`, when the name does not start with a digit.
pub(crate) fn continues_suffix(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'-')
}

/// Writes `name` bare where that is allowed, quoted otherwise.
pub(crate) fn write_name(out: &mut String, name: &str) {
    if is_bare(name) {
        out.push_str(name);
    } else {
        write_quoted(out, name.as_bytes());
    }
}

/// Writes `"..."`; bytes outside printable ASCII become `\XX`, as upstream prints them.
pub(crate) fn write_quoted(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                out.push('\\');
                write_hex_byte(out, byte);
            }
        }
    }
    out.push('"');
}

/// Writes `"0x..."`, two capital digits a byte.
pub(crate) fn write_hex_string(out: &mut String, bytes: &[u8]) {
    out.reserve(2 * bytes.len() + 4);
    out.push_str("\"0x");
    for &byte in bytes {
        write_hex_byte(out, byte);
    }
    out.push('"');
}

fn write_hex_byte(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Decodes `0x...`; `None` without the prefix, at an odd number of digits or a foreign character.
pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(hex_digit(pair[0])? << 4 | hex_digit(pair[1])?)).collect()
}

pub(crate) fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// The bytes of a string literal whose quotes are gone and whose escapes the lexer has checked.
pub(crate) fn unescape(body: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (value, length) = match *rest {
            [high, low, ..] if hex_digit(high).is_some() && hex_digit(low).is_some() => {
                (hex_digit(high).unwrap_or(0) << 4 | hex_digit(low).unwrap_or(0), 2)
            }
            [b'n', ..] => (b'\n', 1),
            [b't', ..] => (b'\t', 1),
            [other, ..] => (other, 1),
            [] => (b'\\', 0),
        };
        bytes.push(value);
        rest = &rest[length..];
    }
    bytes
}

/// Writes a number without going through a temporary string.
pub(crate) fn write_number(out: &mut String, number: impl std::fmt::Display) {
    write!(out, "{number}").expect("invariant: writing to a String does not fail");
}
