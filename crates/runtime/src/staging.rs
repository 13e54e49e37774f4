//! Memory that comes from outside a run: the caller's inputs and outputs. Kernels get aligned addresses (`docs/abi.md`,
//! "Guarantees about buffers"); what is not aligned, or is to be on another device, is copied.

mod away;

use crate::bind::{self, Bound, OutputPlan};
use crate::context::Context;
use crate::interpret::Run;
use crate::memory::{Block, EMPTY, Range};
use crate::ports::place;
use crate::tensors::TensorView;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_package::{HostProgram, Port};

pub(crate) use away::{place_outputs, receive_outputs, send_inputs};

/// Tells the context where the inputs are; copies those whose memory is not aligned for their elements, or not at `align`.
/// Errors: the program takes an input for larger than its shape says.
pub(crate) fn stage_inputs(
    program: &HostProgram,
    inputs: &[TensorView<'_>],
    bound: &Bound,
    align: u64,
    context: &mut Context,
) -> Result<Vec<Block>, Diagnostic> {
    let mut staged = Vec::new();
    context.inputs.clear();
    for (index, (port, tensor)) in program.inputs.iter().zip(inputs).enumerate() {
        if program.output_in(index).is_some() {
            let range = shared_input(index, port, tensor, bound, context)?;
            context.inputs.push(range);
            continue;
        }
        check_input(port, tensor, bound)?;
        let bytes = tensor.bytes;
        let mut address = bytes.as_ptr() as u64;
        if bytes.is_empty() {
            address = EMPTY;
        } else if !address.is_multiple_of(align.max(tensor.dtype.size() as u64)) {
            let mut block = Block::new(bytes.len())?;
            block.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
            address = block.address();
            staged.push(block);
        }
        context.inputs.push(Range { address, bytes: bytes.len(), writable: false });
    }
    Ok(staged)
}

/// The context's own memory of an input that an output shares, with the caller's bytes in it unless it keeps its own.
fn shared_input(
    index: usize,
    port: &Port,
    tensor: &TensorView<'_>,
    bound: &Bound,
    context: &mut Context,
) -> Result<Range, Diagnostic> {
    let size = bound.buffers[port.buffer.index()].bytes.known().and_then(|size| usize::try_from(size).ok());
    let bytes =
        size.ok_or_else(|| bind::invalid(format!("the size of input `{}` is computed", port.name)))?;
    let Context { ports, queues, keeps_shared, .. } = context;
    let region = ports.input_mut(index);
    let address = place(region, &*queues[0], bytes)?;
    let range = Range { address, bytes, writable: true };
    if !*keeps_shared {
        check_input(port, tensor, bound)?;
        // SAFETY: the region is of this context, and that long; no kernel runs.
        unsafe { queues[0].write(range, tensor.bytes)? };
    }
    Ok(range)
}

/// Errors: the program takes an input for larger than its shape says.
fn check_input(port: &Port, tensor: &TensorView<'_>, bound: &Bound) -> Result<(), Diagnostic> {
    let bytes = tensor.bytes.len() as i64;
    if bound.buffers[port.buffer.index()].bytes.known().is_none_or(|size| size > bytes) {
        let message = format!("the buffer of input `{}` is not as large as its shape says", port.name);
        return Err(bind::invalid(message));
    }
    Ok(())
}

/// Makes the output tensors whose shapes are known and tells the context where they are. A tensor whose
/// memory is not aligned alike gets a block instead, returned by output.
pub(crate) fn stage_outputs(
    ports: &[Port],
    outputs: &mut Vec<HostTensor>,
    bound: &Bound,
    align: u64,
    context: &mut Context,
) -> Result<Vec<(usize, Block)>, Diagnostics> {
    outputs.resize_with(ports.len(), || HostTensor::zeros(DType::U8, &[0]));
    context.outputs.clear();
    let mut staged = Vec::new();
    for (index, ((port, plan), tensor)) in ports.iter().zip(&bound.outputs).zip(outputs).enumerate() {
        let mut range = Range { address: EMPTY, bytes: 0, writable: true };
        if plan.direct {
            shape_output(tensor, port, plan.shape.iter().filter_map(|size| size.known()))?;
            range.address = tensor.bytes.as_mut_ptr() as u64;
            range.bytes = tensor.bytes.len();
            if range.bytes == 0 {
                range.address = EMPTY;
            } else if !range.address.is_multiple_of(align.max(port.dtype.size() as u64)) {
                let mut block = Block::new(range.bytes)?;
                range.address = block.address();
                staged.push((index, block));
            }
        }
        context.outputs.push(range);
    }
    Ok(staged)
}

/// Gives a tensor its dtype, shape and bytes, keeping its memory when it is large enough.
fn shape_output(
    tensor: &mut HostTensor,
    port: &Port,
    shape: impl Iterator<Item = i64>,
) -> Result<(), Diagnostic> {
    tensor.dtype = port.dtype;
    tensor.shape.clear();
    tensor.shape.extend(shape.map(|extent| extent as usize));
    let bytes =
        tensor.shape.iter().try_fold(port.dtype.size(), |product, extent| product.checked_mul(*extent));
    let bytes = bytes.filter(|bytes| *bytes <= isize::MAX as usize).ok_or_else(|| {
        Diagnostic::error("out-of-memory", format!("output `{}` would be too large", port.name))
    })?;
    let more = bytes.saturating_sub(tensor.bytes.len());
    tensor.bytes.try_reserve(more).map_err(|error| {
        Diagnostic::error("out-of-memory", format!("output `{}` needs {bytes} bytes", port.name))
            .note(error.to_string())
    })?;
    tensor.bytes.resize(bytes, 0);
    Ok(())
}

/// Shapes an output that kernels could not write to, and says where it is.
fn late_output(
    run: &mut Run<'_>,
    port: &Port,
    plan: &OutputPlan,
    tensor: &mut HostTensor,
) -> Result<Range, Diagnostic> {
    let shape = plan.shape.iter().map(|size| run.size(*size)).collect::<Result<Vec<i64>, _>>()?;
    if shape.iter().any(|extent| *extent < 0) {
        let message = format!("output `{}` would have shape {shape:?}", port.name);
        return Err(Diagnostic::error("computed-size", message));
    }
    shape_output(tensor, port, shape.into_iter())?;
    let range = run.resolve(plan.buffer)?;
    if range.bytes < tensor.bytes.len() {
        let message = format!("the buffer of output `{}` is smaller than its shape", port.name);
        return Err(bind::invalid(message));
    }
    Ok(range)
}

/// Copies what kernels could not write to the caller's tensors.
pub(crate) fn collect_outputs(
    run: &mut Run<'_>,
    outputs: &mut [HostTensor],
    staged: &mut [(usize, Block)],
) -> Result<(), Diagnostic> {
    let (program, bound) = (run.program, run.bound);
    for ((port, plan), tensor) in program.outputs.iter().zip(&bound.outputs).zip(outputs.iter_mut()) {
        if plan.direct || port.alias.is_some() && run.cx.keeps_shared {
            continue;
        }
        let range = late_output(run, port, plan, tensor)?;
        // SAFETY: memory of this run, disjoint from the tensor that the caller lent; no kernel runs.
        let bytes = unsafe { Range { bytes: tensor.bytes.len(), ..range }.as_slice() };
        tensor.bytes.copy_from_slice(bytes);
    }
    for (index, block) in staged {
        let tensor = &mut outputs[*index];
        let len = tensor.bytes.len();
        tensor.bytes.copy_from_slice(&block.bytes_mut()[..len]);
    }
    Ok(())
}
