//! `tegula inspect` and `tegula verify`.

use crate::args::{InspectArgs, PackageArgs};
use crate::failure::Failure;
use crate::{load, output};
use serde_json::{Value, json};
use std::path::Path;
use tegula_base::Diagnostics;
use tegula_runtime::map_file;

pub fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let bytes = map_file(&args.package)?;
    if let Some(file) = &args.html {
        output::keep_input(&args.package, Some(file))?;
        let package = tegula_package::Package::parse(bytes).map_err(|found| at(&args.package, found))?;
        let dims = load::each_once(&args.dims)?;
        load::check_dims(&package.program.inputs, &dims)?;
        let page = tegula_driver::page::page(&package, &dims)?;
        return output::write_text(file, &page);
    }
    let found = tegula_driver::inspect::inspect(bytes).map_err(|found| at(&args.package, found))?;
    if args.json {
        let sections: Vec<Value> = found
            .sections
            .iter()
            .map(|(name, offset, bytes)| json!({ "name": name, "offset": offset, "bytes": bytes }))
            .collect();
        let images: Vec<Value> = found
            .images
            .iter()
            .map(|(isa, device, bytes)| json!({ "isa": isa, "device": device, "bytes": bytes }))
            .collect();
        return output::print_json(&json!({
            "bytes": found.bytes,
            "sections": sections,
            "images": images,
            "steps": found.steps,
            "launches": found.launches,
            "manifest": found.manifest,
            "memory": found.memory,
        }));
    }
    let about = &found.manifest.about;
    let mut text = format!(
        "{} for {} ({}), compiled by Tegula {}\n",
        about.model, about.machine.class, about.machine.isa, about.tegula
    );
    for (name, value) in &about.options {
        text += &format!("option {name} = {value}\n");
    }
    for (what, ports) in [("input", &found.manifest.inputs), ("output", &found.manifest.outputs)] {
        for port in ports {
            text += &format!("{what} {}: {}[{}]\n", port.name, port.dtype, port.shape.join(", "));
        }
    }
    for (name, offset, bytes) in &found.sections {
        text += &format!("section {name:<12} {:>10} at {offset}\n", output::size(*bytes));
    }
    for (isa, device, bytes) in &found.images {
        text += &format!("image {isa:<14} {:>10} for {device}\n", output::size(*bytes));
    }
    text += &format!(
        "{} steps, {} launches, {} kernels\n",
        found.steps,
        found.launches,
        found.manifest.kernels.len()
    );
    match &found.memory.arena {
        Some(arena) => text += &format!("arena {}\n", output::size(arena.bytes)),
        None => text += "arena: planned at run time, for the inputs' shapes\n",
    }
    for kernel in &found.manifest.kernels {
        text += &format!(
            "kernel {:<20} {:<12} {:>9}  {}\n",
            kernel.name,
            kernel.class,
            output::size(kernel.bytes),
            kernel.code
        );
    }
    output::print(&text)
}

pub fn verify(args: &PackageArgs) -> Result<(), Failure> {
    tegula_driver::inspect::verify(map_file(&args.package)?).map_err(|found| at(&args.package, found))?;
    if args.json {
        return output::print_json(&json!({ "ok": true }));
    }
    output::print(&format!("{}: all checksums match\n", args.package.display()))
}

/// What is found in a file, with its name.
pub fn at(file: &Path, mut found: Diagnostics) -> Diagnostics {
    for diagnostic in &mut found.0 {
        diagnostic.spans.insert(0, file.display().to_string());
    }
    found
}
