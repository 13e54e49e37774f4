//! Damage to one item of a corpus, by what its format is made of.

use tegula_testkit::random::Rng;

use super::corpus::{Corpus, tokens};
use super::protobuf;
use super::subject::Target;

pub fn any(rng: &mut Rng, target: Target, corpus: &Corpus) -> Vec<u8> {
    let mut item = rng.pick(&corpus.items);
    let other = rng.pick(&corpus.items);
    let rounds = rng.between(1, 4);
    match target {
        Target::Onnx if rng.chance(80) => {
            let others = protobuf::read(&other).unwrap_or_default();
            if let Some(mut fields) = protobuf::read(&item) {
                for _ in 0..rounds {
                    protobuf::damage(rng, &mut fields, &others);
                }
                return protobuf::write(&fields);
            }
        }
        Target::Text if rng.chance(85) => {
            for _ in 0..rounds {
                item = text(rng, &item, &corpus.words);
            }
            return item;
        }
        Target::Package if rng.chance(70) => {
            for _ in 0..rounds {
                digits(rng, &mut item);
            }
            return item;
        }
        _ => {}
    }
    for _ in 0..rounds {
        match rng.chance(15) {
            true => splice(rng, &mut item, &other),
            false => bytes(rng, &mut item),
        }
    }
    item
}

/// Flips, inserts, drops or repeats bytes.
pub fn bytes(rng: &mut Rng, item: &mut Vec<u8>) {
    if item.is_empty() {
        item.push(rng.bits() as u8);
        return;
    }
    let at = rng.below(item.len());
    let end = (at + 1 + rng.below(16)).min(item.len());
    match rng.below(7) {
        0 | 1 => item[at] ^= 1 << rng.below(8),
        2 => item[at] = rng.pick(&[0, 1, 0x7f, 0x80, 0xff, b'0', b'-', b'"']),
        3 => item.insert(at, rng.bits() as u8),
        4 => {
            item.drain(at..end);
        }
        5 => {
            let part = item[at..end].to_vec();
            item.splice(at..at, part);
        }
        _ => item.truncate(at),
    }
}

/// The end of another item behind the start of this one.
fn splice(rng: &mut Rng, item: &mut Vec<u8>, other: &[u8]) {
    let (at, from) = (rng.below(item.len().max(1)), rng.below(other.len().max(1)));
    item.truncate(at);
    item.extend(other.get(from..).unwrap_or_default());
}

/// Numbers in the words of a text.
const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "16",
    "1000",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "0x0",
    "0xFFFFFFFF",
    "1.0e400",
    "-0.0",
];

/// Replaces, drops, doubles or swaps tokens.
fn text(rng: &mut Rng, item: &[u8], words: &[String]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(item) else { return item.to_vec() };
    let tokens: Vec<&str> = tokens(text).collect();
    if tokens.is_empty() {
        return rng.pick(words).into_bytes();
    }
    let start = text.as_ptr() as usize;
    let range = |i: usize| {
        let at = tokens[i].as_ptr() as usize - start;
        at..at + tokens[i].len()
    };
    let i = rng.below(tokens.len());
    let mut out = text.to_string();
    let is_number = |i: &usize| tokens[*i].starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match rng.below(7) {
        0 => out.replace_range(range(i), ""),
        1 => out.insert_str(range(i).start, &format!("{} ", tokens[i])),
        2 => {
            let word = rng.pick(words);
            out.replace_range(range(i), &word);
        }
        3 => {
            let word = rng.pick(&tokens).to_string();
            out.replace_range(range(i), &word);
        }
        4 => {
            // A stretch of text twice: ops, attributes, types.
            let j = (i + rng.below(30)).min(tokens.len() - 1);
            let part = text[range(i).start..range(j).end].to_string();
            out.insert_str(range(i).start, &part);
        }
        _ => {
            let numbers: Vec<usize> = (0..tokens.len()).filter(is_number).collect();
            if !numbers.is_empty() {
                let number = rng.pick(&NUMBERS);
                out.replace_range(range(rng.pick(&numbers)), number);
            }
        }
    }
    out.into_bytes()
}

/// Other digits in the place of digits, so that sections keep their length.
fn digits(rng: &mut Rng, item: &mut [u8]) {
    let places: Vec<usize> = (0..item.len()).filter(|at| item[*at].is_ascii_digit()).collect();
    if places.is_empty() {
        return;
    }
    let at = rng.pick(&places);
    let run = item[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    match rng.below(3) {
        0 => item[at..at + run].fill(b'9'),
        _ => item[at] = b'0' + rng.below(10) as u8,
    }
}
