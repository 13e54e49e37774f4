//! Reads model files into the tensor level.      model file ─► [import] ─► tensor ─► opt
//! In: model bytes and their folder.  Out: a `tensor` program, or one report with every problem in it.
//! May use: tensor, ir, base.  Never knows: machines, passes, packages.
//! Start reading at `front_door.rs` (the table of formats), then `onnx.rs`, `onnx/table.rs` and `build.rs`.
//!
//! ```text
//! front_door ─► onnx, program_text ─► build (checked ops) ─► tensor program
//!     └─► foreign (named, refused)        └─► report (every problem)
//! ```

mod build;
mod foreign;
pub mod front_door;
pub mod onnx;
mod program_text;
mod report;

pub use front_door::{FORMATS, ModelFile, Request, Step, defaults, dims_of_given, import};
