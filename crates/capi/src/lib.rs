//! The C interface: compile, load and run by handles; the header is `include/tegula.h`.
//!
//! ```text
//!   C ─► functions.rs ─► border.rs: pointers to slices and text, errors and panics to handles ─► tegula
//! ```
//! In: pointers as the header says.  Out: handles, results, or an error with the diagnostics' text.
//! May use: tegula.  Never knows: how anything is done; what is more than a binding belongs to `tegula`.
//! Start reading at `functions.rs`, then `types.rs` (what crosses the border).
//!
//! `unsafe` stands in `border.rs`, where a caller's pointers are followed, and in `functions.rs`, whose functions are
//! called from C, and in `types.rs`, where a handle holds pointers into itself; every pointer is checked for null, and what it points to is as the header demands: callers that break
//! it break their own process.

mod border;
mod dtypes;
mod functions;
mod types;
