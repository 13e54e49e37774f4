//! What a reader of one format is given, and what it gives back.

use bytes::Bytes;
use std::collections::BTreeMap;
use tegula_base::face::Files;
use tegula_base::{Diagnostics, HostTensor};
use tegula_tensor::TensorProgram;

/// A model's bytes and what may be read beside them.
#[derive(Clone)]
pub struct ModelFile<'a> {
    /// As diagnostics name it, e.g. `model.onnx`.
    pub name: &'a str,
    /// Weights of the program may stay slices of it.
    pub bytes: Bytes,
    /// External data.
    pub files: &'a dyn Files,
}

/// What the caller asks of a model.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Values for named dims: `batch` is 1.
    pub dims: &'a BTreeMap<String, i64>,
    /// Values to compute instead of the model's outputs, by name; none: the outputs.
    pub results: &'a [String],
    /// Whether gathers and scatters assert that their indices are inside of their axes, instead of clamping them.
    pub checked: bool,
}

/// How sure a reader is that a file is of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// The bytes, or the file's name, say so.
    Yes,
    /// Nothing in the bytes tells: the format has no signature.
    Maybe,
    No,
}

/// What is done of an import, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The bytes are read as messages, or as a syntax tree.
    Decoded,
    /// The tensor program stands.
    Converted,
    /// It keeps the tensor level's rules.
    Verified,
}

/// An op that a reader takes, in versions of its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Supported {
    pub domain: &'static str,
    pub op: &'static str,
    pub since: i64,
    /// The last version, included.
    pub until: i64,
}

/// The reader of one format.
pub trait FrontDoor: Sync {
    /// Whether a file is of this format; looks at few bytes.
    fn sniff(&self, file: &ModelFile) -> Sniff;

    /// Reads a file. `done` is told of [`Step::Decoded`] and [`Step::Converted`].
    /// Errors: every problem of the file, each located at its name.
    fn import(
        &self,
        file: &ModelFile,
        request: &Request,
        done: &mut dyn FnMut(Step),
    ) -> Result<TensorProgram, Diagnostics>;

    /// The tensors of inputs that may be left out, of those that `dims` names with `.given`.
    /// Errors: those of [`import`](Self::import).
    fn defaults(
        &self,
        _: &ModelFile,
        _: &BTreeMap<String, i64>,
    ) -> Result<Vec<(String, HostTensor)>, Diagnostics> {
        Ok(vec![])
    }

    /// The dims that say of inputs what `given` tells: each name with the rank of its tensor.
    fn dims_of_given(&self, _: &ModelFile, _: &[(String, usize)]) -> BTreeMap<String, i64> {
        BTreeMap::new()
    }

    /// Every op that it takes, sorted.
    fn supported(&self) -> Vec<Supported>;
}

/// Findings of a text, in the file of that name.
pub(crate) fn located(mut found: Diagnostics, name: &str) -> Diagnostics {
    for diagnostic in &mut found.0 {
        diagnostic.spans.insert(0, name.to_string());
    }
    found
}
