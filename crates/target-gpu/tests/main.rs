//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

#[path = "../../testkit/tests/tiles/arithmetic.rs"]
mod arithmetic;
#[path = "lower/harness.rs"]
mod harness;
#[path = "../../testkit/tests/tiles/movement.rs"]
mod movement;

mod lower;
mod lower_text;
mod roles;
mod scalars;
