//! MLIR generic text <-> an untyped syntax tree.      text ─► [lexer ─► parse] ─► ast ─► [print] ─► text
//! In: text.  Out: `ast::Module`, or a `SyntaxError` with line, column and expectation; and back.
//! May use: base.  Never knows: what any operation means.
//! Start reading at `ast.rs`, then `parse.rs` and `print.rs`.
//!
//! Two laws hold for every text `x` that parses: `print(parse(print(parse(x)))) == print(parse(x))`, and upstream's
//! `mlir-opt --allow-unregistered-dialect` reads `print(parse(x))` whenever it reads `x`.

mod access;
pub mod ast;
mod error;
mod lexer;
mod parse;
mod print;
mod spell;

pub use error::SyntaxError;
pub use parse::{MAX_NESTING, parse_attr, parse_module, parse_type};
pub use print::{print_attr, print_module, print_operation, print_type};
