//! The IR that every level shares: functions, values, regions, verifier, rewriter, pass runner, text.
//! In: a dialect (`Op`).  Out: `Func<O>` and everything that works on any of them.
//! May use: base, mlir.  Never knows: any dialect.
//! Start reading at `func.rs`, then `op.rs`.
//!
//! ```text
//! Op (a level's closed enum) ─► Func<Op> ─► verify ─► passes (rewrite, pipeline) ─► text ◄─► mlir
//! ```

pub use tegula_mlir::ast as mlir;

pub mod attr;
pub mod consts;
pub mod element_type;
pub mod func;
pub mod liveness;
pub mod op;
pub mod pass;
pub mod pipeline;
pub mod program;
pub mod rewrite;
pub mod scalar;
pub mod text;
pub mod trace;
pub mod verify;

pub use attr::AttrText;
pub use consts::{ConstData, ConstId, ConstStore};
pub use element_type::{dtype_of, element_type};
pub use func::{Def, Fuel, Func, OpData, OpId, RegionId, Value};
pub use liveness::Liveness;
pub use op::{Effects, Op, TypeText};
pub use pass::{Changed, PassCx};
pub use pipeline::{PassState, Pipeline, RunOptions};
pub use program::Program;
pub use scalar::ScalarOp;
pub use text::{PrintOptions, parse_program, print_func, print_program};
pub use trace::{Trace, TraceLevel};
pub use verify::{Verified, verify, verify_program};
