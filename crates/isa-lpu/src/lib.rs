//! Words of a streaming chip as data: what each queue issues, when, and what it computes.   target-lpu ─► [isa-lpu] ─► sim-lpu
//! In: an `Image` as data, text or bytes.  Out: the same in another of these forms; issues with their cycles; arithmetic;
//! a proof that a schedule is right, or what is wrong with it.
//! May use: base, machine.  Never knows: the compiler, the simulator, models, files.
//! Start reading at `word.rs`, then `image.rs`, `issue.rs` (when a word issues), `verify.rs` (what must hold),
//! `arith.rs` (what it computes) and `bursts.rs` (which value each unit works for when).
//!
//! ```text
//! text ◄─► Image ◄─► bytes
//!            ├─► issues of a phase: (cycle, queue, word, tags) ─► bursts
//!            └─► verify ─► proof
//! ```

pub mod arith;
mod binary;
pub mod bursts;
mod exact;
pub mod floor;
pub mod image;
pub mod issue;
mod lex;
mod owners;
mod parse;
mod print;
pub mod tag;
pub mod verify;
pub mod word;

pub use binary::{decode, encode};
pub use bursts::{Arrow, Burst, Bursts, bursts};
pub use floor::{Direction, Half, QueueId, Stream};
pub use image::{Address, Binding, BindingKind, Cell, Chip, Image, Phase, Program, Queue, ValueName};
pub use issue::{Issue, issues};
pub use parse::parse;
pub use print::print;
pub use tag::{Tag, Tags};
pub use verify::{Proof, verify};
pub use word::Word;
