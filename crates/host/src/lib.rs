//! Host level (`tgh`): buffers, launches, copies, control flow, asserts; executor.
//! In: what `opt` lowers.  Out: verified `HostFunc`s and their meaning.
//! May use: ir, base, mlir.  Never knows: what a kernel computes.
//! Start reading at `ops.rs`, then `exec.rs`.
