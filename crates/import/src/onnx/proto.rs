//! The messages of an ONNX file, as Rust types; nothing here interprets them.
//!
//! `proto/onnx.rs` is generated and checked in. To regenerate: in a scratch crate with `protox` and
//! `prost-build = "0.14"`, put `onnx.proto` beside it (the file inside the wheel of pip `onnx` 1.23.2, at
//! `onnx/onnx.proto`; IR version 14) and run
//!
//! ```ignore
//! let descriptors = protox::compile(["onnx.proto"], ["."])?;
//! let mut config = prost_build::Config::new();
//! // Weights stay slices of the mapped file.
//! config.bytes([".onnx.TensorProto.raw_data"]);
//! // Attributes are many, and few of them hold a message.
//! for field in ["t", "g", "sparse_tensor", "tp"] {
//!     config.boxed(format!(".onnx.AttributeProto.{field}"));
//! }
//! config.disable_comments(["."]);
//! config.out_dir("out");
//! config.compile_fds(descriptors)?;
//! ```

#![allow(clippy::all)]

include!("proto/onnx.rs");
