//! Compiles the regions of a graph target: each becomes a program of its own, whose ops are those that the device claims.

use crate::form_kernels::form_kernels;
use std::collections::BTreeSet;
use tegula_backend::{
    BufferRef, Code, CompiledKernel, GraphCodegen, GraphImage, Launch, Launches, Target, View,
};
use tegula_base::{Diagnostic, Diagnostics, Dim, EntityId, HashMap, Origin, Symbols};
use tegula_ir::op::OpRules;
use tegula_ir::pass::PassCx;
use tegula_ir::rewrite::{Cloner, cse, dce};
use tegula_ir::{ConstId, ConstStore, Op, OpId, Pipeline, RunOptions};
use tegula_tensor::facts::is_source;
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// The passes on a region's program: from what the device claims to kernels. None makes an op that it does not claim.
pub fn region_pipeline(device: &dyn Target) -> Pipeline<'_, TensorProgram> {
    Pipeline::new("region")
        .pass("cse", |program: &mut TensorProgram, _| Ok(program.for_each_func(cse)))
        .pass("dce", |program, _| Ok(program.for_each_func(dce)))
        .pass("form_kernels", |program, cx| form_kernels(program, device, cx))
}

/// Compiles a region to one launch. Errors: the machine has too little of something; internal.
pub(crate) fn compile_region(
    name: &str,
    func: &TensorFunc,
    kernel: OpId,
    consts: &ConstStore,
    symbols: &Symbols,
    device: &dyn Target,
    codegen: &dyn GraphCodegen,
) -> Result<Launches, Diagnostic> {
    let mut region = outlined(name, func, kernel, consts, symbols).map_err(Diagnostic::internal)?;
    let mut cx = PassCx::new().without_remarks();
    // A claim may rest on what an op reads, which kernels hide.
    check_claimed(&region, device)?;
    region_pipeline(device).run(&mut region, &RunOptions::default(), &mut cx).map_err(first)?;
    let GraphImage { bytes, symbols, remarks, .. } =
        codegen.compile(name, &region).map_err(|found| found.on(&device.machine().name))?;
    let operands = (0..func.operands(kernel).len()).map(|i| (BufferRef::Operand(i), false));
    let results = (0..func.results(kernel).len()).map(|i| (BufferRef::Result(i), true));
    let views = operands.chain(results).map(|(buffer, written)| View { buffer, written }).collect();
    let compiled = CompiledKernel {
        code: Code::Graph { isa: device.isa().to_string(), bytes },
        sizes: symbols.iter().map(|symbol| Dim::symbol(symbol)).collect(),
        scratch: Dim::from(0),
        units: Dim::from(1),
        remarks,
    };
    Ok(Launches { list: vec![Launch { compiled, views }], ..Launches::default() })
}

/// Errors: internal, an op of the region is none that the device claims.
fn check_claimed(region: &TensorProgram, device: &dyn Target) -> Result<(), Diagnostic> {
    let func = region.entry();
    // A claim on a loop is one on all that is in it.
    for &op in func.ops_in(func.body()) {
        let kind = func.kind(op);
        if kind.is_terminator() || is_source(kind) || matches!(kind, TensorOp::Kernel { .. }) {
            continue;
        }
        if let Some(reason) = device.claims(func, op).refusal() {
            let name = kind.name();
            return Err(Diagnostic::internal(format!(
                "a region has `{name}`, which is not claimed: {reason}"
            )));
        }
    }
    Ok(())
}

fn first(found: Diagnostics) -> Diagnostic {
    found
        .0
        .into_iter()
        .next()
        .unwrap_or_else(|| Diagnostic::internal("a region's passes failed without a word"))
}

/// The region as a program: arguments are the kernel's operands, with the constants that it reads.
fn outlined(
    name: &str,
    func: &TensorFunc,
    kernel: OpId,
    consts: &ConstStore,
    symbols: &Symbols,
) -> Result<TensorProgram, String> {
    let region = func.regions_of(kernel)[0];
    let mut own = TensorFunc::new(name);
    let body = own.body();
    let mut cloner = Cloner::between(func);
    for (arg, operand) in func.args(region).iter().zip(func.operands(kernel)) {
        let value = own.add_arg(body, func.ty(*operand).clone());
        cloner.bind(*arg, value);
    }
    let results = cloner.region(&mut own, region, body);
    own.push_op(body, TensorOp::Return {}, &results, [], None);
    let mut program = TensorProgram::new(own);
    program.symbols = used_symbols(program.entry(), symbols);
    let mut moved: HashMap<ConstId, ConstId> = HashMap::default();
    for op in program.entry().walk() {
        let TensorOp::Constant { id, .. } = *program.entry().kind(op) else { continue };
        let id = match moved.get(&id) {
            Some(known) => *known,
            None => {
                let data = consts.get(id).ok_or_else(|| format!("{id} is not in the store"))?;
                *moved.entry(id).or_insert(program.consts.push(data.clone()))
            }
        };
        if let TensorOp::Constant { id: own, .. } = program.entry_mut().kind_mut(op) {
            *own = id;
        }
    }
    Ok(program)
}

/// The symbols that a function's types and sizes name.
fn used_symbols(func: &TensorFunc, symbols: &Symbols) -> Symbols {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for i in 0..func.value_count() {
        let ty = func.ty(EntityId::new(i));
        ty.shape.iter().for_each(|dim| dim.for_each_symbol(&mut |name| _ = names.insert(name.to_string())));
    }
    for op in func.walk() {
        func.kind(op).for_each_dim(&mut |dim| {
            dim.for_each_symbol(&mut |name| _ = names.insert(name.to_string()));
        });
    }
    let mut used = symbols.clone();
    used.0.retain(|name, _| names.contains(&**name));
    // Their values come with each launch.
    used.0.values_mut().for_each(|info| info.origin = Origin::Data { upper: Dim::from(info.max) });
    used
}
