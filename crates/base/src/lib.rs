//! Words that every crate shares: ids, dtypes, symbolic sizes, units, diagnostics.
//! In: nothing.  Out: plain data types.
//! May use: nothing.  Never knows: any IR, files, the clock, the environment.
//! Start reading at `dim.rs` (symbolic sizes), then `diagnostic.rs`.
