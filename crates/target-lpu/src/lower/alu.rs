//! Builds chains of ALU operations over the vectors of one tensor.

use super::{Lower, Tensor, chunks, row};
use crate::flow::walk::rounds;
use crate::flow::{Access, Kind, Loops, Source};
use smallvec::SmallVec;
use tegula_base::DType;
use tegula_isa_lpu::word::{AluOp, Element, Number};

/// An operand of a chain: vectors, or bits that all lanes have.
pub(super) type Arg = Source;

/// A chain that computes a tensor of some shape.
pub(super) struct Chain<'a, 'b> {
    pub(super) lower: &'a mut Lower<'b>,
    loops: Loops,
}

/// The bits of a float in each lane.
pub(super) fn float(x: f32) -> Arg {
    Source::Immediate(x.to_bits())
}

pub(super) fn int(x: i32) -> Arg {
    Source::Immediate(x as u32)
}

/// The result of an operation whose operands are the same in all lanes and rounds.
fn folded(op: AluOp, args: &[&Arg]) -> Option<Arg> {
    let mut bits = [0; 3];
    for (own, arg) in bits.iter_mut().zip(args) {
        let Source::Immediate(known) = arg else { return None };
        *own = *known;
    }
    Some(Source::Immediate(tegula_isa_lpu::arith::alu(op, bits)))
}

impl<'a, 'b> Chain<'a, 'b> {
    pub(super) fn over(lower: &'a mut Lower<'b>, shape: &[usize]) -> Chain<'a, 'b> {
        let lanes = lower.lanes();
        let leading = shape.iter().rev().skip(1).rev().map(|extent| *extent as u32);
        let loops: Loops = leading.chain([chunks(shape, lanes) as u32]).collect();
        Chain { lower, loops }
    }

    /// A tensor as an operand; extents of 1 repeat. Its rank is the chain's.
    pub(super) fn arg(&self, tensor: &Tensor) -> Arg {
        let own = Chain::strides(&tensor.shape, self.lower.lanes());
        let strides = own.iter().zip(&self.loops).map(
            |((stride, extent), loops)| {
                if *extent == 1 && *loops != 1 { 0 } else { *stride }
            },
        );
        Source::Vector(Access { value: tensor.value, base: 0, strides: strides.collect() })
    }

    /// The stride and extent of each loop.
    fn strides(shape: &[usize], lanes: usize) -> Vec<(u32, u32)> {
        let chunks = chunks(shape, lanes) as u32;
        let mut found = vec![(1, chunks)];
        let mut stride = chunks;
        for extent in shape.iter().rev().skip(1) {
            found.push((stride, *extent as u32));
            stride *= *extent as u32;
        }
        found.reverse();
        found
    }

    /// A new value in each round.
    pub(super) fn alu(&mut self, op: AluOp, args: &[&Arg]) -> Arg {
        if let Some(known) = folded(op, args) {
            return known;
        }
        let mut operands: SmallVec<[Source; 3]> = args.iter().map(|arg| (*arg).clone()).collect();
        // A word has one constant; others are vectors.
        let mut own = None;
        for operand in &mut operands {
            let Source::Immediate(bits) = *operand else { continue };
            if own.is_none_or(|known| known == bits) {
                own = Some(bits);
                continue;
            }
            let value = self.lower.splat(bits);
            *operand = Source::Vector(Access::fixed(value, 0, self.loops.len()));
        }
        let element = if self.is_float(op) { Element::F32 } else { Element::I32 };
        let value = self.lower.fresh(element, rounds(&self.loops), false);
        let out = Access::dense(value, 0, &self.loops);
        let loops = self.loops.clone();
        self.lower.flow(&loops, Kind::alu(op, operands), out.clone());
        Source::Vector(out)
    }

    fn is_float(&self, op: AluOp) -> bool {
        match op {
            AluOp::Cast { to, .. } => to.is_float(),
            _ => false,
        }
    }

    pub(super) fn add(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Add(Number::F32), &[a, b])
    }

    pub(super) fn sub(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Sub(Number::F32), &[a, b])
    }

    pub(super) fn mul(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Mul(Number::F32), &[a, b])
    }

    /// `a * b + c`, rounded once.
    pub(super) fn fma(&mut self, a: &Arg, b: &Arg, c: &Arg) -> Arg {
        self.alu(AluOp::Fma(Number::F32), &[a, b, c])
    }

    pub(super) fn less(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Less(Number::F32), &[a, b])
    }

    pub(super) fn equal(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Equal(Number::F32), &[a, b])
    }

    pub(super) fn select(&mut self, condition: &Arg, yes: &Arg, no: &Arg) -> Arg {
        self.alu(AluOp::Select, &[condition, yes, no])
    }

    pub(super) fn and(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::And, &[a, b])
    }

    pub(super) fn or(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Or, &[a, b])
    }

    pub(super) fn xor(&mut self, a: &Arg, b: &Arg) -> Arg {
        self.alu(AluOp::Xor, &[a, b])
    }

    pub(super) fn cast(&mut self, a: &Arg, from: Element, to: Element) -> Arg {
        self.alu(AluOp::Cast { from, to, saturate: false, shift: 0 }, &[a])
    }

    /// The tensor that a chain ends with.
    pub(super) fn finish(self, result: Arg, shape: Vec<usize>, dtype: DType) -> Tensor {
        let value = match result {
            Source::Vector(access) => access.value,
            Source::Immediate(bits) => {
                let count: usize = shape.iter().product();
                self.lower.known_bits(&vec![bits; count.max(row(&shape))], &shape)
            }
        };
        Tensor { value, shape, dtype }
    }
}
