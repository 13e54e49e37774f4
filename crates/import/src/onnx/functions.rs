//! Functions that a model brings along, found by domain, name and overload.

use super::domain::full_domain;
use super::proto::{FunctionProto, ModelProto, NodeProto};
use crate::report::{Fault, Report};
use std::collections::BTreeMap;

/// Domain, name and overload.
pub(super) type Key = (String, String, String);

#[derive(Default)]
pub(crate) struct Functions<'m> {
    by_name: BTreeMap<Key, &'m FunctionProto>,
    /// The functions being copied in, outermost first.
    pub(super) calls: Vec<Key>,
}

impl<'m> Functions<'m> {
    pub fn new(model: &'m ModelProto, report: &mut Report) -> Functions<'m> {
        let mut by_name = BTreeMap::new();
        for function in &model.functions {
            let key = key(function.domain(), function.name(), function.overload());
            if by_name.insert(key, function).is_some() {
                report.model(Fault::invalid(format!("function `{}` is defined twice", function.name())));
            }
        }
        Functions { by_name, calls: vec![] }
    }

    pub fn find(&self, node: &NodeProto) -> Option<&'m FunctionProto> {
        if self.by_name.is_empty() {
            return None;
        }
        self.by_name.get(&key(node.domain(), node.op_type(), node.overload())).copied()
    }

    /// Whether a name is an input of the function being copied in; it may be left out by the caller.
    pub fn is_input(&self, name: &str) -> bool {
        let function = self.calls.last().and_then(|called| self.by_name.get(called));
        function.is_some_and(|function| function.input.iter().any(|input| input == name))
    }
}

pub(super) fn key(domain: &str, name: &str, overload: &str) -> Key {
    (full_domain(domain).to_string(), name.to_string(), overload.to_string())
}
