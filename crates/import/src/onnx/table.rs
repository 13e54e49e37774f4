//! Which converter makes an op: rows of name and range of opset versions, one list per family.
//!
//! Ops that ONNX defines by a function of other ops have rows of their own: our converters write that
//! composition in tensor ops ("claim"); functions that the *model* brings are copied in ("expand").

use super::domain::{ONNX, OPSETS};
use super::row::{Convert, Row};
use super::{early, ops};
use std::sync::OnceLock;
use tegula_base::hash::HashMap;

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
            OPSETS.end()
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
