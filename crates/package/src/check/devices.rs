//! The rules of devices: what runs on one touches that one's memory alone, and only transfers go between two.

use super::Rule;
use crate::device::DeviceId;
use crate::host::{Arg, Buffer, BufferId, HostProgram, Kernel, Place, Step};
use crate::image::{Entry, KernelCode, isa};
use crate::manifest::About;

/// Devices of a package at most: each may be given all constants.
pub const MAX_DEVICES: usize = 64;

/// What is wrong with the devices of a program whose other ids are in range.
pub(super) fn faults(program: &HostProgram, about: &About) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    if about.device_count() > MAX_DEVICES {
        found.push((Rule::DeviceCount, format!("the package has more than {MAX_DEVICES} devices")));
    }
    for buffer in &program.buffers {
        found.extend(buffer_fault(program, about, buffer));
    }
    for (index, image) in program.images.iter().enumerate() {
        found.extend(image_fault(about, index, &image.isa, image.device));
    }
    for port in &program.outputs {
        let buffer = &program.buffers[port.buffer.index()];
        if !buffer.device.is_home() {
            found.push((
                Rule::OutputDevice,
                format!("output `{}` is on {}", port.name, about.device_name(buffer.device)),
            ));
        }
    }
    if found.is_empty() {
        Step::for_each(&program.steps, 0, &mut |_, step| found.extend(step_fault(program, about, step)));
    }
    found
}

fn buffer_fault(program: &HostProgram, about: &About, buffer: &Buffer) -> Option<(Rule, String)> {
    let (name, device) = (&buffer.name, buffer.device);
    if about.machine_of(device).is_none() {
        return Some((Rule::BufferDevice, format!("buffer `{name}` is on {}", missing(about, device))));
    }
    match &buffer.place {
        Place::Input(_) | Place::Output(_) if !device.is_home() => Some((
            Rule::PortDevice,
            format!("buffer `{name}` is an input or output, but on {}", about.device_name(device)),
        )),
        Place::Alias { of, .. } if program.buffers[of.index()].device != device => {
            let of = &program.buffers[of.index()];
            let (own, other) = (about.device_name(device), about.device_name(of.device));
            Some((
                Rule::AliasDevice,
                format!("buffer `{name}` is on {own}, the memory that it shares on {other}"),
            ))
        }
        _ => None,
    }
}

/// The home takes portable code too, unless it is a GPU, whose memory no executor of the host reads.
fn image_fault(about: &About, index: usize, image: &str, device: DeviceId) -> Option<(Rule, String)> {
    let Some(machine) = about.machine_of(device) else {
        return Some((Rule::ImageDevice, format!("image {index} is for {}", missing(about, device))));
    };
    let is_portable = image == isa::PORTABLE && device.is_home() && machine.isa != isa::PTX;
    if image == machine.isa || is_portable {
        return None;
    }
    let name = about.device_name(device);
    Some((Rule::ImageIsa, format!("image {index} is `{image}` code, but {name} runs `{}`", machine.isa)))
}

fn step_fault(program: &HostProgram, about: &About, step: &Step) -> Option<(Rule, String)> {
    let of = |buffer: BufferId| program.buffers[buffer.index()].device;
    match step {
        Step::Launch { kernel, args, .. } => {
            let kernel = &program.kernels[*kernel as usize];
            let device = program.device_of(kernel);
            let buffers = args.iter().filter_map(|arg| match arg {
                Arg::Buffer(buffer) => Some(*buffer),
                Arg::Size(_) => None,
            });
            if is_mixed(kernel, args) {
                return Some((
                    Rule::RegionArguments,
                    format!("kernel `{}` of a region has a buffer behind a size", kernel.name),
                ));
            }
            let strange = buffers.into_iter().find(|buffer| of(*buffer) != device)?;
            let name = &program.buffers[strange.index()].name;
            let (own, other) = (about.device_name(device), about.device_name(of(strange)));
            Some((
                Rule::LaunchDevice,
                format!("kernel `{}` runs on {own}, its buffer `{name}` is on {other}", kernel.name),
            ))
        }
        Step::Copy { src, dst, .. } if of(*src) != of(*dst) => {
            let (src, dst) = (about.device_name(of(*src)), about.device_name(of(*dst)));
            Some((Rule::CopyDevice, format!("a copy goes from {src} to {dst}, which only a transfer does")))
        }
        Step::Transfer { src, dst, .. } if of(*src) == of(*dst) => {
            Some((Rule::TransferDevice, format!("a transfer stays within {}", about.device_name(of(*src)))))
        }
        _ => None,
    }
}

/// A device gets a region's buffers and sizes apart: the buffers come first.
fn is_mixed(kernel: &Kernel, args: &[Arg]) -> bool {
    let is_region = matches!(kernel.code, KernelCode::Image { entry: Entry::Name(_), .. });
    is_region && !args.is_sorted_by_key(|arg| matches!(arg, Arg::Size(_)))
}

fn missing(about: &About, device: DeviceId) -> String {
    format!("device {device}, of which the package has {}", about.device_count())
}
