//! The compiled file: writer, reader, checks, and the planner of its arena.
//!
//! ```text
//!   HostProgram + code + constants ─► writer ─► bytes ─► reader ─► check ─► Package ─► runtime
//!                                                 lifetimes ─► plan ─► arena offsets
//! ```
//! In: sections and a host program as plain data.  Out: bytes; and back, verified.
//! May use: base.  Never knows: IR, machines, how to run anything, files.
//! Start reading at `host.rs` (the program), then `format.rs` (the bytes) and `plan.rs` (the arena).

pub mod functions;
pub mod host;
pub mod portable;
pub mod size;

pub use functions::Function;
pub use host::{
    Arg, Buffer, BufferId, Cond, CostRecord, HostProgram, Kernel, KernelCode, Origin, Place, Port, Relation,
    SizeExpr, Step, Symbol,
};
pub use portable::{Memory, OutOfBounds, PortableExecutor, PortableKernel};
