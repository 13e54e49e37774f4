//! What a launch moves and computes, in terms of its sizes.

use crate::{BufferRef, Code, Launch, Launches, View};
use tegula_base::{Bytes, DType, Dim, Flops};
use tegula_ir::{OpId, RegionId};
use tegula_machine::{Cpu, Machine};
use tegula_package::CostRecord;
use tegula_perf::GpuUnit;
use tegula_tensor::facts::{data_of_update, is_contraction, weight};
use tegula_tensor::{KernelClass, TensorFunc, TensorOp, winograd};

/// What open sizes are taken to be where one number is needed: a usual sequence length or image side.
const USUAL_SIZE: i64 = 128;

/// Sizes are integers: ratios of peaks are counted in so many parts.
const PEAK_PARTS: i64 = 64;

/// Sizes are integers: nanoseconds for one of what is counted, in so many parts. A GPU's flop takes 1e-6 ns, and its rates
/// must differ by less than 1 %.
const CPU_RATE_PARTS: i64 = 1_000_000;
const GPU_RATE_PARTS: i64 = 100_000_000;

/// The costs of a kernel's launches.
pub fn of_launches(func: &TensorFunc, op: OpId, launches: &Launches, machine: &Machine) -> Vec<CostRecord> {
    let TensorOp::Kernel { class } = *func.kind(op) else { return Vec::new() };
    if let [_] = launches.list.as_slice() {
        let unit = launches.list.first().map_or(GpuUnit::Vector, unit);
        return vec![of(func, op, class, [bytes(func, op), kernel_flops(func, op)], (machine, unit))];
    }
    let moved = |launch: &Launch| {
        let mut seen: Vec<BufferRef> = Vec::new();
        let mut bytes = Dim::from(0);
        for View { buffer, .. } in &launch.views {
            if !seen.contains(buffer) {
                seen.push(*buffer);
                bytes = bytes
                    + match *buffer {
                        BufferRef::Operand(i) => func.ty(func.operand(op, i)).buffer_bytes(),
                        BufferRef::Result(i) => func.ty(func.results(op)[i]).buffer_bytes(),
                        BufferRef::Temporary(i) => launches.temporaries[i].clone(),
                    };
            }
        }
        bytes
    };
    // What reads parts only adds them up.
    let combines = |launch: &Launch| {
        launch
            .views
            .iter()
            .any(|view| matches!(view, View { buffer: BufferRef::Temporary(_), written: false }))
    };
    let costs = launches.list.iter().map(|launch| {
        let flops = if combines(launch) { Dim::from(0) } else { kernel_flops(func, op) };
        of(func, op, class, [moved(launch), flops], (machine, unit(launch)))
    });
    costs.collect()
}

/// The units that a launch's PTX multiplies and adds in.
fn unit(launch: &Launch) -> GpuUnit {
    let Code::Ptx(kernel) = &launch.compiled.code else { return GpuUnit::Vector };
    match MATRIX_INSTRUCTIONS.iter().any(|name| kernel.text.contains(name)) {
        true => GpuUnit::Matrix,
        false => GpuUnit::Vector,
    }
}

/// Products of matrices in PTX. Source: PTX ISA 8.8, matrix multiply-accumulate.
const MATRIX_INSTRUCTIONS: [&str; 2] = ["mma.sync.", "wgmma.mma_async."];

/// The cost of a launch that computes a whole op.
pub fn record(func: &TensorFunc, op: OpId, class: KernelClass, machine: &Machine) -> CostRecord {
    of(func, op, class, [bytes(func, op), kernel_flops(func, op)], (machine, GpuUnit::Vector))
}

fn kernel_flops(func: &TensorFunc, op: OpId) -> Dim {
    func.regions_of(op).iter().fold(Dim::from(0), |sum, region| sum + flops(func, *region))
}

/// A cost in terms of open sizes. What bounds it is told for [`USUAL_SIZE`].
fn of(
    func: &TensorFunc,
    op: OpId,
    class: KernelClass,
    [bytes, flops]: [Dim; 2],
    (machine, unit): (&Machine, GpuUnit),
) -> CostRecord {
    let dtype = match machine.gpu() {
        Some(_) => factor(func, op),
        None => func.operands(op).first().map_or(DType::F32, |value| func.ty(*value).dtype),
    };
    let work = (dtype, unit);
    let [moved, done] = [&bytes, &flops].map(usual);
    let estimate = tegula_perf::estimate(Bytes(moved), Flops(done), work, machine, 1);
    let predicted_ns = match machine.cpu() {
        Some(cpu) => {
            // In units of a flop of `f32`, a multiply-add being two.
            let ratio = cpu.peak(DType::F32).0 / cpu.peak(dtype).0 * PEAK_PARTS as f64;
            let products =
                (products(func, op) * Dim::from(ratio.ceil() as i64)).ceil_div(&Dim::from(PEAK_PARTS));
            let amount = products + Dim::from(2) * vector_ops(func, op, class, cpu);
            let compute = timed(&amount, |flops| (Bytes(0), Flops(flops)), (DType::F32, unit), machine);
            compute.maximum(&timed(&bytes, |bytes| (Bytes(bytes), Flops(0)), work, machine))
        }
        None if estimate.bound == tegula_perf::Bound::Compute => {
            timed(&flops, |flops| (Bytes(moved), Flops(flops)), work, machine)
        }
        None => timed(&bytes, |bytes| (Bytes(bytes), Flops(done)), work, machine),
    };
    CostRecord {
        bytes,
        flops,
        predicted_ns,
        bound: estimate.bound.to_string(),
        class: class.name().to_string(),
    }
}

/// The type of the elements that a kernel computes with: of its product's left side, else of its first operand.
fn factor(func: &TensorFunc, op: OpId) -> DType {
    let mut ops = func.regions_of(op).iter().flat_map(|region| func.ops_in(*region));
    let value = match ops.find(|op| is_contraction(func.kind(**op))) {
        Some(product) => func.operands(*product).first(),
        None => func.operands(op).first(),
    };
    value.map_or(DType::F32, |value| func.ty(*value).dtype)
}

/// A size's value where open ones are [`USUAL_SIZE`].
fn usual(dim: &Dim) -> u64 {
    dim.eval(&|_| Some(USUAL_SIZE)).and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
}

/// Nanoseconds that what is counted takes: the launch, and beyond it as many as at the usual size, in proportion; never 0.
fn timed(count: &Dim, at: impl Fn(u64) -> (Bytes, Flops), work: (DType, GpuUnit), machine: &Machine) -> Dim {
    let number = usual(count).max(1);
    let (bytes, flops) = at(number);
    let time = |bytes, flops| tegula_perf::estimate(bytes, flops, work, machine, 1).time.0;
    // Known exactly.
    if let (Some(_), Some(_)) = (machine.gpu(), count.as_const()) {
        return Dim::from((time(bytes, flops).ceil() as i64).max(1));
    }
    let launch = time(Bytes(0), Flops(0));
    let scale = if machine.gpu().is_some() { GPU_RATE_PARTS } else { CPU_RATE_PARTS };
    let rate = ((time(bytes, flops) - launch) * scale as f64 / number as f64).ceil() as i64;
    (count.clone() * Dim::from(rate)).floor_div(&Dim::from(scale)) + Dim::from((launch.ceil() as i64).max(1))
}

/// Flops of a kernel's dots and convolutions.
fn products(func: &TensorFunc, op: OpId) -> Dim {
    let ops = func.regions_of(op).iter().flat_map(|region| func.ops_in(*region));
    let flops = ops.filter(|op| is_contraction(func.kind(**op))).map(|op| op_flops(func, *op));
    flops.fold(Dim::from(0), |sum, flops| sum + flops)
}

/// Elements times vector instructions for each, of all of a kernel that is no product. A map that moves elements fills
/// its vectors along the innermost axis only.
fn vector_ops(func: &TensorFunc, op: OpId, class: KernelClass, cpu: &Cpu) -> Dim {
    let (mut ops, mut moves) = (Dim::from(0), false);
    for inner in func.regions_of(op).iter().flat_map(|region| func.ops_in(*region)) {
        let Some(result) = func.results(*inner).first().filter(|_| !is_contraction(func.kind(*inner))) else {
            continue;
        };
        let moved = is_move(func.kind(*inner));
        moves |= moved;
        let weight = i64::from(weight(func.kind(*inner))) + if moved { MOVE_OPS } else { 0 };
        let read = match func.kind(*inner) {
            TensorOp::Reduce { .. } | TensorOp::ArgReduce { .. } | TensorOp::Scan { .. } => {
                func.ty(func.operand(*inner, 0)).shape.count()
            }
            _ => Dim::from(0),
        };
        if weight > 0 {
            ops = ops + func.ty(*result).shape.count() * Dim::from(weight);
        }
        ops = ops + read;
    }
    let innermost = func.results(op).first().and_then(|value| {
        let ty = func.ty(*value);
        ty.layout_or_default().physical_shape(&ty.shape).iter().last().and_then(Dim::as_const)
    });
    match innermost {
        Some(extent) if extent > 0 && moves && class == KernelClass::Map => {
            let lanes = cpu.vector.0 as i64 / DType::F32.size() as i64;
            let filled = (extent + lanes - 1) / lanes * lanes;
            (ops * Dim::from(filled)).ceil_div(&Dim::from(extent))
        }
        _ => ops,
    }
}

/// Vector instructions for an element that is moved: a load or shuffle, and the bounds it is under.
const MOVE_OPS: i64 = 2;

fn is_move(op: &TensorOp) -> bool {
    use TensorOp::*;
    matches!(op, Pad { .. } | Transpose { .. } | Concat { .. } | Slice { .. })
}

/// Bytes of all buffers of an op, each once.
fn bytes(func: &TensorFunc, op: OpId) -> Dim {
    if let Some(data) = data_of_update(func, op) {
        // What is updated stays where it is; the updates are read and written.
        let others = func.operands(op).iter().enumerate().filter(|(number, _)| *number != data);
        return others
            .fold(Dim::from(0), |sum, (_, value)| sum + Dim::from(2) * func.ty(*value).buffer_bytes());
    }
    let operands = func.operands(op);
    let first = |i: &usize| !operands[..*i].contains(&operands[*i]);
    let read = (0..operands.len()).filter(first).map(|i| touched(func, op, i));
    let made = func.results(op).iter().map(|value| func.ty(*value).buffer_bytes());
    read.chain(made).fold(Dim::from(0), |sum, bytes| sum + bytes)
}

/// Bytes of an operand that a kernel reads: of one that is only gathered from, as many as are gathered.
fn touched(func: &TensorFunc, op: OpId, operand: usize) -> Dim {
    let whole = func.ty(func.operand(op, operand)).buffer_bytes();
    let arg = func.regions_of(op).first().and_then(|region| func.args(*region).get(operand));
    let users = arg.map(|arg| (arg, func.users(*arg))).filter(|(_, users)| !users.is_empty());
    let Some((arg, users)) = users else { return whole };
    let gathered = users.iter().map(|user| match func.kind(*user) {
        TensorOp::Gather { .. } | TensorOp::GatherElements { .. } | TensorOp::GatherNd { .. }
            if func.operand(*user, 0) == *arg =>
        {
            Some(func.ty(func.results(*user)[0]).buffer_bytes())
        }
        _ => None,
    });
    let Some(gathered) = gathered.collect::<Option<Vec<Dim>>>() else { return whole };
    let gathered = gathered.into_iter().fold(Dim::from(0), |sum, bytes| sum + bytes);
    match (whole.as_const(), gathered.as_const()) {
        (Some(whole), Some(gathered)) => Dim::from(whole.min(gathered)),
        _ => gathered,
    }
}

/// Arithmetic operations of a kernel's region; a multiply-add counts two, a function of one element one.
fn flops(func: &TensorFunc, region: RegionId) -> Dim {
    func.ops_in(region).iter().fold(Dim::from(0), |sum, op| sum + op_flops(func, *op))
}

fn op_flops(func: &TensorFunc, op: OpId) -> Dim {
    let shape = |i: usize| &func.ty(func.operand(op, i)).shape;
    let made = || func.ty(func.results(op)[0]).shape.count();
    let window = |size: &[i64]| Dim::from(size.iter().product::<i64>());
    match func.kind(op) {
        TensorOp::Dot { dims, .. } | TensorOp::QDot { dims } => {
            let k = dims.lhs_contract.iter().fold(Dim::from(1), |k, axis| k * shape(0)[*axis].clone());
            Dim::from(2) * made() * k
        }
        TensorOp::Conv { window: w, .. } => Dim::from(2) * made() * shape(1)[1].clone() * window(&w.size),
        TensorOp::WinogradConv { .. } => {
            let products = winograd::REACH.pow(2) / winograd::RESULTS.pow(2);
            Dim::from(2 * products) * made() * shape(1)[1].clone()
        }
        TensorOp::QConv { window: w, .. } => Dim::from(2) * made() * shape(3)[1].clone() * window(&w.size),
        TensorOp::ConvTranspose { window: w, .. } => {
            Dim::from(2) * shape(0).count() * shape(1)[1].clone() * window(&w.size)
        }
        TensorOp::Pool { window: w, .. } | TensorOp::MaxPoolIndices { window: w, .. } => {
            made() * window(&w.size)
        }
        TensorOp::Elementwise { .. } | TensorOp::Quantize { .. } | TensorOp::Dequantize { .. } => made(),
        TensorOp::Reduce { .. } | TensorOp::ArgReduce { .. } | TensorOp::Scan { .. } => shape(0).count(),
        TensorOp::Softmax { .. }
        | TensorOp::LayerNorm { .. }
        | TensorOp::RmsNorm { .. }
        | TensorOp::Gelu { .. } => Dim::from(5) * made(),
        TensorOp::Attention { .. } => {
            // q k^T and the product with v, the softmax between counting 5.
            let (q, s) = (shape(0), shape(1)[2].clone());
            let rows = q[0].clone() * q[1].clone() * q[2].clone() * s;
            rows * (Dim::from(2) * (q[3].clone() + shape(2)[3].clone()) + Dim::from(5))
        }
        TensorOp::Lstm { .. } | TensorOp::Gru { .. } => {
            let steps = shape(0)[0].clone() * shape(0)[1].clone();
            Dim::from(2) * steps * (shape(1).count() + shape(2).count())
        }
        _ => Dim::from(0),
    }
}
