//! The library's face: compile a model, run it.
//! In: a path and options.  Out: a `Session`.
//! May use: driver, runtime, package, base, machine.  Never knows: how anything is done.
//! Start reading at `lib.rs`.
