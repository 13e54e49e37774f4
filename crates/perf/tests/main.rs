//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

mod cpu;
mod gpu;
mod lpu;
