//! Helpers of the tests: text-test runner, op suites, npy files, random programs.
//! In: test files.  Out: verdicts.
//! May use: base, mlir, ir, tensor.  Never knows: release builds.
//! Start reading at `lib.rs`.

pub mod compare;
pub mod onnx_suite;
pub mod random;
