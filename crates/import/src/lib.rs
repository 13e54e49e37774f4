//! Reads model files (ONNX) into the tensor level.      model file ─► [import] ─► tensor ─► opt
//! In: model bytes and their folder.  Out: a `tensor` program, or one report with every problem in it.
//! May use: tensor, ir, base.  Never knows: machines, passes, packages.
//! Start reading at `onnx.rs`, then `onnx/table.rs`.

mod build;
pub mod onnx;
mod report;
