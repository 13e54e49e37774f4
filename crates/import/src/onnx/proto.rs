//! The messages of an ONNX file, as Rust types; nothing here interprets them.
//!
//! `proto/onnx.rs` is generated and checked in. To regenerate: in a scratch crate with `protox` and
//! `prost-build = "0.14"`, put `onnx.proto` beside it (the file inside the wheel of pip `onnx` 1.23.2, at
//! `onnx/onnx.proto`; IR version 14) and run
//!
//! ```ignore
//! let mut descriptors = protox::compile(["onnx.proto"], ["."])?;
//! // What nothing here reads is skipped in a file, not copied: notes, training, placement, lists that no op has.
//! fn skip(messages: &mut Vec<DescriptorProto>) {
//!     messages.retain(|message| !SKIPPED.contains(&message.name()));
//!     for message in messages {
//!         message.field.retain(|field| !SKIPPED.contains(&field.name()));
//!         skip(&mut message.nested_type);
//!     }
//! }
//! descriptors.file.iter_mut().for_each(|file| skip(&mut file.message_type));
//! let mut config = prost_build::Config::new();
//! // Weights stay slices of the mapped file.
//! config.bytes([".onnx.TensorProto.raw_data"]);
//! // Attributes are many, and few of them hold a message.
//! for field in ["t", "g", "sparse_tensor"] {
//!     config.boxed(format!(".onnx.AttributeProto.{field}"));
//! }
//! config.disable_comments(["."]);
//! config.out_dir("out");
//! config.compile_fds(descriptors)?;
//! ```
//! where `SKIPPED` names the fields `doc_string`, `denotation`, `metadata_props`, `training_info`, `configuration`,
//! `device_configurations`, `quantization_annotation`, `tp`, `tensors`, `sparse_tensors` and `type_protos`, and the messages
//! `TrainingInfoProto`, `DeviceConfigurationProto`, `NodeDeviceConfigurationProto`, `ShardingSpecProto`, `ShardedDimProto`,
//! `SimpleShardedDimProto`, `IntIntListEntryProto` and `TensorAnnotation`.

#![allow(clippy::all)]

include!("proto/onnx.rs");
