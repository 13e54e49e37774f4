//! Text to the syntax tree, then to functions. Every problem is reported with its line and column; what follows from
//! an op that could not be read is not reported again.

use super::{Sidecar, for_each_resource, symbols};
use crate::attr::{as_string, required};
use crate::element_type::dtype_of;
use crate::mlir::{Attr, Block, Location, Module, Operation, Position, Region, Type, ValueRef};
use crate::{ConstData, ConstId, ConstStore, Func, Op, Program, RegionId, TypeText, Value};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};

/// Errors: `ir-syntax` where the text is no MLIR, `ir-text` where it is no program of this level.
pub fn parse_program<O: Op>(text: &str, sidecar: Option<Sidecar>) -> Result<Program<O>, Diagnostics> {
    let module = tegula_mlir::parse_module(text).map_err(|error| {
        let message = format!("expected {}, found {}", error.expected, error.found);
        Diagnostic::error("ir-syntax", message).at(format!("line {}:{}", error.line, error.column))
    })?;
    program_from_ast(module, sidecar)
}

/// The functions of a module, which may stand in a `builtin.module` or alone.
pub fn program_from_ast<O: Op>(module: Module, sidecar: Option<Sidecar>) -> Result<Program<O>, Diagnostics> {
    let mut reader = Reader {
        consts: ConstStore::default(),
        ids: HashMap::new(),
        blobs: module.resources.into_iter().map(|(_, key, bytes)| (key, bytes)).collect(),
        hashes: HashMap::new(),
        sidecar,
        errors: Diagnostics::default(),
    };
    let mut program_symbols = tegula_base::Symbols::default();
    let mut funcs: Vec<Func<O>> = Vec::new();
    for mut top in module.ops {
        if top.name != "builtin.module" {
            reader.top_level(top, &mut funcs);
            continue;
        }
        match take_attr(&mut top, &format!("{}.symbols", O::DIALECT)).map(|attr| symbols::from_attr(&attr)) {
            Some(Ok(found)) => program_symbols.0.extend(found.0),
            Some(Err(error)) => reader.fail(top.at, error),
            None => {}
        }
        if let Some(Attr::Dictionary(entries)) = take_attr(&mut top, &format!("{}.elided", O::DIALECT)) {
            let hashes = entries
                .iter()
                .filter_map(|(key, hash)| Some((key.clone(), as_string(hash).ok()?.to_owned())));
            reader.hashes.extend(hashes);
        }
        for block in top.regions.into_iter().flat_map(|region| region.blocks) {
            for op in block.ops {
                reader.top_level(op, &mut funcs);
            }
        }
    }
    if funcs.is_empty() && !reader.errors.has_errors() {
        reader.errors.push(Diagnostic::error("ir-text", format!("the text has no `{}.func`", O::DIALECT)));
    }
    let consts = reader.consts;
    reader.errors.into_result(Program { symbols: program_symbols, consts, funcs })
}

fn take_attr(op: &mut Operation, name: &str) -> Option<Attr> {
    let from = |list: &mut Vec<(String, Attr)>| {
        list.iter().position(|(key, _)| key == name).map(|place| list.remove(place).1)
    };
    from(&mut op.properties).or_else(|| from(&mut op.attributes))
}

struct Reader<'a> {
    consts: ConstStore,
    /// Constants read so far, by the key in the text.
    ids: HashMap<String, ConstId>,
    blobs: HashMap<String, Vec<u8>>,
    hashes: HashMap<String, String>,
    sidecar: Option<Sidecar<'a>>,
    errors: Diagnostics,
}

/// The value names in sight; `None` marks results of an op that could not be read.
#[derive(Default)]
struct Names {
    known: HashMap<String, Option<Vec<Value>>>,
    /// Names in order of definition, to be forgotten at the end of their region.
    defined: Vec<String>,
}

impl Names {
    fn define(&mut self, name: &str, values: Option<Vec<Value>>) -> Result<(), String> {
        match self.known.insert(name.to_owned(), values) {
            None => {
                self.defined.push(name.to_owned());
                Ok(())
            }
            Some(_) => Err(format!("`%{name}` is defined twice")),
        }
    }

    fn leave(&mut self, mark: usize) {
        for name in self.defined.drain(mark..) {
            self.known.remove(&name);
        }
    }
}

/// Why an op was not read.
enum Refusal {
    Error(String),
    /// It uses what could not be read either.
    Poisoned,
}

impl From<String> for Refusal {
    fn from(error: String) -> Refusal {
        Refusal::Error(error)
    }
}

impl Reader<'_> {
    fn fail(&mut self, at: Position, message: impl Into<String>) {
        let mut diagnostic = Diagnostic::error("ir-text", message);
        if at.line > 0 {
            diagnostic = diagnostic.at(format!("line {}:{}", at.line, at.column));
        }
        self.errors.push(diagnostic);
    }

    fn top_level<O: Op>(&mut self, op: Operation, funcs: &mut Vec<Func<O>>) {
        let at = op.at;
        if op.name != format!("{}.func", O::DIALECT) {
            return self.fail(at, format!("`{}.func` is expected, found `{}`", O::DIALECT, op.name));
        }
        match self.func(op) {
            Ok(func) if funcs.iter().any(|other: &Func<O>| other.name == func.name) => {
                self.fail(at, format!("function `{}` is defined twice", func.name));
            }
            Ok(func) => funcs.push(func),
            Err(error) => self.fail(at, error),
        }
    }

    fn func<O: Op>(&mut self, mut op: Operation) -> Result<Func<O>, String> {
        let properties = std::mem::take(&mut op.properties);
        let attr = |name: &str| properties.iter().find(|(key, _)| key == name).map(|(_, attr)| attr.clone());
        let mut func = Func::new(required::<String>(&attr, "sym_name")?);
        func.arg_names = required(&attr, "arg_names")?;
        func.result_names = required(&attr, "result_names")?;
        let region = only(op.regions).ok_or("a function has one region")?;
        let body = func.body();
        self.region(&mut func, region, body, &mut Names::default())?;
        Ok(func)
    }

    /// Errors: the region as a whole; errors of its ops are collected.
    fn region<O: Op>(
        &mut self,
        func: &mut Func<O>,
        region: Region,
        to: RegionId,
        names: &mut Names,
    ) -> Result<(), String> {
        let mark = names.defined.len();
        let block = match region.blocks.len() {
            0 => Block::default(),
            1 => only(region.blocks).unwrap_or_default(),
            n => return Err(format!("a region has one block here, found {n}")),
        };
        for (name, ty, _) in &block.args {
            let ty = O::Type::from_mlir(ty).map_err(|error| format!("argument `%{name}`: {error}"))?;
            let arg = func.add_arg(to, ty);
            names.define(name, Some(vec![arg]))?;
        }
        for op in block.ops {
            self.op(func, op, to, names);
        }
        names.leave(mark);
        Ok(())
    }

    fn op<O: Op>(&mut self, func: &mut Func<O>, mut op: Operation, to: RegionId, names: &mut Names) {
        let at = op.at;
        let packs = std::mem::take(&mut op.results);
        let results =
            match self.read_op(func, op, to, names, packs.iter().map(|pack| pack.count as usize).sum()) {
                Ok(values) => Some(values),
                Err(Refusal::Poisoned) => None,
                Err(Refusal::Error(error)) => {
                    self.fail(at, error);
                    None
                }
            };
        let mut rest = results.as_deref();
        for pack in packs {
            let values = rest.map(|values| {
                let (mine, others) = values.split_at(pack.count as usize);
                rest = Some(others);
                mine.to_vec()
            });
            if let Err(error) = names.define(&pack.name, values) {
                self.fail(at, error);
            }
        }
    }

    fn read_op<O: Op>(
        &mut self,
        func: &mut Func<O>,
        op: Operation,
        to: RegionId,
        names: &mut Names,
        n_results: usize,
    ) -> Result<Vec<Value>, Refusal> {
        let kind: O = self.kind(op.name, op.properties.into_iter().chain(op.attributes).collect())?;
        if !op.successors.is_empty() {
            return Err(format!("`{}` cannot branch to another block", kind.name()).into());
        }
        let operands: Vec<Value> =
            op.operands.iter().map(|name| resolve(names, name)).collect::<Result<_, Refusal>>()?;
        check_operand_types(func, &op.operands, &operands, &op.operand_types)?;
        let types: Vec<O::Type> = op.result_types.iter().map(O::Type::from_mlir).collect::<Result<_, _>>()?;
        if types.len() != n_results {
            return Err(format!("{n_results} results have {} types", types.len()).into());
        }
        if kind.region_count() != op.regions.len() {
            return Err(format!(
                "`{}` has {} regions, found {}",
                kind.name(),
                kind.region_count(),
                op.regions.len()
            )
            .into());
        }
        let op_id = func.push_op(to, kind, &operands, types, None);
        if let Some(location) = &op.location {
            let (names, n_roots) = names_of(location);
            let usual = func.root_name_count(op_id);
            func.set_names(op_id, &names, n_roots.unwrap_or(usual));
        }
        for (region, place) in op.regions.into_iter().zip(func.regions_of(op_id).to_vec()) {
            self.region(func, region, place, names)?;
        }
        Ok(func.results(op_id).to_vec())
    }

    fn kind<O: Op>(&mut self, full_name: String, mut attrs: Vec<(String, Attr)>) -> Result<O, String> {
        let name = full_name
            .strip_prefix(O::DIALECT)
            .and_then(|rest| rest.strip_prefix('.'))
            .ok_or_else(|| format!("`{full_name}` is no op of this level (`{}.`)", O::DIALECT))?;
        for (_, attr) in &mut attrs {
            let mut error = None;
            for_each_resource(attr, &mut |key, ty| match self.constant(key, ty) {
                Ok(id) => *key = id.to_string(),
                Err(found) => error = Some(found),
            });
            error.map_or(Ok(()), Err)?;
        }
        let asked = std::cell::RefCell::new(Vec::new());
        let kind = O::from_attrs(name, &|field| {
            asked.borrow_mut().push(field.to_owned());
            attrs.iter().find(|(key, _)| key == field).map(|(_, attr)| attr.clone())
        })?;
        match attrs.iter().find(|(key, _)| !asked.borrow().contains(key)) {
            Some((key, _)) => Err(format!("`{full_name}` has no attribute `{key}`")),
            None => Ok(kind),
        }
    }

    /// The id of a constant, whose bytes are taken from the text or the sidecar when it is first met.
    fn constant(&mut self, key: &str, ty: &Type) -> Result<ConstId, String> {
        if let Some(id) = self.ids.get(key) {
            return Ok(*id);
        }
        let Type::RankedTensor { shape, element, .. } = ty else {
            return Err(format!("constant `{key}` needs a ranked tensor type"));
        };
        let shape: Option<Vec<usize>> = shape.iter().map(|n| usize::try_from((*n)?).ok()).collect();
        let shape = shape.ok_or_else(|| format!("constant `{key}` needs a static shape"))?;
        let data = match self.blobs.remove(key) {
            Some(blob) if blob.len() < ALIGNMENT_PREFIX => {
                return Err(format!("constant `{key}` lacks its alignment"));
            }
            Some(blob) => Bytes::from(blob).slice(ALIGNMENT_PREFIX..),
            None => self.elided(key)?,
        };
        let data = ConstData::new(dtype_of(element)?, shape, data).map_err(|error| error.message)?;
        let id = self.consts.push(data);
        self.ids.insert(key.to_owned(), id);
        Ok(id)
    }

    fn elided(&self, key: &str) -> Result<Bytes, String> {
        let Some(hash) = self.hashes.get(key) else {
            return Err(format!("the text has no bytes for constant `{key}`"));
        };
        let Some(sidecar) = self.sidecar else {
            return Err(format!(
                "constant `{key}` is elided here: its bytes (sha256 {hash}) stand outside of the text"
            ));
        };
        sidecar(hash)
            .ok_or_else(|| format!("the bytes of elided constant `{key}` (sha256 {hash}) are not found"))
    }
}

/// A blob of the sidecar opens with its alignment in 4 bytes.
const ALIGNMENT_PREFIX: usize = 4;

fn only<T>(items: Vec<T>) -> Option<T> {
    let mut items = items.into_iter();
    items.next().filter(|_| items.next().is_none())
}

fn resolve(names: &Names, name: &ValueRef) -> Result<Value, Refusal> {
    match names.known.get(&name.name) {
        None => Err(format!("`%{}` is not defined before its use", name.name).into()),
        Some(None) => Err(Refusal::Poisoned),
        Some(Some(values)) => {
            let missing = || format!("`%{}` has {} results, not #{}", name.name, values.len(), name.index);
            Ok(*values.get(name.index as usize).ok_or_else(missing)?)
        }
    }
}

fn check_operand_types<O: Op>(
    func: &Func<O>,
    names: &[ValueRef],
    operands: &[Value],
    types: &[Type],
) -> Result<(), String> {
    if operands.len() != types.len() {
        return Err(format!("{} operands have {} types", operands.len(), types.len()));
    }
    for ((name, value), ty) in names.iter().zip(operands).zip(types) {
        if O::Type::from_mlir(ty)? != *func.ty(*value) {
            let defined = tegula_mlir::print_type(&func.ty(*value).to_mlir());
            return Err(format!(
                "operand `%{}` is {defined}, used as {}",
                name.name,
                tegula_mlir::print_type(ty)
            ));
        }
    }
    Ok(())
}

/// The names that a location has, each once, and how many are those of roots, where it says so.
fn names_of(location: &Location) -> (Vec<Arc<str>>, Option<usize>) {
    let mut names = Vec::new();
    let n_roots = match location {
        Location::Fused(_, parts) => match parts.first() {
            Some(roots @ Location::Fused(..)) => {
                push_names(roots, &mut names);
                Some(names.len())
            }
            _ => None,
        },
        _ => None,
    };
    push_names(location, &mut names);
    (names, n_roots)
}

fn push_names(location: &Location, names: &mut Vec<Arc<str>>) {
    let name: Arc<str> = match location {
        Location::Name(name, _) => name.as_str().into(),
        Location::File { file, line, column, .. } => format!("{file}:{line}:{column}").into(),
        Location::CallSite(callee, _) => return push_names(callee, names),
        Location::Fused(_, parts) => return parts.iter().for_each(|part| push_names(part, names)),
        Location::Unknown | Location::Alias(_) => return,
    };
    if !names.contains(&name) {
        names.push(name);
    }
}
