//! Functions to the syntax tree, then to text.

use super::{for_each_resource, hex, symbols};
use crate::attr::string;
use crate::element_type::element_type;
use crate::mlir::{Attr, Block, Location, Module, Operation, Region, ResultPack, Type, ValueRef};
use crate::op::NameRank;
use crate::{AttrText, ConstData, ConstId, ConstStore, Func, Op, OpId, Program, RegionId, TypeText, Value};
use std::collections::BTreeMap;
use tegula_base::EntityId;

#[derive(Clone, Copy, Debug)]
pub struct PrintOptions {
    /// Constants up to this size have their bytes in the text; of larger ones only the hash is printed.
    pub inline_bytes: usize,
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions { inline_bytes: 1024 }
    }
}

impl PrintOptions {
    /// Everything in the text, so that it can be read back alone.
    pub const WHOLE: PrintOptions = PrintOptions { inline_bytes: usize::MAX };
}

/// The alignment that a resource asks for, in bytes; its blob opens with it.
const RESOURCE_ALIGNMENT: u32 = 64;

pub fn print_program<O: Op>(program: &Program<O>, options: &PrintOptions) -> String {
    tegula_mlir::print_module(&program_to_ast(program, options))
}

/// One function without the bytes of its constants: for looking at, and for traces.
pub fn print_func<O: Op>(func: &Func<O>, consts: &ConstStore) -> String {
    let mut used = BTreeMap::new();
    let mut text = tegula_mlir::print_operation(&func_to_ast(func, consts, &mut used));
    text.push('\n');
    text
}

pub fn program_to_ast<O: Op>(program: &Program<O>, options: &PrintOptions) -> Module {
    let mut used = BTreeMap::new();
    let funcs = program.funcs.iter().map(|func| func_to_ast(func, &program.consts, &mut used)).collect();
    let (inline, elided): (Vec<_>, Vec<_>) =
        used.into_iter().partition(|(_, data)| data.data.len() <= options.inline_bytes);
    let mut attributes = Vec::new();
    if !program.symbols.0.is_empty() {
        attributes.push((format!("{}.symbols", O::DIALECT), symbols::to_attr(&program.symbols)));
    }
    if !elided.is_empty() {
        let hashes = elided.iter().map(|(id, data)| (id.to_string(), string(hex(data.hash())))).collect();
        attributes.push((format!("{}.elided", O::DIALECT), Attr::Dictionary(hashes)));
    }
    let module = Operation {
        name: "builtin.module".into(),
        regions: vec![Region { blocks: vec![Block { label: None, args: vec![], ops: funcs }] }],
        attributes,
        ..Operation::default()
    };
    let resources = inline.into_iter().map(|(id, data)| ("builtin".to_string(), id.to_string(), blob(data)));
    Module { ops: vec![module], resources: resources.collect(), ..Module::default() }
}

fn blob(data: &ConstData) -> Vec<u8> {
    [&RESOURCE_ALIGNMENT.to_le_bytes()[..], &data.data].concat()
}

type Used<'a> = BTreeMap<ConstId, &'a ConstData>;

fn func_to_ast<'a, O: Op>(func: &Func<O>, consts: &'a ConstStore, used: &mut Used<'a>) -> Operation {
    let names = |names: &[String]| Attr::Array(names.iter().map(string).collect());
    Operation {
        name: format!("{}.func", O::DIALECT),
        properties: vec![
            ("sym_name".into(), string(&func.name)),
            ("arg_names".into(), names(&func.arg_names)),
            ("result_names".into(), names(&func.result_names)),
        ],
        regions: vec![region_to_ast(func, func.body(), consts, used)],
        ..Operation::default()
    }
}

fn region_to_ast<'a, O: Op>(
    func: &Func<O>,
    region: RegionId,
    consts: &'a ConstStore,
    used: &mut Used<'a>,
) -> Region {
    let args: Vec<_> =
        func.args(region).iter().map(|arg| (name(*arg), func.ty(*arg).to_mlir(), None)).collect();
    let label = (!args.is_empty()).then(|| "bb0".to_string());
    let ops = func.ops_in(region).iter().map(|op| op_to_ast(func, *op, consts, used)).collect();
    Region { blocks: vec![Block { label, args, ops }] }
}

fn op_to_ast<'a, O: Op>(func: &Func<O>, op: OpId, consts: &'a ConstStore, used: &mut Used<'a>) -> Operation {
    let kind = func.kind(op);
    let types = |values: &[Value]| values.iter().map(|value| func.ty(*value).to_mlir()).collect();
    // A unit is what an absent optional field prints as: leave it out.
    let mut properties: Vec<(String, Attr)> = kind
        .attrs()
        .into_iter()
        .filter(|(_, attr)| *attr != Attr::Unit)
        .map(|(name, attr)| (name.to_string(), attr))
        .collect();
    for (_, attr) in &mut properties {
        for_each_resource(attr, &mut |key, ty| note_resource(key, ty, consts, used));
    }
    Operation {
        results: func.results(op).iter().map(|value| ResultPack { name: name(*value), count: 1 }).collect(),
        name: format!("{}.{}", O::DIALECT, kind.name()),
        operands: func.operands(op).iter().map(|value| ValueRef { name: name(*value), index: 0 }).collect(),
        properties,
        regions: func
            .regions_of(op)
            .iter()
            .map(|region| region_to_ast(func, *region, consts, used))
            .collect(),
        operand_types: types(func.operands(op)),
        result_types: types(func.results(op)),
        location: location_of(func, op),
        ..Operation::default()
    }
}

/// The op's node; or all of its nodes, as `fused["first", ...]`. Where a root has not one name of a root, or another op has
/// some, they are fused within: `fused[fused["roots", ...], "others", ...]`.
fn location_of<O: Op>(func: &Func<O>, op: OpId) -> Option<Location> {
    let mut names = func.names_of(op).map(|name| Location::Name(name.to_string(), None));
    if func.has_one_name(op) {
        return names.next();
    }
    let n_roots = func.root_name_count(op);
    if n_roots == usize::from(func.kind(op).name_rank() == NameRank::Root) {
        return Some(Location::Fused(None, names.collect()));
    }
    let roots = Location::Fused(None, names.by_ref().take(n_roots).collect());
    Some(Location::Fused(None, std::iter::once(roots).chain(names).collect()))
}

/// Gives a constant's reference its type and remembers the constant.
fn note_resource<'a>(key: &str, ty: &mut Type, consts: &'a ConstStore, used: &mut Used<'a>) {
    let Ok(id) = ConstId::from_attr(&string(key)) else { return };
    let Some(data) = consts.get(id) else { return };
    *ty = Type::RankedTensor {
        shape: data.shape.iter().map(|n| Some(*n as u64)).collect(),
        element: Box::new(element_type(data.dtype)),
        encoding: None,
    };
    used.insert(id, data);
}

fn name(value: Value) -> String {
    value.index().to_string()
}
