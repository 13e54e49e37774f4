//! The compiled file: writer, reader, checks, and the planner of its arena.
//! In: sections and a host program as plain data.  Out: bytes; and back, verified.
//! May use: base.  Never knows: IR, machines, how to run anything.
//! Start reading at `format.rs`, then `host.rs` and `plan.rs`.
