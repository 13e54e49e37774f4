//! A loaded image: SRAM that stays from run to run, and runs of its programs.
//!
//! Before: an image, and the machine file that it names.  After: for each run the results, or the first trap.
//! Method: the issues of a phase in the order of their cycles; each changes the chip's state at once.

use crate::step::Chip;
use crate::trap::{Fault, Trap};
use crate::vector::{Vector, joined, split};
use std::collections::BTreeMap;
use tegula_base::Diagnostic;
use tegula_isa_lpu::word::WHOLE;
use tegula_isa_lpu::{Binding, BindingKind, Image, Issue, QueueId, Tag, issues};
use tegula_machine::{Lpu, Machine};

/// The chips of an image, with what lies in their SRAM.
pub struct Rack {
    image: Image,
    lpu: Lpu,
    chips: Vec<Chip>,
}

/// What a run gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes of each output, as its tensor has them.
    pub outputs: BTreeMap<String, Vec<u8>>,
    /// From the first word of the first phase to the last of the last; a barrier lies between two phases.
    pub cycles: i64,
    /// Cycles in which each queue of each chip issued a word.
    pub busy: BTreeMap<(u16, QueueId), u64>,
}

impl Rack {
    /// Puts an image on chips; states are 0.
    /// Errors: `lpu-image`, an image of another machine, vectors of another length, bindings without sense.
    pub fn load(image: Image, machine: &Machine) -> Result<Rack, Diagnostic> {
        let wrong = |message: String| Diagnostic::error("lpu-image", message);
        let Some(lpu) = machine.lpu() else {
            return Err(wrong(format!("`{}` is no streaming chip", machine.name)));
        };
        if image.machine != machine.hash() {
            return Err(wrong(format!("the image is of another machine file than `{}`", machine.name)));
        }
        let lanes = lpu.vector();
        let mut chips = Vec::new();
        for chip in &image.chips {
            let mut state = Chip::new(lpu);
            for cell in &chip.cells {
                if cell.bytes.len() != lanes as usize {
                    return Err(wrong(format!(
                        "a vector of {} bytes lies in SRAM, not of {lanes}",
                        cell.bytes.len()
                    )));
                }
                state.memory.write(cell.at, cell.bytes.clone().into(), cell.tag, WHOLE);
            }
            for binding in &chip.bindings {
                check(binding, lanes).map_err(wrong)?;
                if binding.kind == BindingKind::State {
                    put(&mut state, binding, &vec![0; bytes(binding)], lanes);
                }
            }
            chips.push(state);
        }
        Ok(Rack { image, lpu: lpu.clone(), chips })
    }

    pub fn has_program(&self, name: &str) -> bool {
        self.image.programs.iter().any(|program| program.name == name)
    }

    /// The tensors of a kind, with their bytes.
    pub fn bindings(&self, kind: BindingKind) -> impl Iterator<Item = (&str, usize)> {
        let all = self.image.chips.iter().flat_map(|chip| &chip.bindings);
        all.filter(move |binding| binding.kind == kind).map(|binding| (binding.name.as_str(), bytes(binding)))
    }

    /// Runs a program. Errors: `lpu-run`, a program or an input that is missing or of another size; `lpu-trap`.
    pub fn run(&mut self, program: &str, inputs: &BTreeMap<String, &[u8]>) -> Result<Outcome, Diagnostic> {
        let found = self.image.programs.iter().find(|own| own.name == program);
        let Some(found) = found.cloned() else {
            return Err(Diagnostic::error("lpu-run", format!("the image has no program `{program}`")));
        };
        self.take(inputs)?;
        let mut outcome = Outcome::default();
        let mut trips = 0;
        let trapped = |trap: Trap| Diagnostic::error("lpu-trap", trap.to_string());
        for phase in &found.phases {
            let timed = issues(phase, &self.lpu).map_err(|bad| {
                let fault = Fault::Queue(bad.problem);
                trapped(Trap::of_queue(bad.chip, bad.queue, bad.place, fault, &self.image))
            })?;
            for _ in 0..phase.trips {
                let barrier = if trips == 0 { 0 } else { i64::from(self.lpu.barrier) };
                self.trip(&timed.0, &mut outcome.busy).map_err(trapped)?;
                outcome.cycles += barrier + timed.1;
                trips += 1;
            }
        }
        for (chip, state) in self.image.chips.iter().zip(&self.chips) {
            for binding in chip.bindings.iter().filter(|binding| binding.kind == BindingKind::Output) {
                outcome.outputs.insert(binding.name.clone(), got(state, binding, self.lpu.vector()));
            }
        }
        Ok(outcome)
    }

    fn take(&mut self, inputs: &BTreeMap<String, &[u8]>) -> Result<(), Diagnostic> {
        for (chip, state) in self.image.chips.iter().zip(&mut self.chips) {
            for binding in chip.bindings.iter().filter(|binding| binding.kind == BindingKind::Input) {
                let given = inputs.get(&binding.name).copied().unwrap_or(&[]);
                if given.len() != bytes(binding) {
                    let wrong =
                        format!("input `{}` has {} bytes, not {}", binding.name, given.len(), bytes(binding));
                    return Err(Diagnostic::error("lpu-run", wrong));
                }
                put(state, binding, given, self.lpu.vector());
            }
        }
        Ok(())
    }

    /// One trip of a phase.
    fn trip(&mut self, issued: &[Issue], busy: &mut BTreeMap<(u16, QueueId), u64>) -> Result<(), Trap> {
        let image = &self.image;
        for chip in &mut self.chips {
            chip.rest(&self.lpu);
        }
        for issue in issued {
            let trap = |fault| Trap::at(issue, fault, image);
            let chip = self.chips.get_mut(usize::from(issue.chip)).ok_or_else(|| trap(Fault::NoChip))?;
            chip.step(issue, &self.lpu).map_err(trap)?;
            *busy.entry((issue.chip, issue.queue)).or_default() += 1;
        }
        for (number, chip) in self.chips.iter_mut().enumerate() {
            for ((half, plane), state) in &mut chip.planes {
                let queue = QueueId::Rows { half: *half, plane: *plane };
                let left = |place| Trap::of_queue(number as u16, queue, place, Fault::SumsLeft, image);
                state.rest().map_err(left)?;
            }
        }
        Ok(())
    }
}

impl Chip {
    /// Nothing is on its way, and queues are full: the start of a phase.
    fn rest(&mut self, lpu: &Lpu) {
        let fresh = Chip::new(lpu);
        self.streams = fresh.streams;
        self.alus = fresh.alus;
        self.fetched.clear();
        self.memory.rest();
    }
}

fn check(binding: &Binding, lanes: u32) -> Result<(), String> {
    let Binding { name, dtype, row, lanes: own, places, .. } = binding;
    let width = dtype.size();
    let fits = matches!(width, 1 | 2 | 4) && (1..=lanes).contains(own) && *row > 0;
    if !fits || !places.len().is_multiple_of(width) {
        return Err(format!("tensor `{name}` has vectors that the machine has not"));
    }
    Ok(())
}

/// Bytes of a tensor.
fn bytes(binding: &Binding) -> usize {
    binding.len() * binding.dtype.size()
}

/// Lays a tensor into SRAM.
fn put(chip: &mut Chip, binding: &Binding, tensor: &[u8], lanes: u32) {
    let width = binding.dtype.size();
    let mut rest = tensor;
    for index in 0..binding.vectors() {
        let (own, behind) = rest.split_at(binding.elements(index) as usize * width);
        rest = behind;
        let mut words: Vec<u32> = own.chunks(width).map(little).collect();
        words.resize(lanes as usize, 0);
        for (part, vector) in split(&words, width as u32).into_iter().enumerate() {
            let tag = Tag::new(binding.value, index).part(part as u8);
            chip.memory.write(binding.places[index as usize * width + part], vector, tag, WHOLE);
        }
    }
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Takes a tensor out of SRAM.
fn got(chip: &Chip, binding: &Binding, lanes: u32) -> Vec<u8> {
    let width = binding.dtype.size();
    let mut tensor = Vec::new();
    for index in 0..binding.vectors() {
        let places = &binding.places[index as usize * width..][..width];
        let parts: Vec<Vector> = places.iter().map(|place| chip.memory.bytes(*place)).collect();
        let words = joined(&parts, lanes as usize);
        for word in &words[..binding.elements(index) as usize] {
            tensor.extend(&word.to_le_bytes()[..width]);
        }
    }
    tensor
}
