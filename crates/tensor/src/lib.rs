//! Tensor level (`tgn`): ops, shape rules, constraints, reference evaluator.
//! In: ops built by importers and passes.  Out: verified `TensorFunc`s and their meaning.
//! May use: ir, base, mlir.  Never knows: machines, layouts' cost, tiles, packages.
//! Start reading at `ops.rs`, then `infer.rs` and `eval.rs`.
