//! Every launch of a compiled program on the tile executor, on the evaluator's operands.

use tegula_base::{Dim, HostTensor};
use tegula_driver::bound::{Agreement, Bounded, compare, watch_kernels};
use tegula_ir::OpId;
use tegula_machine::Machine;
use tegula_target_cpu::model::{CpuTarget, Form};
use tegula_tensor::eval::Bindings;
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorOp, TensorProgram, TensorType};
use tegula_tile::exec::Order;
use tegula_tiling::lower_kernel;

use super::executors::{Failure, refused, wrong};

const NAME: &str = "tile";

/// Launches of more elements than this are left to the other executors: this one takes a microsecond an element.
const MAX_ELEMENTS: usize = 40_000;

/// `program` is after kernel formation for a machine of this class.
pub(super) fn check(
    program: &TensorProgram,
    class: &str,
    inputs: &[HostTensor],
) -> Result<Agreement, Failure> {
    let machine = Machine::class(class).ok_or_else(|| wrong(NAME, "no such machine class".into()))?;
    let target = CpuTarget::new(machine, Form::Machine).map_err(|found| refused(NAME, &found.into()))?;
    let mut agreement = Agreement::default();
    let mut failure = None;
    let mut watch =
        |op: OpId, operands: &[std::sync::Arc<HostTensor>], expected: &[Bounded], bindings: &Bindings| {
            if !matches!(program.entry().kind(op), TensorOp::Kernel { .. }) {
                return Ok(None);
            }
            match launch(program, &target, op, operands, expected, bindings) {
                Ok(part) => {
                    agreement.add(part);
                    Ok(None)
                }
                Err(found) => {
                    failure = Some(found);
                    Err("stopped".to_string())
                }
            }
        };
    let watched = watch_kernels(program, inputs, &mut watch);
    match (failure, watched) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) => Err(refused("evaluator of kernels", &error.into())),
        (None, Ok(_)) => Ok(agreement),
    }
}

fn launch(
    program: &TensorProgram,
    target: &CpuTarget,
    op: OpId,
    operands: &[std::sync::Arc<HostTensor>],
    expected: &[Bounded],
    bindings: &Bindings,
) -> Result<Agreement, Failure> {
    let func = program.entry();
    let native = matches!(
        func.ops_in(func.regions_of(op)[0]).first().map(|op| func.kind(*op)),
        Some(
            TensorOp::TopK { .. }
                | TensorOp::NonZero {}
                | TensorOp::Unique { .. }
                | TensorOp::NonMaxSuppression { .. }
        )
    );
    let elements: usize =
        operands.iter().map(|x| x.count()).chain(expected.iter().map(|x| x.value.count())).sum();
    if native || elements > MAX_ELEMENTS {
        return Ok(Agreement::default());
    }
    let lowered =
        lower_kernel(func, op, target, &program.symbols).map_err(|found| refused(NAME, &found.into()))?;
    let mut buffers: Vec<Vec<u8>> = vec![];
    for (operand, value) in operands.iter().zip(func.operands(op)) {
        buffers.push(pack(operand, func.ty(*value)));
    }
    let types = func.result_types(op);
    for (result, ty) in expected.iter().zip(&types) {
        buffers.push(vec![0xa5; pack(&result.value, ty).len()]);
    }
    let size = |dim: &Dim| bindings.size(dim).ok();
    for bytes in &lowered.temporaries {
        buffers.push(vec![0xa5; size(bytes).unwrap_or(0) as usize]);
    }
    let mut backwards = buffers.clone();
    for (order, buffers) in [(Order::Rising, &mut buffers), (Order::Falling, &mut backwards)] {
        for (_, launch) in &lowered.list {
            let views = launch.buffer_numbers(operands.len(), expected.len());
            tegula_tile::exec::run_in(order, &launch.kernel, &views, buffers, &size)
                .map_err(|error| wrong(NAME, format!("{}: {error}", describe(program, op))))?;
        }
    }
    if buffers != backwards {
        let message =
            format!("{} gives other bits when its units run in falling order", describe(program, op));
        return Err(Failure { executor: NAME.into(), kind: "order".into(), message });
    }
    let mut agreement = Agreement::default();
    for (i, (want, ty)) in expected.iter().zip(&types).enumerate() {
        let got = unpack(&buffers[operands.len() + i], &want.value, ty);
        agreement.add(
            compare(&got, want)
                .map_err(|error| wrong(NAME, format!("{} result {i} {error}", describe(program, op))))?,
        );
    }
    Ok(agreement)
}

/// The ops of a kernel.
fn describe(program: &TensorProgram, kernel: OpId) -> String {
    let func = program.entry();
    let names: Vec<String> = func
        .ops_in(func.regions_of(kernel)[0])
        .iter()
        .map(|op| match func.kind(*op) {
            TensorOp::Elementwise { f } => f.to_string(),
            kind => tegula_ir::Op::name(kind).to_string(),
        })
        .collect();
    format!("kernel ({})", names.join(" "))
}

// --- layouts -------------------------------------------------------------------------------------------

/// Row-major bytes to the bytes of a layout, padding zero.
fn pack(tensor: &HostTensor, ty: &TensorType) -> Vec<u8> {
    let Some(layout) = &ty.layout else { return tensor.bytes.clone() };
    let (places, count) = places(layout, &tensor.shape);
    let size = tensor.dtype.size();
    let mut bytes = vec![0; count * size];
    for (place, element) in places.into_iter().zip(tensor.bytes.chunks_exact(size)) {
        bytes[place * size..][..size].copy_from_slice(element);
    }
    bytes
}

/// Back to row-major, with the shape and type of `like`.
fn unpack(bytes: &[u8], like: &HostTensor, ty: &TensorType) -> HostTensor {
    let Some(layout) = &ty.layout else { return HostTensor { bytes: bytes.to_vec(), ..like.clone() } };
    let size = like.dtype.size();
    let (places, _) = places(layout, &like.shape);
    let bytes = places.into_iter().flat_map(|place| bytes[place * size..][..size].iter().copied()).collect();
    HostTensor { bytes, ..like.clone() }
}

/// The physical place of each logical element in row-major order, and how many places there are.
fn places(layout: &Layout, shape: &[usize]) -> (Vec<usize>, usize) {
    let extent = |dim: &Physical| match *dim {
        Physical::Axis(axis) => shape[axis],
        Physical::Outer { axis, tile } => shape[axis].div_ceil(tile as usize),
        Physical::Inner { tile, .. } => tile as usize,
    };
    let physical: Vec<usize> = layout.0.iter().map(extent).collect();
    let count: usize = shape.iter().product();
    let places = (0..count).map(|flat| {
        let mut at = vec![0; shape.len()];
        let mut rest = flat;
        for axis in (0..shape.len()).rev() {
            at[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        layout.0.iter().zip(&physical).fold(0, |place, (dim, extent)| {
            place * extent
                + match *dim {
                    Physical::Axis(axis) => at[axis],
                    Physical::Outer { axis, tile } => at[axis] / tile as usize,
                    Physical::Inner { axis, tile } => at[axis] % tile as usize,
                }
        })
    });
    (places.collect(), physical.iter().product())
}
