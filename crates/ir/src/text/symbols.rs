//! The symbols of a program as the module attribute `{n = {axis = 1, input = 0}, k = {upper = "n*4", max = 100}}`.

use crate::AttrText;
use crate::attr::required;
use crate::mlir::Attr;
use tegula_base::{Dim, Origin, SymbolInfo, Symbols};

/// Range and divisor stand there only when they say something.
pub(super) fn to_attr(symbols: &Symbols) -> Attr {
    let entry = |info: &SymbolInfo| {
        let mut fields = match &info.origin {
            Origin::Input { input, axis } => {
                vec![("input".into(), input.to_attr()), ("axis".into(), axis.to_attr())]
            }
            Origin::Data { upper } => vec![("upper".into(), upper.to_attr())],
            Origin::Growth => vec![("growth".into(), true.to_attr())],
        };
        let facts = [("min", info.min, 0), ("max", info.max, SymbolInfo::MAX), ("divisor", info.divisor, 1)];
        let told = facts.into_iter().filter(|(_, value, usual)| value != usual);
        fields.extend(told.map(|(name, value, _)| (name.to_string(), value.to_attr())));
        Attr::Dictionary(fields)
    };
    Attr::Dictionary(symbols.0.iter().map(|(name, info)| (name.to_string(), entry(info))).collect())
}

/// Errors: the symbol and what is wrong with it.
pub(super) fn from_attr(attr: &Attr) -> Result<Symbols, String> {
    let Attr::Dictionary(entries) = attr else {
        return Err("symbols are given as a dictionary".into());
    };
    let mut symbols = Symbols::default();
    for (name, attr) in entries {
        let info = info_from_attr(attr).map_err(|error| format!("symbol `{name}`: {error}"))?;
        if Dim::symbol_name(name) != *name {
            return Err(format!("`{name}` is no symbol name"));
        }
        symbols.insert(name, info);
    }
    Ok(symbols)
}

fn info_from_attr(attr: &Attr) -> Result<SymbolInfo, String> {
    let Attr::Dictionary(fields) = attr else {
        return Err("a dictionary is expected".into());
    };
    let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, attr)| attr.clone());
    let origin = match field("upper") {
        Some(upper) => Origin::Data { upper: Dim::from_attr(&upper)? },
        None if field("growth").is_some() => Origin::Growth,
        None => Origin::Input { input: required(&field, "input")?, axis: required(&field, "axis")? },
    };
    let fact = |name: &str, usual: i64| field(name).map_or(Ok(usual), |attr| i64::from_attr(&attr));
    let info = SymbolInfo {
        origin,
        min: fact("min", 0)?,
        max: fact("max", SymbolInfo::MAX)?,
        divisor: fact("divisor", 1)?,
    };
    if info.min < 0 || info.max < info.min || info.divisor < 1 {
        return Err("0 <= min <= max and divisor >= 1 are expected".into());
    }
    Ok(info)
}
