//! Tensor level (`tgn`): ops, shape rules, constraints, composites' meaning, reference evaluator.
//! In: ops built by importers and passes.  Out: verified `TensorFunc`s and their meaning.
//! May use: ir, base, mlir.  Never knows: machines, layouts' cost, tiles, packages.
//! Start reading at `ops.rs`, then `check.rs` (shape rules), `build.rs`, `decompose.rs` and `eval.rs`.
//!
//! ```text
//! build ─► TensorFunc ─► check ─► eval
//!   └── decompose: composites in simpler ops ──┘
//! ```

pub mod attr_dims;
pub mod build;
pub mod check;
pub mod decompose;
pub mod eval;
pub mod facts;
pub mod layout;
pub mod lookup;
pub mod ops;
pub mod reference;
pub mod size_values;
pub mod smaller;
pub mod types;
pub mod winograd;

pub use build::Builder;
pub use check::{check_program, finish_region_op, infer};
pub use eval::{Evaluator, evaluate, evaluate_op};
pub use layout::Layout;
pub use ops::{
    Direction, DotDims, KernelClass, PadMode, PoolKind, QuantScheme, ScatterKind, TensorOp, Window,
};
pub use reference::reference_markdown;
pub use types::TensorType;

/// A function on the tensor level.
pub type TensorFunc = tegula_ir::Func<TensorOp>;
/// A model on the tensor level.
pub type TensorProgram = tegula_ir::Program<TensorOp>;
