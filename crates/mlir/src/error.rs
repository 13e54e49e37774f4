//! The one error of this crate: where the text stopped being MLIR, what was expected there, what stood there.

use std::fmt;

use tegula_base::Diagnostic;

/// Displays as ``line 3:14: expected `->` between operand and result types, found `}` ``.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: u32,
    /// From 1, in bytes, as `mlir-opt` counts.
    pub column: u32,
    /// Completes "expected ...".
    pub expected: String,
    /// Completes "found ...": the offending text in backticks, or `end of text`.
    pub found: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SyntaxError { line, column, expected, found } = self;
        write!(f, "line {line}:{column}: expected {expected}, found {found}")
    }
}

impl std::error::Error for SyntaxError {}

/// Code `mlir-syntax`; the caller adds the file's name with `Diagnostic::at`.
impl From<SyntaxError> for Diagnostic {
    fn from(error: SyntaxError) -> Diagnostic {
        Diagnostic::error("mlir-syntax", error.to_string())
    }
}
