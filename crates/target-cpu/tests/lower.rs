//! Tile kernels of every target (`crates/testkit/tests/tiles`) on the schedule level's executor and as machine code. The
//! tile level's executor is the oracle.

#[path = "native/call.rs"]
mod call;
#[path = "lower/harness.rs"]
mod harness;
#[path = "native/simulator.rs"]
mod simulator;

#[path = "../../testkit/tests/tiles/arithmetic.rs"]
mod arithmetic;
#[path = "../../testkit/tests/tiles/movement.rs"]
mod movement;
