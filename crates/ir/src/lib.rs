//! The IR that every level shares: functions, values, regions, verifier, rewriter, pass runner, text.
//! In: a dialect (`Op`).  Out: `Func<O>` and everything that works on any of them.
//! May use: base, mlir.  Never knows: any dialect.
//! Start reading at `func.rs`, then `op.rs`.
