//! Images of chips: whether those that a target made are proved, and have the buffers of their launches as their tensors; and
//! which of them a package's kernels start.

use super::{ISA, bytes};
use crate::target::machine_of_id;
use tegula_backend::Code;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_host::HostOp;
use tegula_isa_lpu::{Binding, BindingKind, Image, decode, verify};
use tegula_machine::Machine;
use tegula_opt::lower_to_host::{HostCode, HostModule};
use tegula_package::{Entry, ImageId, KernelCode, Package};

/// Looks at each launch on a chip. Errors: `lpu-image`, `lpu-verify`; internal, tensors that are not the buffers.
pub fn check_images(module: &HostModule, machine: &Machine) -> Result<(), Diagnostics> {
    let func = module.program.entry();
    for op in func.walk() {
        let HostOp::Launch { kernel, .. } = func.kind(op) else { continue };
        let kernel = &module.kernels[*kernel as usize];
        let HostCode::Compiled(code) = kernel.code else { continue };
        let Code::Graph { isa, bytes: code } = &module.codes[code] else { continue };
        if isa != ISA {
            continue;
        }
        let image = decode(code)?;
        verify(&image, machine)?;
        let tensors: Vec<u64> = tensors(&image).map(|binding| bytes(binding) as u64).collect();
        let buffers = func.operands(op).iter().map(|buffer| func.ty(*buffer).bytes.as_const());
        let buffers: Vec<u64> = buffers.map(|bytes| bytes.unwrap_or(0).max(0) as u64).collect();
        if tensors != buffers {
            let message = format!(
                "the image of `{}` has tensors of {tensors:?} bytes, its launch buffers of {buffers:?}",
                kernel.name
            );
            return Err(Diagnostic::internal(message).into());
        }
    }
    Ok(())
}

/// Inputs, then outputs, as a launch has them.
fn tensors(image: &Image) -> impl Iterator<Item = &Binding> {
    let of = |kind| image.chips.iter().flat_map(|chip| &chip.bindings).filter(move |own| own.kind == kind);
    of(BindingKind::Input).chain(of(BindingKind::Output))
}

/// The program of an image that a kernel starts.
pub(super) struct ChipProgram<'a> {
    pub(super) id: ImageId,
    pub(super) image: &'a tegula_package::Image,
    pub(super) name: &'a str,
}

/// None: the kernel runs on no chip.
pub(super) fn chip_program(package: &Package, kernel: u32) -> Option<ChipProgram<'_>> {
    let code = &package.program.kernels[kernel as usize].code;
    let KernelCode::Image { image: id, entry: Entry::Name(name) } = code else { return None };
    let image = package.program.image(code).filter(|image| image.isa == ISA)?;
    Some(ChipProgram { id: *id, image, name })
}

/// The machine of an image's device. Errors: internal, there is no such device; machines that are not known.
pub(super) fn machine_of_image(
    package: &Package,
    image: &tegula_package::Image,
) -> Result<Machine, Diagnostics> {
    let about = package.manifest.about.machine_of(image.device);
    machine_of_id(about.ok_or_else(|| Diagnostic::internal("an image is of no device"))?)
}
