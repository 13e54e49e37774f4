//! Inputs and outputs of a run on a card: they have memory there that stays, so that a captured run finds it again, and
//! travel through page-locked memory of the host.

use super::{check_input, late_output, shape_output};
use crate::bind::Bound;
use crate::context::Context;
use crate::cuda::Pinned;
use crate::interpret::Run;
use crate::memory::{EMPTY, Range};
use crate::queue::{Queue, Region};
use crate::tensors::TensorView;
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_package::{HostProgram, Port};

/// The memory of a context's inputs and outputs.
#[derive(Default)]
pub(crate) struct Ports {
    inputs: Vec<Region>,
    outputs: Vec<Region>,
    sent: Option<Pinned>,
    received: Option<Pinned>,
}

impl Ports {
    pub(crate) fn input_mut(&mut self, index: usize) -> &mut Region {
        if self.inputs.len() <= index {
            self.inputs.resize_with(index + 1, Region::default);
        }
        &mut self.inputs[index]
    }

    pub(crate) fn outputs_mut(&mut self) -> impl Iterator<Item = &mut Region> {
        self.outputs.iter_mut()
    }
}

/// Distance of tensors in page-locked memory, bytes: a cache line.
const ALIGN: usize = 64;

/// Brings the inputs to the card and tells the context where they are.
/// Errors: the program takes an input for larger than its shape says; no memory.
pub(crate) fn upload_inputs(
    program: &HostProgram,
    inputs: &[TensorView<'_>],
    bound: &Bound,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    let Queue::Cuda(stream) = context.queue.clone() else { return Ok(()) };
    context.inputs.clear();
    let total = inputs.iter().map(|tensor| tensor.bytes.len().next_multiple_of(ALIGN)).sum();
    let Context { ports, queue, keeps_shared, inputs: ranges, .. } = context;
    ports.inputs.resize_with(inputs.len(), Region::default);
    let sent = grown(&mut ports.sent, queue, total)?;
    let mut at = 0;
    let places = program.inputs.iter().zip(inputs).zip(&mut ports.inputs).enumerate();
    for (index, ((port, tensor), region)) in places {
        let is_shared = program.output_in(index).is_some();
        if is_shared && *keeps_shared {
            ranges.push(Range { writable: true, ..region.range() });
            continue;
        }
        check_input(port, tensor, bound)?;
        let bytes = tensor.bytes.len();
        let address = place(region, queue, bytes)?;
        let part = &mut sent[at..at + bytes];
        part.copy_from_slice(tensor.bytes);
        // SAFETY: the region is that long; what is sent is written again by this context's next run only, and every run
        // waits for the stream at its end.
        unsafe { stream.upload(address, part)? };
        ranges.push(Range { address, bytes, writable: is_shared });
        at += bytes.next_multiple_of(ALIGN);
    }
    Ok(())
}

/// Makes the output tensors whose shapes are known, and memory on the card for them.
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
            range.address = place(region, &context.queue, range.bytes)?;
        }
        context.outputs.push(range);
    }
    Ok(())
}

/// Brings the outputs from the card, after all that was given to it.
pub(crate) fn download_outputs(run: &mut Run<'_>, outputs: &mut [HostTensor]) -> Result<(), Diagnostic> {
    let stream = run.stream()?;
    let (program, bound) = (run.program, run.bound);
    let mut ranges = Vec::with_capacity(outputs.len());
    let keeps_shared = run.cx.keeps_shared;
    let stays = |index: usize| keeps_shared && program.outputs[index].alias.is_some();
    for (index, (plan, tensor)) in bound.outputs.iter().zip(outputs.iter_mut()).enumerate() {
        if stays(index) {
            ranges.push(Range { address: EMPTY, bytes: 0, writable: false });
            continue;
        }
        let range = match plan.direct {
            true => run.cx.outputs[index],
            false => late_output(run, &program.outputs[index], plan, tensor)?,
        };
        ranges.push(range);
    }
    let lengths = outputs.iter().enumerate().map(|(index, tensor)| match stays(index) {
        true => 0,
        false => tensor.bytes.len(),
    });
    let places: Vec<std::ops::Range<usize>> = lengths
        .scan(0, |at, length| {
            let start = *at;
            *at += length.next_multiple_of(ALIGN);
            Some(start..start + length)
        })
        .collect();
    let total = places.last().map_or(0, |last| last.end);
    let queue = run.cx.queue.clone();
    let received = grown(&mut run.cx.ports.received, &queue, total)?;
    for (part, range) in places.iter().zip(&ranges) {
        // SAFETY: the range is memory of this run at least that long; the wait below ends the copy.
        unsafe { stream.download(range.address, &mut received[part.clone()])? };
    }
    stream.finish()?;
    for (index, (part, tensor)) in places.into_iter().zip(outputs).enumerate() {
        if !stays(index) {
            tensor.bytes.copy_from_slice(&received[part]);
        }
    }
    Ok(())
}

/// The address of a region of at least `bytes`, which is made where the one there is shorter.
pub(super) fn place(region: &mut Region, queue: &Queue, bytes: usize) -> Result<u64, Diagnostic> {
    if bytes == 0 {
        return Ok(EMPTY);
    }
    if region.len() < bytes {
        *region = Region::default();
        *region = queue.region(bytes)?;
    }
    Ok(region.address())
}

/// Page-locked memory of at least `bytes`.
fn grown<'a>(
    pinned: &'a mut Option<Pinned>,
    queue: &Queue,
    bytes: usize,
) -> Result<&'a mut [u8], Diagnostic> {
    if pinned.as_ref().is_none_or(|pinned| pinned.len() < bytes)
        && let Queue::Cuda(stream) = queue
    {
        *pinned = None;
        *pinned = Some(Pinned::new(&stream.device, bytes)?);
    }
    Ok(pinned.as_mut().map(Pinned::bytes_mut).unwrap_or_default())
}
