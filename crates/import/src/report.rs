//! Why a model cannot be imported, and the one report that holds every such reason, for models of any format.
//!
//! Equal reasons at several nodes become one diagnostic with a count; order is that of first appearance. Ops that are
//! missing for one reason are listed together, and of one op's many reasons only the first few are spelled out.

use std::collections::HashMap;
use tegula_base::{Code, Diagnostic, Diagnostics};

/// At most this many node names stand in one diagnostic.
const MAX_NAMES: usize = 8;

/// At most this many reasons of one kind are spelled out for an op: each layer of a model may have its own sizes.
const MAX_REASONS: usize = 4;

/// Of ops that Tegula does not have.
pub(crate) const UNSUPPORTED_OP: Code = "unsupported-op";

const SHAPE_MISMATCH: Code = "shape-mismatch";
const UNSUPPORTED: Code = "unsupported";

/// What keeps one node, or another part of a model, from being imported.
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

    pub fn is_unsupported(&self) -> bool {
        matches!(self.code, UNSUPPORTED | UNSUPPORTED_OP)
    }

    /// The model contradicts the specification of its format.
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
    /// Whether one of the faults keeps the model from being imported.
    is_final: bool,
    by_cause: HashMap<(Code, Owner, Cause), usize>,
    /// Reasons so far of an owner with a code.
    reasons: HashMap<(Code, Owner), usize>,
}

/// What is at fault.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Owner {
    Model,
    /// Something that is no node: an `input`, an `initializer`.
    Part(&'static str),
    /// Nodes of an op.
    Op(String),
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
    /// With how many nodes or parts each has.
    owners: Vec<(Owner, usize)>,
    why: String,
    is_further: bool,
    names: Vec<String>,
}

impl Report {
    /// A fault of one node. `op` carries its domain unless that is the format's own.
    pub fn node(&mut self, op: &str, name: &str, fault: Fault) {
        self.add(Owner::Op(op.to_string()), name, fault);
    }

    /// A fault of a node that makes nothing of use: it only counts beside others.
    pub fn unused_node(&mut self, op: &str, name: &str, fault: Fault) {
        let is_final = self.is_final;
        self.node(op, name, fault);
        self.is_final = is_final;
    }

    /// A fault of something that has a name and is no node: an `input`, an `initializer`.
    pub fn part(&mut self, kind: &'static str, name: &str, fault: Fault) {
        self.add(Owner::Part(kind), name, fault);
    }

    /// A fault of the model outside of any node.
    pub fn model(&mut self, fault: Fault) {
        self.add(Owner::Model, "", fault);
    }

    fn add(&mut self, owner: Owner, name: &str, fault: Fault) {
        if fault == Fault::reported() {
            return;
        }
        self.is_final = true;
        let index = self.group(&owner, fault);
        let group = &mut self.groups[index];
        group.counted(owner, 1);
        group.named(name);
    }

    /// The group of a fault, a new one where there is none.
    fn group(&mut self, owner: &Owner, fault: Fault) -> usize {
        // A missing op's reason says all; other reasons are of their op.
        let owner = if fault.code == UNSUPPORTED_OP { Owner::Model } else { owner.clone() };
        let key = (fault.code, owner.clone(), Cause::Why(fault.why.clone()));
        if let Some(index) = self.by_cause.get(&key) {
            return *index;
        }
        let is_node = matches!(owner, Owner::Op(_));
        let reasons = self.reasons.entry((fault.code, owner)).or_default();
        *reasons += 1;
        let is_further = is_node && *reasons > MAX_REASONS;
        let key = if is_further { (key.0, key.1, Cause::Further) } else { key };
        let groups = &mut self.groups;
        *self.by_cause.entry(key).or_insert_with(|| {
            groups.push(Group {
                code: fault.code,
                owners: vec![],
                why: fault.why,
                is_further,
                names: vec![],
            });
            groups.len() - 1
        })
    }

    /// Whether nothing keeps the model from being imported.
    pub fn is_empty(&self) -> bool {
        !self.is_final
    }

    /// The first reason, where that is that shapes or element types do not fit, and the others follow from it: what a node
    /// that failed should have made may have a shape that later nodes cannot do.
    pub fn what_does_not_fit(&self) -> Option<String> {
        let first = self.groups.first()?;
        let op = match first.owners.first() {
            Some((Owner::Op(op), _)) => op.as_str(),
            Some((Owner::Part(kind), _)) => kind,
            Some((Owner::Model, _)) | None => "",
        };
        let may_follow = |group: &Group| matches!(group.code, SHAPE_MISMATCH | UNSUPPORTED);
        let follows = first.code == SHAPE_MISMATCH && self.groups.iter().all(may_follow);
        follows.then(|| format!("`{op}`: {}", first.why))
    }

    /// Adds another report's faults behind its own.
    pub fn absorb(&mut self, other: Report) {
        self.is_final |= other.is_final;
        for group in other.groups {
            for (owner, count) in &group.owners {
                let fault = Fault { code: group.code, why: group.why.clone() };
                let index = self.group(owner, fault);
                self.groups[index].counted(owner.clone(), *count);
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
    fn counted(&mut self, owner: Owner, more: usize) {
        match self.owners.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, count)) => *count += more,
            None => self.owners.push((owner, more)),
        }
    }

    fn named(&mut self, name: &str) {
        if self.names.len() < MAX_NAMES && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_string());
        }
    }

    fn into_diagnostic(self, model: &str) -> Diagnostic {
        let count: usize = self.owners.iter().map(|(_, count)| count).sum();
        let (place, message) = match self.owners.first() {
            Some((Owner::Model, _)) | None => return Diagnostic::error(self.code, self.why).at(model),
            Some((Owner::Part(kind), _)) => (*kind, self.why),
            Some((Owner::Op(_), _)) => ("node", self.message_of_nodes()),
        };
        let mut diagnostic = Diagnostic::error(self.code, message);
        let listed = self.names.len();
        for name in self.names {
            diagnostic = diagnostic.at(format!("{model}: {place} \"{name}\""));
        }
        if count > listed {
            diagnostic = diagnostic.note(format!("and {} more", count - listed));
        }
        diagnostic
    }

    fn message_of_nodes(&self) -> String {
        let listed = self.owners.iter().filter_map(|(owner, count)| match (owner, count) {
            (Owner::Op(op), 1) => Some(format!("`{op}`")),
            (Owner::Op(op), count) => Some(format!("`{op}` ({count} nodes)")),
            _ => None,
        });
        let further = if self.is_further { "further reasons, such as: " } else { "" };
        format!("{}: {further}{}", listed.collect::<Vec<_>>().join(", "), self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ops of other formats have small letters and dots in their names; parts of a model are none.
    #[test]
    fn ops_and_parts_are_told_apart_by_kind() {
        let mut report = Report::default();
        for name in ["%3", "%4"] {
            report.node("stablehlo.add", name, Fault::unsupported("tokens are not supported"));
        }
        report.part("weight", "w", Fault::invalid("its bytes end early"));
        report.model(Fault::invalid("it has no entry"));
        report.node("aten.relu", "y", Fault::reported());
        let said = report.into_diagnostics("m").to_string();
        let wanted = "error[unsupported]: `stablehlo.add` (2 nodes): tokens are not supported\n  \
                      --> m: node \"%3\"\n  --> m: node \"%4\"\n\
                      error[invalid-model]: its bytes end early\n  --> m: weight \"w\"\n\
                      error[invalid-model]: it has no entry\n  --> m";
        assert_eq!(said, wanted);
    }
}
