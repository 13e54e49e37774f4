//! Why a node cannot be imported, and the one report that holds every such reason.
//! Equal reasons at several nodes become one diagnostic with a count; order is that of first appearance. Ops that are
//! missing for one reason are listed together, and of one op's many reasons only the first few are spelled out.

use std::collections::HashMap;
use tegula_base::{Code, Diagnostic, Diagnostics};

/// At most this many node names stand in one diagnostic.
const MAX_NAMES: usize = 8;

/// At most this many reasons of one kind are spelled out for an op: each layer of a model may have its own sizes.
const MAX_REASONS: usize = 4;

/// Of ops that Tegula does not have.
pub(super) const UNSUPPORTED_OP: Code = "unsupported-op";

const SHAPE_MISMATCH: Code = "shape-mismatch";
const UNSUPPORTED: Code = "unsupported";

/// What keeps one node from being imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub code: Code,
    pub why: String,
}

impl Fault {
    /// The model is legal, Tegula cannot do this.
    pub fn unsupported(why: impl Into<String>) -> Fault {
        Fault { code: UNSUPPORTED, why: why.into() }
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
        Fault { code: SHAPE_MISMATCH, why }
    }
}

pub(crate) type Outcome<T = tegula_ir::Value> = Result<T, Fault>;

/// Collects faults of nodes and of the model as a whole.
#[derive(Default)]
pub(crate) struct Report {
    groups: Vec<Group>,
    by_cause: HashMap<(Code, String, Cause), usize>,
    /// Reasons so far of an op with a code.
    reasons: HashMap<(Code, String), usize>,
}

/// What nodes of one diagnostic have in common beside the code.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Cause {
    Why(String),
    /// The op has [`MAX_REASONS`] already.
    Further,
}

struct Group {
    code: Code,
    /// With how many nodes each has; empty where no node is at fault.
    ops: Vec<(String, usize)>,
    why: String,
    is_further: bool,
    names: Vec<String>,
}

impl Report {
    /// A fault of one node. `op` carries its domain unless that is ONNX's own.
    pub fn node(&mut self, op: &str, name: &str, fault: Fault) {
        if fault == Fault::reported() {
            return;
        }
        let index = self.group(op, fault);
        let group = &mut self.groups[index];
        match group.ops.iter_mut().find(|(known, _)| known == op) {
            Some((_, count)) => *count += 1,
            None => group.ops.push((op.to_string(), 1)),
        }
        group.named(name);
    }

    /// The group of a fault, a new one where there is none.
    fn group(&mut self, op: &str, fault: Fault) -> usize {
        // A missing op's reason says all; other reasons are of their op.
        let owner = if fault.code == UNSUPPORTED_OP { "" } else { op };
        let key = (fault.code, owner.to_string(), Cause::Why(fault.why.clone()));
        if let Some(index) = self.by_cause.get(&key) {
            return *index;
        }
        let reasons = self.reasons.entry((fault.code, owner.to_string())).or_default();
        *reasons += 1;
        let is_further = is_node(owner) && *reasons > MAX_REASONS;
        let key = if is_further { (key.0, key.1, Cause::Further) } else { key };
        let groups = &mut self.groups;
        *self.by_cause.entry(key).or_insert_with(|| {
            groups.push(Group { code: fault.code, ops: vec![], why: fault.why, is_further, names: vec![] });
            groups.len() - 1
        })
    }

    /// A fault of the model outside of any node.
    pub fn model(&mut self, fault: Fault) {
        self.node("", "", fault);
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The first reason, where that is that shapes or element types do not fit, and the others follow from it: what a node
    /// that failed should have made may have a shape that later nodes cannot do.
    pub fn what_does_not_fit(&self) -> Option<String> {
        let first = self.groups.first()?;
        let op = first.ops.first().map_or("", |(op, _)| op.as_str());
        let may_follow = |group: &Group| matches!(group.code, SHAPE_MISMATCH | UNSUPPORTED);
        let follows = first.code == SHAPE_MISMATCH && self.groups.iter().all(may_follow);
        follows.then(|| format!("`{op}`: {}", first.why))
    }

    /// Adds another report's faults behind its own.
    pub fn absorb(&mut self, other: Report) {
        for group in other.groups {
            for (op, count) in &group.ops {
                let fault = Fault { code: group.code, why: group.why.clone() };
                let index = self.group(op, fault);
                let ops = &mut self.groups[index].ops;
                match ops.iter_mut().find(|(known, _)| known == op) {
                    Some((_, known)) => *known += count,
                    None => ops.push((op.clone(), *count)),
                }
                for name in &group.names {
                    self.groups[index].named(name);
                }
            }
        }
    }

    /// One diagnostic per group. `model` is the file's name, as spans begin with it.
    pub fn into_diagnostics(self, model: &str) -> Diagnostics {
        Diagnostics(self.groups.into_iter().map(|group| group.into_diagnostic(model)).collect())
    }
}

impl Group {
    fn named(&mut self, name: &str) {
        if self.names.len() < MAX_NAMES && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_string());
        }
    }

    fn into_diagnostic(self, model: &str) -> Diagnostic {
        let is_one = |op: &str| self.ops.iter().all(|(known, _)| known == op);
        if is_one("") {
            return Diagnostic::error(self.code, self.why).at(model);
        }
        let n_nodes: usize = self.ops.iter().map(|(_, count)| count).sum();
        let other = self.ops.first().map(|(op, _)| op.as_str()).filter(|op| !is_node(op));
        let (place, message) = match other {
            Some(other) => (other, self.why),
            None => {
                let listed = self.ops.iter().map(|(op, count)| match count {
                    1 => format!("`{op}`"),
                    count => format!("`{op}` ({count} nodes)"),
                });
                let why = if self.is_further {
                    format!("further reasons, such as: {}", self.why)
                } else {
                    self.why
                };
                ("node", format!("{}: {why}", listed.collect::<Vec<_>>().join(", ")))
            }
        };
        let mut diagnostic = Diagnostic::error(self.code, message);
        let listed = self.names.len();
        for name in self.names {
            diagnostic = diagnostic.at(format!("{model}: {place} \"{name}\""));
        }
        if n_nodes > listed {
            diagnostic = diagnostic.note(format!("and {} more", n_nodes - listed));
        }
        diagnostic
    }
}

/// `input`, `output` and `initializer` are no nodes.
fn is_node(op: &str) -> bool {
    op.contains("::") || op.starts_with(|c: char| !c.is_ascii_lowercase())
}
