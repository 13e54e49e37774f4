//! Text and bytes of images, the cycles of words and of bursts, what arithmetic words compute, and what the verifier proves.

mod arith;
mod bursts;
mod forms;
mod sample;
mod verify_faults;
mod verify_random;
mod verify_streams;
mod verify_words;
