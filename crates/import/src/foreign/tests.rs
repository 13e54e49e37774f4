//! Each format by a header made here, as its own writers make it.

use super::*;
use crate::onnx::proto::{GraphProto, ModelProto};
use prost::Message;
use tegula_base::face::Files;

struct Nothing;

impl Files for Nothing {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{relative}` is not there"))
    }
}

fn refused(bytes: impl Into<Vec<u8>>) -> Option<Diagnostic> {
    let bytes: Vec<u8> = bytes.into();
    name(&ModelFile { name: "file", bytes: bytes.into(), files: &Nothing })
}

/// What the one sentence calls the file.
fn named(bytes: impl Into<Vec<u8>>) -> String {
    let message = refused(bytes).expect("a file of a foreign format").message;
    let what = message.strip_prefix("this is ").expect("the sentence");
    what.trim_end_matches(", which Tegula does not read yet").trim_end_matches(", not a model").to_string()
}

/// An archive of empty members: theirs and the directory's entries, and its end.
fn archive(names: &[&str]) -> Vec<u8> {
    let (mut bytes, mut directory) = (vec![], vec![]);
    for name in names {
        let start = bytes.len() as u32;
        let length = (name.len() as u16).to_le_bytes();
        bytes.extend([b"PK\x03\x04".as_slice(), &[0; 22], &length, &[0; 2], name.as_bytes()].concat());
        directory.extend([b"PK\x01\x02".as_slice(), &[0; 24], &length, &[0; 12]].concat());
        directory.extend([start.to_le_bytes().as_slice(), name.as_bytes()].concat());
    }
    let (start, size) = (bytes.len() as u32, directory.len() as u32);
    bytes.extend(directory);
    bytes.extend(
        [b"PK\x05\x06".as_slice(), &[0; 8], &size.to_le_bytes(), &start.to_le_bytes(), &[0; 2]].concat(),
    );
    bytes
}

/// A message's field of bytes.
fn field(number: u8, value: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, value.len() as u8], value].concat()
}

/// A graph of TensorFlow with one node.
fn graph_def() -> Vec<u8> {
    field(1, &[field(1, b"input"), field(2, b"Placeholder")].concat())
}

#[test]
fn flat_buffers_are_named_by_their_identifier() {
    assert_eq!(named(b"\x1c\0\0\0TFL3\0\0"), "a TensorFlow Lite model (`.tflite`)");
    assert_eq!(named(b"\x1c\0\0\0ORTM\0\0"), "a model in ONNX Runtime's own format (`.ort`)");
}

#[test]
fn files_with_a_signature_are_named() {
    assert_eq!(named(b"GGUF\x03\0\0\0"), "a GGUF model (`.gguf`)");
    assert_eq!(named(b"\x89HDF\r\n\x1a\n\0"), "an HDF5 file, as Keras writes models (`.h5`)");
    assert_eq!(named(b"\x93NUMPY\x01\0v\0{'descr'"), "a NumPy array (`.npy`)");
    assert_eq!(named(b"\x1f\x8b\x08\0\0\0\0\0"), "compressed by gzip");
    assert_eq!(named(b"\x89TGL\0\0\0\0"), "a Tegula package, which is compiled already");
}

#[test]
fn weights_alone_are_named() {
    let header = br#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    assert!(refused([&[255; 8], header.as_slice()].concat()).is_none(), "the header is longer than the file");
    assert_eq!(named(file), "a safetensors file (weights without a program)");
    let checkpoint = "a PyTorch checkpoint (weights without a program)";
    assert_eq!(named(archive(&["net/data.pkl", "net/data/0", "net/version"])), checkpoint);
    assert_eq!(named([LEGACY_TORCH, b"."].concat()), checkpoint);
    assert_eq!(named(b"\x80\x04\x95\x05\0\0\0\0\0\0\0."), "a Python pickle");
}

#[test]
fn archives_are_named_by_their_members() {
    let exported = ["net/archive_format", "net/models/model.json", "net/data/weights/weight_0"];
    assert_eq!(named(archive(&exported)), "a program of `torch.export` (`.pt2`)");
    let older = ["version", "serialized_exported_program.json", "serialized_state_dict.pt"];
    assert_eq!(named(archive(&older)), "a program of `torch.export` (`.pt2`)");
    let script = ["net/data.pkl", "net/code/__torch__/net.py", "net/constants.pkl"];
    assert_eq!(named(archive(&script)), "a TorchScript program");
    let keras = ["metadata.json", "config.json", "model.weights.h5"];
    assert_eq!(named(archive(&keras)), "a Keras model (`.keras`)");
    assert_eq!(named(archive(&["x.npy", "y.npy"])), "an archive of NumPy arrays (`.npz`)");
    assert_eq!(named(archive(&["readme.txt", "model.onnx"])), "a ZIP archive");
}

/// Wherever an archive is cut it is one, and while its first member's name is there it may be known by that.
#[test]
fn archives_may_be_cut_anywhere() {
    let whole = archive(&["net/archive_format", "net/models/model.json"]);
    for length in 4..whole.len() {
        let name = named(&whole[..length]);
        assert!(name == "a ZIP archive" || name.contains(".pt2"), "{length}: {name}");
    }
    assert!(named(&whole[..60]).contains(".pt2"));
}

#[test]
fn tensorflow_messages_are_told_from_those_of_onnx() {
    assert_eq!(named(graph_def()), "a TensorFlow graph (GraphDef)");
    let meta_graph = [field(1, &field(4, b"serve")), field(2, &graph_def())].concat();
    let saved = [vec![0x08, 1], field(2, &meta_graph)].concat();
    assert_eq!(named(saved.clone()), "a TensorFlow SavedModel (`saved_model.pb`)");
    (0..saved.len()).for_each(|length| drop(refused(&saved[..length])));
    let mut model = ModelProto { ir_version: Some(1), ..ModelProto::default() };
    for producer in ["", "pytorch", "\n\u{1}x", "\n\u{1}x\u{12}\u{5}\n\u{3}\n\u{1}y"] {
        model.producer_name = Some(producer.into());
        model.graph = Some(GraphProto::default());
        assert!(refused(model.encode_to_vec()).is_none(), "{producer:?}");
    }
}

#[test]
fn mlir_is_named_by_dialect_and_producer() {
    assert_eq!(named(b"ML\xefR\x0dStableHLO_v1.15.0\0"), "a StableHLO portable artifact (VHLO bytecode)");
    assert_eq!(named(b"ML\xefR\x0dMLIR23.0.0git\0"), "MLIR bytecode");
    let pretty = "#loc = loc(unknown)\nmodule @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n";
    assert_eq!(named(pretty), "a StableHLO program as MLIR text");
    let quoted = "\"builtin.module\"() ({\n  %0 = \"stablehlo.add\"(%a, %a) : (i1, i1) -> i1\n";
    assert_eq!(named(quoted), "a StableHLO program as MLIR text");
}

#[test]
fn our_own_text_may_speak_of_others() {
    let ours =
        "// As stablehlo.add does.\n\"builtin.module\"() ({\n  \"tgn.func\"() loc(\"stablehlo.add\")\n";
    assert!(refused(ours).is_none());
    assert!(refused("module stands first, and nothing follows").is_none());
}

#[test]
fn what_a_download_leaves_is_named() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n";
    assert_eq!(named(pointer), "a pointer of Git LFS to a file that was not fetched");
    assert_eq!(named("\n<!DOCTYPE html>\n<html>"), "a web page (HTML)");
    let openvino = "<?xml version=\"1.0\"?>\n<net name=\"net\" version=\"11\">";
    assert_eq!(named(openvino), "an OpenVINO model (IR)");
}

#[test]
fn a_diagnostic_says_what_it_is_and_the_way() {
    let said = refused(b"\x1c\0\0\0TFL3").expect("a foreign file").to_string();
    let wanted = "error[foreign-format]: this is a TensorFlow Lite model (`.tflite`), which Tegula does not read yet\n  \
                  --> file\n\
                  help: `python -m tf2onnx.convert --tflite FILE --output model.onnx` makes an ONNX model of it";
    assert_eq!(said, wanted);
}

#[test]
fn folders_are_named_by_what_lies_in_them() {
    let said = |entries: &[&str]| {
        let entries: Vec<String> = entries.iter().map(|entry| entry.to_string()).collect();
        name_folder("net", &entries).to_string()
    };
    let saved = said(&["assets", "saved_model.pb", "variables"]);
    assert!(saved.starts_with("error[foreign-format]: this is a TensorFlow SavedModel, which"), "{saved}");
    assert!(said(&["config.json", "model.onnx"]).contains("help: `model.onnx` in it is an ONNX model"));
    assert!(said(&["model.safetensors"]).contains("help: `optimum-cli export onnx"));
    assert_eq!(said(&["notes"]), "error[io]: `net` is a folder, not a file");
}

#[test]
fn empty_and_unknown_files_are_left_to_the_readers() {
    for bytes in [b"".as_slice(), b"P", b"PK\x03", b"nonsense", b"\x08\x08\x12\x04TFL4"] {
        assert!(refused(bytes).is_none(), "{bytes:?}");
    }
}
