//! PTX as data: typed instructions over virtual registers, in labelled blocks.      target-gpu ─► [isa-ptx] ─► text, sim-ptx
//! In: an `Entry` written with `EntryBuilder`, or PTX text.  Out: the same as the other of the two.
//! May use: base.  Never knows: what instructions compute, machines beyond the `.target` they need, layouts, files.
//! Start reading at `module.rs`, then `form.rs` (how one row describes an instruction), then `op.rs`.

pub mod builder;
pub mod form;
pub mod key;
mod lex;
pub mod mma;
pub mod modifiers;
pub mod module;
pub mod op;
pub mod operand;
mod parse;
mod print;
pub mod reg;
pub mod sample;
pub mod special;
pub mod target;
pub mod types;
mod uses;
mod verify;

pub use builder::{EntryBuilder, Label};
pub use form::Access;
pub use module::{
    Block, BlockId, Directives, Entry, Inst, Module, Param, ParamId, ParamType, Shared, SharedId,
};
pub use op::Op;
pub use operand::{Address, Base, Operand, OperandList, Predicate, RegList};
pub use parse::parse;
pub use print::{print, print_inst};
pub use reg::{Reg, RegClass, RegCounts};
pub use special::Special;
pub use target::{Needs, Target, Version};
