//! Images of streaming chips in packages.
//!
//! A package of one image has a port for each input and output of the image's bindings; its host program moves inputs to the
//! chip, runs the first program, and moves the outputs back.

mod binding;
mod images;
mod simulated;
mod time;
mod timeline;

pub use binding::OnChips;
pub(crate) use binding::on_units;
pub use images::check_images;
pub use simulated::SimulatedLpu;
pub(crate) use time::{OnChip, on_chips};
pub(crate) use timeline::timeline;

use crate::target::{id_of, package_device, processor_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics, Dim};
use tegula_isa_lpu::{Binding, BindingKind, Image, encode, verify};
use tegula_machine::Machine;
use tegula_opt::lower_to_host::BESIDE_THE_HOST;
use tegula_package::{
    About, Arg, Buffer, BufferId, DeviceId, Draft, Entry, HostProgram, Kernel, KernelCode, PackageBuilder,
    Place, Port, Step, isa,
};

pub use tegula_isa_lpu::parse;
pub use tegula_perf::lpu::Busy;

/// The instruction set of its images.
pub const ISA: &str = isa::LPU;

/// The chip beside the processor.
const CHIP: DeviceId = DeviceId(BESIDE_THE_HOST);

/// A package that runs the first program of an image; `name` is the model's in the manifest.
/// Errors: `lpu-image`, the image has no program; `lpu-verify`, it is wrong or of another machine.
pub fn package(image: &Image, machine: &Machine, name: &str) -> Result<Draft, Diagnostics> {
    verify(image, machine)?;
    let Some(program) = image.programs.first() else {
        return Err(Diagnostic::error("lpu-image", "the image has no program").into());
    };
    let bindings =
        |kind| image.chips.iter().flat_map(|chip| &chip.bindings).filter(move |own| own.kind == kind);
    let (inputs, outputs) = (bindings(BindingKind::Input), bindings(BindingKind::Output));
    let mut host = HostProgram::default();
    let mut moves = Moves::default();
    for (number, binding) in inputs.enumerate() {
        let step = number as u32;
        host.inputs.push(port(binding, host.buffers.len()));
        moves.add(&mut host, binding, Place::Input(step), [step, step]);
    }
    let launch = host.inputs.len() as u32;
    for (number, binding) in outputs.enumerate() {
        let step = launch + 1 + number as u32;
        host.outputs.push(port(binding, host.buffers.len()));
        moves.add(&mut host, binding, Place::Output(number as u32), [step, step]);
    }
    for (index, (_, chip)) in moves.0.iter().enumerate() {
        let buffer = &mut host.buffers[chip.index()];
        let own = index as u32;
        (buffer.first, buffer.last) = if own < launch { (own, launch) } else { (launch, own + 1) };
    }
    let mut builder = PackageBuilder::new();
    let image = builder.add_image(ISA, CHIP, &encode(image));
    let code = KernelCode::Image { image, entry: Entry::Name(program.name.clone()) };
    host.kernels.push(Kernel {
        name: program.name.clone(),
        code,
        scratch: Dim::from(0),
        cost: Arc::default(),
        source: Arc::from([]),
    });
    host.steps = moves.steps(&host, launch);
    builder.finish(about(machine, name)?, host)
}

/// Buffers of the home, each with its twin on the chip, in the order of the launch's arguments.
#[derive(Default)]
struct Moves(Vec<(BufferId, BufferId)>);

impl Moves {
    fn add(&mut self, host: &mut HostProgram, binding: &Binding, place: Place, [first, last]: [u32; 2]) {
        let home = BufferId::from(host.buffers.len());
        let bytes = Dim::from(bytes(binding) as i64);
        let buffer = Buffer { name: binding.name.clone(), bytes, place, device: DeviceId::HOME, first, last };
        host.buffers.push(buffer.clone());
        host.buffers.push(Buffer { place: Place::Arena, device: CHIP, ..buffer });
        self.0.push((home, BufferId(home.0 + 1)));
    }

    /// Transfers to the chip, the launch, transfers back.
    fn steps(&self, host: &HostProgram, launch: u32) -> Vec<Step> {
        let transfer = |src: BufferId, dst: BufferId| {
            let bytes = host.buffers[src.index()].bytes.clone();
            Step::Transfer { src, src_offset: Dim::from(0), dst, dst_offset: Dim::from(0), bytes }
        };
        let (inputs, outputs) = self.0.split_at(launch as usize);
        let args = self.0.iter().map(|(_, chip)| Arg::Buffer(*chip)).collect();
        let mut steps: Vec<Step> = inputs.iter().map(|(home, chip)| transfer(*home, *chip)).collect();
        steps.push(Step::Launch { kernel: 0, args, grid: Dim::from(1) });
        steps.extend(outputs.iter().map(|(home, chip)| transfer(*chip, *home)));
        steps
    }
}

fn bytes(binding: &Binding) -> usize {
    binding.len() * binding.dtype.size()
}

/// Rows of elements.
fn port(binding: &Binding, buffer: usize) -> Port {
    let row = i64::from(binding.row);
    let rows = binding.len() as i64 / row.max(1);
    Port {
        name: binding.name.clone(),
        dtype: binding.dtype,
        shape: vec![Dim::from(rows), Dim::from(row)],
        buffer: BufferId::from(buffer),
        alias: None,
        default: None,
    }
}

fn about(machine: &Machine, name: &str) -> Result<About, Diagnostic> {
    Ok(About {
        model: name.to_string(),
        tegula: env!("CARGO_PKG_VERSION").to_string(),
        // The home has no code of its own.
        machine: id_of(&processor_of(machine)?, ""),
        devices: vec![package_device(&machine.name, machine, ISA)],
        options: BTreeMap::new(),
    })
}
