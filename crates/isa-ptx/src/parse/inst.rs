//! Reads one instruction: every kind whose mnemonic begins the opcode is tried; the one that fits whole is it.
//! Where none fits, the one that came furthest says what was expected.

use std::collections::BTreeMap;

use super::cursor::{Cursor, Fault, magnitude};
use crate::form::Place as Space;
use crate::key::Key;
use crate::lex::Place;
use crate::module::{Inst, ParamId, SharedId};
use crate::op::Op;
use crate::operand::{Address, Base, Operand, Predicate};
use crate::reg::{Reg, RegClass};
use crate::types::Scalar;

/// Empty instructions by the first word of their mnemonic.
pub struct OpTable(BTreeMap<&'static str, Vec<(&'static str, Op)>>);

/// What an entry declares.
pub struct Names<'a> {
    pub labels: BTreeMap<&'a str, u32>,
    pub shared: BTreeMap<String, u32>,
    pub params: BTreeMap<String, u32>,
}

impl OpTable {
    pub fn new() -> OpTable {
        let mut table: BTreeMap<&'static str, Vec<(&'static str, Op)>> = BTreeMap::new();
        for (mnemonic, op) in Op::kinds() {
            table.entry(first_word(mnemonic)).or_default().push((mnemonic, op));
        }
        OpTable(table)
    }
}

fn first_word(opcode: &str) -> &str {
    opcode.split('.').next().unwrap_or(opcode)
}

/// An instruction with its guard and semicolon.
pub fn parse<'a>(cursor: &mut Cursor<'a>, table: &OpTable, names: &Names<'a>) -> Result<Inst, Fault> {
    let guard = guard(cursor)?;
    let place = cursor.place();
    let opcode = cursor.word("an instruction")?;
    let unknown = || Fault::expected(place, "an instruction of the subset", opcode);
    let kinds = table.0.get(first_word(opcode)).ok_or_else(unknown)?;
    let mut worst: Option<Fault> = None;
    for (mnemonic, empty) in kinds {
        let Some(rest) = after_word(opcode, mnemonic) else { continue };
        let mut op = empty.clone();
        let mut form = Form { cursor: cursor.clone(), names, place, opcode, rest, operands: 0, fault: None };
        op.form(&mut form);
        match form.end() {
            Ok(after) => {
                *cursor = after;
                return Ok(Inst { guard, op });
            }
            Err(fault) => {
                worst = Some(match worst {
                    Some(worst) => worst.or(fault),
                    None => fault,
                })
            }
        }
    }
    Err(worst.unwrap_or_else(unknown))
}

fn guard(cursor: &mut Cursor) -> Result<Option<Predicate>, Fault> {
    if !cursor.take("@") {
        return Ok(None);
    }
    let negated = cursor.take("!");
    let reg = register(cursor, Scalar::Pred.class())?;
    Ok(Some(Predicate { reg, negated }))
}

/// What is left of an opcode after whole words.
fn after_word<'a>(opcode: &'a str, words: &str) -> Option<&'a str> {
    opcode.strip_prefix(words).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn register(cursor: &mut Cursor, class: RegClass) -> Result<Reg, Fault> {
    let what = || format!("a register `{}0` and so on", class.prefix());
    let word = cursor.peek().unwrap_or_default();
    let number = word.strip_prefix(class.prefix()).and_then(|number| number.parse::<u32>().ok());
    match number.filter(|number| *number <= Reg::MAX_INDEX) {
        Some(number) => {
            cursor.advance();
            Ok(Reg::new(class, number))
        }
        None => Err(cursor.fault(&what())),
    }
}

fn is_register(word: Option<&str>) -> bool {
    word.is_some_and(|word| word.starts_with('%'))
}

/// Fills a form; after the first fault nothing more is read.
pub struct Form<'a, 'n> {
    pub cursor: Cursor<'a>,
    pub names: &'n Names<'a>,
    place: Place,
    opcode: &'a str,
    /// What is left of the opcode, from a dot on.
    pub rest: &'a str,
    operands: usize,
    fault: Option<Fault>,
}

impl<'a> Form<'a, '_> {
    pub fn end(mut self) -> Result<Cursor<'a>, Fault> {
        self.close_opcode();
        self.read(|form| form.cursor.expect(";"));
        self.fault.map_or(Ok(self.cursor), Err)
    }

    pub fn read<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        match read(self) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }

    pub fn opcode_fault(&self, expected: Vec<String>) -> Fault {
        let read = self.opcode.len() - self.rest.len();
        let place = Place { column: self.place.column + read as u32, ..self.place };
        let next = self.rest.get(1..).map_or("", first_word);
        let found =
            if self.rest.is_empty() { "the end of the opcode".to_string() } else { format!("`.{next}`") };
        Fault { place, expected, found }
    }

    pub fn take_word(&mut self, word: &str) -> bool {
        let after = self.rest.strip_prefix('.').and_then(|rest| after_word(rest, word));
        match after {
            Some(rest) if self.fault.is_none() => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// The longest of the keys that is there.
    pub fn take_key<K: Key>(&mut self) -> Option<K> {
        let rest = self.rest.strip_prefix('.').unwrap_or_default();
        let there =
            K::all().iter().filter(|key| !key.text().is_empty() && after_word(rest, key.text()).is_some());
        let key = there.max_by_key(|key| key.text().len()).copied()?;
        self.take_word(key.text()).then_some(key)
    }

    pub fn close_opcode(&mut self) {
        if self.fault.is_none() && !self.rest.is_empty() {
            self.fault = Some(self.opcode_fault(vec!["the end of the opcode".to_string()]));
        }
    }

    /// Reads an operand with the comma before it.
    pub fn next<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Option<T> {
        self.close_opcode();
        self.operands += 1;
        let first = self.operands == 1;
        self.read(|form| {
            if !first {
                form.cursor.expect(",")?;
            }
            read(form)
        })
    }

    /// As `next`; where that fails nothing is read.
    pub fn try_next<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Option<T> {
        if self.fault.is_some() || self.cursor.peek() != Some(",") {
            return None;
        }
        let before = self.cursor.clone();
        let found = self.next(read);
        if found.is_none() {
            self.fault = None;
            self.cursor = before;
        }
        found
    }

    pub fn register(&mut self, ty: Scalar) -> Result<Reg, Fault> {
        register(&mut self.cursor, ty.class())
    }

    pub fn one(&mut self, ty: Scalar) -> Result<Operand, Fault> {
        if is_register(self.cursor.peek()) || !ty.has_immediates() {
            return Ok(Operand::Reg(self.register(ty)?));
        }
        self.number(ty).map(Operand::Imm)
    }

    /// The bits of an immediate.
    pub fn number(&mut self, ty: Scalar) -> Result<u64, Fault> {
        let before = self.cursor.clone();
        let negative = self.cursor.take("-");
        let word = self.cursor.peek().unwrap_or_default();
        let bits = match ty {
            Scalar::F32 => bits_after(word, ["0f", "0F"], 8).filter(|_| !negative),
            Scalar::F64 => bits_after(word, ["0d", "0D"], 16).filter(|_| !negative),
            _ => magnitude(word).and_then(|number| truncated(number, negative, ty.bits())),
        };
        let what = match ty {
            Scalar::F32 => "a register, or `0f` and 8 digits".to_string(),
            Scalar::F64 => "a register, or `0d` and 16 digits".to_string(),
            _ => format!("a register, or a number of {} bits", ty.bits()),
        };
        let bits = bits.ok_or_else(|| before.fault(&what))?;
        self.cursor.advance();
        Ok(bits)
    }

    pub fn list<T>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        self.cursor.expect("{")?;
        let mut items = Vec::with_capacity(count);
        for i in 0..count {
            if i > 0 {
                self.cursor.expect(",")?;
            }
            items.push(read(self)?);
        }
        self.cursor.expect("}")?;
        Ok(items)
    }

    pub fn base(&mut self, shared: bool, param: bool) -> Result<Base, Fault> {
        let word = self.cursor.peek().unwrap_or_default();
        let base = match (self.names.shared.get(word), self.names.params.get(word)) {
            (Some(id), _) if shared => Base::Shared(SharedId(*id)),
            (_, Some(id)) if param => Base::Param(ParamId(*id)),
            _ => return Err(self.cursor.fault("a variable of this space")),
        };
        self.cursor.advance();
        Ok(base)
    }

    /// `base`, `base+4`, `base+-4`, `base-4`.
    pub fn sum(&mut self, space: Space) -> Result<Address, Fault> {
        let base = match (self.cursor.peek(), space) {
            (word, Space::Shared) if is_register(word) => {
                let narrow = self.register(Scalar::B32);
                Base::Reg(narrow.or_else(|_| self.register(Scalar::B64))?)
            }
            (word, Space::Window) if is_register(word) => Base::Reg(self.register(Scalar::B64)?),
            _ => self.base(space == Space::Shared, space == Space::Param)?,
        };
        let plus = self.cursor.take("+");
        let place = self.cursor.clone();
        let minus = self.cursor.take("-");
        if !plus && !minus {
            return Ok(Address { base, offset: 0 });
        }
        let number = self.cursor.peek().and_then(magnitude).and_then(|number| i64::try_from(number).ok());
        let offset = number.and_then(|number| i32::try_from(if minus { -number } else { number }).ok());
        let offset = offset.ok_or_else(|| place.fault("an offset of 32 bits"))?;
        self.cursor.advance();
        Ok(Address { base, offset })
    }

    pub fn word_operand(&mut self, texts: [&str; 2]) -> Result<bool, Fault> {
        let [no, yes] = texts;
        let before = self.cursor.clone();
        let minus = if self.cursor.take("-") { "-" } else { "" };
        let word = format!("{minus}{}", self.cursor.peek().unwrap_or_default());
        if word != no && word != yes {
            let mut fault = before.fault("");
            fault.expected = vec![format!("`{no}`"), format!("`{yes}`")];
            return Err(fault);
        }
        self.cursor.advance();
        Ok(word == yes)
    }

    pub fn signed_predicate(&mut self) -> Result<Predicate, Fault> {
        let negated = self.cursor.take("!");
        Ok(Predicate { reg: self.register(Scalar::Pred)?, negated })
    }

    pub fn or_sink(&mut self, ty: Scalar) -> Result<Option<Reg>, Fault> {
        if self.cursor.take("_") { Ok(None) } else { self.register(ty).map(Some) }
    }
}

fn bits_after(word: &str, prefixes: [&str; 2], digits: usize) -> Option<u64> {
    let bare = prefixes.iter().find_map(|prefix| word.strip_prefix(prefix))?;
    (bare.len() == digits).then(|| u64::from_str_radix(bare, 16).ok())?
}

/// The number in so many bits, where it fits them with or without a sign.
fn truncated(number: u64, negative: bool, bits: u32) -> Option<u64> {
    let mask = u64::MAX >> (64 - bits);
    if negative {
        (number <= 1 << (bits - 1)).then(|| number.wrapping_neg() & mask)
    } else {
        (number <= mask).then_some(number)
    }
}
