//! Runs the launches of one kernel of a host program alone, by a package that holds nothing else: the very code of the
//! model's package on operands of our choice. A launch on a device has its operands brought there, and its results back.

use super::Device;
use std::sync::Arc;
use tegula_backend::{BufferRef, Code};
use tegula_base::{DType, Dim, HashMap, HostTensor};
use tegula_host::{HostOp, Packing};
use tegula_ir::OpId;
use tegula_opt::lower_to_host::constants::packing;
use tegula_opt::lower_to_host::{BESIDE_THE_HOST, HostCode, HostModule, add_code};
use tegula_package::{
    About, Arg, Buffer, BufferId, DeviceId, HostProgram, Kernel, KernelCode, PackageBuilder, Place, Port,
    Step,
};
use tegula_runtime::Session;
use tegula_tensor::eval::Bindings;
use tegula_tensor::facts::data_of_update;
use tegula_tensor::{TensorFunc, TensorType};

/// The launches of each op, in order.
pub(super) fn by_op(host: &HostModule) -> HashMap<OpId, Vec<usize>> {
    let mut launches: HashMap<OpId, Vec<usize>> = HashMap::default();
    for (index, kernel) in host.kernels.iter().enumerate() {
        if let Some(op) = kernel.op {
            launches.entry(op).or_default().push(index);
        }
    }
    launches
}

/// The results of launches `indices`, which compute `op`, on these operands.
/// Errors: why they cannot run, in plain words.
pub(super) fn run(
    host: &HostModule,
    indices: &[usize],
    on: Device<'_>,
    func: &TensorFunc,
    op: OpId,
    operands: &[Arc<HostTensor>],
    bindings: &Bindings,
) -> Result<Vec<HostTensor>, String> {
    let concrete = |values: &[tegula_ir::Value]| {
        values
            .iter()
            .map(|value| bindings.concrete(func.ty(*value)))
            .collect::<Result<Vec<TensorType>, String>>()
    };
    let (operand_types, result_types) = (concrete(func.operands(op))?, concrete(func.results(op))?);
    let inputs = operands
        .iter()
        .zip(&operand_types)
        .map(|(tensor, ty)| Ok(bytes_tensor(laid_out(tensor, ty)?)))
        .collect::<Result<Vec<HostTensor>, String>>()?;
    let outputs = result_types.iter().map(buffer_bytes).collect::<Result<Vec<usize>, String>>()?;

    let on_device = indices.iter().any(|index| is_region(host, *index));
    let ports = inputs.len() + outputs.len();
    // On a device each input and output has a twin behind them.
    let operands = if on_device { ports } else { 0 };
    let mut alone = Alone {
        host,
        bindings,
        operands,
        results: operands + inputs.len(),
        temporaries: operands + ports,
        builder: PackageBuilder::new(),
        between: vec![],
    };
    let (mut kernels, mut steps) = (Vec::new(), Vec::new());
    let sizes = inputs.iter().map(|tensor| tensor.bytes.len()).chain(outputs.iter().copied());
    let sizes: Vec<usize> = sizes.collect();
    let transfer = |src: usize, dst: usize| Step::Transfer {
        src: BufferId::from(src),
        src_offset: Dim::from(0),
        dst: BufferId::from(dst),
        dst_offset: Dim::from(0),
        bytes: Dim::from(sizes[src.min(dst)]),
    };
    if on_device {
        steps.extend((0..inputs.len()).map(|i| transfer(i, ports + i)));
    }
    // An update finds its data where its result is to be.
    if let Some(data) = data_of_update(func, op) {
        let zero = Dim::from(0);
        steps.push(Step::Copy {
            src: BufferId::from(data),
            src_offset: zero.clone(),
            dst: BufferId::from(inputs.len()),
            dst_offset: zero,
            bytes: Dim::from(outputs[0]),
        });
    }
    for index in indices {
        let (kernel, args, grid) = alone.launch(*index)?;
        steps.push(Step::Launch { kernel: kernels.len() as u32, args, grid });
        kernels.push(kernel);
    }
    let Alone { builder, between, .. } = alone;
    if on_device {
        steps.extend((inputs.len()..ports).map(|i| transfer(ports + i, i)));
    }
    let last = steps.len() as u32 - 1;
    let temporary = |bytes: &Dim| Buffer { bytes: bytes.clone(), last, ..buffer(Place::Arena, 0) };
    let device = DeviceId(BESIDE_THE_HOST);
    let twin = |bytes: &usize| Buffer { device, last, ..buffer(Place::Arena, *bytes) };
    let twins = if on_device { sizes.as_slice() } else { &[] };
    let program = HostProgram {
        symbols: vec![],
        inputs: inputs.iter().enumerate().map(|(i, tensor)| port("in", i, i, tensor.bytes.len())).collect(),
        outputs: outputs.iter().enumerate().map(|(i, n)| port("out", i, inputs.len() + i, *n)).collect(),
        buffers: inputs
            .iter()
            .enumerate()
            .map(|(i, tensor)| buffer(Place::Input(i as u32), tensor.bytes.len()))
            .chain(outputs.iter().enumerate().map(|(i, n)| buffer(Place::Output(i as u32), *n)))
            .chain(twins.iter().map(twin))
            .chain(between.iter().map(temporary))
            .collect(),
        images: vec![],
        kernels,
        steps,
    };
    let About { machine, devices, .. } = on.about.clone();
    let about = About { machine, devices, ..About::default() };
    let package = builder.finish(about, program).map_err(|found| found.to_string())?;
    let options = crate::session_options(1, on.hardware.clone());
    let session = Session::from_bytes(package.to_bytes(), options).map_err(|found| found.to_string())?;
    let results = session.run(&inputs).map_err(|found| found.to_string())?;
    results.into_iter().zip(&result_types).map(|(bytes, ty)| row_major(bytes, ty)).collect()
}

/// Whether a launch is on the device beside the host.
fn is_region(host: &HostModule, index: usize) -> bool {
    match &host.kernels[index].code {
        HostCode::Compiled(code) => matches!(host.codes[*code], Code::Graph { .. }),
        HostCode::Native { .. } => false,
    }
}

/// Puts launches into a package of their own: operands, results and temporaries are its buffers, in this order.
struct Alone<'a> {
    host: &'a HostModule,
    bindings: &'a Bindings,
    /// The first operand's buffer, the first result's, and the first temporary's.
    operands: usize,
    results: usize,
    temporaries: usize,
    builder: PackageBuilder,
    /// Bytes of the temporaries.
    between: Vec<Dim>,
}

impl Alone<'_> {
    /// The kernel, its arguments and its grid.
    fn launch(&mut self, index: usize) -> Result<(Kernel, Vec<Arg>, Dim), String> {
        let kernel = &self.host.kernels[index];
        let steps = self.host.program.entry();
        let launch = steps.walk().into_iter().find_map(|op| match steps.kind(op) {
            HostOp::Launch { kernel, sizes, grid, .. } if *kernel as usize == index => {
                Some((op, sizes, grid))
            }
            _ => None,
        });
        let (launch, sizes, grid) = launch.ok_or("the launch is not in the host program")?;
        let size = |dim: &Dim| self.bindings.size(dim).map(Dim::from);
        let mut args = Vec::with_capacity(kernel.views.len() + sizes.len());
        for (view, value) in kernel.views.iter().zip(steps.operands(launch)) {
            let number = match *view {
                BufferRef::Operand(i) => self.operands + i,
                BufferRef::Result(i) => self.results + i,
                BufferRef::Temporary(i) => {
                    if self.between.len() <= i {
                        self.between.resize(i + 1, Dim::from(0));
                    }
                    self.between[i] = size(&steps.ty(*value).bytes)?;
                    self.temporaries + i
                }
            };
            args.push(Arg::Buffer(BufferId::from(number)));
        }
        for dim in sizes {
            args.push(Arg::Size(size(dim)?));
        }
        let code = match &kernel.code {
            HostCode::Compiled(code) => add_code(&mut self.builder, &self.host.codes[*code]),
            HostCode::Native { name, attrs } => {
                KernelCode::Native { name: name.clone(), attrs: attrs.clone() }
            }
        };
        let alone = Kernel {
            name: kernel.name.clone(),
            code,
            scratch: size(&kernel.scratch)?,
            cost: Default::default(),
            source: kernel.source.clone(),
        };
        Ok((alone, args, size(grid)?))
    }
}

fn port(stem: &str, index: usize, buffer: usize, bytes: usize) -> Port {
    Port {
        name: format!("{stem}{index}"),
        dtype: DType::U8,
        shape: vec![Dim::from(bytes)],
        buffer: BufferId::from(buffer),
        alias: None,
        default: None,
    }
}

fn buffer(place: Place, bytes: usize) -> Buffer {
    let device = DeviceId::HOME;
    Buffer { name: "buffer".into(), bytes: Dim::from(bytes), place, device, first: 0, last: 0 }
}

fn bytes_tensor(bytes: Vec<u8>) -> HostTensor {
    HostTensor { dtype: DType::U8, shape: vec![bytes.len()], bytes }
}

fn buffer_bytes(ty: &TensorType) -> Result<usize, String> {
    let bytes = ty.buffer_bytes().as_const();
    bytes.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(|| format!("{ty} has no size"))
}

/// A tensor's bytes in the layout of its type.
fn laid_out(tensor: &HostTensor, ty: &TensorType) -> Result<Vec<u8>, String> {
    Ok(match packing(ty)? {
        None => tensor.bytes.clone(),
        Some(packing) => {
            let mut out = vec![0; packing.bytes()];
            packing.pack(&tensor.bytes, &mut out);
            out
        }
    })
}

/// The inverse of [`laid_out`]: packs the elements' numbers and follows them back.
fn row_major(buffer: HostTensor, ty: &TensorType) -> Result<HostTensor, String> {
    let shape = ty.shape.as_static().ok_or_else(|| format!("{ty} has no fixed shape"))?;
    let Some(packing) = packing(ty)? else {
        return Ok(HostTensor { dtype: ty.dtype, shape, bytes: buffer.bytes });
    };
    let count: usize = shape.iter().product();
    let numbers = Packing { element: 8, ..(*packing).clone() };
    // Numbers from 1: padding packs as 0.
    let source: Vec<u8> = (1..=count as u64).flat_map(u64::to_le_bytes).collect();
    let mut places = vec![0; numbers.bytes()];
    numbers.pack(&source, &mut places);
    let size = ty.dtype.size();
    let mut bytes = vec![0; count * size];
    for (place, element) in places.as_chunks::<8>().0.iter().zip(buffer.bytes.chunks_exact(size)) {
        if let Some(index) = u64::from_le_bytes(*place).checked_sub(1) {
            bytes[index as usize * size..][..size].copy_from_slice(element);
        }
    }
    Ok(HostTensor { dtype: ty.dtype, shape, bytes })
}
