//! Loads packages and runs them.
//! In: a package file and input tensors.  Out: output tensors, timings.
//! May use: package, base.  Never knows: IR, compilers, models.
//! Start reading at `session.rs`, then `cpu.rs`.
