//! Text and bytes of images, the cycles of words, and what arithmetic words compute.

mod arith;
mod forms;
mod sample;
