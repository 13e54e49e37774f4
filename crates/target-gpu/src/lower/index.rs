//! Indexes: the same for all threads of a CTA, 64 bits, made where they are defined when they are first needed.

use super::{ARGS, BEGIN, Lower, Made};
use crate::coord::{MapId, UNIFORM};
use crate::scalar::apply;
use tegula_base::{DType, Dim};
use tegula_ir::{Def, ScalarOp, Value};
use tegula_isa_ptx::modifiers::{StateSpace, WindowSpace};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Address, Base, Operand, Reg, Special};
use tegula_tile::TileOp;

impl Lower<'_> {
    /// The coordinates of a unit, from its linear number, row-major over the grid.
    pub fn bind_unit(&mut self, unit: Operand) {
        let body = self.func.body();
        let coordinates = self.func.args(body)[self.kernel.views.len()..].to_vec();
        let home = self.scopes.len() - 1;
        // There are fewer than 2^32 units (`docs/abi.md`); the runtime refuses more.
        let mut rest = self.code.narrow(unit);
        for (i, value) in coordinates.iter().enumerate().rev() {
            let (coordinate, before) = match i {
                0 => (rest, rest),
                _ => {
                    let extent = self.size(&self.kernel.grid[i].extent.clone());
                    let extent = self.code.narrow(extent);
                    self.code.divide32(rest, extent)
                }
            };
            rest = before;
            let coordinate = self.code.widen(coordinate);
            self.scopes[home].indexes.insert(*value, coordinate);
        }
    }

    /// The number of this CTA's first unit.
    pub fn first_unit(&mut self) -> Operand {
        let (begin, cta) = (self.code.b64(), self.code.b32());
        self.load_param(BEGIN, 0, begin);
        let special = if self.cluster() > 1 { Special::ClusteridX } else { Special::CtaidX };
        self.code.emit(MovSpecial { ty: AddressType::U32, d: cta, special });
        let cta = self.code.widen(cta.into());
        self.code.add64(begin.into(), cta)
    }

    pub fn load_param(&mut self, param: tegula_isa_ptx::ParamId, offset: i32, d: Reg) {
        let address = Address::new(Base::Param(param), offset);
        self.code.emit(Ld {
            space: StateSpace::Param,
            ty: MemoryType::U64,
            d: [d].into_iter().collect(),
            address,
            ..Default::default()
        });
    }

    /// The run's value of a size: a constant, or a word of the argument block.
    pub fn size(&mut self, dim: &Dim) -> Operand {
        if let Some(n) = dim.as_const() {
            return Operand::i64(n);
        }
        if let Some(word) = self.size_words.get(dim) {
            return *word;
        }
        let word = self.size_word(dim);
        let level = self.code.set_level(0);
        let d = self.code.b64();
        self.load_param(ARGS, 8 * word as i32, d);
        self.code.set_level(level);
        self.size_words.insert(dim.clone(), d.into());
        d.into()
    }

    /// The word of the argument block that has a size.
    pub fn size_word(&mut self, dim: &Dim) -> usize {
        let known = self.sizes.iter().position(|own| own == dim);
        let number = known.unwrap_or_else(|| {
            self.sizes.push(dim.clone());
            self.sizes.len() - 1
        });
        1 + self.kernel.views.len() + number
    }

    /// The global address of a view.
    pub fn pointer(&mut self, view: usize) -> Reg {
        if let Some(reg) = self.pointers.get(&view) {
            return *reg;
        }
        let level = self.code.set_level(0);
        let (word, d) = (self.code.b64(), self.code.b64());
        self.load_param(ARGS, 8 * (1 + view as i32), word);
        self.code.emit(CvtaTo { space: WindowSpace::Global, d, a: word });
        self.code.set_level(level);
        self.pointers.insert(view, d);
        d
    }

    /// A sum over the thread's bits, in 32 bits.
    pub fn thread(&mut self, map: MapId) -> Operand {
        if map == UNIFORM {
            return Operand::u32(0);
        }
        if let Some(known) = self.threads.get(&map) {
            return *known;
        }
        let level = self.code.set_level(0);
        let tid = self.thread_number();
        let bits = self.maps.get(map).clone();
        let mut sum = Operand::u32(0);
        let mut i = 0;
        while i < bits.len() {
            // Neighbouring bits whose weights double are one field.
            let (first, weight) = bits[i];
            let mut count = 1;
            while i + count < bits.len() && bits[i + count] == (first + count as u8, weight << count) {
                count += 1;
            }
            let field = self.code.b32();
            let (pos, len) = (Operand::u32(first.into()), Operand::u32(count as u32));
            self.code.emit(Bfe { ty: WideInt::U32, d: field, a: tid.into(), pos, len });
            let part = self.code.mul32(field.into(), weight as u32);
            sum = self.code.add32(sum, part);
            i += count;
        }
        self.code.set_level(level);
        self.threads.insert(map, sum);
        sum
    }

    /// The thread's number: in a cluster the CTA's rank is above its bits in the CTA.
    fn thread_number(&mut self) -> Reg {
        let tid = self.code.b32();
        self.code.emit(MovSpecial { ty: AddressType::U32, d: tid, special: Special::TidX });
        if self.cluster() == 1 {
            return tid;
        }
        let rank = self.rank();
        let shifted = self.code.mul32(rank.into(), 1 << self.cta_bits());
        let sum = self.code.add32(tid.into(), shifted);
        self.code.in_reg(tegula_isa_ptx::RegClass::B32, sum)
    }

    /// The CTA's place in its cluster.
    pub fn rank(&mut self) -> Reg {
        let d = self.code.b32();
        self.code.emit(MovSpecial { ty: AddressType::U32, d, special: Special::ClusterCtarank });
        d
    }

    /// As [`Self::thread`], where a warp's threads agree: the assembler then knows that they do.
    pub fn uniform_thread(&mut self, map: MapId) -> Operand {
        if let Some(known) = self.uniform_threads.get(&map) {
            return *known;
        }
        let thread = self.thread(map);
        let level = self.code.set_level(0);
        let uniform = self.code.first_lane(thread);
        self.code.set_level(level);
        self.uniform_threads.insert(map, uniform);
        uniform
    }

    /// An index, made at the level of its definition.
    pub fn index(&mut self, value: Value) -> Made<Operand> {
        let home = self.level_of(value);
        if let Some(known) = self.scopes[home].indexes.get(&value) {
            return Ok(*known);
        }
        let Def::Result(op, _) = self.func.def(value) else {
            unreachable!("invariant: arguments of open regions are bound")
        };
        let operands = self.func.operands(op).to_vec();
        let made = match self.func.kind(op) {
            TileOp::Const { value } => Operand::i64(*value),
            TileOp::Size { dim } => self.size(dim),
            TileOp::Index { op } => {
                let (a, b) = (self.index(operands[0])?, self.index(operands[1])?);
                let level = self.code.set_level(home);
                let made = self.code.index_op(*op, a, b);
                self.code.set_level(level);
                made
            }
            TileOp::ToIndex {} => {
                let (dtype, _) = self.tile(operands[0]);
                let level = self.code.set_level(home);
                let piece = self.pieces(operands[0], &[Default::default()]).and_then(|pieces| {
                    apply(
                        &mut self.code,
                        ScalarOp::Cast { to: DType::I64, saturate: true },
                        &[dtype],
                        &pieces,
                    )
                });
                self.code.set_level(level);
                piece?
            }
            other => unreachable!("invariant: `{}` gives no index", tegula_ir::Op::name(other)),
        };
        self.scopes[home].indexes.insert(value, made);
        Ok(made)
    }

    /// A number that divides the index in every run.
    pub fn divisor(&self, value: Value) -> i64 {
        let of_size = |dim: &Dim| {
            let divides = |n: &i64| self.symbols.divides(*n, dim);
            [16, 8, 4, 2].into_iter().find(divides).unwrap_or(1)
        };
        tegula_tile::divisor::divisor(self.func, value, &of_size)
    }
}
