//! Programs of words on the simulator: results and cycles, and the trap of every fault.

mod example;
mod gemm;
mod scatter;
mod streams;
