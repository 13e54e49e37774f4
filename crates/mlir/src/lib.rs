//! MLIR generic text <-> an untyped syntax tree.
//! In: text.  Out: `ast::Module`, or a `SyntaxError` with line, column and expectation; and back.
//! May use: base.  Never knows: what any operation means.
//! Start reading at `ast.rs`, then `parse.rs` and `print.rs`.

pub mod ast;
