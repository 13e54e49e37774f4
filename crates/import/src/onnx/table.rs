//! Which converter makes an op: rows of name and range of opset versions, one list per family.
//!
//! Ops that ONNX defines by a function of other ops have rows of their own: our converters write that
//! composition in tensor ops ("claim"); functions that the *model* brings are copied in ("expand").

use super::cx::Cx;
use super::early;
use super::fault::Outcome;
use super::node::Node;
use super::ops::{self, ONNX};
use super::scope::Slot;
use smallvec::SmallVec;
use std::sync::OnceLock;
use tegula_base::hash::HashMap;
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
    /// Of an op whose operands and results may be anything.
    Slots(Slots),
}

impl Convert {
    pub fn run(self, cx: &mut Cx, node: &Node) -> Outcome<Results> {
        match self {
            Convert::Tensors(convert) => Ok(convert(cx, node)?.into_iter().map(Slot::Value).collect()),
            Convert::Moves(convert) => cx.move_texts(node, true, convert),
            Convert::Measures(convert) => cx.move_texts(node, false, convert),
            Convert::Slots(convert) => Ok(convert(cx, node)?.into()),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Row {
    op: &'static str,
    since: i64,
    until: i64,
    convert: Convert,
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

/// From this version of ONNX's own domain on every row is read; before, those that [`early`] lists.
const SETTLED: i64 = 7;

pub(crate) enum Found {
    Converter(Convert),
    /// Why there is none.
    Missing(String),
}

pub(crate) fn find(domain: &str, name: &str, version: i64) -> Found {
    static TABLE: OnceLock<HashMap<(&'static str, &'static str), Vec<Row>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: HashMap<_, Vec<Row>> = HashMap::default();
        for (domain, rows) in ops::FAMILIES {
            for row in rows.iter() {
                table.entry((*domain, row.op)).or_default().push(*row);
            }
        }
        table
    });
    let Some(rows) = table.get(&(domain, name)) else {
        if let Some(why) = (domain == ONNX).then(|| ops::reason_refused(name)).flatten() {
            return Found::Missing(why.to_string());
        }
        let domain = if domain == ONNX { "ONNX" } else { domain };
        return Found::Missing(format!("no such op of {domain} is supported"));
    };
    if domain == ONNX && version < SETTLED && early::since(name).is_none_or(|since| version < since) {
        return Found::Missing(format!(
            "opset {version} is not supported for this op; versions {} to {} are",
            early::since(name).unwrap_or(SETTLED),
            super::OPSETS.end()
        ));
    }
    match rows.iter().find(|row| (row.since..=row.until).contains(&version)) {
        Some(row) => Found::Converter(row.convert),
        None => Found::Missing(format!("the op is not supported in opset {version}")),
    }
}

/// Every op with a row, for the reference: domain, name, first and last version.
pub fn supported() -> Vec<(&'static str, &'static str, i64, i64)> {
    let mut all: Vec<_> = ops::FAMILIES
        .iter()
        .flat_map(|(domain, rows)| {
            rows.iter().map(|row| (*domain, row.op, first_version(domain, row), row.until))
        })
        .collect();
    all.sort_unstable();
    all
}

fn first_version(domain: &str, row: &Row) -> i64 {
    match domain {
        ONNX => row.since.max(early::since(row.op).unwrap_or(SETTLED)),
        _ => row.since,
    }
}
