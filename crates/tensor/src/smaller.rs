//! Smaller programs: what can be taken away from one while somebody watches whether it still shows a fault.
//!
//! Every step leaves the program given as it is and makes another. Those that follow the shape rules say where they do
//! not apply; for the others [`verify_program`](tegula_ir::verify_program) says whether the result is one.

mod resize;

pub use resize::{extents, resize};

use crate::{TensorFunc, TensorOp, TensorProgram};
use std::collections::BTreeSet;
use std::sync::Arc;
use tegula_base::{DType, Origin};
use tegula_ir::rewrite::{Cloner, dce};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{OpId, ScalarOp, Value};

/// The program's results.
pub fn results(func: &TensorFunc) -> &[Value] {
    func.terminator(func.body()).map_or(&[], |end| func.operands(end))
}

/// Whether an op makes its results from nothing: sizes, constants, iotas.
pub fn is_source(func: &TensorFunc, op: OpId) -> bool {
    func.operands(op).is_empty() && func.regions_of(op).is_empty()
}

/// With these results only, called `y0`, `y1` ...
pub fn keep(program: &TensorProgram, results: &[Value]) -> TensorProgram {
    let mut next = program.clone();
    let func = next.entry_mut();
    if let Some(end) = func.terminator(func.body()) {
        func.set_operands(end, results);
    }
    func.result_names = (0..results.len()).map(|i| format!("y{i}")).collect();
    next
}

/// With inputs in the place of values of the body; they are the last inputs, in this order.
pub fn cut(program: &TensorProgram, values: &[Value]) -> TensorProgram {
    let mut next = program.clone();
    for value in values {
        let func = next.entry_mut();
        let (body, ty) = (func.body(), func.ty(*value).clone());
        let arg = func.add_arg(body, ty);
        let mut names = (func.args(body).len()..).map(|i| format!("cut{i}"));
        func.arg_names.extend(names.find(|name| !func.arg_names.contains(name)));
        func.replace_uses(*value, arg);
    }
    next
}

/// With one value in the place of another.
pub fn replace(program: &TensorProgram, value: Value, by: Value) -> TensorProgram {
    let mut next = program.clone();
    next.entry_mut().replace_uses(value, by);
    next
}

/// Without ops, inputs, constants and symbols that nothing needs; also gives which inputs are left.
pub fn trim(mut program: TensorProgram) -> (TensorProgram, Vec<usize>) {
    dce(program.entry_mut());
    let source = program.entry().clone();
    let needed = symbols_in_use(&source);
    let binds = |arg: &Value| {
        source.ty(*arg).shape.iter().any(|dim| dim.as_symbol().is_some_and(|name| needed.contains(name)))
    };
    let args = source.args(source.body());
    let is_kept = |(i, arg): (usize, &Value)| (binds(arg) || !source.users(*arg).is_empty()).then_some(i);
    let kept: Vec<usize> = args.iter().enumerate().filter_map(is_kept).collect();
    let mut func = TensorFunc::new(source.name.clone());
    let body = func.body();
    let mut cloner = Cloner::between(&source);
    for i in &kept {
        let arg = func.add_arg(body, source.ty(args[*i]).clone());
        cloner.bind(args[*i], arg);
        func.arg_names.push(source.arg_names.get(*i).cloned().unwrap_or_default());
    }
    func.result_names = source.result_names.clone();
    for op in source.ops_in(source.body()) {
        cloner.op(&mut func, *op, body);
    }
    let mut symbols = program.symbols.clone();
    symbols.0.retain(|name, _| needed.contains(name));
    for info in symbols.0.values_mut() {
        if let Origin::Input { input, .. } = &mut info.origin {
            *input = kept.iter().position(|i| *i == *input as usize).unwrap_or(0) as u32;
        }
    }
    (TensorProgram { symbols, consts: program.consts, funcs: vec![func] }, kept)
}

/// Symbols in the types of values that are read or computed, and in what their upper bounds say.
fn symbols_in_use(func: &TensorFunc) -> BTreeSet<Arc<str>> {
    let mut found = BTreeSet::new();
    let used = func.args(func.body()).iter().filter(|arg| !func.users(**arg).is_empty()).copied();
    let computed = func.walk().into_iter().flat_map(|op| func.results(op).to_vec());
    for value in used.chain(computed) {
        for dim in func.ty(value).shape.iter() {
            dim.for_each_symbol(&mut |name| {
                found.insert(name.clone());
            });
        }
    }
    // Sizes that stand in attributes alone.
    for op in func.walk() {
        func.kind(op).for_each_dim(&mut |dim| {
            dim.for_each_symbol(&mut |name| {
                found.insert(name.clone());
            });
        });
    }
    found
}

/// With ones in the place of a constant; `None` where the op is none.
pub fn flatten(program: &TensorProgram, op: OpId) -> Option<TensorProgram> {
    let TensorOp::Constant { dtype, shape, .. } = program.entry().kind(op) else { return None };
    let bits = eval(ScalarOp::Cast { to: *dtype, saturate: true }, &[DType::I64], &[1]) as i64;
    let splat = TensorOp::Splat { dtype: *dtype, shape: shape.clone(), bits };
    let mut next = program.clone();
    *next.entry_mut().kind_mut(op) = splat;
    Some(next)
}
