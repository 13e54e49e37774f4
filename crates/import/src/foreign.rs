//! Files of formats that are not read, named for what they are by their bytes, before a reader takes them for its own.
//!
//! A row of [`FOREIGN`] is the name, what tells the format, and the way to a format that is read, where there is a usual one.
//! Whoever adds a reader takes the format's row away.

mod protobuf;
mod zip;

use crate::front_door::reader::ModelFile;
use crate::program_text::first_line;
use tegula_base::{Code, Diagnostic};

/// Of files whose format is known and not read.
pub(crate) const FOREIGN_FORMAT: Code = "foreign-format";

/// Bytes of a text in which its dialect shows.
const TEXT_START: usize = 1 << 20;

/// What a row's file is.
enum Kind {
    /// A program, or a part of one, in another format.
    Model,
    /// Something else.
    NoModel,
}

struct Foreign {
    kind: Kind,
    what: &'static str,
    is: fn(&Seen) -> bool,
    help: &'static str,
}

/// A file's bytes, and its members where it is an archive.
struct Seen<'a> {
    bytes: &'a [u8],
    members: Vec<&'a str>,
}

/// One help a row; empty: there is no usual way.
const FOREIGN: &[Foreign] = &[
    model(
        "a TensorFlow Lite model (`.tflite`)",
        |seen| seen.has_at(4, b"TFL3"),
        "`python -m tf2onnx.convert --tflite FILE --output model.onnx` makes an ONNX model of it",
    ),
    model(
        "a model in ONNX Runtime's own format (`.ort`)",
        |seen| seen.has_at(4, b"ORTM"),
        "give the ONNX model that it was made of",
    ),
    model("a GGUF model (`.gguf`)", |seen| seen.has_at(0, b"GGUF"), ""),
    model("a StableHLO portable artifact (VHLO bytecode)", is_vhlo, ""),
    model("MLIR bytecode", |seen| seen.has_at(0, b"ML\xefR"), ""),
    model("a StableHLO program as MLIR text", is_stablehlo_text, ""),
    model(
        "a program of `torch.export` (`.pt2`)",
        |seen| seen.has_member("archive_format") || seen.has_member("serialized_exported_program.json"),
        "`torch.onnx.export(torch.export.load(FILE), (), \"model.onnx\")` makes an ONNX model of it",
    ),
    model(
        "a TorchScript program",
        |seen| seen.has_member("data.pkl") && seen.members.iter().any(|name| name.contains("/code/")),
        "`torch.onnx.export` makes an ONNX model of the PyTorch model that it was made of",
    ),
    model(
        "a PyTorch checkpoint (weights without a program)",
        |seen| seen.has_member("data.pkl") || seen.has_at(0, LEGACY_TORCH),
        "load it into its model in PyTorch; `torch.onnx.export` makes an ONNX model of that",
    ),
    model(
        "a safetensors file (weights without a program)",
        is_safetensors,
        "`optimum-cli export onnx --model FOLDER OUT` makes an ONNX model of a Hugging Face model's folder",
    ),
    model(
        "a TensorFlow SavedModel (`saved_model.pb`)",
        |seen| protobuf::is_saved_model(seen.bytes),
        SAVED_MODEL_HELP,
    ),
    model(
        "a TensorFlow graph (GraphDef)",
        |seen| protobuf::is_graph_def(seen.bytes),
        "`python -m tf2onnx.convert --graphdef FILE --inputs NAMES --outputs NAMES --output model.onnx` makes an ONNX model of it",
    ),
    model(
        "a Keras model (`.keras`)",
        |seen| seen.has_member("model.weights.h5"),
        "`tf2onnx.convert.from_keras` makes an ONNX model of it, in Python",
    ),
    model(
        "an HDF5 file, as Keras writes models (`.h5`)",
        |seen| seen.has_at(0, b"\x89HDF\r\n\x1a\n"),
        "`tf2onnx.convert.from_keras` makes an ONNX model of it, in Python",
    ),
    model("an OpenVINO model (IR)", is_openvino, "give the ONNX model that it was made of"),
    other(
        "a Tegula package, which is compiled already",
        |seen| seen.has_at(0, b"\x89TGL"),
        "load it as it is, or give the model that it was made of",
    ),
    other(
        "a NumPy array (`.npy`)",
        |seen| seen.has_at(0, b"\x93NUMPY"),
        "an input of a model is given by `--input NAME=FILE.npy`",
    ),
    other(
        "an archive of NumPy arrays (`.npz`)",
        |seen| !seen.members.is_empty() && seen.members.iter().all(|name| name.ends_with(".npy")),
        "",
    ),
    other("a Python pickle", is_pickle, ""),
    other("a ZIP archive", |seen| seen.has_at(0, zip::MEMBER), "unpack it, and give the model inside"),
    other("compressed by gzip", |seen| seen.has_at(0, b"\x1f\x8b"), "`gunzip FILE` unpacks it"),
    other(
        "a pointer of Git LFS to a file that was not fetched",
        |seen| seen.has_at(0, b"version https://git-lfs.github.com/spec/"),
        "`git lfs pull` fetches the file",
    ),
    other("a web page (HTML)", is_html, "the download gave a page in place of the file"),
];

const SAVED_MODEL_HELP: &str =
    "`python -m tf2onnx.convert --saved-model FOLDER --output model.onnx` makes an ONNX model of its folder";

/// What PyTorch wrote before it wrote archives: a pickle of this number.
const LEGACY_TORCH: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

const fn model(what: &'static str, is: fn(&Seen) -> bool, help: &'static str) -> Foreign {
    Foreign { kind: Kind::Model, what, is, help }
}

const fn other(what: &'static str, is: fn(&Seen) -> bool, help: &'static str) -> Foreign {
    Foreign { kind: Kind::NoModel, what, is, help }
}

/// What is said of a file that is of a format that is known and not read.
pub(crate) fn name(file: &ModelFile) -> Option<Diagnostic> {
    let seen = Seen { bytes: &file.bytes, members: zip::members(&file.bytes) };
    let row = FOREIGN.iter().find(|row| (row.is)(&seen))?;
    Some(row.diagnostic().at(file.name))
}

/// What is said of a folder in a model's place, by the names of what lies in it; `name` is the folder's.
pub(crate) fn name_folder(name: &str, entries: &[String]) -> Diagnostic {
    let has = |ending: &str| entries.iter().find(|entry| entry.ends_with(ending));
    if entries.iter().any(|entry| entry == "saved_model.pb") {
        let what = "a TensorFlow SavedModel";
        return model(what, |_| true, SAVED_MODEL_HELP).diagnostic().at(name);
    }
    let found = Diagnostic::error("io", format!("`{name}` is a folder, not a file"));
    match (has(".onnx"), has(".safetensors")) {
        (Some(inside), _) => found.help(format!("`{inside}` in it is an ONNX model")),
        (None, Some(_)) => {
            found.help("`optimum-cli export onnx --model FOLDER OUT` makes an ONNX model of a Hugging Face model's folder")
        }
        (None, None) => found,
    }
}

impl Foreign {
    fn diagnostic(&self) -> Diagnostic {
        let message = match self.kind {
            Kind::Model => format!("this is {}, which Tegula does not read yet", self.what),
            Kind::NoModel => format!("this is {}, not a model", self.what),
        };
        let found = Diagnostic::error(FOREIGN_FORMAT, message);
        if self.help.is_empty() { found } else { found.help(self.help) }
    }
}

impl Seen<'_> {
    fn has_at(&self, at: usize, signature: &[u8]) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(signature))
    }

    /// Whether an archive has a file of this name, in any folder.
    fn has_member(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.rsplit('/').next() == Some(name))
    }
}

/// MLIR bytecode names its producer behind the version, which is one byte below 128.
fn is_vhlo(seen: &Seen) -> bool {
    seen.has_at(0, b"ML\xefR") && seen.has_at(5, b"StableHLO_v")
}

/// The length of a JSON header in 8 bytes, and the header.
fn is_safetensors(seen: &Seen) -> bool {
    let Some((length, rest)) = seen.bytes.split_first_chunk::<8>() else { return false };
    let length = u64::from_le_bytes(*length);
    let starts_object = rest.starts_with(b"{\"") || rest.starts_with(b"{}");
    starts_object && length >= 2 && length <= rest.len() as u64
}

/// MLIR text in which an op or attribute of StableHLO, or of what it came from, stands before one of our own.
fn is_stablehlo_text(seen: &Seen) -> bool {
    const STARTS: [&str; 4] = ["module", "func.func", "\"builtin.module\"", "builtin.module"];
    const THEIRS: [&[u8]; 4] = [b"stablehlo.", b"vhlo.", b"chlo.", b"mhlo."];
    let is_mlir = first_line(seen.bytes).is_some_and(|line| STARTS.iter().any(|word| line.starts_with(word)));
    if !is_mlir {
        return false;
    }
    let text = &seen.bytes[..seen.bytes.len().min(TEXT_START)];
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii_start().starts_with(b"//")) {
        for at in 1..line.len() {
            let rest = &line[at..];
            if rest.starts_with(b"\"tgn.") {
                return false;
            }
            if !is_word(line[at - 1]) && THEIRS.iter().any(|dialect| rest.starts_with(dialect)) {
                return true;
            }
        }
    }
    false
}

/// The protocols that files have; the last op stops.
fn is_pickle(seen: &Seen) -> bool {
    matches!(seen.bytes, [0x80, 2..=5, .., b'.'])
}

fn is_openvino(seen: &Seen) -> bool {
    let start = String::from_utf8_lossy(&seen.bytes[..seen.bytes.len().min(512)]);
    start.starts_with("<?xml") && start.contains("<net ")
}

fn is_html(seen: &Seen) -> bool {
    let start = String::from_utf8_lossy(&seen.bytes[..seen.bytes.len().min(64)]).to_ascii_lowercase();
    let start = start.trim_start();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

#[cfg(test)]
mod tests;
