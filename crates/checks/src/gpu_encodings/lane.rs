//! What a lane's registers hold, by following machine code backwards: where a loaded word comes from, which register of
//! which product a stored word was, what an address comes to.
//!
//! Only straight code: up to a place the last write of a register counts. Integers have 32 bits; upper halves of
//! addresses are never asked for, since addresses are small here.

use anyhow::{Context, Result, bail, ensure};

use super::sass::Instruction;

/// The contents of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Word(u32),
    /// The word at this byte of the constant bank 0: a parameter.
    Parameter(u32),
    /// The word of memory at this address.
    Memory(u32),
    /// The n-th register that the instruction at this place writes.
    Result {
        place: usize,
        register: u32,
    },
}

/// A register's number; of each lane, or of the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    Lane(u32),
    Warp(u32),
}

impl Register {
    pub fn plus(self, n: u32) -> Register {
        match self {
            Register::Lane(number) => Register::Lane(number + n),
            Register::Warp(number) => Register::Warp(number + n),
        }
    }

    /// `R4`, `UR4`, `R4.64`, `R4.ROW`; not the constant zeros `RZ` and `URZ`.
    pub fn named(text: &str) -> Option<Register> {
        let name = text.split('.').next()?;
        let number = |digits: &str| digits.parse().ok();
        match name.strip_prefix("UR") {
            Some(digits) => Some(Register::Warp(number(digits)?)),
            None => Some(Register::Lane(number(name.strip_prefix('R')?)?)),
        }
    }

    /// How far behind `first`, of the same kind.
    fn behind(self, first: Register) -> Option<u32> {
        match (self, first) {
            (Register::Lane(own), Register::Lane(first)) => own.checked_sub(first),
            (Register::Warp(own), Register::Warp(first)) => own.checked_sub(first),
            _ => None,
        }
    }
}

/// Parameters start here in the constant bank: on sm_80 and 89, and on sm_90.
pub const PARAMETERS: [u32; 2] = [0x160, 0x210];

/// A function as one lane runs it.
pub struct Lane<'a> {
    pub code: &'a [Instruction],
    pub lane: u32,
    /// Where parameters start in the constant bank.
    pub parameters: u32,
    /// Parameters that are numbers, all others are unknown: byte and value.
    pub known: &'a [(u32, u32)],
}

impl Lane<'_> {
    /// What a register holds before the instruction at `place`.
    pub fn register(&self, place: usize, register: Register) -> Result<Value> {
        for (at, instruction) in self.code.iter().enumerate().take(place).rev() {
            let Some((first, count)) = written(instruction) else { continue };
            match register.behind(first) {
                Some(nth) if nth < count => {
                    return self.result(at, nth).with_context(|| {
                        format!("{} {}", instruction.opcode, instruction.operands.join(", "))
                    });
                }
                _ => {}
            }
        }
        bail!("{register:?} is not written before")
    }

    /// An operand: a register, a number, a constant of the bank.
    pub fn operand(&self, place: usize, text: &str) -> Result<Value> {
        let (negative, bare) = match text.strip_prefix('-') {
            Some(bare) => (true, bare),
            None => (false, text),
        };
        let value = if bare == "RZ" || bare == "URZ" {
            Value::Word(0)
        } else if let Some(register) = Register::named(bare) {
            self.register(place, register)?
        } else if let Some(constant) = bare.strip_prefix("c[0x0]") {
            self.constant(number(constant.trim_start_matches('[').trim_end_matches(']'))?)
        } else {
            Value::Word(number(bare)?)
        };
        match (negative, value) {
            (false, value) => Ok(value),
            (true, Value::Word(word)) => Ok(Value::Word(word.wrapping_neg())),
            (true, _) => bail!("`{text}` negates what is no number"),
        }
    }

    /// The address in brackets: `desc[UR4][R2.64+0x10]`, `[UR4]`, `[R2.X8+UR4+0x8]`.
    pub fn address(&self, place: usize, text: &str) -> Result<u32> {
        let inner = text.trim_end_matches(']').rsplit('[').next().unwrap_or_default();
        inner.split('+').try_fold(0_u32, |sum, part| {
            let (part, scale) = part.split_once(".X").unwrap_or((part, "1"));
            Ok(sum.wrapping_add(self.word(place, part)?.wrapping_mul(number(scale)?)))
        })
    }

    fn word(&self, place: usize, text: &str) -> Result<u32> {
        match self.operand(place, text)? {
            Value::Word(word) => Ok(word),
            value => bail!("`{text}` is {value:?} and no number"),
        }
    }

    fn constant(&self, byte: u32) -> Value {
        match byte.checked_sub(self.parameters) {
            Some(byte) => match self.known.iter().find(|(known, _)| *known == byte) {
                Some((_, value)) => Value::Word(*value),
                None => Value::Parameter(byte),
            },
            None => Value::Word(0),
        }
    }

    /// The n-th register that an instruction writes.
    fn result(&self, place: usize, nth: u32) -> Result<Value> {
        let instruction = &self.code[place];
        let sources: Vec<&str> = instruction
            .operands
            .iter()
            .skip(1)
            .map(String::as_str)
            .filter(|text| !is_predicate(text))
            .collect();
        let source = |at: usize| sources.get(at).copied().context("an operand is missing");
        let word = |at: usize| self.word(place, source(at)?);
        let low = |word: u32| {
            ensure!(nth == 0, "upper halves are not followed");
            Ok(Value::Word(word))
        };
        match instruction.name() {
            "S2R" | "S2UR" if source(0)? == "SR_LANEID" => Ok(Value::Word(self.lane)),
            "S2R" | "S2UR" => Ok(Value::Word(0)),
            "MOV" | "UMOV" => self.operand(place, source(0)?),
            "R2UR" => self.operand(place, source(0)?),
            "LDC" | "ULDC" => match source(0)?.strip_prefix("c[0x0][") {
                Some(byte) => Ok(self.constant(number(byte.trim_end_matches(']'))? + 4 * nth)),
                None => bail!("another constant bank"),
            },
            "IMAD" if word(0).is_ok_and(|factor| factor == 0) && nth == 0 => self.operand(place, source(2)?),
            "IMAD" | "UIMAD" => low(word(0)?.wrapping_mul(word(1)?).wrapping_add(word(2)?)),
            "IADD3" | "UIADD3" => low(word(0)?.wrapping_add(word(1)?).wrapping_add(word(2)?)),
            "LEA" | "ULEA" if !instruction.has("HI") => low((word(0)? << word(2)?).wrapping_add(word(1)?)),
            "LOP3" | "ULOP3" => low(chosen_bits([word(0)?, word(1)?, word(2)?], word(3)?)),
            "SHF" | "USHF" if instruction.has("R") => {
                let pair = u64::from(word(2)?) << 32 | u64::from(word(0)?);
                let shift = word(1)?;
                // `.HI` gives the upper word of the shifted pair.
                low(if instruction.has("HI") { (pair >> shift >> 32) as u32 } else { (pair >> shift) as u32 })
            }
            "USHF" | "SHF" => low(word(0)? << word(1)?),
            "LDG" => Ok(Value::Memory(self.address(place, source(0)?)? + 4 * nth)),
            _ => Ok(Value::Result { place, register: nth }),
        }
    }
}

fn is_predicate(text: &str) -> bool {
    let name = text.trim_start_matches('!').trim_start_matches('U');
    name == "PT" || name.strip_prefix('P').is_some_and(|digits| digits.parse::<u32>().is_ok())
}

/// The first register that an instruction writes, and how many.
fn written(instruction: &Instruction) -> Option<(Register, u32)> {
    let first = instruction.operands.iter().find(|operand| !is_predicate(operand))?;
    let register = Register::named(first)?;
    let has = |modifier: &str| instruction.has(modifier);
    let count = match instruction.name() {
        "HMMA" => {
            if has("F16") {
                2
            } else {
                4
            }
        }
        "IMMA" => {
            if has("8816") || has("8832") {
                2
            } else {
                4
            }
        }
        "QMMA" => 4,
        "DMMA" => {
            if has("884") || has("8x8x4") {
                4
            } else {
                8
            }
        }
        "HGMMA" | "QGMMA" | "IGMMA" => {
            let shape = instruction.opcode.split('.').nth(1)?;
            let n: u32 = shape.split('x').nth(1)?.parse().ok()?;
            if has("F16") { n / 4 } else { n / 2 }
        }
        "LDSM" if has("4") => 4,
        "LDSM" if has("2") => 2,
        "IMAD" | "UIMAD" if has("WIDE") => 2,
        _ if has("128") => 4,
        _ if has("64") => 2,
        _ => 1,
    };
    Some((register, count))
}

/// Bit by bit of a truth table: its bit `4 a + 2 b + c`.
fn chosen_bits([a, b, c]: [u32; 3], table: u32) -> u32 {
    (0..8).filter(|row| table >> row & 1 == 1).fold(0, |bits, row| {
        let side = |word: u32, bit: u32| if row >> bit & 1 == 1 { word } else { !word };
        bits | side(a, 2) & side(b, 1) & side(c, 0)
    })
}

fn number(text: &str) -> Result<u32> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map(|word| word as u32),
        None => text.parse::<i64>().map(|word| word as u32),
    };
    parsed.with_context(|| format!("`{text}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_encodings::sass::functions;

    #[test]
    fn addresses_loads_and_products_are_followed() {
        let listing = "\t.section\t.text.k\n\
            /*0000*/ S2R R5, SR_LANEID ;\n\
            /*0010*/ ULDC.64 UR4, c[0x0][0x210] ;\n\
            /*0020*/ LOP3.LUT R2, R5, 0x3, RZ, 0xc0, !PT ;\n\
            /*0030*/ SHF.R.U32.HI R5, RZ, 0x2, R5 ;\n\
            /*0040*/ IMAD.WIDE.U32 R2, R5, 0x20, R2 ;\n\
            /*0050*/ LEA R8, P0, R2, UR4, 0x2 ;\n\
            /*0060*/ LDG.E.64 R10, desc[UR6][R8.64+0x10] ;\n\
            /*0070*/ HMMA.16816.F32 R16, R4, R10, RZ ;\n\
            /*0080*/ STG.E desc[UR6][R8.64], R18 ;\n\
            /*0090*/ STS [R5.X8+UR4+0x4], R18 ;\n";
        let code = &functions(listing)["k"];
        let lane = Lane { code, lane: 9, parameters: 0x210, known: &[(0, 0x1000)] };
        let address = 0x1000 + 4 * (2 * 0x20 + 1);
        assert_eq!(lane.address(8, "desc[UR6][R8.64]").ok(), Some(address));
        let loaded = lane.register(7, Register::Lane(11)).ok();
        assert_eq!(loaded, Some(Value::Memory(address + 0x14)));
        let stored = lane.register(8, Register::Lane(18)).ok();
        assert_eq!(stored, Some(Value::Result { place: 7, register: 2 }));
        assert_eq!(lane.address(9, "[R5.X8+UR4+0x4]").ok(), Some(0x1000 + 8 * 2 + 4));
        assert!(lane.register(8, Register::Lane(3)).is_err());
    }

    #[test]
    fn truth_tables_choose_bits() {
        assert_eq!(chosen_bits([0b1100, 0b1010, 0], 0xc0), 0b1000);
        assert_eq!(chosen_bits([0b1100, 0b1010, 0b0001], 0x96), 0b1100 ^ 0b1010 ^ 0b0001);
    }
}
