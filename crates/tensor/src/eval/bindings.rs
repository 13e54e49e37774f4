//! Values of size symbols during one run: from the inputs first, then from `bind`.

use crate::{TensorOp, TensorProgram, TensorType};
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Dim, HostTensor, SymbolInfo, Symbols};

/// Elements of an axis that the evaluator lets a loop's value grow to: more would take it minutes.
const MOST_GROWTH: i64 = 1 << 22;

/// Symbol name to value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings(pub BTreeMap<Arc<str>, i64>);

impl Bindings {
    /// Reads the symbols off the inputs' extents.
    /// Errors: count, element types or extents do not fit the entry function; a size is outside its range.
    pub fn of_inputs(program: &TensorProgram, inputs: &[HostTensor]) -> Result<Bindings, Diagnostic> {
        let func = program.entry();
        let args = func.args(func.body());
        if args.len() != inputs.len() {
            let message = format!("the model takes {} inputs, got {}", args.len(), inputs.len());
            return Err(Diagnostic::error("input-count", message));
        }
        let growths = program.symbols.growths().map(|name| (name.clone(), SymbolInfo::FIRST_GROWTH));
        let mut bindings = Bindings(growths.collect());
        let name = |i: usize| func.arg_names.get(i).cloned().unwrap_or_else(|| i.to_string());
        let mut from: BTreeMap<Arc<str>, String> = BTreeMap::new();
        for (i, (arg, input)) in args.iter().zip(inputs).enumerate() {
            let (ty, got) = (func.ty(*arg), TensorType::of(input));
            if ty.dtype != input.dtype || ty.rank() != input.shape.len() {
                let message = format!("input `{}` is {got}, the model takes {ty}", name(i));
                return Err(Diagnostic::error("input-type", message));
            }
            for (dim, extent) in ty.shape.iter().zip(&input.shape) {
                let Some(symbol) = dim.as_symbol() else { continue };
                let known = bindings.0.entry(symbol.into()).or_insert(*extent as i64);
                let first = from.entry(symbol.into()).or_insert_with(|| name(i));
                if *known != *extent as i64 {
                    let message = format!(
                        "size `{symbol}` is {known} in input `{first}` and {extent} in input `{}`",
                        name(i)
                    );
                    return Err(Diagnostic::error("input-shape", message));
                }
            }
        }
        for (i, (arg, input)) in args.iter().zip(inputs).enumerate() {
            let (ty, got) = (func.ty(*arg), TensorType::of(input));
            let expected = bindings.concrete(ty).map_err(|error| Diagnostic::error("input-shape", error))?;
            if expected.shape != got.shape {
                let message = format!("input `{}` is {got}, the model takes {ty}", name(i));
                return Err(Diagnostic::error("input-shape", message));
            }
        }
        for (symbol, value) in &bindings.0 {
            if let Some(info) = program.symbols.get(symbol) {
                in_range(symbol, *value, info).map_err(|error| Diagnostic::error("input-shape", error))?;
            }
        }
        Ok(bindings)
    }

    /// Lets loops grow twice as much. Errors: that is more than a size may be.
    pub(super) fn grow(&mut self, symbols: &Symbols) -> Result<(), Diagnostic> {
        for name in symbols.growths() {
            let growth = self.0.entry(name.clone()).or_insert(SymbolInfo::FIRST_GROWTH);
            *growth *= 2;
            if *growth > MOST_GROWTH {
                let message = format!("a loop's value grows past {MOST_GROWTH} elements of an axis");
                return Err(Diagnostic::error("evaluate", message));
            }
        }
        Ok(())
    }

    pub fn get(&self, symbol: &str) -> Option<i64> {
        self.0.get(symbol).copied()
    }

    /// The value of a size. Errors: a symbol without value, or a number too large.
    pub fn size(&self, dim: &Dim) -> Result<i64, String> {
        if let Some(n) = dim.as_const() {
            return Ok(n);
        }
        dim.eval(&|symbol| self.get(symbol)).ok_or_else(|| {
            let mut unbound = None;
            dim.for_each_symbol(&mut |symbol| {
                if self.get(symbol).is_none() {
                    unbound.get_or_insert_with(|| symbol.clone());
                }
            });
            match unbound {
                Some(symbol) => format!(
                    "size `{symbol}` has no value: no input has it as an extent, and it is not bound yet"
                ),
                None => format!("size {dim} divides by 0 or is too large"),
            }
        })
    }

    /// The type with its sizes as numbers.
    pub fn concrete(&self, ty: &TensorType) -> Result<TensorType, String> {
        ty.map_dims(&mut |dim| self.size(dim).map(Dim::from))
    }

    /// The op with its sizes as numbers.
    pub fn concrete_op(&self, op: &TensorOp) -> Result<TensorOp, String> {
        op.map_dims(&mut |dim| self.size(dim).map(Dim::from))
    }
}

/// Checks a value against what is promised of its symbol.
pub(super) fn in_range(symbol: &str, value: i64, info: &SymbolInfo) -> Result<(), String> {
    if !(info.min..=info.max).contains(&value) {
        return Err(format!("size `{symbol}` is {value}, the model takes {} to {}", info.min, info.max));
    }
    if value % info.divisor.max(1) != 0 {
        return Err(format!("size `{symbol}` is {value}, the model takes multiples of {}", info.divisor));
    }
    Ok(())
}
