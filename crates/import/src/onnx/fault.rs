//! Why a node cannot be imported, and the one report that holds every such reason.
//! Equal reasons at several nodes become one diagnostic with a count; order is that of first appearance.

use std::collections::HashMap;
use tegula_base::{Code, Diagnostic, Diagnostics};

/// At most this many node names stand in one diagnostic.
const MAX_NAMES: usize = 8;

/// What keeps one node from being imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub code: Code,
    pub why: String,
}

impl Fault {
    /// The model is legal, Tegula cannot do this.
    pub fn unsupported(why: impl Into<String>) -> Fault {
        Fault { code: "unsupported", why: why.into() }
    }

    /// The model contradicts the ONNX specification.
    pub fn invalid(why: impl Into<String>) -> Fault {
        Fault { code: "invalid-model", why: why.into() }
    }

    /// Something inside the node failed and stands in the report already.
    pub fn reported() -> Fault {
        Fault { code: "", why: String::new() }
    }
}

/// A broken constraint of a tensor op: shapes or element types do not fit.
impl From<String> for Fault {
    fn from(why: String) -> Fault {
        Fault { code: "shape-mismatch", why }
    }
}

pub(crate) type Outcome<T = tegula_ir::Value> = Result<T, Fault>;

/// Collects faults of nodes and of the model as a whole.
#[derive(Default)]
pub(crate) struct Report {
    groups: Vec<Group>,
    by_key: HashMap<(Code, String, String), usize>,
}

struct Group {
    code: Code,
    op: String,
    why: String,
    count: usize,
    names: Vec<String>,
}

impl Report {
    /// A fault of one node. `op` carries its domain unless that is ONNX's own.
    pub fn node(&mut self, op: &str, name: &str, fault: Fault) {
        if fault == Fault::reported() {
            return;
        }
        let key = (fault.code, op.to_string(), fault.why.clone());
        let groups = &mut self.groups;
        let index = *self.by_key.entry(key).or_insert_with(|| {
            groups.push(Group { code: fault.code, op: op.into(), why: fault.why, count: 0, names: vec![] });
            groups.len() - 1
        });
        let group = &mut self.groups[index];
        group.count += 1;
        if group.names.len() < MAX_NAMES && !group.names.iter().any(|known| known == name) {
            group.names.push(name.to_string());
        }
    }

    /// A fault of the model outside of any node.
    pub fn model(&mut self, fault: Fault) {
        self.node("", "", fault);
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// One diagnostic per group. `model` is the file's name, as spans begin with it.
    pub fn into_diagnostics(self, model: &str) -> Diagnostics {
        Diagnostics(self.groups.into_iter().map(|group| group.into_diagnostic(model)).collect())
    }
}

impl Group {
    fn into_diagnostic(self, model: &str) -> Diagnostic {
        if self.op.is_empty() {
            return Diagnostic::error(self.code, self.why).at(model);
        }
        // `input`, `output` and `initializer` are no nodes.
        let (place, message) =
            if self.op.starts_with(|c: char| c.is_ascii_lowercase()) && !self.op.contains("::") {
                (self.op.as_str(), self.why)
            } else {
                let count = if self.count > 1 { format!(" ({} nodes)", self.count) } else { String::new() };
                ("node", format!("`{}`{count}: {}", self.op, self.why))
            };
        let mut diagnostic = Diagnostic::error(self.code, message);
        let listed = self.names.len();
        for name in self.names {
            diagnostic = diagnostic.at(format!("{model}: {place} \"{name}\""));
        }
        if self.count > listed {
            diagnostic = diagnostic.note(format!("and {} more", self.count - listed));
        }
        diagnostic
    }
}
