//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

mod ask;

mod answers;
mod chips;
mod command;
mod cuda;
mod given;
mod hostile;
