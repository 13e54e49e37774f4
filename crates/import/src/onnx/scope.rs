//! Which value each name stands for: a stack of scopes, inner graphs seeing outer ones, functions seeing none.

use super::graph::Declared;
use std::collections::HashMap;
use tegula_ir::Value;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Value(Value),
    /// The node that should make it failed; the failure is reported already.
    Failed,
}

#[derive(Default)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
}

struct Scope {
    names: HashMap<String, Slot>,
    declared: HashMap<String, Declared>,
    /// A function's body does not see its caller's names.
    closed: bool,
}

impl Scopes {
    pub fn enter(&mut self, declared: HashMap<String, Declared>, closed: bool) {
        self.stack.push(Scope { names: HashMap::new(), declared, closed });
    }

    pub fn leave(&mut self) {
        self.stack.pop();
    }

    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    pub fn define(&mut self, name: &str, slot: Slot) {
        if let Some(scope) = self.stack.last_mut()
            && !name.is_empty()
        {
            scope.names.insert(name.to_string(), slot);
        }
    }

    pub fn get(&self, name: &str) -> Option<Slot> {
        for scope in self.stack.iter().rev() {
            if let Some(slot) = scope.names.get(name) {
                return Some(*slot);
            }
            if scope.closed {
                break;
            }
        }
        None
    }

    /// What the graph at hand says of a name's type.
    pub fn declared(&self, name: &str) -> Option<&Declared> {
        self.stack.last()?.declared.get(name)
    }
}
