//! What a program promises beyond its functions: constants are in the store as declared, sizes are known.

use crate::{TensorFunc, TensorOp, TensorProgram};
use std::collections::BTreeSet;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics, Dim, Origin};
use tegula_ir::{Op, OpId, RegionId, verify_program};

/// Verifies the functions, `constant_c1`, and that every size symbol is given by an input, or bound before its use.
pub fn check_program(program: &TensorProgram) -> Result<(), Diagnostics> {
    verify_program(program)?;
    let mut errors = Diagnostics::default();
    for func in &program.funcs {
        let mut known = BTreeSet::new();
        for arg in func.args(func.body()) {
            if let Err(error) = func.ty(*arg).check_size() {
                errors.push(Diagnostic::error(
                    "invalid-ir",
                    format!("argument {arg} of `{}`: {error}", func.name),
                ));
            }
            let extents = func.ty(*arg).shape.iter().filter_map(|dim| dim.as_symbol());
            known.extend(extents.map(Arc::<str>::from));
        }
        known.extend(program.symbols.growths().cloned());
        region(program, func, func.body(), known, &mut errors);
    }
    errors.into_result(())
}

fn region(
    program: &TensorProgram,
    func: &TensorFunc,
    region_id: RegionId,
    mut known: BTreeSet<Arc<str>>,
    errors: &mut Diagnostics,
) {
    for &op in func.ops_in(region_id) {
        if let Err(error) = constant(program, func, op) {
            errors.push(at(func, op, error));
        }
        if let TensorOp::Bind { symbol } = func.kind(op) {
            known.insert(symbol.as_str().into());
            if !matches!(program.symbols.get(symbol), Some(info) if matches!(info.origin, Origin::Data { .. }))
            {
                errors.push(at(
                    func,
                    op,
                    format!("size `{symbol}` is bound, but not declared as data with a bound"),
                ));
            }
        }
        let mut unknown = None;
        let mut note = |dim: &Dim| {
            dim.for_each_symbol(&mut |symbol| {
                if !known.contains(symbol) {
                    unknown.get_or_insert_with(|| symbol.clone());
                }
            });
        };
        func.kind(op).for_each_dim(&mut note);
        func.results(op).iter().flat_map(|value| func.ty(*value).shape.iter()).for_each(note);
        if let Some(symbol) = unknown {
            errors.push(at(func, op, format!("size `{symbol}` is used before it is known")));
        }
        for inner in func.regions_of(op) {
            region(program, func, *inner, known.clone(), errors);
        }
    }
}

/// `constant_c1`.
fn constant(program: &TensorProgram, func: &TensorFunc, op: OpId) -> Result<(), String> {
    let TensorOp::Constant { id, dtype, shape } = func.kind(op) else { return Ok(()) };
    let Some(data) = program.consts.get(*id) else {
        return Err(format!("constant_c1: {id} is not in the store"));
    };
    if data.dtype != *dtype || shape.as_static().as_ref() != Some(&data.shape) {
        return Err(format!(
            "constant_c1: {dtype}{shape} is declared, the store has {}{:?}",
            data.dtype, data.shape
        ));
    }
    Ok(())
}

fn at(func: &TensorFunc, op: OpId, error: String) -> Diagnostic {
    let place = match &func.op(op).location {
        Some(node) => format!("node \"{node}\""),
        None => format!("{op} ({}) in `{}`", func.kind(op).name(), func.name),
    };
    Diagnostic::error("invalid-ir", error).at(place)
}
