//! Proves that an image runs on a machine as its tags say, or names what is wrong. It takes no data: cells count by length.
//!
//! Before: any image.  After: each vector that a word senses, reads or takes is the one that the word's tag names; no two
//! words use a port, a stream's cell or an ALU's result at once; a program leaves constants and states as the next one
//! expects them, and its results where the host fetches them.
//! Method: events are sorted by stream and diagonal, by ALU, by plane, by bank; each list is then read once. Nothing is
//! stepped from cycle to cycle: the simulator finds the same faults by that other way.
//!
//! ```text
//! chips ─► memory at the start ─┐
//! queues ─► words ─► issues ─► addresses ─► text, drain, streams, alus, planes, sums, memory ─► memory at the end
//! ```
//! A phase starts with empty streams, planes and accumulators, and with what the phase before left in memory.
//! A tag is what the compiler meant. So what a word makes of its operands, and which value it calls the result, is not proved.
//! Nor is the order of a read and a write of one tag at one address: both see a version of the same vector.

mod addresses;
mod alus;
mod chips;
mod drain;
mod memory;
mod planes;
mod queues;
mod report;
mod schedule;
mod streams;
mod sums;
mod text;
mod words;

use crate::image::{Image, Phase, Program};
use memory::Memory;
use report::Report;
use schedule::Schedule;
use tegula_base::Diagnostics;
use tegula_machine::{Lpu, Machine};

/// What was proved, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    pub programs: Vec<ProgramProof>,
    /// Of the words of all queues.
    pub text_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramProof {
    pub name: String,
    pub phases: Vec<PhaseProof>,
    /// Of all trips, with a barrier between one trip and the next.
    pub cycles: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseProof {
    pub trips: u32,
    /// Of one trip: from cycle 0 to the last issue.
    pub cycles: u64,
    /// Words that one trip issues, repeats counted each time.
    pub issues: u64,
}

/// Bytes of a word in a queue's text.
const WORD_BYTES: u64 = 16;

/// Proves an image, or gives the first faults of each program. Errors: `lpu-verify`.
pub fn verify(image: &Image, machine: &Machine) -> Result<Proof, Diagnostics> {
    let mut report = Report::new(&image.values);
    let Some(lpu) = machine.lpu() else {
        report.image(format!("the machine `{}` is no streaming chip", machine.name));
        return report.result(Proof::default());
    };
    if image.machine != machine.hash() {
        report.image(format!("the image is for another machine file than `{}`", machine.name));
        return report.result(Proof::default());
    }
    let start = chips::check(image, lpu, &mut report);
    if report.is_faulty() {
        return report.result(Proof::default());
    }
    let mut proof = Proof::default();
    check_names(image.programs.iter().map(|program| program.name.as_str()), "programs", &mut report);
    for (number, program) in image.programs.iter().enumerate() {
        report.enter(number, &program.name);
        proof.programs.push(verify_program(program, image, lpu, start.clone(), &mut report));
        let queues = program.phases.iter().flat_map(|phase| &phase.queues);
        proof.text_bytes += queues.map(|queue| queue.words.len() as u64 * WORD_BYTES).sum::<u64>();
    }
    report.result(proof)
}

/// The host chooses programs and tensors by name.
fn check_names<'a>(names: impl Iterator<Item = &'a str>, what: &str, report: &mut Report) {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    for twice in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        report.image(format!("two {what} have the name {:?}", twice[0]));
    }
}

fn verify_program(
    program: &Program,
    image: &Image,
    lpu: &Lpu,
    mut memory: Memory,
    report: &mut Report,
) -> ProgramProof {
    let mut proof = ProgramProof { name: program.name.clone(), ..ProgramProof::default() };
    for (number, phase) in program.phases.iter().enumerate() {
        report.enter_phase(number);
        // What comes behind a phase without a schedule would start from an unknown memory.
        let Some(phase) = verify_phase(phase, image, lpu, &mut memory, report) else { return proof };
        proof.phases.push(phase);
    }
    report.leave_phases();
    chips::check_end(image, &memory, report);
    proof.cycles = program_cycles(&proof.phases, lpu);
    proof
}

/// None: the phase has no schedule; the report says why.
fn verify_phase(
    phase: &Phase,
    image: &Image,
    lpu: &Lpu,
    memory: &mut Memory,
    report: &mut Report,
) -> Option<PhaseProof> {
    queues::check(phase, image, lpu, report).then_some(())?;
    let schedule = Schedule::of(phase, lpu, report)?;
    addresses::check(&schedule, report).then_some(())?;
    text::check(phase, &schedule, report);
    drain::check(&schedule, report);
    streams::check(&schedule, report);
    alus::check(&schedule, report);
    planes::check(&schedule, report);
    sums::check(&schedule, report);
    let before = report.count();
    memory.pass(&schedule, report);
    if phase.trips > 1 && report.count() == before {
        // Writes are the same in each trip, so each later trip starts from the memory that the second starts from.
        report.enter_second_trip();
        memory.pass(&schedule, report);
    }
    let issues = schedule.issues.len() as u64;
    Some(PhaseProof { trips: phase.trips, cycles: schedule.cycles, issues })
}

fn program_cycles(phases: &[PhaseProof], lpu: &Lpu) -> u64 {
    let trips: u64 = phases.iter().map(|phase| u64::from(phase.trips)).sum();
    let barriers = trips.saturating_sub(1).saturating_mul(u64::from(lpu.barrier));
    phases
        .iter()
        .fold(barriers, |sum, phase| sum.saturating_add(phase.cycles.saturating_mul(u64::from(phase.trips))))
}
