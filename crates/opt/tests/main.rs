//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

#[path = "pass/target.rs"]
mod target;

mod cubes;
mod decompose;
mod fold_constants;
mod fork_loops;
mod legalise_types;
mod pass;
mod plan_memory;
