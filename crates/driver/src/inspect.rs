//! What a package holds, for people and machines.

use bytes::Bytes;
use tegula_base::Diagnostics;
use tegula_package::format::SectionKind;
use tegula_package::manifest::MemoryFacts;
use tegula_package::{Manifest, Package, Step};

/// A package at a glance.
#[derive(Clone, Debug)]
pub struct Inspection {
    pub manifest: Manifest,
    pub memory: MemoryFacts,
    /// Name, offset and bytes of each section.
    pub sections: Vec<(&'static str, u64, u64)>,
    /// Instruction set, device and bytes of each image.
    pub images: Vec<(String, String, u64)>,
    /// Steps of the host program, those in branches and loops included.
    pub steps: usize,
    pub launches: usize,
    pub bytes: u64,
}

/// Errors: those of [`Package::parse`].
pub fn inspect(bytes: Bytes) -> Result<Inspection, Diagnostics> {
    let total = bytes.len() as u64;
    let package = Package::parse(bytes)?;
    let sections = SectionKind::ALL.into_iter().map(|kind| {
        let section = package.header().section(kind);
        (kind.name(), section.offset, section.len)
    });
    let about = &package.manifest.about;
    let images = package.program.images.iter();
    let images = images.map(|image| (image.isa.clone(), about.device_name(image.device), image.len));
    let (mut steps, mut launches) = (0, 0);
    Step::for_each(&package.program.steps, 0, &mut |_, step| {
        steps += 1;
        launches += usize::from(matches!(step, Step::Launch { .. }));
    });
    Ok(Inspection {
        sections: sections.collect(),
        images: images.collect(),
        steps,
        launches,
        bytes: total,
        manifest: package.manifest.clone(),
        memory: package.memory.clone(),
    })
}

/// Checks everything a load checks, and the weights.
pub fn verify(bytes: Bytes) -> Result<(), Diagnostics> {
    Package::parse(bytes)?.verify_constants().map_err(Diagnostics::from)
}

/// Whether a file is a package, by its first bytes.
pub fn is_package(bytes: &[u8]) -> bool {
    bytes.starts_with(&tegula_package::format::MAGIC)
}

/// Every buffer with its size, lifetime and place, for `--debug-plan`.
pub fn plan(package: &tegula_package::Draft) -> Result<String, Diagnostics> {
    use std::fmt::Write;
    use tegula_package::{DeviceId, Place};
    let package = Package::parse(package.to_bytes())?;
    let mut text = format!("{:>6} {:>16} {:>13}  {:<24} name\n", "buffer", "bytes", "steps", "place");
    for (index, buffer) in package.program.buffers.iter().enumerate() {
        let place = match &buffer.place {
            Place::Input(i) => format!("input {i}"),
            Place::Output(i) => format!("output {i}"),
            Place::Constant { offset, .. } => format!("constant at {offset}"),
            Place::Arena => "arena".to_string(),
            Place::Alias { of, offset } => format!("in {} at {offset}", of.0),
            Place::State(i) => format!("state {i}"),
        };
        let place = match buffer.device {
            DeviceId::HOME => place,
            device => format!("{place} of device {device}"),
        };
        let steps = format!("{}..={}", buffer.first, buffer.last);
        let bytes = buffer.bytes.to_string();
        // A `String` takes whatever is written.
        let _ = writeln!(text, "{index:>6} {bytes:>16} {steps:>13}  {place:<24} {}", buffer.name);
    }
    let memory = &package.memory;
    for (device, arena) in [&memory.arena].into_iter().chain(&memory.devices).enumerate() {
        let Some(arena) = arena else { continue };
        let of = if device == 0 { String::new() } else { format!(" of device {device}") };
        let (bytes, alive) = (arena.bytes, arena.lower_bound);
        let _ = writeln!(text, "arena{of}: {bytes} bytes, at least {alive} are alive at once");
        for buffer in &arena.buffers {
            let end = buffer.offset + buffer.bytes;
            let _ = writeln!(
                text,
                "  {:>10}..{end:<10} steps {}..={}  {}",
                buffer.offset, buffer.first, buffer.last, buffer.name
            );
        }
    }
    Ok(text)
}
