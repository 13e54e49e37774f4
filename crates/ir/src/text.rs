//! Programs as MLIR generic text, and back.
//!
//! ```mlir
//! "builtin.module"() ({
//!   "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
//!   ^bb0(%0: tensor<2xf32>):
//!     %1 = "tgn.neg"(%0) : (tensor<2xf32>) -> tensor<2xf32> loc("layer.0/neg")
//!     "tgn.return"(%1) : (tensor<2xf32>) -> ()
//!   }) : () -> ()
//! }) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
//! ```
//!
//! Printing: any function, verified or not; values print as their ids.  Parsing: ids are given in textual order, so
//! that printing what was parsed is a fixpoint; names resolve, types convert, nothing else is checked (see `verify`).
//! Constants are `dense_resource<const3>`: the small ones' bytes stand in the sidecar `{-# ... #-}`, of the large ones
//! only the hash (module attribute `tgn.elided`), and reading those back takes a [`Sidecar`].

mod parse;
mod print;
mod symbols;

pub use parse::{parse_program, program_from_ast};
pub use print::{PrintOptions, print_func, print_program, program_to_ast};

use crate::mlir::{Attr, Type};

/// Finds the bytes of an elided constant by its SHA-256 in lower-case hexadecimal.
pub type Sidecar<'a> = &'a dyn Fn(&str) -> Option<bytes::Bytes>;

/// Calls `f` with the key and type of each `dense_resource` in an attribute.
fn for_each_resource(attr: &mut Attr, f: &mut dyn FnMut(&mut String, &mut Type)) {
    match attr {
        Attr::DenseResource(key, ty) => f(key, ty),
        Attr::Array(items) => items.iter_mut().for_each(|item| for_each_resource(item, f)),
        Attr::Dictionary(entries) => entries.iter_mut().for_each(|(_, attr)| for_each_resource(attr, f)),
        _ => {}
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
