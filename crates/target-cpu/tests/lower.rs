//! Tile kernels of every target (`crates/testkit/tests/tiles`) on the schedule level's executor and as machine code. The
//! tile level's executor is the oracle.
