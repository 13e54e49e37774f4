//! A host module as a package: plain data, constants packed as they are written.

use super::{BESIDE_THE_HOST, HostCode, HostModule};
use crate::plan_memory::Lifetimes;
use std::collections::BTreeSet;
use std::sync::Arc;
use tegula_backend::Code;
use tegula_base::{Diagnostic, Diagnostics, Dim, EntityId, HostTensor, Origin, Symbols};
use tegula_host::{HostFunc, HostOp, Relation};
use tegula_ir::{OpId, RegionId, Value};
use tegula_package as package;
use tegula_package::{
    About, Arg, Buffer, BufferId, Cond, ConstantData, DeviceId, Draft, Entry, HostProgram, Kernel,
    KernelCode, PackageBuilder, Place, Port, PortDefault, Step, Symbol,
};

/// Puts compiled code into a package.
pub fn add_code(builder: &mut PackageBuilder, code: &Code) -> KernelCode {
    match code {
        Code::Machine(bytes) => builder.add_machine_code(bytes),
        Code::Portable(text) => builder.add_portable(text),
        Code::Ptx(kernel) => builder.add_ptx(kernel),
        Code::Graph { isa, bytes } => {
            let image = builder.add_image(isa, DeviceId(BESIDE_THE_HOST), bytes);
            KernelCode::Image { image, entry: Entry::Name("region".to_string()) }
        }
    }
}

/// Writes a verified module down; `lifetimes` come from `plan_memory`, `defaults` are of inputs that callers may leave out.
/// Errors: internal, the package's own checks.
pub fn to_package(
    module: &HostModule,
    lifetimes: &Lifetimes,
    about: About,
    defaults: Vec<(String, HostTensor)>,
) -> Result<Draft, Diagnostics> {
    let mut builder = PackageBuilder::new();
    let codes: Vec<KernelCode> = module.codes.iter().map(|code| add_code(&mut builder, code)).collect();
    let kernels = module.kernels.iter().map(|kernel| Kernel {
        name: kernel.name.clone(),
        code: match &kernel.code {
            HostCode::Compiled(index) => codes[*index].clone(),
            HostCode::Native { name, attrs } => {
                KernelCode::Native { name: name.clone(), attrs: attrs.clone() }
            }
        },
        scratch: kernel.scratch.clone(),
        cost: kernel.cost.clone(),
        source: kernel.source.clone(),
    });
    let kernels = kernels.collect();
    let func = module.program.entry();
    let symbols = symbols(func, &module.program.symbols)?;
    let mut writer = Writer {
        module,
        func,
        lifetimes,
        builder,
        ids: vec![None; func.value_count()],
        buffers: Vec::with_capacity(func.value_count()),
        symbols: &symbols,
    };
    let mut inputs = writer.inputs()?;
    for (name, tensor) in defaults {
        let default = writer.default(tensor);
        inputs.iter_mut().filter(|port| port.name == name).for_each(|port| port.default = default.clone());
    }
    for op in func.walk() {
        writer.buffer(op)?;
    }
    let outputs = writer.outputs()?;
    let steps = writer.steps(func.body())?;
    let Writer { builder, buffers, .. } = writer;
    let program = HostProgram { inputs, outputs, buffers, images: vec![], kernels, steps, symbols };
    builder.finish(about, program)
}

/// The symbols that the program binds: those of inputs, then those of data in the order in which they are bound.
fn symbols(func: &HostFunc, known: &Symbols) -> Result<Vec<Symbol>, Diagnostic> {
    let entry = |name: &str| {
        let info = known.get(name);
        let info =
            info.ok_or_else(|| Diagnostic::internal(format!("size symbol `{name}` is not declared")))?;
        let (origin, upper) = match &info.origin {
            Origin::Input { input, axis } => (package::Origin::Input { input: *input, axis: *axis }, None),
            Origin::Data { upper } => (package::Origin::Data, Some(upper.clone())),
            Origin::Growth => (package::Origin::Growth, None),
        };
        Ok::<Symbol, Diagnostic>(Symbol {
            name: name.to_string(),
            origin,
            min: info.min,
            max: info.max,
            divisor: info.divisor,
            upper,
        })
    };
    let mut list = Vec::new();
    let inputs = inputs_shapes(func);
    for (name, info) in &known.0 {
        if let Origin::Input { input, axis } = info.origin
            && inputs.get(input as usize).and_then(|shape| shape.get(axis as usize)).and_then(Dim::as_symbol)
                == Some(name.as_ref())
        {
            list.push(entry(name)?);
        }
    }
    for name in known.growths() {
        list.push(entry(name)?);
    }
    let mut bound = BTreeSet::new();
    for op in func.walk() {
        if let HostOp::Bind { symbol } = func.kind(op)
            && bound.insert(symbol.as_str())
        {
            list.push(entry(symbol)?);
        }
    }
    Ok(list)
}

fn inputs_shapes(func: &HostFunc) -> Vec<&[Dim]> {
    let mut shapes: Vec<(u32, &[Dim])> = func
        .ops_in(func.body())
        .iter()
        .filter_map(|op| match func.kind(*op) {
            HostOp::Input { index, shape, .. } | HostOp::Updated { index, shape, .. } => {
                Some((*index, &shape[..]))
            }
            _ => None,
        })
        .collect();
    shapes.sort_by_key(|(index, _)| *index);
    shapes.into_iter().map(|(_, shape)| shape).collect()
}

struct Writer<'a> {
    module: &'a HostModule,
    func: &'a HostFunc,
    lifetimes: &'a Lifetimes,
    builder: PackageBuilder,
    /// By the value's index.
    ids: Vec<Option<BufferId>>,
    buffers: Vec<Buffer>,
    symbols: &'a [Symbol],
}

impl Writer<'_> {
    fn inputs(&mut self) -> Result<Vec<Port>, Diagnostic> {
        let func = self.func;
        let mut inputs: Vec<(u32, OpId)> = func
            .ops_in(func.body())
            .iter()
            .filter_map(|op| match func.kind(*op) {
                HostOp::Input { index, .. } | HostOp::Updated { index, .. } => Some((*index, *op)),
                _ => None,
            })
            .collect();
        inputs.sort();
        let mut ports = Vec::with_capacity(inputs.len());
        for (_, op) in inputs {
            self.buffer(op)?;
            if let HostOp::Input { name, dtype, shape, .. } | HostOp::Updated { name, dtype, shape, .. } =
                func.kind(op)
            {
                ports.push(Port {
                    name: name.clone(),
                    dtype: *dtype,
                    shape: shape.to_vec(),
                    buffer: self.id(func.result(op))?,
                    alias: None,
                    default: None,
                });
            }
        }
        Ok(ports)
    }

    /// Puts an input's default among the constants.
    fn default(&mut self, tensor: HostTensor) -> Option<PortDefault> {
        match self.builder.add_constant(ConstantData::Bytes(tensor.bytes.into())) {
            Place::Constant { offset, bytes } => Some(PortDefault { offset, bytes, shape: tensor.shape }),
            _ => None,
        }
    }

    fn outputs(&self) -> Result<Vec<Port>, Diagnostic> {
        let func = self.func;
        let end = func.terminator(func.body());
        let Some((end, HostOp::Return { names, dtypes, shapes })) = end.map(|end| (end, func.kind(end)))
        else {
            return Err(Diagnostic::internal("a host program has no `return`"));
        };
        let aliases = &self.module.aliases;
        let ports = func.operands(end).iter().enumerate().map(|(i, buffer)| {
            Ok(Port {
                name: names[i].clone(),
                dtype: dtypes[i],
                shape: shapes[i].to_vec(),
                buffer: self.id(*buffer)?,
                alias: aliases.iter().find(|alias| alias.result == i).map(|alias| alias.argument as u32),
                default: None,
            })
        });
        ports.collect()
    }

    /// Makes the package's buffer of an op that gives one.
    fn buffer(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let Some(value) = func.results(op).first().copied() else { return Ok(()) };
        if self.ids[value.index()].is_some() {
            return Ok(());
        }
        let ty = func.ty(value);
        let (bytes, device) = (ty.bytes.clone(), DeviceId(ty.device));
        let place = match func.kind(op) {
            HostOp::Input { index, .. } | HostOp::Updated { index, .. } => Place::Input(*index),
            HostOp::Output { index } => Place::Output(*index),
            HostOp::Constant { id, packing } => {
                let data = self.module.program.consts[*id].data.clone();
                self.builder.add_constant(match packing {
                    None => ConstantData::Bytes(data),
                    Some(packing) => {
                        let (len, packing) = (packing.bytes() as u64, packing.clone());
                        ConstantData::Lazy { len, fill: Arc::new(move |out| packing.pack(&data, out)) }
                    }
                })
            }
            HostOp::Alloc {} => Place::Arena,
            HostOp::State { index } => Place::State(*index),
            HostOp::Alias { offset } => self.alias(func.operand(op, 0), offset)?,
            other => {
                let name = tegula_ir::Op::name(other);
                return Err(Diagnostic::internal(format!("`{name}` gives no buffer")));
            }
        };
        let name = match (func.kind(op), &func.op(op).location) {
            (HostOp::Input { name, .. } | HostOp::Updated { name, .. }, _) => name.clone(),
            (_, Some(node)) => String::from(&**node),
            (kind, None) => [tegula_ir::Op::name(kind), &value.index().to_string()].concat(),
        };
        let (first, last) = self.lifetimes.of(value);
        self.ids[value.index()] = Some(BufferId::from(self.buffers.len()));
        self.buffers.push(Buffer { name, bytes, place, device, first, last });
        Ok(())
    }

    /// An alias of an alias is one of the buffer behind both.
    fn alias(&self, of: Value, offset: &Dim) -> Result<Place, Diagnostic> {
        let id = self.id(of)?;
        Ok(match &self.buffers[id.index()].place {
            Place::Alias { of, offset: inner } => {
                Place::Alias { of: *of, offset: inner.clone() + offset.clone() }
            }
            _ => Place::Alias { of: id, offset: offset.clone() },
        })
    }

    fn id(&self, value: Value) -> Result<BufferId, Diagnostic> {
        self.ids[value.index()]
            .ok_or_else(|| Diagnostic::internal(format!("{value} is used before it is made")))
    }

    fn steps(&self, region: RegionId) -> Result<Vec<Step>, Diagnostic> {
        let ops = self.func.ops_in(region);
        let mut steps = Vec::with_capacity(ops.len());
        for op in ops.iter().filter(|op| self.func.kind(**op).is_step()) {
            steps.push(self.step(*op)?);
        }
        Ok(steps)
    }

    fn step(&self, op: OpId) -> Result<Step, Diagnostic> {
        let func = self.func;
        let ids = func.operands(op).iter().map(|v| self.id(*v)).collect::<Result<Vec<BufferId>, _>>()?;
        let region = |i: usize| self.steps(func.regions_of(op)[i]);
        Ok(match func.kind(op) {
            HostOp::Launch { kernel, sizes, grid, .. } => {
                let buffers = ids.into_iter().map(Arg::Buffer);
                let args = buffers.chain(sizes.iter().cloned().map(Arg::Size)).collect();
                Step::Launch { kernel: *kernel, args, grid: grid.clone() }
            }
            HostOp::Copy { src_offset, dst_offset, bytes } => Step::Copy {
                src: ids[0],
                src_offset: src_offset.clone(),
                dst: ids[1],
                dst_offset: dst_offset.clone(),
                bytes: bytes.clone(),
            },
            HostOp::Transfer { src_offset, dst_offset, bytes } => Step::Transfer {
                src: ids[0],
                src_offset: src_offset.clone(),
                dst: ids[1],
                dst_offset: dst_offset.clone(),
                bytes: bytes.clone(),
            },
            HostOp::Fill { value, bytes } => {
                Step::Fill { dst: ids[0], value: *value as u8, bytes: bytes.clone() }
            }
            HostOp::Bind { symbol } => {
                let index = self.symbols.iter().position(|known| known.name == *symbol);
                let index = index.ok_or_else(|| Diagnostic::internal("a bound symbol is not declared"))?;
                Step::Bind { symbol: index as u32, from: ids[0] }
            }
            HostOp::Assert { left, relation, right, message } => Step::Assert {
                cond: Cond { lhs: left.clone(), op: relation_of(*relation), rhs: right.clone() },
                message: message.clone(),
            },
            HostOp::If {} => Step::If { cond: ids[0], then: region(0)?, otherwise: region(1)? },
            HostOp::Loop { trip, cond, counter } => {
                let mut ids = ids.into_iter();
                let mut take = |there: bool| if there { ids.next() } else { None };
                let (trip, cond, counter) = (take(*trip), take(*cond), take(*counter));
                Step::Loop { trip, cond, counter, body: region(0)? }
            }
            HostOp::Fork {} => Step::Fork { first: region(0)?, second: region(1)? },
            other => {
                return Err(Diagnostic::internal(format!("`{}` is no step", tegula_ir::Op::name(other))));
            }
        })
    }
}

fn relation_of(relation: Relation) -> package::Relation {
    match relation {
        Relation::Eq => package::Relation::Eq,
        Relation::Ne => package::Relation::Ne,
        Relation::Lt => package::Relation::Lt,
        Relation::Le => package::Relation::Le,
        Relation::Divides => package::Relation::Divides,
    }
}
