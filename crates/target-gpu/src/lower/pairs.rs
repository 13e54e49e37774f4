//! Halves two at a time: a factor in registers holds neighbours along k in pairs, and arithmetic on pairs costs half.
//!
//! A value is computed in pairs where that gives the very bits: sums and products of halves (the nearest half to a result in `f32`
//! is the nearest half to the result), integers of few bits, and products in `f32` of a half and such an integer, which are exact.
//! Integers become halves by their bits: beside the exponent of 128 (or 1024) a nibble is the end of the fraction, and
//! beside that of 1.5 2^23 any integer is that of an `f32`.
//! Source: IST-DASLab/marlin, `dequant`, for the bits of nibbles.

use super::{Lower, Made};
use crate::coord::Place;
use crate::scalar::hold;
use tegula_base::{DType, HashMap};
use tegula_ir::{ScalarOp, Value};
use tegula_isa_ptx::modifiers::MulPart;
use tegula_isa_ptx::op::{FAdd, FMul, FSub, Lop3, Mul};
use tegula_isa_ptx::types::{FloatType, IntType};
use tegula_isa_ptx::{Operand, Reg, RegClass};
use tegula_tile::TileOp;

/// How a value's pairs come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// They are another value's.
    Same(Value),
    Integers(Value),
    Arithmetic(ScalarOp, Value, Value),
    /// They are elsewhere in the operand.
    Moved(Value),
    Constant(i64),
}

/// Pairs that were computed on the way to others, by value and places.
type Known = HashMap<(Value, Vec<Place>), Vec<Reg>>;

/// The exponent under which integers are the last bits of an `f32`: 1.5 2^23, and what it is as a number.
const WIDE_BITS: u32 = 0x4b40_0000;
/// `(a & b) | c`.
const AND_OR: u32 = 0xea;

impl Lower<'_> {
    /// Pairs of a tile of halves, a register each; `places` are the low and the high element in turn.
    pub fn pairs(&mut self, value: Value, places: &[Place]) -> Made<Vec<Reg>> {
        let (half, _) = self.tile(value);
        self.pairs_as(half, value, places, &mut Known::default())
    }

    /// As [`Self::pairs`], of a value whose elements are such halves.
    fn pairs_as(&mut self, half: DType, value: Value, places: &[Place], known: &mut Known) -> Made<Vec<Reg>> {
        match self.how(half, value) {
            Some(How::Same(other)) => self.pairs_as(half, other, places, known),
            Some(How::Integers(integers)) => {
                if let Some((nibbles, bias)) = self.nibbles(half, integers, places)? {
                    let bias = self.both(half, bias);
                    return Ok(nibbles.into_iter().map(|pair| self.difference(half, pair, bias)).collect());
                }
                let numbers = self.pieces(integers, places)?;
                let floats: Vec<Operand> = numbers.into_iter().map(|number| self.small(number)).collect();
                Ok(floats.chunks(2).map(|pair| self.packed(half, pair)).collect())
            }
            Some(How::Arithmetic(f, a, b)) => {
                let key = (value, places.to_vec());
                if let Some(pairs) = known.get(&key) {
                    return Ok(pairs.clone());
                }
                let pairs = match self.centred(half, f, a, b, places)? {
                    Some(pairs) => pairs,
                    None => {
                        let a = self.pairs_as(half, a, places, known)?;
                        let b = self.pairs_as(half, b, places, known)?;
                        a.into_iter().zip(b).map(|(a, b)| self.arithmetic(half, f, a, b)).collect()
                    }
                };
                known.insert(key, pairs.clone());
                Ok(pairs)
            }
            Some(How::Constant(bits)) => {
                let pair = self.both_bits(bits as u32);
                Ok(vec![pair; places.len() / 2])
            }
            Some(How::Moved(from)) => {
                let op = self.func.def_op(value).expect("invariant: an op moves it");
                match self.moved(op, places) {
                    Some(places) => self.distinct(half, from, &places, known),
                    None => self.joined(half, value, places),
                }
            }
            None => self.joined(half, value, places),
        }
    }

    fn how(&self, half: DType, value: Value) -> Option<How> {
        let func = self.func;
        let op = func.def_op(value)?;
        let (dtype, _) = self.tile(value);
        match func.kind(op) {
            TileOp::Splat { bits, .. } if dtype == half => Some(How::Constant(*bits)),
            TileOp::Broadcast { .. } | TileOp::Reshape { .. } | TileOp::Transpose { .. } => {
                let from = func.operand(op, 0);
                self.is_exact(half, from).then_some(How::Moved(from))
            }
            TileOp::Elementwise { f: f @ (ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul) }
                if dtype == half =>
            {
                Some(How::Arithmetic(*f, func.operand(op, 0), func.operand(op, 1)))
            }
            TileOp::Elementwise { f: ScalarOp::Cast { .. } } if dtype == half || dtype == DType::F32 => {
                let from = func.operand(op, 0);
                if self.is_exact(half, from) {
                    return Some(How::Same(from));
                }
                if self.is_small(from) {
                    return Some(How::Integers(from));
                }
                let product = func.def_op(from).filter(|op| {
                    matches!(func.kind(*op), TileOp::Elementwise { f: ScalarOp::Mul })
                        && self.tile(from).0 == DType::F32
                })?;
                let [a, b] = [func.operand(product, 0), func.operand(product, 1)];
                let halves = self.is_exact(half, a) && self.is_exact(half, b);
                let few_bits = self.is_integers(half, a) || self.is_integers(half, b);
                (halves && few_bits && dtype == half).then_some(How::Arithmetic(ScalarOp::Mul, a, b))
            }
            _ => None,
        }
    }

    /// Whether all elements are such halves.
    fn is_exact(&self, half: DType, value: Value) -> bool {
        match self.tile(value).0 {
            dtype if dtype == half => true,
            DType::F32 => {
                matches!(self.how(half, value), Some(How::Same(_) | How::Integers(_) | How::Moved(_)))
            }
            _ => false,
        }
    }

    fn is_integers(&self, half: DType, value: Value) -> bool {
        match self.how(half, value) {
            Some(How::Integers(_)) => true,
            Some(How::Same(from) | How::Moved(from)) => self.is_integers(half, from),
            _ => false,
        }
    }

    /// Whether elements are integers of 8 bits, or differences of two: halves hold them.
    fn is_small(&self, value: Value) -> bool {
        let dtype = self.tile(value).0;
        if !dtype.is_int() || dtype.bits() <= 8 {
            return dtype.is_int();
        }
        let Some(op) = self.func.def_op(value) else { return false };
        let operands = self.func.operands(op);
        match self.func.kind(op) {
            TileOp::Elementwise { f: ScalarOp::Cast { .. } } => {
                let from = self.tile(operands[0]).0;
                from.is_int() && from.bits() <= 8
            }
            TileOp::Elementwise { f: ScalarOp::Sub } => {
                let narrow = |value: &Value| !self.is_difference(*value) && self.is_small(*value);
                operands.iter().all(narrow)
            }
            TileOp::Broadcast { .. } | TileOp::Reshape { .. } | TileOp::Transpose { .. } => {
                self.is_small(operands[0])
            }
            _ => false,
        }
    }

    fn is_difference(&self, value: Value) -> bool {
        let Some(op) = self.func.def_op(value) else { return false };
        match self.func.kind(op) {
            TileOp::Elementwise { f: ScalarOp::Sub } => true,
            TileOp::Broadcast { .. } | TileOp::Reshape { .. } | TileOp::Transpose { .. } => {
                self.is_difference(self.func.operand(op, 0))
            }
            _ => false,
        }
    }

    // --- where pairs come from -----------------------------------------------------------------------------

    /// Elements rounded and joined.
    fn joined(&mut self, half: DType, value: Value, places: &[Place]) -> Made<Vec<Reg>> {
        let pieces = self.unrounded_pieces(value, places)?;
        Ok(pieces.chunks(2).map(|pair| self.packed(half, pair)).collect())
    }

    /// Each pair once.
    fn distinct(&mut self, half: DType, value: Value, places: &[Place], known: &mut Known) -> Made<Vec<Reg>> {
        let mut seen: HashMap<&[Place], usize> = HashMap::default();
        let (mut asked, mut numbers) = (Vec::new(), Vec::new());
        for pair in places.chunks(2) {
            let number = *seen.entry(pair).or_insert_with(|| {
                asked.extend_from_slice(pair);
                asked.len() / 2 - 1
            });
            numbers.push(number);
        }
        let made = self.pairs_as(half, value, &asked, known)?;
        Ok(numbers.into_iter().map(|number| made[number]).collect())
    }

    /// `nibble - constant`, the constant taken off with the bias.
    fn centred(
        &mut self,
        half: DType,
        f: ScalarOp,
        a: Value,
        b: Value,
        places: &[Place],
    ) -> Made<Option<Vec<Reg>>> {
        let (ScalarOp::Sub, Some(How::Integers(integers))) = (f, self.how(half, a)) else { return Ok(None) };
        let Some(constant) = self.constant(half, b) else { return Ok(None) };
        let Some((nibbles, bias)) = self.nibbles(half, integers, places)? else { return Ok(None) };
        if constant.fract() != 0.0 || !(0.0..=f64::from(bias) - 1.0).contains(&constant) {
            let (bias, constant) = (self.both(half, bias), self.both_float(half, constant));
            let numbers =
                nibbles.into_iter().map(|pair| self.difference(half, pair, bias)).collect::<Vec<_>>();
            return Ok(Some(numbers.into_iter().map(|pair| self.difference(half, pair, constant)).collect()));
        }
        let both = self.both(half, bias + constant as u32);
        Ok(Some(nibbles.into_iter().map(|pair| self.difference(half, pair, both)).collect()))
    }

    /// The number that all elements are.
    fn constant(&self, half: DType, value: Value) -> Option<f64> {
        match self.how(half, value)? {
            How::Constant(bits) => match hold(half, bits as u64 & 0xffff) {
                Operand::Imm(bits) => Some(f64::from(f32::from_bits(bits as u32))),
                Operand::Reg(_) => None,
            },
            How::Same(from) | How::Moved(from) => self.constant(half, from),
            How::Integers(_) | How::Arithmetic(..) => None,
        }
    }

    /// Halves of bytes, each pair of one byte, as halves above a bias. None where integers are something else.
    fn nibbles(&mut self, half: DType, value: Value, places: &[Place]) -> Made<Option<(Vec<Reg>, u32)>> {
        const LOW: Operand = Operand::Imm(15);
        let elementwise = |cx: &Self, value: Value, wanted: ScalarOp| -> Option<[Value; 2]> {
            let op = cx.func.def_op(value)?;
            let TileOp::Elementwise { f } = cx.func.kind(op) else { return None };
            (*f == wanted).then(|| [cx.func.operand(op, 0), cx.func.operand(op, 1)])
        };
        let Some((value, places)) = self.unmoved(value, places) else { return Ok(None) };
        let Some([shifted, mask]) = elementwise(self, value, ScalarOp::And) else { return Ok(None) };
        let Some((shifted, inner)) = self.unmoved(shifted, &places) else { return Ok(None) };
        let Some([bytes, by]) = elementwise(self, shifted, ScalarOp::ShiftRight) else { return Ok(None) };
        if self.tile(bytes).0 != DType::U8 {
            return Ok(None);
        }
        let masks = self.pieces(mask, &places)?;
        let shifts = self.pieces(by, &inner)?;
        if masks.iter().any(|mask| *mask != LOW) {
            return Ok(None);
        }
        let bytes = self.pieces(bytes, &inner)?;
        let are_halves = |(byte, by): (&[Operand], &[Operand])| {
            byte[0] == byte[1] && by == [Operand::Imm(0), Operand::Imm(4)]
        };
        if !bytes.chunks(2).zip(shifts.chunks(2)).all(are_halves) {
            return Ok(None);
        }
        let bias: u32 = if half == DType::F16 { 1024 } else { 128 };
        let exponent = self.both(half, bias);
        let pairs = bytes.chunks(2).map(|byte| {
            // The high nibble to the high half: 12 bits further.
            let [apart, pair] = [(); 2].map(|()| self.code.b32());
            let (part, ty) = (MulPart::Lo, IntType::U32);
            self.code.emit(Mul { part, ty, d: apart, a: byte[0], b: Operand::u32(1 << 12 | 1) });
            let (a, b, c) = (apart.into(), Operand::u32(0x000f_000f), exponent.into());
            self.code.emit(Lop3 { d: pair, a, b, c, table: AND_OR });
            pair
        });
        Ok(Some((pairs.collect(), bias)))
    }

    /// The value behind ops that only move elements, and where the elements are there.
    fn unmoved(&mut self, mut value: Value, places: &[Place]) -> Option<(Value, Vec<Place>)> {
        let mut places = places.to_vec();
        while let Some(op) = self.func.def_op(value) {
            match self.func.kind(op) {
                TileOp::Broadcast { .. } | TileOp::Reshape { .. } | TileOp::Transpose { .. } => {
                    places = self.moved(op, &places)?;
                    value = self.func.operand(op, 0);
                }
                _ => break,
            }
        }
        Some((value, places))
    }

    /// A small integer as `f32`.
    fn small(&mut self, number: Operand) -> Operand {
        let bits = self.code.add32(number, Operand::u32(WIDE_BITS));
        let bits = self.code.in_reg(RegClass::B32, bits);
        let d = self.code.b32();
        let b = Operand::u32((-f32::from_bits(WIDE_BITS)).to_bits());
        self.code.emit(FAdd { ty: FloatType::F32, d, a: bits.into(), b, ..Default::default() });
        d.into()
    }

    // --- arithmetic ----------------------------------------------------------------------------------------

    fn arithmetic(&mut self, half: DType, f: ScalarOp, a: Reg, b: Reg) -> Reg {
        let (ty, d) = (pair_type(half), self.code.b32());
        let (a, b) = (a.into(), b.into());
        match f {
            ScalarOp::Add => self.code.emit(FAdd { ty, d, a, b, ..Default::default() }),
            ScalarOp::Sub => self.code.emit(FSub { ty, d, a, b, ..Default::default() }),
            _ => self.code.emit(FMul { ty, d, a, b, ..Default::default() }),
        }
        d
    }

    fn difference(&mut self, half: DType, a: Reg, b: Reg) -> Reg {
        self.arithmetic(half, ScalarOp::Sub, a, b)
    }

    /// A number in both halves.
    fn both(&mut self, half: DType, number: u32) -> Reg {
        self.both_float(half, f64::from(number))
    }

    fn both_float(&mut self, half: DType, number: f64) -> Reg {
        let cast = ScalarOp::Cast { to: half, saturate: true };
        let bits = tegula_ir::scalar::eval::eval(cast, &[DType::F64], &[number.to_bits()]);
        self.both_bits(bits as u32)
    }

    fn both_bits(&mut self, bits: u32) -> Reg {
        let bits = bits & 0xffff;
        self.code.in_reg(RegClass::B32, Operand::u32(bits << 16 | bits))
    }
}

fn pair_type(half: DType) -> FloatType {
    if half == DType::F16 { FloatType::F16x2 } else { FloatType::BF16x2 }
}
