//! Bytes that are a function of one byte: a lookup table of 256, where that takes less than computing them.
//!
//! An activation between two quantisations is such a function, however it is spelled and quantised on its way.

use crate::passes::canonicalise::{Applied, Site, all_ones};
use std::collections::BTreeMap;
use tegula_base::{DType, HostTensor};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::eval::evaluate_op;
use tegula_tensor::lookup::{BYTES, SLACK};

/// Ops of one function; a walk goes through no more.
const MOST: usize = 48;
/// Instructions that a lookup is worth, as [`cost`] counts them. Of a CPU's two ways (`target-cpu/src/select/look_up.rs`)
/// the dearer decides: with `vpermi2b` a vector of 16 takes nine instructions, without it `vpgatherdd` reads the 8
/// elements one by one, in some 20 cycles on Zen 5 and Golden Cove (Fog, "Instruction tables").
const DEAR: u32 = 32;
/// Ops behind a number that is not computed yet.
const DEEPEST: usize = 4;

pub(super) fn table(site: &mut Site) -> Applied {
    let result = site.b.func.result(site.op);
    let mut walk = Walk { site, shape_of: result, found: BTreeMap::new(), entered: 0 };
    let Some(Source::Byte(byte)) = walk.op(site.op) else { return Ok(None) };
    let ops = walk.behind(result);
    let cost: u32 = ops.iter().map(|op| cost(site.b.func.kind(*op))).sum();
    if cost < DEAR {
        return Ok(None);
    }
    let Some(values) = values(site, byte, &ops) else { return Ok(None) };
    let dtype = values.dtype;
    let mut table = HostTensor { dtype, shape: vec![(BYTES + SLACK) as usize], bytes: values.bytes };
    table.bytes.resize((BYTES + SLACK) as usize, 0);
    let table = site.b.constant(table)?;
    let place = match site.b.dtype(byte) {
        DType::U8 => byte,
        _ => site.b.elementwise(ScalarOp::Bitcast { to: DType::U8 }, &[byte])?,
    };
    let place = site.b.cast(place, DType::I32)?;
    site.b.gather(table, place, 0).map(Some)
}

/// Roughly the instructions of an element.
fn cost(op: &TensorOp) -> u32 {
    match op {
        TensorOp::Quantize { .. } => 8,
        TensorOp::Dequantize { .. } => 3,
        TensorOp::Gelu { .. } => 24,
        TensorOp::Gather { .. } => DEAR,
        op => tegula_tensor::facts::weight(op),
    }
}

/// What a value is a function of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Constant,
    Byte(Value),
}

/// What each value on the way is a function of, and whether its own op is a part of that; a value that many ops read
/// is looked at once.
struct Walk<'a, 'b> {
    site: &'a Site<'b>,
    /// All that is computed has this value's shape.
    shape_of: Value,
    found: BTreeMap<Value, Option<Source>>,
    /// Ops looked at.
    entered: usize,
}

impl Walk<'_, '_> {
    fn value(&mut self, value: Value) -> Option<Source> {
        if let Some(known) = self.found.get(&value) {
            return *known;
        }
        let source = self.look_at(value);
        self.found.insert(value, source);
        source
    }

    fn look_at(&mut self, value: Value) -> Option<Source> {
        if number(self.site, value, DEEPEST).is_some() {
            return Some(Source::Constant);
        }
        let (shape, dtype) = (self.site.shape(value), self.site.b.dtype(value));
        if shape != self.site.shape(self.shape_of) {
            return None;
        }
        // As far back as it goes: then no byte between is needed.
        let behind = self.site.def(value).map(|(op, _)| op).and_then(|op| self.op(op));
        behind.or(matches!(dtype, DType::I8 | DType::U8).then_some(Source::Byte(value)))
    }

    fn op(&mut self, op: OpId) -> Option<Source> {
        self.entered += 1;
        if self.entered > MOST {
            return None;
        }
        let mut source = Source::Constant;
        for operand in operands(self.site, op)?.iter().copied() {
            match (source, self.value(operand)?) {
                (_, Source::Constant) => {}
                (Source::Byte(one), Source::Byte(other)) if one != other => return None,
                (_, byte) => source = byte,
            }
        }
        Some(source)
    }

    /// The ops between the byte and a value of it, operands first.
    fn behind(&self, value: Value) -> Vec<OpId> {
        let mut ops = Vec::new();
        self.gather(value, &mut ops);
        ops
    }

    fn gather(&self, value: Value, ops: &mut Vec<OpId>) {
        let is_start = |source: &Option<Source>| *source == Some(Source::Byte(value));
        if self.found.get(&value).is_some_and(is_start) {
            return;
        }
        let Some((op, _)) = self.site.def(value).filter(|(op, _)| !ops.contains(op)) else { return };
        for operand in operands(self.site, op).into_iter().flatten() {
            if number(self.site, *operand, DEEPEST).is_none() {
                self.gather(*operand, ops);
            }
        }
        ops.push(op);
    }
}

/// What an op's result is a function of, element by element; `None` where it is none.
fn operands<'a>(site: &'a Site, op: OpId) -> Option<&'a [Value]> {
    let operands = site.b.func.operands(op);
    match site.b.func.kind(op) {
        TensorOp::Elementwise { .. } | TensorOp::Gelu { .. } => Some(operands),
        TensorOp::Quantize { scheme } | TensorOp::Dequantize { scheme } if scheme.axis.is_none() => {
            Some(operands)
        }
        TensorOp::Gather { axis: 0 } => {
            let is_table = matches!(site.def(operands[0]), Some((_, TensorOp::Constant { .. })))
                && site.shape(operands[0]).rank() == 1;
            is_table.then_some(&operands[1..])
        }
        _ => None,
    }
}

/// A number that is a constant, or computed from some.
fn number(site: &Site, value: Value, deepest: usize) -> Option<HostTensor> {
    let (op, kind) = site.def(value).filter(|_| all_ones(site.shape(value)))?;
    match kind {
        TensorOp::Constant { id, .. } => Some(site.b.consts[*id].to_host()),
        TensorOp::Splat { .. } => evaluate_op(kind, &[]).ok()?.pop(),
        TensorOp::Reshape { .. } | TensorOp::Elementwise { .. } | TensorOp::Dequantize { .. }
            if deepest > 0 =>
        {
            let operands = site.b.func.operands(op).iter();
            let operands: Option<Vec<HostTensor>> =
                operands.map(|operand| number(site, *operand, deepest - 1)).collect();
            evaluate_op(kind, &operands?.iter().collect::<Vec<_>>()).ok()?.pop()
        }
        _ => None,
    }
}

/// The function of all bytes, in the order of their bits.
fn values(site: &Site, byte: Value, ops: &[OpId]) -> Option<HostTensor> {
    let rank = site.b.rank(byte);
    let mut shape = vec![1; rank];
    *shape.last_mut()? = BYTES as usize;
    let all = HostTensor { dtype: site.b.dtype(byte), shape, bytes: (0..=u8::MAX).collect() };
    let mut known: Vec<(Value, HostTensor)> = vec![(byte, all)];
    for op in ops {
        let mut operands = Vec::new();
        for value in site.b.func.operands(*op) {
            operands.push(match known.iter().find(|(other, _)| other == value) {
                Some((_, tensor)) => tensor.clone(),
                None => match site.def(*value)? {
                    (_, TensorOp::Constant { id, .. }) => site.b.consts[*id].to_host(),
                    _ => number(site, *value, DEEPEST)?,
                },
            });
        }
        let result = evaluate_op(site.b.func.kind(*op), &operands.iter().collect::<Vec<_>>()).ok()?.pop()?;
        known.push((site.b.func.result(*op), result));
    }
    known.pop().map(|(_, values)| values).filter(|values| values.bytes.len() == BYTES as usize)
}
