//! Named pipelines: compile, check, inspect, explain as functions.
//! In: model bytes and options.  Out: a package, reports.
//! May use: tensor, tile, host, import, perf, backend, tiling, opt, target-cpu, target-gpu, target-lpu, export-tileir, isa-lpu, isa-ptx, sim-lpu, sim-ptx, sim-x86, package, runtime, machine, mlir, ir, base.  Never knows: terminals, argument parsing, the environment.
//! Start reading at `compile.rs`.
//!
//! ```text
//! model ─► import ─► tensor pipeline ─► host pipeline ─► package     (compile)
//!             │            ├► emit (text of any level), explain (remarks)
//!             ├► evaluator ┴► check (evaluator = compiled, kernel by kernel)
//!             ├► bisect (the pass, and the rewrite, that changes results)
//!             └► reduce (smaller programs that still show a fault)
//! package, package ─► diff (what changed, and what it costs)
//! model ─► tune (tiles that were measured to be faster, as a record for compile)
//! package, profile ─► predict (what each launch of machine code should take, and what holds it back)
//! package, sizes ─► forecast (the one prediction that all commands tell, and its model)
//! model, facts ─► machine_report (times on machines that need not be here, and what their facts change)
//! ```

pub mod bisect;
pub mod bound;
pub mod check;
pub mod compile;
pub mod diff;
pub mod emit;
mod executor;
pub mod explain;
pub mod forecast;
pub mod human;
pub mod inspect;
mod levers;
pub mod lpu;
pub mod machine_report;
pub mod model;
pub mod opt;
pub mod options;
pub mod page;
pub mod predict;
pub mod probe;
pub mod reduce;
mod sizes;
pub mod target;
pub mod tileir;
pub mod trace;
pub mod tune;
pub mod what_if;

pub use compile::{Compiled, Stages, compile};
pub use emit::Emit;
pub use executor::{
    own_or_simulated_cpu, portable_executor, session_options, simulated_cpu, simulated_gpu, simulated_lpu,
};
pub use model::Model;
pub use options::CompileOptions;
pub use target::Form;
pub use tegula_ir::pass::{PassCx, PassRecord, Remark};
pub use tegula_ir::{Trace, TraceLevel};
pub use tegula_opt::passes::Precision;
pub use tegula_tiling::tuning::Tuning;
