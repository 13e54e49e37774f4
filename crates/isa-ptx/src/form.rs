//! The one description of each instruction's syntax: printer, parser, checker and the lists of registers all walk it.
//! A form names the parts of its opcode in order, then its operands in order; a visitor prints them, fills them from
//! text, or looks at their registers.

use crate::key::Key;
use crate::module::BlockId;
use crate::operand::{Address, Operand, OperandList, Predicate, RegList};
use crate::reg::Reg;
use crate::target::Needs;
use crate::types::Scalar;

/// How an instruction is written.
pub trait Form: Clone + Default {
    /// How its opcode begins.
    const MNEMONIC: &'static str;

    /// Walks the opcode after the mnemonic, then the operands. Parts may depend on parts before them.
    fn form<V: Visitor>(&mut self, v: &mut V);

    /// What the language forbids though the fields could say it. Errors: the rule.
    fn check(&self) -> Result<(), &'static str>;

    fn needs(&self) -> Needs;
}

/// Whether an operand is read or written; an accumulator is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Update,
}

/// What an address may start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Generic, global, local and constant memory: registers of 64 bits.
    Window,
    /// Shared memory: registers of 32 or 64 bits, shared variables.
    Shared,
    /// The entry's parameters, by name.
    Param,
}

/// Takes the parts of a form in the order of the text. All methods return `self`, so that a form is one chain.
pub trait Visitor: Sized {
    // Parts of the opcode.

    /// A fixed word.
    fn word(&mut self, word: &'static str) -> &mut Self;

    fn key<K: Key>(&mut self, key: &mut K) -> &mut Self;

    fn opt_key<K: Key>(&mut self, key: &mut Option<K>) -> &mut Self;

    /// A word that is there or not.
    fn flag(&mut self, flag: &mut bool, word: &'static str) -> &mut Self;

    /// A word that says that an optional operand follows; the operand is visited by itself.
    fn presence<T: Default>(&mut self, operand: &mut Option<T>, word: &'static str) -> &mut Self;

    /// The count of a list as one of these words, or none where the word is empty; the list is visited by itself.
    fn count(&mut self, list: &mut RegList, words: &'static [(usize, &'static str)]) -> &mut Self;

    // Operands.

    fn reg(&mut self, reg: &mut Reg, ty: Scalar, access: Access) -> &mut Self;

    /// A register or an immediate.
    fn operand(&mut self, operand: &mut Operand, ty: Scalar) -> &mut Self;

    /// Present where there is one more operand in the text.
    fn opt_operand(&mut self, operand: &mut Option<Operand>, ty: Scalar) -> &mut Self;

    /// A predicate, which may be negated.
    fn predicate(&mut self, predicate: &mut Predicate) -> &mut Self;

    /// Present where there is one more operand in the text.
    fn opt_predicate(&mut self, predicate: &mut Option<Predicate>) -> &mut Self;

    /// `d|p`: the predicate may be missing.
    fn reg_and_predicate(&mut self, reg: &mut Reg, ty: Scalar, predicate: &mut Option<Reg>) -> &mut Self;

    /// `d|p`, or `_|p` where the register is unwanted.
    fn sink_and_predicate(&mut self, reg: &mut Option<Reg>, ty: Scalar, predicate: &mut Reg) -> &mut Self;

    /// A result that may be unwanted, written `_`.
    fn sink(&mut self, reg: &mut Option<Reg>, ty: Scalar) -> &mut Self;

    /// `{a, b}` of so many registers.
    fn regs(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self;

    /// As `regs`; one register is written without braces.
    fn vector(&mut self, regs: &mut RegList, count: usize, ty: Scalar, access: Access) -> &mut Self;

    /// `{a, b}` of so many operands.
    fn operands(&mut self, operands: &mut OperandList, count: usize, ty: Scalar) -> &mut Self;

    /// A number that must be known when the text is written.
    fn immediate(&mut self, value: &mut u32) -> &mut Self;

    /// 1 or -1: whether wgmma negates an operand.
    fn sign(&mut self, negated: &mut bool) -> &mut Self;

    /// 0 or 1.
    fn bit(&mut self, bit: &mut bool) -> &mut Self;

    /// `[base + offset]`.
    fn address(&mut self, address: &mut Address, place: Place) -> &mut Self;

    /// `[map, {c0, c1}]`: a tensor map's address, without offset, and a box's corner, innermost first.
    fn tensor(&mut self, map: &mut Address, corner: &mut OperandList, rank: usize) -> &mut Self;

    fn label(&mut self, block: &mut BlockId) -> &mut Self;

    /// A variable's name, whose address is meant. The offset must be 0.
    fn symbol(&mut self, address: &mut Address) -> &mut Self;

    /// An operand of a closed set of names, such as `%tid.x`.
    fn name<K: Key>(&mut self, name: &mut K) -> &mut Self;

    /// A fixed last operand such as `128`.
    fn fixed(&mut self, text: &'static str) -> &mut Self;

    // Shorter names for what most forms have.

    fn write(&mut self, reg: &mut Reg, ty: Scalar) -> &mut Self {
        self.reg(reg, ty, Access::Write)
    }

    fn read(&mut self, reg: &mut Reg, ty: Scalar) -> &mut Self {
        self.reg(reg, ty, Access::Read)
    }

    fn generic(&mut self, address: &mut Address) -> &mut Self {
        self.address(address, Place::Window)
    }

    fn global(&mut self, address: &mut Address) -> &mut Self {
        self.address(address, Place::Window)
    }

    fn shared(&mut self, address: &mut Address) -> &mut Self {
        self.address(address, Place::Shared)
    }

    /// Present where `presence` has said so.
    fn opt_read(&mut self, reg: &mut Option<Reg>, ty: Scalar) -> &mut Self {
        match reg {
            Some(reg) => self.read(reg, ty),
            None => self,
        }
    }
}

/// Declares instructions: a row is the struct, its mnemonic, and what `Form` asks for.
macro_rules! ops {
    ($( $(#[$doc:meta])* struct $name:ident $mnemonic:literal
        { $( $(#[$fdoc:meta])* $field:ident : $ty:ty ),* $(,)? }
        form |$v:ident| $form:expr;
        $( check $check:expr; )?
        $( needs $needs:expr; )?
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $( $(#[$fdoc])* pub $field: $ty ),* }

        #[allow(unused_variables)]
        impl $crate::form::Form for $name {
            const MNEMONIC: &'static str = $mnemonic;

            fn form<V: $crate::form::Visitor>(&mut self, $v: &mut V) {
                let Self { $( $field ),* } = self;
                $form;
            }

            fn check(&self) -> Result<(), &'static str> {
                let Self { $( $field ),* } = self;
                $( $check?; )?
                Ok(())
            }

            fn needs(&self) -> $crate::target::Needs {
                let Self { $( $field ),* } = self;
                $crate::target::Needs::BASE $( .max($needs) )?
            }
        }
    )* };
}

pub(crate) use ops;

/// `Err(rule)` where the condition does not hold.
pub(crate) fn rule(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}
