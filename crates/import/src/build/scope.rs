//! Which value each name stands for: a stack of scopes, inner graphs seeing outer ones, functions seeing none.

pub(crate) use super::names::NameId;
use super::names::Names;
use std::sync::Arc;
use tegula_base::{DType, EntityId};
use tegula_ir::Value;

/// What a name stands for. Sequences and optional values have no form at run time: which tensors they hold is known
/// before it, and only the tensors are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Value(Value),
    /// A tensor of strings, as `build/text.rs` lays them.
    Text(Value),
    /// Tensors in order, each of its own shape.
    Sequence(Arc<Vec<Value>>),
    /// An optional value that is none. One that is some is what it holds.
    Absent,
    /// The node that should make it failed; the failure is reported already.
    Failed,
}

impl Slot {
    /// The tensors it holds.
    pub fn tensors(&self) -> &[Value] {
        match self {
            Slot::Value(value) | Slot::Text(value) => std::slice::from_ref(value),
            Slot::Sequence(values) => values,
            Slot::Absent | Slot::Failed => &[],
        }
    }

    /// The same structure over other tensors, taken off `values` in order.
    pub fn over(&self, values: &mut impl Iterator<Item = Value>) -> Slot {
        match self {
            Slot::Value(_) => values.next().map_or(Slot::Failed, Slot::Value),
            Slot::Text(_) => values.next().map_or(Slot::Failed, Slot::Text),
            Slot::Sequence(own) => Slot::Sequence(Arc::new(values.take(own.len()).collect())),
            Slot::Absent | Slot::Failed => self.clone(),
        }
    }

    /// In the words of a diagnostic.
    pub fn describe(&self) -> String {
        match self {
            Slot::Value(_) => "a tensor".into(),
            Slot::Text(_) => "a tensor of strings".into(),
            Slot::Sequence(values) => format!("a sequence of {}", values.len()),
            Slot::Absent => "nothing".into(),
            Slot::Failed => "what failed".into(),
        }
    }
}

impl From<Value> for Slot {
    fn from(value: Value) -> Slot {
        Slot::Value(value)
    }
}

/// What a model says of a value's type; a hint that may be wrong.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub dtype: Option<DType>,
    /// `None` extents are symbolic or unknown.
    pub shape: Option<Vec<Option<i64>>>,
}

#[derive(Default)]
pub(crate) struct Scopes {
    stack: Vec<Scope>,
}

struct Scope {
    names: Names,
    /// By id; `None` for names that have only been spoken of.
    slots: Vec<Option<Slot>>,
    /// By id: what is declared is named first, behind the empty name.
    declared: Vec<Option<Declared>>,
    /// A function's body does not see its caller's names.
    closed: bool,
}

impl Scopes {
    /// A scope with room for `n` names, and what its graph declares of some.
    pub fn enter<'a>(
        &mut self,
        n: usize,
        declared: impl IntoIterator<Item = (&'a str, Declared)>,
        closed: bool,
    ) {
        let mut names = Names::with_room(n);
        // The empty name stands for nothing, and will.
        let mut types = vec![None];
        for (name, declared) in declared {
            let id = names.intern(name);
            if id.index() == types.len() {
                types.push(None);
            }
            types[id.index()] = Some(declared);
        }
        let mut slots = Vec::with_capacity(n + 1);
        slots.resize(types.len(), None);
        self.stack.push(Scope { names, slots, declared: types, closed });
    }

    pub fn leave(&mut self) {
        self.stack.pop();
    }

    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// The number of names that the innermost scope has spoken of; their ids are below it.
    pub fn name_count(&self) -> usize {
        self.stack.last().map_or(0, |scope| scope.slots.len())
    }

    /// The id of a name in the innermost scope, whether or not it stands for anything there. There is a scope.
    pub fn intern(&mut self, name: &str) -> NameId {
        let scope = self.stack.last_mut().expect("invariant: names are asked for inside of a graph");
        let id = scope.names.intern(name);
        if id.index() == scope.slots.len() {
            scope.slots.push(None);
        }
        id
    }

    pub fn define(&mut self, name: &str, slot: Slot) {
        if !self.stack.is_empty() {
            let id = self.intern(name);
            self.define_id(id, slot);
        }
    }

    /// As [`define`](Scopes::define), for a name of the innermost scope.
    pub fn define_id(&mut self, id: NameId, slot: Slot) {
        if let Some(scope) = self.stack.last_mut().filter(|_| !id.is_nothing()) {
            scope.slots[id.index()] = Some(slot);
        }
    }

    pub fn get(&self, name: &str) -> Option<Slot> {
        for scope in self.stack.iter().rev() {
            if let Some(slot) = scope.names.get(name).and_then(|id| scope.slots[id.index()].clone()) {
                return Some(slot);
            }
            if scope.closed {
                break;
            }
        }
        None
    }

    /// As [`get`](Scopes::get), for a name of the innermost scope.
    pub fn get_id(&self, id: NameId, name: &str) -> Option<Slot> {
        self.stack.last()?.slots[id.index()].clone().or_else(|| self.get(name))
    }

    /// What the graph at hand says of a name's type.
    pub fn declared(&self, id: NameId) -> Option<&Declared> {
        self.stack.last()?.declared.get(id.index())?.as_ref()
    }
}
