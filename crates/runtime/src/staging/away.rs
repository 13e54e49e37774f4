//! Inputs and outputs of a run whose home is not this process: they have memory there that stays, so that a recorded run
//! finds it again.

use super::{check_input, late_output, shape_output};
use crate::bind::Bound;
use crate::context::Context;
use crate::interpret::Run;
use crate::memory::{EMPTY, Range};
use crate::ports::place;
use crate::queue::Region;
use crate::tensors::TensorView;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_package::{HostProgram, Port};

/// Brings the inputs to the home and tells the context where they are.
/// Errors: the program takes an input for larger than its shape says; no memory.
pub(crate) fn send_inputs(
    program: &HostProgram,
    inputs: &[TensorView<'_>],
    bound: &Bound,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    context.inputs.clear();
    let Context { ports, queues, keeps_shared, inputs: ranges, .. } = context;
    ports.inputs.resize_with(inputs.len(), Region::default);
    let mut parts = Vec::with_capacity(inputs.len());
    let places = program.inputs.iter().zip(inputs).zip(&mut ports.inputs).enumerate();
    for (index, ((port, tensor), region)) in places {
        let is_shared = program.output_in(index).is_some();
        if is_shared && *keeps_shared {
            ranges.push(region.range());
            continue;
        }
        check_input(port, tensor, bound)?;
        let bytes = tensor.bytes.len();
        let address = place(region, &*queues[0], bytes)?;
        let range = Range { address, bytes, writable: true };
        parts.push((range, tensor.bytes));
        ranges.push(Range { writable: is_shared, ..range });
    }
    // SAFETY: the regions are of this context, and that long; no kernel runs.
    unsafe { queues[0].send(&parts) }
}

/// Makes the output tensors whose shapes are known, and memory of the home for them.
pub(crate) fn place_outputs(
    ports: &[Port],
    outputs: &mut Vec<HostTensor>,
    bound: &Bound,
    context: &mut Context,
) -> Result<(), Diagnostics> {
    outputs.resize_with(ports.len(), || HostTensor::zeros(DType::U8, &[0]));
    context.ports.outputs.resize_with(ports.len(), Region::default);
    context.outputs.clear();
    for (((port, plan), tensor), region) in
        ports.iter().zip(&bound.outputs).zip(outputs).zip(&mut context.ports.outputs)
    {
        let mut range = Range { address: EMPTY, bytes: 0, writable: true };
        if plan.direct {
            shape_output(tensor, port, plan.shape.iter().filter_map(|size| size.known()))?;
            range.bytes = tensor.bytes.len();
            range.address = place(region, &*context.queues[0], range.bytes)?;
        }
        context.outputs.push(range);
    }
    Ok(())
}

/// Brings the outputs from the home, after all that was given to it.
pub(crate) fn receive_outputs(run: &mut Run<'_>, outputs: &mut [HostTensor]) -> Result<(), Diagnostic> {
    let (program, bound) = (run.program, run.bound);
    let mut parts = Vec::with_capacity(outputs.len());
    for (index, (plan, tensor)) in bound.outputs.iter().zip(outputs).enumerate() {
        if run.cx.keeps_shared && program.outputs[index].alias.is_some() {
            continue;
        }
        let range = match plan.direct {
            true => run.cx.outputs[index],
            false => late_output(run, &program.outputs[index], plan, tensor)?,
        };
        parts.push((range, &mut tensor.bytes[..]));
    }
    // SAFETY: memory of this run, at least as long as the tensors.
    unsafe { run.cx.home().receive(&mut parts) }
}
