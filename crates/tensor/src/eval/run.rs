//! Walks regions in order: control flow, size symbols, lifetimes.

use super::bindings::in_range;
use super::{Bindings, Observer, check_rounds, evaluate_op};
use crate::decompose::{expand, is_composite};
use crate::{Builder, TensorFunc, TensorOp, TensorType};
use std::sync::Arc;
use tegula_base::HashMap;
use tegula_base::{Diagnostic, EntityId, HostTensor, Origin, SymbolInfo, Symbols};
use tegula_ir::liveness::Liveness;
use tegula_ir::op::OpRules;
use tegula_ir::{ConstStore, Op, OpId, RegionId, Value};

type Tensors = Vec<Arc<HostTensor>>;

/// Runs a function's body on its arguments.
pub(super) fn run_func<'a>(
    func: &'a TensorFunc,
    consts: &'a ConstStore,
    symbols: &'a Symbols,
    bindings: Bindings,
    inputs: Tensors,
    observer: Option<Box<Observer<'a>>>,
    is_limited: bool,
) -> Result<Tensors, Diagnostic> {
    let values = vec![None; func.value_count()];
    let liveness = HashMap::default();
    let mut run = Run { func, consts, symbols, bindings, values, liveness, observer, is_limited };
    run.region(func.body(), inputs)
}

struct Run<'a> {
    func: &'a TensorFunc,
    consts: &'a ConstStore,
    symbols: &'a Symbols,
    bindings: Bindings,
    values: Vec<Option<Arc<HostTensor>>>,
    liveness: HashMap<RegionId, Arc<Liveness>>,
    observer: Option<Box<Observer<'a>>>,
    /// Whether loops that do not end are given up.
    is_limited: bool,
}

impl Run<'_> {
    /// Runs a region; gives the operands of its terminator.
    fn region(&mut self, region: RegionId, args: Tensors) -> Result<Tensors, Diagnostic> {
        let func = self.func;
        let liveness =
            self.liveness.entry(region).or_insert_with(|| Arc::new(Liveness::of(func, region))).clone();
        for (arg, tensor) in func.args(region).iter().zip(args) {
            self.set(*arg, tensor).map_err(Diagnostic::internal)?;
        }
        for arg in liveness.unused_args() {
            self.values[arg.index()] = None;
        }
        for &op in func.ops_in(region) {
            let operands: Tensors = self.operands(op).map_err(|error| self.diagnose(op, error))?;
            if func.kind(op).is_terminator() {
                for value in liveness.dying_after(op) {
                    self.values[value.index()] = None;
                }
                return Ok(operands);
            }
            self.op(op, operands)?;
            for value in liveness.dying_after(op) {
                self.values[value.index()] = None;
            }
        }
        Err(Diagnostic::internal(format!("{region} of `{}` has no end", func.name)))
    }

    /// A region in a scope of its own: sizes bound inside are forgotten after.
    fn scoped(&mut self, region: RegionId, args: Tensors) -> Result<Tensors, Diagnostic> {
        let outside = self.bindings.clone();
        let results = self.region(region, args);
        self.bindings = outside;
        results
    }

    fn op(&mut self, op: OpId, operands: Tensors) -> Result<(), Diagnostic> {
        let func = self.func;
        let regions = func.regions_of(op);
        let results: Tensors = match func.kind(op) {
            TensorOp::If {} => {
                let taken = if operands[0].bytes[0] != 0 { regions[0] } else { regions[1] };
                self.scoped(taken, vec![])?
            }
            TensorOp::Loop { stacked, .. } => self.repeat(op, *stacked, &operands)?,
            TensorOp::Kernel { .. } => self.scoped(regions[0], operands)?,
            TensorOp::Bind { symbol } => {
                self.bind(symbol, operands[0].to_i64()[0]).map_err(|error| self.diagnose(op, error))?;
                vec![]
            }
            TensorOp::AssertSize { left, right, message } => {
                let size = |dim| self.bindings.size(dim).map_err(|error| self.diagnose(op, error));
                let (l, r) = (size(left)?, size(right)?);
                if l != r {
                    let text = format!("{message}: {left} is {l}, {right} is {r}");
                    let grows = self.symbols.grows(left) || self.symbols.grows(right);
                    let code = if grows { SymbolInfo::GROWTH } else { "evaluate" };
                    return Err(self.locate(op, Diagnostic::error(code, text)));
                }
                vec![]
            }
            TensorOp::Constant { id, .. } => match self.consts.get(*id) {
                Some(data) => vec![Arc::new(data.to_host())],
                None => return Err(Diagnostic::internal(format!("{id} is not in the store"))),
            },
            kind if is_composite(kind) => self.composite(op, operands)?,
            kind => {
                let tensors: Vec<&HostTensor> = operands.iter().map(Arc::as_ref).collect();
                self.bindings
                    .concrete_op(kind)
                    .and_then(|kind| evaluate_op(&kind, &tensors))
                    .map_err(|error| self.diagnose(op, error))?
                    .into_iter()
                    .map(Arc::new)
                    .collect()
            }
        };
        for (value, tensor) in func.results(op).iter().zip(&results) {
            self.set(*value, tensor.clone()).map_err(|error| {
                let name = func.kind(op).name();
                self.locate(op, Diagnostic::internal(format!("`{name}` evaluated: {error}")))
            })?;
        }
        if let Some(observer) = &mut self.observer {
            observer(func, op, &results, &self.bindings);
        }
        Ok(())
    }

    /// Runs the decomposition as a function of its own, on constant sizes.
    fn composite(&mut self, op: OpId, operands: Tensors) -> Result<Tensors, Diagnostic> {
        let (func, consts) = self.decomposed(op, &operands).map_err(|error| self.diagnose(op, error))?;
        let bindings = Bindings::default();
        run_func(&func, &consts, &Symbols::default(), bindings, operands, None, false)
            .map_err(|diagnostic| self.locate(op, diagnostic))
    }

    fn decomposed(&self, op: OpId, operands: &Tensors) -> Result<(TensorFunc, ConstStore), String> {
        let kind = self.bindings.concrete_op(self.func.kind(op))?;
        decomposed_func(&kind, operands.iter().map(|tensor| TensorType::of(tensor)))
    }

    fn repeat(&mut self, op: OpId, stacked: usize, operands: &Tensors) -> Result<Tensors, Diagnostic> {
        let func = self.func;
        let region = func.regions_of(op)[0];
        let TensorOp::Loop { trip, .. } = func.kind(op) else {
            return Err(Diagnostic::internal("no loop"));
        };
        let trip = self.bindings.size(trip).map_err(|error| self.diagnose(op, error))?;
        let mut stacks = func.results(op)[operands.len()..]
            .iter()
            .map(|value| self.bindings.concrete(func.ty(*value)).and_then(|ty| super::ops::zeros(&ty)))
            .collect::<Result<Vec<HostTensor>, String>>()
            .map_err(|error| self.diagnose(op, error))?;
        let mut go = operands[0].bytes[0] != 0;
        let mut carried: Tensors = operands[1..].to_vec();
        let mut round = 0;
        while go && round < trip {
            if self.is_limited {
                check_rounds(round, trip).map_err(|error| self.diagnose(op, error))?;
            }
            let args =
                std::iter::once(Arc::new(HostTensor::scalar(round))).chain(carried.drain(..)).collect();
            let mut yields = self.scoped(region, args)?;
            let rows = yields.split_off(yields.len() - stacked);
            for (stack, row) in stacks.iter_mut().zip(rows) {
                let at = round as usize * row.bytes.len();
                stack.bytes[at..at + row.bytes.len()].copy_from_slice(&row.bytes);
            }
            go = yields[0].bytes[0] != 0;
            carried = yields.split_off(1);
            round += 1;
        }
        let rounds = Arc::new(HostTensor::scalar(round));
        Ok(std::iter::once(rounds).chain(carried).chain(stacks.into_iter().map(Arc::new)).collect())
    }

    fn bind(&mut self, symbol: &str, value: i64) -> Result<(), String> {
        if let Some(info) = self.symbols.get(symbol) {
            in_range(symbol, value, info)?;
            if let Origin::Data { upper } = &info.origin {
                let upper = self.bindings.size(upper)?;
                if value > upper {
                    return Err(format!("size `{symbol}` is {value}, its bound is {upper}"));
                }
            }
        } else if value < 0 {
            return Err(format!("size `{symbol}` is {value}"));
        }
        self.bindings.0.insert(symbol.into(), value);
        Ok(())
    }

    fn operands(&self, op: OpId) -> Result<Tensors, String> {
        let value = |value: &Value| {
            self.values[value.index()].clone().ok_or_else(|| format!("{value} is used before it is computed"))
        };
        self.func.operands(op).iter().map(value).collect()
    }

    /// Errors: the tensor is not of the value's declared type.
    fn set(&mut self, value: Value, tensor: Arc<HostTensor>) -> Result<(), String> {
        let declared = self.func.ty(value);
        let (expected, got) = (self.bindings.concrete(declared)?, TensorType::of(&tensor));
        if (expected.dtype, &expected.shape) != (got.dtype, &got.shape) {
            return Err(format!("{value} is {got} where {expected} is declared"));
        }
        self.values[value.index()] = Some(tensor);
        Ok(())
    }

    fn diagnose(&self, op: OpId, error: impl Into<String>) -> Diagnostic {
        self.locate(op, Diagnostic::error("evaluate", error))
    }

    fn locate(&self, op: OpId, diagnostic: Diagnostic) -> Diagnostic {
        let name = self.func.kind(op).name();
        match &self.func.op(op).location {
            Some(node) => diagnostic.at(format!("node \"{node}\" ({name})")),
            None => diagnostic.at(format!("`{name}` ({op}) in `{}`", self.func.name)),
        }
    }
}

/// A function that is just a composite's decomposition on arguments of these types.
pub(super) fn decomposed_func(
    kind: &TensorOp,
    args: impl IntoIterator<Item = TensorType>,
) -> Result<(TensorFunc, ConstStore), String> {
    let mut func = TensorFunc::new(kind.name());
    let mut consts = ConstStore::default();
    let body = func.body();
    let args: Vec<Value> = args.into_iter().map(|ty| func.add_arg(body, ty)).collect();
    let mut b = Builder::new(&mut func, &mut consts);
    let results = expand(&mut b, kind, &args)?;
    b.ret(&results)?;
    Ok((func, consts))
}
