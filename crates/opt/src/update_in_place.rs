//! Results that take an argument's memory: a cache that a step of decoding goes on with.
//!
//! Before: kernels with layouts.  After: a scatter kernel whose result is aliased to the argument that is its data, and
//! which nobody reads later, is of class `update` and writes the updates only. Where that cannot be, `lower_to_host`
//! computes the result elsewhere and copies it to the argument when all is done: the interface holds either way.

use crate::views::{is_view, source};
use std::collections::BTreeSet;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_ir::OpId;
use tegula_ir::pass::{Changed, PassCx};
use tegula_tensor::facts::data_of_scatter;
use tegula_tensor::{KernelClass, TensorFunc, TensorOp, TensorProgram};

/// A result and the argument whose memory it takes, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alias {
    pub result: usize,
    pub argument: usize,
}

/// The pairs that names say, `(argument, result)`.
/// Errors: `alias`, for names that are not there, types that differ, and what is named twice; all of them.
pub fn aliases(func: &TensorFunc, names: &[(String, String)]) -> Result<Vec<Alias>, Diagnostics> {
    let mut found = Diagnostics::default();
    let mut pairs: Vec<Alias> = Vec::with_capacity(names.len());
    let place = |list: &[String], name: &str| list.iter().position(|known| known == name);
    let results = func.terminator(func.body()).map_or(&[][..], |end| func.operands(end));
    for (input, output) in names {
        let argument = place(&func.arg_names, input);
        let result = place(&func.result_names, output);
        let mut refuse = |what: String| found.push(Diagnostic::error("alias", what));
        let (Some(argument), Some(result)) = (argument, result) else {
            for (known, kind, name) in [(argument, "input", input), (result, "output", output)] {
                if known.is_none() {
                    refuse(format!("the model has no {kind} `{name}`"));
                }
            }
            continue;
        };
        let (from, to) = (func.ty(func.args(func.body())[argument]), func.ty(results[result]));
        if (from.dtype, &from.shape) != (to.dtype, &to.shape) {
            refuse(format!(
                "output `{output}` is {}{}, and input `{input}` is {}{}: one memory holds both only where they are equal",
                to.dtype, to.shape, from.dtype, from.shape
            ));
        } else if pairs.iter().any(|pair| pair.argument == argument || pair.result == result) {
            refuse(format!("`{input}` or `{output}` shares its memory twice"));
        } else {
            pairs.push(Alias { result, argument });
        }
    }
    found.into_result(pairs)
}

/// Marks the scatters that may work in place.
pub fn update_in_place(program: &mut TensorProgram, aliases: &[Alias], cx: &mut PassCx) -> Changed {
    let Some(func) = program.funcs.first_mut() else { return Changed::No };
    let mut changed = Changed::No;
    for alias in aliases {
        match updating_kernel(func, *alias) {
            Ok(kernel) => {
                cx.count("in place", 1);
                *func.kind_mut(kernel) = TensorOp::Kernel { class: KernelClass::Update };
                changed = Changed::Yes;
            }
            Err(reason) => {
                let name = func.result_names.get(alias.result).cloned().unwrap_or_default();
                cx.remark_with(None, || format!("`{name}` is copied to its input in the end: {reason}"));
            }
        }
    }
    changed
}

/// The kernel that may write the result where its data are. Errors: why there is none.
pub(crate) fn updating_kernel(func: &TensorFunc, alias: Alias) -> Result<OpId, &'static str> {
    let body = func.body();
    let argument = func.args(body)[alias.argument];
    let end = func.terminator(body).ok_or("there is no result")?;
    let result = source(func, func.operands(end)[alias.result]);
    let kernel = func.def_op(result).filter(|op| func.parent(*op) == Some(body));
    let kernel = kernel.ok_or("no kernel computes it")?;
    let TensorOp::Kernel { class: KernelClass::Scatter | KernelClass::Update } = func.kind(kernel) else {
        return Err("it is no scatter into the input");
    };
    let data = data_of_scatter(func, kernel).map(|number| func.operand(kernel, number));
    if data.map(|data| source(func, data)) != Some(argument) {
        return Err("it is no scatter into the input");
    }
    if func.operands(kernel).iter().filter(|operand| source(func, **operand) == argument).count() > 1 {
        return Err("the scatter reads the input for its updates, too");
    }
    let order: Vec<OpId> = func.ops_in(body).to_vec();
    let place = |op: OpId| order.iter().position(|other| *other == op);
    let own = place(kernel);
    let mut seen = BTreeSet::new();
    let mut readers = vec![argument];
    while let Some(value) = readers.pop() {
        for user in
            func.users(value).iter().copied().filter(|user| seen.insert((*user, value)) && *user != kernel)
        {
            match func.kind(user) {
                kind if is_view(kind) => readers.push(func.result(user)),
                _ if place(outermost(func, user)) < own => {}
                _ => return Err("the input is read later"),
            }
        }
    }
    Ok(kernel)
}

/// The op of the body that an op is, or stands inside of.
fn outermost(func: &TensorFunc, mut op: OpId) -> OpId {
    while let Some(owner) = func.parent(op).and_then(|region| func.owner(region)) {
        op = owner;
    }
    op
}
