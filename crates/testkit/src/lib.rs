//! Helpers of the tests: comparison of tensors, the ONNX node suite, random programs and their error bounds,
//! tile kernels, the list of GPU kernels, a decoder, words of streaming chips, scalar operations, planted bugs.
//! In: seeds, cases, tensors.  Out: programs, verdicts.
//! May use: base, mlir, ir, tensor, backend, machine, runtime, tile, package, isa-lpu, sim-lpu, isa-ptx, sim-ptx.  Never knows: release builds.
//! Start reading at `random.rs`, then `compare.rs` and `onnx_suite.rs`.

pub mod compare;
pub mod decoder;
pub mod gpu_kernels;
pub mod lpu;
pub mod null;
pub mod onnx_suite;
pub mod planted;
pub mod random;
pub mod scalars;
pub mod tiles;
pub mod turn;
