//! What lies in SRAM before the first phase, and what must lie there behind the last: cells, inputs, outputs, states, text.

use super::memory::{Held, Memory};
use super::report::Report;
use super::text;
use crate::floor::QueueId;
use crate::image::{Address, Binding, BindingKind, Image};
use crate::tag::Tag;
use tegula_machine::Lpu;

/// Checks cells and bindings, and gives the memory that every program starts with.
pub(super) fn check(image: &Image, lpu: &Lpu, report: &mut Report) -> Memory {
    let mut memory = Memory::default();
    for (chip, at) in text::places(image) {
        memory.put(chip, at, Held::Text);
    }
    for (number, chip) in image.chips.iter().enumerate() {
        let Ok(number) = u16::try_from(number) else {
            report.image("the image has too many chips".to_string());
            break;
        };
        for cell in &chip.cells {
            let what = report.name(cell.tag);
            if cell.bytes.len() != lpu.vector() as usize {
                let message = format!("{what} has {} bytes, a vector {}", cell.bytes.len(), lpu.vector());
                report.image(message);
            }
            if !report.knows(cell.tag) {
                report.image(format!(
                    "a cell's tag names value {}, which the image does not have",
                    cell.tag.value
                ));
            }
            place(&mut memory, number, cell.at, cell.tag, lpu, report);
            memory.keep(number, cell.at);
        }
        for kind in [BindingKind::Input, BindingKind::Output, BindingKind::State] {
            let own = chip.bindings.iter().filter(|binding| binding.kind == kind);
            super::check_names(own.map(|binding| binding.name.as_str()), "tensors of a kind", report);
        }
        for binding in &chip.bindings {
            if !is_sound(binding, lpu, report) {
                continue;
            }
            for (at, tag) in places(binding) {
                match binding.kind {
                    BindingKind::Input | BindingKind::State => {
                        place(&mut memory, number, at, tag, lpu, report);
                    }
                    BindingKind::Output if !exists(at, lpu) => report_outside(number, at, tag, report),
                    BindingKind::Output => {}
                }
            }
        }
    }
    memory
}

/// Checks that constants and states are left for the next program, and that results lie where the host fetches them.
pub(super) fn check_end(image: &Image, memory: &Memory, report: &mut Report) {
    for (number, chip) in image.chips.iter().enumerate() {
        let number = number as u16;
        let cells = chip.cells.iter().map(|cell| (cell.at, cell.tag, "the constant"));
        let bindings = chip.bindings.iter().filter_map(|binding| match binding.kind {
            BindingKind::Input => None,
            BindingKind::Output => Some((binding, "the output")),
            BindingKind::State => Some((binding, "the state")),
        });
        let bound =
            bindings.flat_map(|(binding, what)| places(binding).map(move |(at, tag)| (at, tag, what)));
        for (at, tag, what) in cells.chain(bound) {
            let held = memory.get(number, at);
            if held != Some(&Held::Whole(tag)) {
                let found = match held {
                    None => "nothing does".to_string(),
                    Some(Held::Whole(other)) => format!("{} does", report.name(*other)),
                    Some(Held::Parts(_)) => "only parts of it do".to_string(),
                    Some(Held::Text) => "the text of a queue does".to_string(),
                };
                let wanted = report.name(tag);
                let place = place_name(number, at);
                report.image(format!("at the end {what} {wanted} should lie in {place}, but {found}"));
            }
        }
    }
}

/// The addresses of a binding's vectors beside their tags.
fn places(binding: &Binding) -> impl Iterator<Item = (Address, Tag)> {
    let width = binding.dtype.size().max(1);
    binding.places.iter().enumerate().map(move |(number, at)| {
        let tag = Tag::new(binding.value, (number / width) as u32).part((number % width) as u8);
        (*at, tag)
    })
}

fn is_sound(binding: &Binding, lpu: &Lpu, report: &mut Report) -> bool {
    let Binding { name, dtype, row, lanes, places, .. } = binding;
    let width = dtype.size();
    let problem = if !matches!(width, 1 | 2 | 4) {
        format!("has elements of {width} bytes: 1, 2 and 4 are known")
    } else if *lanes == 0 || *lanes > lpu.vector() {
        format!("has {lanes} elements in a vector of {} lanes", lpu.vector())
    } else if *row == 0 || places.is_empty() || places.len() % (row.div_ceil(*lanes) as usize * width) != 0 {
        format!("lies in {} vectors, which are no whole rows of {row} elements", places.len())
    } else if !report.knows(Tag::new(binding.value, 0)) {
        format!("is value {}, which the image does not have", binding.value)
    } else {
        return true;
    };
    report.image(format!("the tensor {name:?} {problem}"));
    false
}

/// Puts a vector where nothing lies yet.
fn place(memory: &mut Memory, chip: u16, at: Address, tag: Tag, lpu: &Lpu, report: &mut Report) {
    if !exists(at, lpu) {
        report_outside(chip, at, tag, report);
        return;
    }
    let other = match memory.get(chip, at) {
        None => {
            memory.put(chip, at, Held::Whole(tag));
            return;
        }
        Some(Held::Whole(other)) => report.name(*other),
        Some(Held::Parts(_) | Held::Text) => "the text of a queue".to_string(),
    };
    let own = report.name(tag);
    report.image(format!("{own} and {other} both lie in {} at the start", place_name(chip, at)));
}

fn exists(at: Address, lpu: &Lpu) -> bool {
    let Address { half, slice, bank, word } = at;
    QueueId::Mem { half, slice }.exists(lpu)
        && u32::from(bank) < lpu.mem.banks
        && u32::from(word) < lpu.mem.words
}

fn report_outside(chip: u16, at: Address, tag: Tag, report: &mut Report) {
    let what = report.name(tag);
    report.image(format!("{what} lies in {}, which the machine does not have", place_name(chip, at)));
}

/// As `chip 0, E.mem3, bank 1, word 5`.
fn place_name(chip: u16, Address { half, slice, bank, word }: Address) -> String {
    format!("chip {chip}, {}, bank {bank}, word {word}", QueueId::Mem { half, slice })
}
