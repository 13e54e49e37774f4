//! `null`: a graph target whose images are programs as text, and whose device is the reference evaluator.
//!
//! It claims every op, or those that a seed draws, so that a compilation has regions of a device between the host's
//! kernels. It proves the border to graph targets: it is a crate's own code and one row where targets are named.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tegula_backend::{
    Claim, Codegen, Fused, GraphCodegen, GraphImage, Infeasible, Launches, Layouts, Place, Placement,
    Preferences, Span, Target, cost,
};
use tegula_base::{Diagnostic, Diagnostics, HostTensor, Symbols};
use tegula_ir::op::OpRules;
use tegula_ir::{Op, OpId};
use tegula_ir::{PrintOptions, parse_program, print_program};
use tegula_machine::Machine;
use tegula_package::CostRecord;
use tegula_runtime::{Device, DeviceCode, DeviceKernel, DeviceLaunch, Loaded, PlainMemory};
use tegula_tensor::eval::{Bindings, Evaluator};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// The instruction set of its images.
pub const ISA: &str = "null";

/// See the top of this file.
#[derive(Clone, Debug)]
pub struct Null {
    machine: Machine,
    preferences: Preferences,
    seed: Option<u64>,
}

impl Null {
    /// Beside a host of this machine. With a seed about every other op is claimed.
    pub fn new(machine: Machine, seed: Option<u64>) -> Null {
        Null { machine, preferences: Preferences::default(), seed }
    }
}

/// `null`, or `null:SEED`. Errors: `unknown-device`, the seed is no number.
pub fn beside(host: &Machine, seed: Option<&str>) -> Result<Box<dyn Target>, Diagnostic> {
    let seed = seed.map(str::parse).transpose().map_err(|_| {
        let message = format!("`{}` is no seed", seed.unwrap_or_default());
        Diagnostic::error("unknown-device", message).help("name it as `null` or `null:17`")
    })?;
    Ok(Box::new(Null::new(host.clone(), seed)))
}

impl Target for Null {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn isa(&self) -> &str {
        ISA
    }

    fn claims(&self, func: &TensorFunc, op: OpId) -> Claim {
        if func.kind(op).region_count() > 0 {
            return Claim::No("control flow is the host's".into());
        }
        let Some(seed) = self.seed else { return Claim::Yes };
        // By what the op is: it stays claimed when passes ask once more.
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        func.kind(op).name().hash(&mut hasher);
        func.results(op).iter().for_each(|value| func.ty(*value).hash(&mut hasher));
        match hasher.finish() % 2 {
            0 => Claim::Yes,
            _ => Claim::No("the seed draws it for the host".into()),
        }
    }

    fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    fn fuses(&self, _: &TensorFunc, _: OpId, _: Place, _: &Symbols) -> Option<Fused> {
        None
    }

    fn layouts(&self, _: &TensorFunc, _: OpId, _: &Symbols) -> Layouts {
        Layouts::default()
    }

    fn cost(&self, func: &TensorFunc, kernel: OpId, launches: &Launches) -> Vec<CostRecord> {
        cost::of_launches(func, kernel, launches, &self.machine)
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Graph(self)
    }
}

impl GraphCodegen for Null {
    fn compile(&self, _: &str, region: &TensorProgram) -> Result<GraphImage, Infeasible> {
        let func = region.entry();
        let ops = func.ops_in(func.body());
        let (mut offset, mut memory, mut timeline) = (0, Vec::new(), Vec::new());
        for (cycle, op) in ops.iter().enumerate() {
            let cycle = cycle as u64;
            timeline.push(Span {
                unit: "evaluator".to_string(),
                what: func.kind(*op).name().to_string(),
                cycles: [cycle, cycle],
            });
            for value in func.results(*op) {
                let bytes = func.ty(*value).buffer_bytes().as_const().map_or(0, |bytes| bytes.max(0) as u64);
                let last = ops.iter().rposition(|op| func.operands(*op).contains(value));
                let cycles = [cycle, last.map_or(cycle, |last| last as u64)];
                memory.push(Placement {
                    memory: "host".to_string(),
                    value: value.to_string(),
                    offset,
                    bytes,
                    cycles,
                });
                offset += bytes;
            }
        }
        Ok(GraphImage {
            bytes: print_program(region, &PrintOptions::WHOLE).into_bytes(),
            symbols: region.symbols.0.keys().map(|name| name.to_string()).collect(),
            memory,
            timeline,
            remarks: Vec::new(),
        })
    }
}

/// Runs images of [`Null`]; a session takes it from its caller.
pub struct NullDevice;

impl Device for NullDevice {
    fn isa(&self) -> &str {
        ISA
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        let kernels = code.kernels.iter().map(|kernel| {
            let kernel: Arc<dyn DeviceKernel> = Arc::new(Region::new(kernel.bytes)?);
            Ok(kernel)
        });
        Ok(Loaded::new(Arc::new(PlainMemory), kernels.collect::<Result<_, Diagnostics>>()?))
    }
}

/// An image made ready to run.
pub struct Region {
    program: TensorProgram,
}

impl Region {
    /// Errors: the bytes are no program of [`Null`].
    pub fn new(image: &[u8]) -> Result<Region, Diagnostics> {
        let text = std::str::from_utf8(image)
            .map_err(|_| Diagnostic::error("package-invalid", "an image of `null` is no text"))?;
        let program = parse_program::<TensorOp>(text, None)?;
        tegula_ir::verify_program(&program)?;
        Ok(Region { program })
    }
}

impl DeviceKernel for Region {
    /// The buffers are the operands, then the results; the sizes are the values of the image's symbols in their order.
    fn run(&self, launch: &DeviceLaunch<'_>) -> Result<(), String> {
        let names = self.program.symbols.0.keys().cloned();
        let bindings = Bindings(names.zip(launch.sizes.iter().copied()).collect());
        let func = self.program.entry();
        let args = func.args(func.body());
        let (operands, results) = launch.buffers.split_at(args.len().min(launch.buffers.len()));
        let operands = args.iter().zip(operands).map(|(arg, buffer)| {
            let ty = bindings.concrete(func.ty(*arg))?;
            let shape: Option<Vec<usize>> = ty.shape.as_static();
            let shape = shape.ok_or("an operand has an open size")?;
            let count: usize = shape.iter().product();
            let mut bytes = buffer.read()?;
            bytes.truncate(count * ty.dtype.size());
            Ok(Arc::new(HostTensor { dtype: ty.dtype, shape, bytes }))
        });
        let operands = operands.collect::<Result<Vec<_>, String>>()?;
        let evaluated = Evaluator::new(&self.program).run_bound(bindings, operands);
        let evaluated = evaluated.map_err(|error| error.to_string())?;
        if evaluated.len() != results.len() {
            return Err(format!("{} results go to {} buffers", evaluated.len(), results.len()));
        }
        evaluated.iter().zip(results).try_for_each(|(tensor, buffer)| buffer.write(&tensor.bytes))
    }
}
