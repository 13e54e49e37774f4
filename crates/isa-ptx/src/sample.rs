//! Instructions to try out: random ones of every kind, and a selection in which every word of every opcode stands
//! and every operand is once a register, once an immediate, once a variable, once missing, as far as it may.
//! All are of one entry, `frame`, whose registers and variables they name.

use std::collections::{BTreeMap, BTreeSet};

use tegula_base::random::SplitMix64;

use crate::form::{Access, Place, Visitor};
use crate::key::Key;
use crate::module::{Block, BlockId, Entry, Inst, Module, Param, ParamId, ParamType, Shared, SharedId};
use crate::op::{Op, Ret};
use crate::operand::{Address, Base, Operand, OperandList, Predicate, RegList};
use crate::reg::{Reg, RegClass, RegCounts};
use crate::target::{Target, Version};
use crate::types::Scalar;

/// Registers of each class; the largest accumulator has 128.
const REGISTERS: u32 = 160;

/// Instructions of an entry.
const ENTRY_INSTS: usize = 64;

/// How often a kind's fields are drawn until they keep its rules.
const MOST_DRAWS: usize = 2_000;

/// Draws that in a row cover nothing new before a kind is held to be covered.
const IDLE_DRAWS: usize = 400;

/// An entry with variables and registers, and one empty block.
pub fn frame() -> Entry {
    let mut registers = RegCounts::default();
    for class in RegClass::ALL {
        registers.set(class, REGISTERS);
    }
    let params = vec![
        Param { name: "base".to_string(), ty: ParamType::Scalar(Scalar::U64) },
        Param { name: "map".to_string(), ty: ParamType::Bytes { align: 64, size: 128 } },
    ];
    let shared = vec![
        Shared { name: "dynamic".to_string(), align: 1024, size: None },
        Shared { name: "stage".to_string(), align: 1024, size: Some(4096) },
    ];
    let blocks = vec![Block { name: "start".to_string(), insts: Vec::new() }];
    let mut entry =
        Entry { name: "sample".to_string(), params, shared, registers, blocks, ..Entry::default() };
    entry.directives.reqntid = Some([128, 1, 1]);
    entry.directives.maxnreg = Some(232);
    entry
}

/// Modules in which the instructions stand: one for each version that some of them need, for the target itself.
pub fn modules_of(target: Target, insts: Vec<Inst>) -> Vec<Module> {
    let mut by_version: BTreeMap<Version, Vec<Inst>> = BTreeMap::new();
    for inst in insts {
        let version = inst.op.needs().version.max(target.version());
        by_version.entry(version).or_default().push(inst);
    }
    by_version.into_values().map(|insts| module_of(target, insts)).collect()
}

/// One module of the instructions, in entries of a few each.
pub fn module_of(target: Target, insts: Vec<Inst>) -> Module {
    let mut entries: Vec<Entry> = Vec::new();
    let mut room = 0;
    for inst in insts {
        // A change of the register count is about the whole entry, and sums in flight keep their registers.
        let alone = matches!(
            inst.op,
            Op::SetmaxnregInc(_) | Op::SetmaxnregDec(_) | Op::Wgmma(_) | Op::WgmmaRegisters(_)
        );
        if room == 0 || alone {
            entries.push(Entry { name: format!("sample{}", entries.len()), ..frame() });
            room = if alone { 1 } else { ENTRY_INSTS };
        }
        room -= 1;
        if let Some(entry) = entries.last_mut() {
            append(entry, inst);
        }
    }
    for entry in &mut entries {
        append(entry, Inst::new(Ret {}));
    }
    Module { target, entries }
}

/// A branch ends its block.
fn append(entry: &mut Entry, inst: Inst) {
    let is_branch = matches!(inst.op, Op::Bra(_));
    if let Some(block) = entry.blocks.last_mut() {
        block.insts.push(inst);
    }
    if is_branch {
        entry.blocks.push(Block::default());
    }
}

/// A random instruction of any kind that the target has.
pub fn random_inst(random: &mut SplitMix64, target: Target) -> Inst {
    let kinds = Op::kinds();
    loop {
        let kind = &kinds[below(random, kinds.len())].1;
        if let Some((op, _)) = draw(random, target, kind) {
            return Inst { guard: guard(random, &op), op };
        }
    }
}

/// For each kind that the target has, instructions in which every choice of word and operand is made at least once.
pub fn covering(seed: u64, target: Target) -> Vec<Inst> {
    let mut random = SplitMix64::new(seed);
    let mut found = Vec::new();
    for (_, kind) in Op::kinds() {
        let mut covered = BTreeSet::new();
        let mut idle = 0;
        while idle < IDLE_DRAWS {
            let Some((op, words)) = draw(&mut random, target, &kind) else { break };
            let before = covered.len();
            covered.extend(words);
            idle += 1;
            // A kind without words is covered by one.
            if covered.len() > before || covered.is_empty() {
                idle = 0;
                found.push(Inst { guard: guard(&mut random, &op), op });
            }
            if covered.is_empty() {
                break;
            }
        }
    }
    found
}

/// An instruction of the kind that keeps its rules, and the choices made with their places.
fn draw(random: &mut SplitMix64, target: Target, kind: &Op) -> Option<(Op, Vec<(usize, String)>)> {
    for _ in 0..MOST_DRAWS {
        let mut op = kind.clone();
        let mut filler = Filler { random, words: Vec::new() };
        op.form(&mut filler);
        let words = filler.words;
        if op.check().is_ok() && op.needs().target <= target {
            return Some((op, words));
        }
    }
    None
}

/// What ends a thread is guarded, so that what follows is reached.
fn guard(random: &mut SplitMix64, op: &Op) -> Option<Predicate> {
    let ends = matches!(op, Op::Ret(_) | Op::Exit(_) | Op::Trap(_) | Op::Bra(_));
    (ends || below(random, 4) == 0).then(|| predicate(random))
}

fn below(random: &mut SplitMix64, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

fn register(random: &mut SplitMix64, class: RegClass) -> Reg {
    Reg::new(class, below(random, REGISTERS as usize) as u32)
}

fn predicate(random: &mut SplitMix64) -> Predicate {
    Predicate { reg: register(random, RegClass::Pred), negated: below(random, 2) == 1 }
}

/// Fills fields at random.
struct Filler<'a> {
    random: &'a mut SplitMix64,
    words: Vec<(usize, String)>,
}

impl Filler<'_> {
    fn below(&mut self, end: usize) -> usize {
        below(self.random, end)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Notes a choice in its place of the instruction.
    fn note(&mut self, word: &str) {
        self.words.push((self.words.len(), word.to_string()));
    }

    fn register(&mut self, class: RegClass) -> Reg {
        register(self.random, class)
    }

    fn immediate_bits(&mut self, ty: Scalar) -> u64 {
        let bits = match ty {
            Scalar::F32 => 0.5f32.to_bits() as u64,
            Scalar::F64 => (-2.5f64).to_bits(),
            _ => match self.below(4) {
                0 => [0, 1, 2, 4, 7, 8][self.below(6)],
                1 => [16, 32, 64, 128][self.below(4)],
                2 if ty.is_signed() => u64::MAX,
                _ => [0, 1, 32][self.below(3)],
            },
        };
        bits & (u64::MAX >> (64 - ty.bits()))
    }

    fn one(&mut self, ty: Scalar) -> Operand {
        if ty.has_immediates() && self.below(3) == 0 {
            self.note("immediate");
            Operand::Imm(self.immediate_bits(ty))
        } else {
            self.note("register");
            Operand::Reg(self.register(ty.class()))
        }
    }
}

impl Visitor for Filler<'_> {
    fn word(&mut self, _: &'static str) -> &mut Self {
        self
    }

    fn key<K: Key>(&mut self, key: &mut K) -> &mut Self {
        *key = K::all()[self.below(K::all().len())];
        self.note(key.text());
        self
    }

    fn opt_key<K: Key>(&mut self, key: &mut Option<K>) -> &mut Self {
        *key = self.chance().then(|| K::all()[self.below(K::all().len())]);
        self.note(key.map_or("", K::text));
        self
    }

    fn flag(&mut self, flag: &mut bool, word: &'static str) -> &mut Self {
        *flag = self.chance();
        self.note(if *flag { word } else { "" });
        self
    }

    fn presence<T: Default>(&mut self, operand: &mut Option<T>, word: &'static str) -> &mut Self {
        *operand = self.chance().then(T::default);
        self.note(if operand.is_some() { word } else { "" });
        self
    }

    fn count(&mut self, list: &mut RegList, words: &'static [(usize, &'static str)]) -> &mut Self {
        let (count, word) = words[self.below(words.len())];
        list.resize(count, Reg::default());
        self.note(word);
        self
    }

    fn reg(&mut self, reg: &mut Reg, ty: Scalar, _: Access) -> &mut Self {
        *reg = self.register(ty.class());
        self
    }

    fn operand(&mut self, operand: &mut Operand, ty: Scalar) -> &mut Self {
        *operand = self.one(ty);
        self
    }

    fn opt_operand(&mut self, operand: &mut Option<Operand>, ty: Scalar) -> &mut Self {
        *operand = self.chance().then(|| self.one(ty));
        self.note(if operand.is_some() { "present" } else { "" });
        self
    }

    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self {
        *predicate = self::predicate(self.random);
        self
    }

    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self {
        *predicate = self.chance().then(|| self::predicate(self.random));
        self
    }

    fn reg_and_predicate(&mut self, reg: &mut Reg, ty: Scalar, predicate: &mut Option<Reg>) -> &mut Self {
        *reg = self.register(ty.class());
        *predicate = self.chance().then(|| Reg::new(RegClass::Pred, (reg.index() + 1) % REGISTERS));
        self.note(if predicate.is_some() { "present" } else { "" });
        self
    }

    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, ty: Scalar, predicate: &mut Reg) -> &mut Self {
        self.sink(reg, ty).reg(predicate, Scalar::Pred, Access::Write)
    }

    fn sink(&mut self, reg: &mut Option<Reg>, ty: Scalar) -> &mut Self {
        *reg = self.chance().then(|| self.register(ty.class()));
        self.note(if reg.is_some() { "wanted" } else { "" });
        self
    }

    fn regs(&mut self, regs: &mut RegList, count: usize, ty: Scalar, _: Access) -> &mut Self {
        // Neighbours, so that none is written twice.
        let first = self.below(REGISTERS as usize - count) as u32;
        *regs = (0..count as u32).map(|i| Reg::new(ty.class(), first + i)).collect();
        self
    }

    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self {
        self.regs(regs, count, ty, access)
    }

    fn operands(&mut self, operands: &mut OperandList, count: usize, ty: Scalar) -> &mut Self {
        *operands = (0..count).map(|_| self.one(ty)).collect();
        self
    }

    fn immediate(&mut self, value: &mut u32) -> &mut Self {
        *value = [0, 1, 2, 3, 4, 7, 8, 16, 24, 40, 128, 232][self.below(12)];
        self
    }

    fn sign(&mut self, negated: &mut bool) -> &mut Self {
        *negated = self.chance();
        self
    }

    fn bit(&mut self, bit: &mut bool) -> &mut Self {
        *bit = self.chance();
        self
    }

    fn address(&mut self, address: &mut Address, place: Place) -> &mut Self {
        let base = match (place, self.below(3)) {
            (Place::Param, _) => Base::Param(ParamId(1)),
            (Place::Shared, 0) => Base::Shared(SharedId(self.below(2) as u32)),
            (Place::Shared, 1) => Base::Reg(self.register(RegClass::B32)),
            _ => Base::Reg(self.register(RegClass::B64)),
        };
        self.note(match base {
            Base::Reg(reg) => reg.class().prefix(),
            Base::Shared(_) | Base::Param(_) => "variable",
        });
        // What `ptxas` sees of an address is aligned to any access.
        let least = if matches!(base, Base::Reg(_)) { -64 } else { 0 };
        *address = Address { base, offset: least + 16 * self.below(7) as i32 };
        self
    }

    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, rank: usize) -> &mut Self {
        *map = Address::from(self.register(RegClass::B64));
        self.operands(corner, rank, Scalar::S32)
    }

    fn label(&mut self, block: &mut BlockId) -> &mut Self {
        *block = BlockId(0);
        self
    }

    fn symbol(&mut self, address: &mut Address) -> &mut Self {
        let base = if self.chance() {
            Base::Param(ParamId(1))
        } else {
            Base::Shared(SharedId(self.below(2) as u32))
        };
        *address = Address::new(base, 0);
        self
    }

    fn name<K: Key>(&mut self, name: &mut K) -> &mut Self {
        self.key(name)
    }

    fn fixed(&mut self, _: &'static str) -> &mut Self {
        self
    }
}
