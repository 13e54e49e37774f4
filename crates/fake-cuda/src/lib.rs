//! A CUDA driver without a card, for tests: the runtime loads it in place of the real one, kernels run on the simulator.
//! In: calls of the driver API, as `runtime/src/cuda` makes them.  Out: what a card would do, done at once and in order.
//! May use: sim-ptx, isa-ptx, package.  Never knows: the runtime, targets, how the kernels were made.
//! Start reading at `exports.rs` (the calls), then `card.rs` (memory), `work.rs` (what streams and graphs do).
//!
//! `unsafe` stands in `exports.rs` and `card.rs`, as the driver's border is C: callers hand in places to write to, and
//! device memory is the host's, by address.
//!
//! The variable `TEGULA_FAKE_CUDA` makes it misbehave: words by comma, `memory=BYTES` (all the card has), `jit=WORDS` (every
//! compilation fails, with these words in the log), `sm=80` (the compute capability), `seed=N` (launches of a graph
//! overlap and copies are done at random times), `races=1` (accesses that nothing orders fail), `log=FILE` (a line for
//! each graph made, updated and launched, and its launches that may begin early).

mod card;
mod code;
mod exports;
mod settings;
mod work;
