//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

mod common;

mod bugs;
mod coverage;
mod door;
mod hopper;
mod kernels;
mod mma;
mod scalars;
mod speed;
mod wgmma;
