//! The rules of images and of the kernels in them: everything lies inside, nothing overlaps, and each instruction set is
//! entered in its own way.

use super::Rule;
use crate::format::ALIGN;
use crate::host::HostProgram;
use crate::image::{Entry, Image, KernelCode, isa};

/// What is wrong with a program's images, whose section has `section` bytes, and with its kernels' entries.
pub(super) fn faults(program: &HostProgram, section: u64) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    let mut end = 0;
    for (index, image) in program.images.iter().enumerate() {
        let image_end = super::end_inside(image.offset, image.len, section);
        match image_end.filter(|_| image.offset >= end && image.offset.is_multiple_of(ALIGN)) {
            Some(image_end) => end = image_end,
            None => found
                .push((Rule::ImageRange, format!("image {index} is outside of the images, or in another"))),
        }
    }
    for kernel in &program.kernels {
        let KernelCode::Image { image, entry } = &kernel.code else { continue };
        match program.images.get(image.index()) {
            None => found.push((
                Rule::KernelImage,
                format!("kernel `{}` is of an image that is not there", kernel.name),
            )),
            Some(image) => found.extend(entry_fault(&kernel.name, image, entry)),
        }
    }
    overlaps(program, &mut found);
    found
}

fn entry_fault(name: &str, image: &Image, entry: &Entry) -> Option<(Rule, String)> {
    let inside = |(offset, len)| super::end_inside(offset, len, image.len).is_some();
    if !entry.range().is_none_or(inside) {
        return Some((Rule::KernelRange, format!("kernel `{name}` is outside of its image")));
    }
    let fits = match (image.isa.as_str(), entry) {
        (isa::PTX, Entry::Ptx { launch, .. }) => match launch.check() {
            Ok(()) => true,
            Err(rule) => return Some((Rule::LaunchFacts, format!("kernel `{name}`: {rule}"))),
        },
        (isa::PORTABLE, Entry::Range { .. }) => true,
        (isa::PTX | isa::PORTABLE, _) | (_, Entry::Ptx { .. }) => false,
        // Machine code.
        (_, Entry::Range { offset, len }) => *len > 0 && offset.is_multiple_of(ALIGN),
        (_, Entry::Name(_)) => true,
    };
    (!fits)
        .then(|| (Rule::EntryKind, format!("kernel `{name}` is not entered as `{}` images are", image.isa)))
}

/// Executors and simulators read an image part by part: parts that overlap would make a short section into much code.
fn overlaps(program: &HostProgram, found: &mut Vec<(Rule, String)>) {
    let mut parts: Vec<(u32, u64, u64, &str)> = Vec::new();
    for kernel in &program.kernels {
        if let KernelCode::Image { image, entry } = &kernel.code
            && let Some((offset, len)) = entry.range()
        {
            parts.push((image.0, offset, len, &kernel.name));
        }
    }
    parts.sort_unstable();
    parts.dedup_by_key(|(image, offset, len, _)| (*image, *offset, *len));
    for pair in parts.windows(2) {
        let ((image, offset, len, name), (other_image, next, _, other)) = (pair[0], pair[1]);
        if image == other_image && offset.checked_add(len).is_none_or(|end| end > next) {
            found.push((Rule::CodeOverlap, format!("the code of kernels `{name}` and `{other}` overlaps")));
        }
    }
}
