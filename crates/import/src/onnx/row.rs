//! What a row of the table says of an op: its name, its versions, and the converter that builds its results.

use super::cx::Cx;
use super::node::Node;
use crate::build::scope::Slot;
use crate::report::Outcome;
use smallvec::SmallVec;
use tegula_base::{DType, Dim};
use tegula_ir::Value;

/// A node's results, most often one.
pub(crate) type Results = SmallVec<[Slot; 1]>;

type Slots = fn(&mut Cx, &Node) -> Outcome<Vec<Slot>>;
type Tensors = fn(&mut Cx, &Node) -> Outcome<Vec<Value>>;

/// Builds a node's results; fewer than it names are an error of the caller's to report.
#[derive(Clone, Copy)]
pub(crate) enum Convert {
    /// Of an op whose results are tensors.
    Tensors(Tensors),
    /// Of one that only moves elements, strings too.
    Moves(Tensors),
    /// Of one whose results are numbers about its operands, which may be strings.
    Measures(Tensors),
    /// Of one that computes 16-bit floats in `f32`.
    Widens(Tensors),
    /// Of an op whose operands and results may be anything.
    Slots(Slots),
}

impl Convert {
    pub fn run(self, cx: &mut Cx, node: &Node) -> Outcome<Results> {
        match self {
            Convert::Tensors(convert) => Ok(convert(cx, node)?.into_iter().map(Slot::Value).collect()),
            Convert::Moves(convert) => move_texts(cx, node, true, convert),
            Convert::Measures(convert) => move_texts(cx, node, false, convert),
            Convert::Widens(convert) => widen_halves(cx, node, convert),
            Convert::Slots(convert) => Ok(convert(cx, node)?.into()),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub op: &'static str,
    pub since: i64,
    pub until: i64,
    pub convert: Convert,
}

/// An op in all versions.
pub(crate) const fn op(op: &'static str, convert: Tensors) -> Row {
    op_between(op, 1, i64::MAX, convert)
}

/// An op in the versions of its domain from `since` to `until`, both included.
pub(crate) const fn op_between(op: &'static str, since: i64, until: i64, convert: Tensors) -> Row {
    Row { op, since, until, convert: Convert::Tensors(convert) }
}

/// An op from a version of its domain on.
pub(crate) const fn op_since(op: &'static str, since: i64, convert: Tensors) -> Row {
    op_between(op, since, i64::MAX, convert)
}

impl Row {
    /// Elements are moved only: they may be strings.
    pub const fn moves(self) -> Row {
        match self.convert {
            Convert::Tensors(convert) => Row { convert: Convert::Moves(convert), ..self },
            _ => self,
        }
    }

    /// 16-bit floats are computed in `f32`, and the results rounded once: the op is its mathematics, not what its steps
    /// would round (`docs/numerics.md`, "Contractions and reductions").
    pub const fn widens(self) -> Row {
        match self.convert {
            Convert::Tensors(convert) => Row { convert: Convert::Widens(convert), ..self },
            _ => self,
        }
    }

    /// Results are numbers about the operands, which may be strings.
    pub const fn measures(self) -> Row {
        match self.convert {
            Convert::Tensors(convert) => Row { convert: Convert::Measures(convert), ..self },
            _ => self,
        }
    }
}

/// An op in all versions, with operands and results of any kind.
pub(crate) const fn op_of_slots(op: &'static str, convert: Slots) -> Row {
    op_of_slots_since(op, 1, convert)
}

/// As [`op_of_slots`], from a version of its domain on.
pub(crate) const fn op_of_slots_since(op: &'static str, since: i64, convert: Slots) -> Row {
    Row { op, since, until: i64::MAX, convert: Convert::Slots(convert) }
}

/// Runs a converter on operands of `f32` in place of 16-bit floats; its results of `f32` are rounded to the operands' type.
fn widen_halves(cx: &mut Cx, node: &Node, convert: Tensors) -> Outcome<Results> {
    let half = |cx: &Cx, slot: &Option<Slot>| match slot {
        Some(Slot::Value(value)) => Some(cx.dtype(*value)).filter(|dtype| is_half(*dtype)),
        _ => None,
    };
    let Some(narrow) = node.operands.iter().find_map(|slot| half(cx, slot)) else {
        return Ok(convert(cx, node)?.into_iter().map(Slot::Value).collect());
    };
    let mut operands = node.operands.clone();
    for operand in &mut operands {
        if let (Some(_), Some(Slot::Value(value))) = (half(cx, operand), &mut *operand) {
            *value = cx.cast(*value, DType::F32)?;
        }
    }
    let results = node.with_operands(operands, |wide| convert(cx, wide))?;
    let rounded = |value| match cx.dtype(value) {
        DType::F32 => cx.cast(value, narrow).map(Slot::Value),
        _ => Ok(Slot::Value(value)),
    };
    results.into_iter().map(rounded).collect()
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// An op that only moves elements, on operands that are strings: it moves their numbers, and the strings are gathered
/// by those. `results_move`: otherwise the results are numbers about the operands (their shape).
fn move_texts(cx: &mut Cx, node: &Node, results_move: bool, convert: Tensors) -> Outcome<Results> {
    let is_text = |slot: &Option<Slot>| matches!(slot, Some(Slot::Text(_)));
    if !node.operands.iter().any(is_text) {
        return Ok(convert(cx, node)?.into_iter().map(Slot::Value).collect());
    }
    let (mut rows, mut before) = (vec![], Dim::from(0));
    let mut numbers = node.operands.clone();
    for operand in &mut numbers {
        if let Some(Slot::Text(text)) = operand {
            let (shape, width) = (cx.text_shape(*text), cx.text_width(*text));
            let count = shape.count();
            rows.push(cx.reshape(*text, [count.clone(), width])?);
            let own = cx.iota(DType::I64, [count.clone()], 0)?;
            let first = cx.size_as(before.clone(), DType::I64, 1)?;
            let own = cx.add(own, first)?;
            *operand = Some(Slot::Value(cx.reshape(own, shape)?));
            before = before + count;
        }
    }
    let results = node.with_operands(numbers, |moved| convert(cx, moved))?;
    if !results_move {
        return Ok(results.into_iter().map(Slot::Value).collect());
    }
    let rows = cx.alike_texts(&rows)?;
    let rows = cx.concat(&rows, 0)?;
    results.into_iter().map(|numbers| Ok(Slot::Text(cx.gather(rows, numbers, 0)?))).collect()
}
