//! Walks the regions of a tensor function: gives values their buffers and emits the steps.
//!
//! A value's buffer is its *destination* if it has one (an output, the result of an `if`, a carried value), else an
//! allocation in its region. Inputs, outputs and constants stand at the top of the body, so that every region
//! sees them.

use super::constants::{Pool, packing};
use super::kernels::{Helper, Kernels};
use super::runtime_kernels::runtime_kernel;
use super::{BESIDE_THE_HOST, HostCode, HostKernel, HostModule};
use crate::update_in_place::{Alias, updating_kernel};
use crate::views::source;
use std::sync::Arc;
use tegula_backend::{BufferRef, Code, Launch, Targets, cost};
use tegula_base::HashMap;
use tegula_base::{DType, Diagnostic, Diagnostics, Dim, EntityId, Symbols};
use tegula_host::{BufferType, HostFunc, HostOp, HostProgram, Relation};
use tegula_ir::{ConstData, ConstId, ConstStore, OpId, RegionId, Value};
use tegula_package::CostRecord;
use tegula_tensor::{KernelClass, TensorFunc, TensorOp, TensorProgram};

pub(super) struct Walk<'a> {
    pub(super) func: &'a TensorFunc,
    pub(super) symbols: Symbols,
    consts: ConstStore,
    targets: Targets<'a>,
    kernels: Kernels,
    pub(super) host: HostFunc,
    /// The host region that steps go to.
    pub(super) region: RegionId,
    /// Inputs, outputs and constants.
    header: Vec<OpId>,
    /// Host buffers by the tensor value's index.
    buffers: Vec<Option<Value>>,
    /// Where a value must be computed.
    pub(super) destinations: HashMap<Value, Value>,
    pool: Pool,
    launches: Vec<HostKernel>,
    codes: Vec<Code>,
    /// Index into `codes` of each compiled kernel's launches.
    code_of: HashMap<(usize, usize), usize>,
    /// Costs of each compiled kernel's launches, and the bytes of its results.
    measures: HashMap<usize, (Vec<Arc<CostRecord>>, Vec<Dim>)>,
}

/// What a kernel's launches are on.
struct Buffers<'a> {
    operands: &'a [Value],
    results: &'a [Value],
    temporaries: &'a [Value],
}

impl<'a> Walk<'a> {
    pub(super) fn new(program: &'a TensorProgram, targets: Targets<'a>, kernels: Kernels) -> Walk<'a> {
        let func = program.entry();
        let mut host = HostFunc::new(func.name.clone());
        // A launch and its buffer, mostly.
        host.reserve(2 * func.ops_in(func.body()).len());
        Walk {
            func,
            symbols: program.symbols.clone(),
            consts: program.consts.clone(),
            targets,
            kernels,
            region: host.body(),
            host,
            header: vec![],
            buffers: vec![None; func.value_count()],
            destinations: HashMap::default(),
            pool: Pool::default(),
            launches: vec![],
            codes: vec![],
            code_of: HashMap::default(),
            measures: HashMap::default(),
        }
    }

    pub(super) fn finish(mut self, aliases: &[Alias]) -> Result<HostModule, Diagnostics> {
        let func = self.func;
        for (index, arg) in func.args(func.body()).iter().enumerate() {
            let ty = func.ty(*arg);
            let name = func.arg_names.get(index).cloned().unwrap_or_else(|| format!("input{index}"));
            let (dtype, shape) = (ty.dtype, ty.shape.clone());
            let (number, is_updated) = (index as u32, aliases.iter().any(|alias| alias.argument == index));
            let kind = match is_updated {
                false => HostOp::Input { index: number, name, dtype, shape },
                true => HostOp::Updated { index: number, name, dtype, shape },
            };
            let buffer = self.at_top(kind, ty.buffer_bytes());
            self.set_buffer(*arg, buffer);
        }
        let end = func
            .terminator(func.body())
            .ok_or_else(|| Diagnostic::internal("a tensor function has no `return`"))?;
        let results = func.operands(end).to_vec();
        let target = |index: usize| aliases.iter().find(|alias| alias.result == index);
        for (index, result) in results.iter().enumerate() {
            let source = source(func, *result);
            if let Some(alias) = target(index) {
                if updating_kernel(func, *alias).is_ok_and(|op| is_update(func, op)) {
                    let input = self.buffer(func.args(func.body())[alias.argument])?;
                    self.destinations.insert(source, input);
                }
                continue;
            }
            let bytes = func.ty(*result).buffer_bytes();
            // Sizes that a reshape brings may be bound only after its operand is computed.
            let is_sized = bytes == func.ty(source).buffer_bytes();
            let is_free = !self.destinations.contains_key(&source);
            if self.is_computed_in(source, func.body()) && is_sized && is_free {
                let kind = HostOp::Output { index: index as u32 };
                let buffer = self.at_top(kind, bytes);
                self.destinations.insert(source, buffer);
            }
        }
        self.ops_of(func.body())?;
        let mut buffers = results.iter().map(|result| self.buffer(*result)).collect::<Result<Vec<_>, _>>()?;
        self.settle_aliases(aliases, &mut buffers)?;
        let kind = HostOp::Return {
            names: (0..results.len())
                .map(|i| func.result_names.get(i).cloned().unwrap_or_else(|| format!("output{i}")))
                .collect(),
            dtypes: results.iter().map(|result| func.ty(*result).dtype).collect(),
            shapes: results.iter().map(|result| func.ty(*result).shape.clone()).collect(),
        };
        self.step(kind, &buffers, None);
        let body = self.host.body();
        let ops = [std::mem::take(&mut self.header), self.host.ops_in(body).to_vec()].concat();
        self.host.set_ops(body, ops);
        let mut program = HostProgram::new(self.host);
        program.symbols = self.symbols;
        program.consts = self.consts;
        Ok(HostModule { program, kernels: self.launches, codes: self.codes, aliases: aliases.to_vec() })
    }

    /// Brings results to the inputs whose memory they take, when all else is done.
    fn settle_aliases(&mut self, aliases: &[Alias], buffers: &mut [Value]) -> Result<(), Diagnostic> {
        let args = self.func.args(self.func.body()).to_vec();
        let mut targets = vec![None; buffers.len()];
        for alias in aliases {
            targets[alias.result] = Some(self.buffer(args[alias.argument])?);
        }
        // What another result shows of an input that is written over is saved first.
        for (buffer, target) in buffers.iter_mut().zip(&targets) {
            if *target != Some(*buffer) && targets.contains(&Some(*buffer)) {
                let saved = self.alloc(self.host.ty(*buffer).bytes.clone(), None);
                self.copy(*buffer, saved);
                *buffer = saved;
            }
        }
        for (buffer, target) in buffers.iter_mut().zip(targets) {
            if let Some(target) = target.filter(|target| target != buffer) {
                self.copy(*buffer, target);
                *buffer = target;
            }
        }
        Ok(())
    }

    // --- values ----------------------------------------------------------------------------------------

    /// Whether an op of `region` computes the value into a buffer that we choose.
    pub(super) fn is_computed_in(&self, value: Value, region: RegionId) -> bool {
        let Some(op) = self.func.def_op(value) else { return false };
        let computed = match self.func.kind(op) {
            TensorOp::Kernel { .. } | TensorOp::If {} | TensorOp::Loop { .. } => true,
            _ => runtime_kernel(self.func, op).is_some(),
        };
        computed && self.func.parent(op) == Some(region)
    }

    pub(super) fn buffer(&self, value: Value) -> Result<Value, Diagnostic> {
        self.buffers[value.index()].ok_or_else(|| {
            let kind =
                self.func.def_op(value).map_or("an argument", |op| tegula_ir::Op::name(self.func.kind(op)));
            Diagnostic::internal(format!("{value} ({kind}) has no buffer on the host level"))
        })
    }

    pub(super) fn set_buffer(&mut self, value: Value, buffer: Value) {
        self.buffers[value.index()] = Some(buffer);
    }

    /// The destination of a result, or new memory for it.
    pub(super) fn place(&mut self, value: Value) -> Value {
        let bytes = self.func.ty(value).buffer_bytes();
        let location = self.func.def_op(value).and_then(|op| self.func.op(op).location.clone());
        self.place_sized(value, bytes, location)
    }

    fn place_sized(&mut self, value: Value, bytes: Dim, location: Option<Arc<str>>) -> Value {
        let destination = self.destinations.get(&value).copied();
        let buffer = destination.unwrap_or_else(|| self.alloc(bytes, location));
        self.set_buffer(value, buffer);
        buffer
    }

    // --- host ops --------------------------------------------------------------------------------------

    fn at_top(&mut self, kind: HostOp, bytes: Dim) -> Value {
        let op = self.host.create_op(kind, &[], [BufferType::home(bytes)], None);
        self.header.push(op);
        self.host.result(op)
    }

    pub(super) fn alloc(&mut self, bytes: Dim, location: Option<Arc<str>>) -> Value {
        self.alloc_as(BufferType::home(bytes), location)
    }

    fn alloc_as(&mut self, ty: BufferType, location: Option<Arc<str>>) -> Value {
        let op = self.host.push_op(self.region, HostOp::Alloc {}, &[], [ty], location);
        self.host.result(op)
    }

    /// Memory of the device that takes regions, for what is in a buffer of the home.
    fn alloc_beside(&mut self, home: Value, location: &Option<Arc<str>>) -> Value {
        let bytes = self.host.ty(home).bytes.clone();
        self.alloc_as(BufferType { bytes, device: BESIDE_THE_HOST }, location.clone())
    }

    /// Brings a whole buffer from one device to another.
    fn transfer(&mut self, src: Value, dst: Value) {
        let bytes = self.host.ty(dst).bytes.clone();
        let zero = Dim::from(0);
        self.step(HostOp::Transfer { src_offset: zero.clone(), dst_offset: zero, bytes }, &[src, dst], None);
    }

    pub(super) fn step(&mut self, kind: HostOp, operands: &[Value], location: Option<Arc<str>>) -> OpId {
        self.host.push_op(self.region, kind, operands, [], location)
    }

    /// Copies a whole buffer.
    pub(super) fn copy(&mut self, src: Value, dst: Value) {
        let bytes = self.host.ty(dst).bytes.clone();
        let zero = Dim::from(0);
        self.step(HostOp::Copy { src_offset: zero.clone(), dst_offset: zero, bytes }, &[src, dst], None);
    }

    fn constant(&mut self, id: ConstId, packing: Option<Box<tegula_host::Packing>>) -> Value {
        let (host, header) = (&mut self.host, &mut self.header);
        let length = self.consts[id].data.len();
        self.pool.get(&self.consts, id, packing, |packing| {
            let bytes = Dim::from(packing.as_ref().map_or(length, |packing| packing.bytes()));
            let op = host.create_op(HostOp::Constant { id, packing }, &[], [BufferType::home(bytes)], None);
            header.push(op);
            host.result(op)
        })
    }

    /// A constant of one `i64`.
    pub(super) fn number(&mut self, value: i64) -> Value {
        let id = self.consts.push(ConstData::from(tegula_base::HostTensor::scalar(value)));
        self.constant(id, None)
    }

    // --- ops -------------------------------------------------------------------------------------------

    /// Emits the ops of a tensor region, its terminator excepted.
    pub(super) fn ops_of(&mut self, region: RegionId) -> Result<(), Diagnostic> {
        for &op in self.func.ops_in(region) {
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let location = || func.op(op).location.clone();
        match func.kind(op) {
            TensorOp::Yield {} | TensorOp::Return {} => Ok(()),
            TensorOp::Constant { id, .. } => {
                // Under a relayout only the packed form is needed.
                let users = func.users(func.result(op));
                let packed = |user: &OpId| matches!(func.kind(*user), TensorOp::Relayout { .. });
                if users.is_empty() || !users.iter().all(packed) {
                    let buffer = self.constant(*id, None);
                    self.set_buffer(func.result(op), buffer);
                }
                Ok(())
            }
            TensorOp::Relayout { .. } => self.relayout(op),
            TensorOp::Reshape { .. } => self.view(op),
            TensorOp::Transpose { perm }
                if func.ty(func.result(op)).shows(func.ty(func.operand(op, 0)), perm) =>
            {
                self.view(op)
            }
            TensorOp::Kernel { class } => self.kernel(op, *class),
            TensorOp::Bind { symbol } => {
                let from = self.buffer(func.operand(op, 0))?;
                self.step(HostOp::Bind { symbol: symbol.clone() }, &[from], location());
                Ok(())
            }
            TensorOp::AssertSize { left, right, message } => {
                let (left, right, message) = (left.clone(), right.clone(), message.clone());
                let kind = HostOp::Assert { left, relation: Relation::Eq, right, message };
                self.step(kind, &[], location());
                Ok(())
            }
            TensorOp::If {} => self.branch(op),
            TensorOp::Loop { trip, stacked } => self.repeat(op, trip, *stacked),
            other => match runtime_kernel(func, op) {
                Some(_) => self.runtime_kernel(op),
                None => {
                    let message = format!("`{}` stands outside of a kernel", tegula_ir::Op::name(other));
                    let node = func.op(op).location.as_deref().unwrap_or("without a name");
                    Err(Diagnostic::internal(message).at(format!("node \"{node}\"")))
                }
            },
        }
    }

    fn view(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let buffer = self.buffer(self.func.operand(op, 0))?;
        self.set_buffer(self.func.result(op), buffer);
        Ok(())
    }

    fn relayout(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let source = source(func, func.operand(op, 0));
        let Some(TensorOp::Constant { id, .. }) = func.def_op(source).map(|def| func.kind(def)) else {
            return Err(Diagnostic::internal("`relayout` of a computed value stands outside of a kernel"));
        };
        let packing = packing(func.ty(func.result(op))).map_err(Diagnostic::internal)?;
        let buffer = self.constant(*id, packing);
        self.set_buffer(func.result(op), buffer);
        Ok(())
    }

    fn kernel(&mut self, op: OpId, class: KernelClass) -> Result<(), Diagnostic> {
        let func = self.func;
        let operands = func.operands(op).iter().map(|v| self.buffer(*v)).collect::<Result<Vec<_>, _>>()?;
        let index = self.kernels.of_op[&op];
        let (target, kernels) = (self.targets.of(class), &self.kernels.list);
        let (costs, bytes) = self.measures.entry(index).or_insert_with(|| {
            let bytes = func.results(op).iter().map(|value| func.ty(*value).buffer_bytes()).collect();
            let costs = target.cost(func, op, &kernels[index]);
            (costs.into_iter().map(Arc::new).collect(), bytes)
        });
        let (costs, bytes) = (costs.clone(), bytes.clone());
        let location = &func.op(op).location;
        let results: Vec<Value> = func
            .results(op)
            .iter()
            .zip(bytes)
            .map(|(value, bytes)| self.place_sized(*value, bytes, location.clone()))
            .collect();
        let source: Arc<[String]> = func.names_of(op).map(|node| String::from(&**node)).collect();
        let temporaries = self.kernels.list[index].temporaries.clone();
        let temporaries: Vec<Value> =
            temporaries.into_iter().map(|bytes| self.alloc(bytes, location.clone())).collect();
        if class != KernelClass::Region {
            let buffers = Buffers { operands: &operands, results: &results, temporaries: &temporaries };
            for (launch, cost) in costs.into_iter().enumerate() {
                self.launch((index, launch), class.name(), &buffers, cost, Arc::clone(&source), Some(op));
            }
            return Ok(());
        }
        let beside = |walk: &mut Self, home: &Value| walk.alloc_beside(*home, location);
        let sent: Vec<Value> = operands.iter().map(|home| beside(self, home)).collect();
        let made: Vec<Value> = results.iter().map(|home| beside(self, home)).collect();
        operands.iter().zip(&sent).for_each(|(home, beside)| self.transfer(*home, *beside));
        let buffers = Buffers { operands: &sent, results: &made, temporaries: &[] };
        for (launch, cost) in costs.into_iter().enumerate() {
            self.launch((index, launch), class.name(), &buffers, cost, Arc::clone(&source), Some(op));
        }
        made.iter().zip(&results).for_each(|(beside, home)| self.transfer(*beside, *home));
        Ok(())
    }

    /// Launches a kernel that control flow needs.
    pub(super) fn helper(
        &mut self,
        helper: &Helper,
        operands: &[Value],
        results: &[Value],
    ) -> Result<(), Diagnostic> {
        let index = self.kernels.of_helper.get(helper).copied();
        let index = index.ok_or_else(|| Diagnostic::internal("a loop's kernel was not compiled"))?;
        let cost = CostRecord { class: KernelClass::Map.name().to_string(), ..CostRecord::default() };
        let buffers = Buffers { operands, results, temporaries: &[] };
        self.launch((index, 0), "loop", &buffers, cost.into(), [].into(), None);
        Ok(())
    }

    fn launch(
        &mut self,
        index: (usize, usize),
        stem: &str,
        behind: &Buffers,
        cost: Arc<CostRecord>,
        source: Arc<[String]>,
        op: Option<OpId>,
    ) {
        let Launch { compiled, views } = &self.kernels.list[index.0].list[index.1];
        let code = *self.code_of.entry(index).or_insert_with(|| {
            self.codes.push(compiled.code.clone());
            self.codes.len() - 1
        });
        let buffers: Vec<Value> = views
            .iter()
            .map(|view| match view.buffer {
                BufferRef::Operand(i) => behind.operands[i],
                BufferRef::Result(i) => behind.results[i],
                BufferRef::Temporary(i) => behind.temporaries[i],
            })
            .collect();
        let location = op.and_then(|op| self.func.op(op).location.clone());
        let refs = views.iter().map(|view| view.buffer).collect();
        let written = views.iter().enumerate().filter(|(_, view)| view.written).map(|(i, _)| i).collect();
        let number = self.launches.len();
        let name = [stem, "_", &number.to_string()].concat();
        let (sizes, grid, scratch) =
            (compiled.sizes.clone(), compiled.units.clone(), compiled.scratch.clone());
        self.launches.push(HostKernel {
            name: name.clone(),
            code: HostCode::Compiled(code),
            scratch,
            cost,
            source,
            op,
            views: refs,
        });
        let kind = HostOp::Launch { kernel: number as u32, name, written, sizes, grid };
        self.step(kind, &buffers, location);
    }

    fn runtime_kernel(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let kernel = runtime_kernel(func, op).ok_or_else(|| Diagnostic::internal("no runtime kernel"))?;
        let mut buffers = func.operands(op).iter().map(|v| self.buffer(*v)).collect::<Result<Vec<_>, _>>()?;
        let first = buffers.len();
        buffers.extend(func.results(op).to_vec().into_iter().map(|value| self.place(value)));
        let location = func.op(op).location.clone();
        let number = self.launches.len();
        let name = format!("{}_{number}", kernel.name);
        let cost = cost::record(func, op, KernelClass::Native, self.targets.host.machine());
        self.launches.push(HostKernel {
            name: name.clone(),
            code: HostCode::Native { name: kernel.name.to_string(), attrs: kernel.attrs },
            scratch: Dim::from(0),
            cost: cost.into(),
            source: func.names_of(op).map(|node| node.to_string()).collect(),
            op: Some(op),
            views: (0..first)
                .map(BufferRef::Operand)
                .chain((0..buffers.len() - first).map(BufferRef::Result))
                .collect(),
        });
        let kind = HostOp::Launch {
            kernel: number as u32,
            name,
            written: (first..buffers.len()).collect(),
            sizes: kernel.sizes,
            grid: Dim::from(1),
        };
        self.step(kind, &buffers, location);
        Ok(())
    }

    /// Whether a value is the bool `true` in every run.
    pub(super) fn is_true(&self, value: Value) -> bool {
        let func = self.func;
        let source = source(func, value);
        let Some(op) = func.def_op(source) else { return false };
        match func.kind(op) {
            TensorOp::Constant { id, dtype: DType::Bool, .. } => {
                self.consts.get(*id).is_some_and(|data| data.data.first().is_some_and(|byte| *byte != 0))
            }
            TensorOp::Splat { dtype: DType::Bool, bits, .. } => *bits != 0,
            TensorOp::Kernel { .. } => {
                let place = func.results(op).iter().position(|result| *result == source);
                let end = func.terminator(func.regions_of(op)[0]);
                let inner = place.zip(end).map(|(place, end)| func.operand(end, place));
                inner.is_some_and(|inner| {
                    // An argument of the kernel is an operand of its launch.
                    match func.def(inner) {
                        tegula_ir::Def::Result(..) => self.is_true(inner),
                        tegula_ir::Def::Arg(_, i) => self.is_true(func.operand(op, i as usize)),
                    }
                })
            }
            _ => false,
        }
    }
}

fn is_update(func: &TensorFunc, op: OpId) -> bool {
    matches!(func.kind(op), TensorOp::Kernel { class: KernelClass::Update })
}
