//! Named pipelines: compile, check, inspect, explain as functions.
//! In: model bytes and options.  Out: a package, reports.
//! May use: tensor, tile, host, import, perf, target, opt, target-cpu, package, runtime, machine, mlir, ir, base.  Never knows: terminals, argument parsing, the environment.
//! Start reading at `compile.rs`.
//!
//! ```text
//! model ─► import ─► tensor pipeline ─► host pipeline ─► package     (compile)
//!             │            ├► emit (text of any level), explain (remarks)
//!             └► evaluator ┴► check (evaluator = compiled, kernel by kernel)
//! ```

pub mod check;
pub mod compile;
pub mod emit;
pub mod explain;
pub mod inspect;
pub mod model;
pub mod opt;
pub mod probe;
pub mod target;
pub mod trace;

pub use compile::{CompileOptions, Compiled, Stages, compile};
pub use emit::Emit;
pub use model::Model;
pub use target::Form;
pub use tegula_ir::pass::{PassCx, PassRecord, Remark};
pub use tegula_ir::{Trace, TraceLevel};

use std::sync::Arc;
use tegula_package::PortableExecutor;

/// The executor of portable kernels, for sessions.
pub fn portable_executor() -> Arc<dyn PortableExecutor> {
    Arc::new(tegula_target_cpu::exec::Portable)
}
