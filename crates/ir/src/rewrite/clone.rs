//! Copies ops between functions or within one; moves a region's ops to where its owner stood.

use crate::op::Types;
use crate::{Func, Op, OpId, RegionId, Value};
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_base::HashMap;

/// Operands or results of an op.
type Values = SmallVec<[Value; 4]>;

/// Copies ops with their regions, renaming values as it goes.
///
/// Bind the region arguments and captured values first; results bind themselves. A value without binding stands for
/// itself when copying within one function, and is a caller's bug (a panic) between two.
pub struct Cloner<'a, O: Op> {
    /// `None`: the function that is copied into.
    from: Option<&'a Func<O>>,
    map: HashMap<Value, Value>,
    /// Given to copies of ops that have no location of their own.
    pub location: Option<Arc<str>>,
}

impl<'a, O: Op> Cloner<'a, O> {
    pub fn between(from: &'a Func<O>) -> Cloner<'a, O> {
        Cloner { from: Some(from), map: HashMap::default(), location: None }
    }

    pub fn within() -> Cloner<'a, O> {
        Cloner { from: None, map: HashMap::default(), location: None }
    }

    /// Forgets all bindings, so that the next copy starts anew.
    pub fn clear(&mut self) {
        self.map.clear();
    }

    pub fn bind(&mut self, from: Value, to: Value) {
        self.map.insert(from, to);
    }

    pub fn bind_all(&mut self, from: &[Value], to: &[Value]) {
        assert_eq!(from.len(), to.len(), "invariant: as many values as names");
        self.map.extend(from.iter().copied().zip(to.iter().copied()));
    }

    /// What a value of the source is called in the copy.
    pub fn value(&self, value: Value) -> Value {
        match self.map.get(&value) {
            Some(copy) => *copy,
            None if self.from.is_none() => value,
            None => panic!("invariant: {value} is bound before it is copied"),
        }
    }

    /// Copies one op, regions included, to the end of `to`.
    pub fn op(&mut self, into: &mut Func<O>, op: OpId, to: RegionId) -> OpId {
        let source = self.from.unwrap_or(into);
        let kind = source.kind(op).clone();
        let operands: Values = source.operands(op).iter().map(|value| self.value(*value)).collect();
        let results = Values::from_slice(source.results(op));
        let types: Types<O::Type> = results.iter().map(|value| source.ty(*value).clone()).collect();
        let location = source.op(op).location.clone().or_else(|| self.location.clone());
        let names: Option<(Vec<Arc<str>>, usize)> = (!source.has_one_name(op))
            .then(|| (source.names_of(op).cloned().collect(), source.root_name_count(op)));
        let regions = source.regions_of(op).to_vec();
        let copy = into.push_op(to, kind, &operands, types, location);
        if let Some((names, n_roots)) = names {
            into.set_names(copy, &names, n_roots);
        }
        self.map.extend(results.into_iter().zip(into.results(copy).iter().copied()));
        for (i, region) in regions.into_iter().enumerate() {
            let inner = into.regions_of(copy)[i];
            self.whole_region(into, region, inner);
        }
        copy
    }

    /// Copies a region's ops but its terminator to the end of `to`.
    /// Gives what the terminator's operands are called in the copy (none without a terminator).
    pub fn region(&mut self, into: &mut Func<O>, region: RegionId, to: RegionId) -> Vec<Value> {
        let source = self.from.unwrap_or(into);
        let terminator = source.terminator(region);
        let ops: Vec<OpId> =
            source.ops_in(region).iter().copied().filter(|op| Some(*op) != terminator).collect();
        let yielded: Vec<Value> = terminator.map_or(vec![], |op| source.operands(op).to_vec());
        for op in ops {
            self.op(into, op, to);
        }
        yielded.into_iter().map(|value| self.value(value)).collect()
    }

    /// Copies arguments, ops and terminator into an empty region.
    pub fn whole_region(&mut self, into: &mut Func<O>, region: RegionId, to: RegionId) {
        let source = self.from.unwrap_or(into);
        let args: Vec<(Value, O::Type)> =
            source.args(region).iter().map(|arg| (*arg, source.ty(*arg).clone())).collect();
        let ops = source.ops_in(region).to_vec();
        for (arg, ty) in args {
            let copy = into.add_arg(to, ty);
            self.map.insert(arg, copy);
        }
        for op in ops {
            self.op(into, op, to);
        }
    }
}

/// Moves the ops of `region` to the end of `to`, its arguments replaced by `args`, its terminator erased.
/// Gives the terminator's operands: what the region yields. The region is left empty.
pub fn inline_region<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    to: RegionId,
    args: &[Value],
) -> Vec<Value> {
    let names = func.args(region).to_vec();
    assert_eq!(names.len(), args.len(), "invariant: one value per region argument");
    for (name, value) in names.into_iter().zip(args) {
        func.replace_uses(name, *value);
    }
    let yielded = match func.terminator(region) {
        Some(terminator) => {
            let yielded = func.operands(terminator).to_vec();
            func.erase(terminator);
            yielded
        }
        None => vec![],
    };
    func.splice(region, to);
    yielded
}
