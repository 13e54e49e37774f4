//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

#[path = "../../testkit/tests/tiles/arithmetic.rs"]
mod arithmetic;
#[path = "native/call.rs"]
mod call;
#[path = "lower/harness.rs"]
mod harness;
#[path = "../../testkit/tests/tiles/movement.rs"]
mod movement;
#[path = "native/simulator.rs"]
mod simulator;

mod asm;
mod count;
mod lower;
mod lower_text;
mod math;
mod native;
mod schedule;
mod simulated;
mod ulp;
