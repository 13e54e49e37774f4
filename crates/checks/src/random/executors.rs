//! One program on every executor: tile, portable, AVX2 and AVX-512, each against the evaluator's bounded results.

use std::fmt;

use serde::{Deserialize, Serialize};
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::bound::{Agreement, Bounded, compare, reference};
use tegula_driver::tune::record_of_others;
use tegula_driver::{CompileOptions, Compiled, Form};
use tegula_ir::{PrintOptions, print_program};
use tegula_testkit::random::Case;

use crate::in_process::{compile_with, guarded, is_simulated, options, package, session_of};

use super::tile;

/// Why a case fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    pub executor: String,
    /// `wrong`, `refused`, `panic`, or how the process ended.
    pub kind: String,
    pub message: String,
}

impl Failure {
    fn new(executor: &str, kind: &str, message: impl Into<String>) -> Failure {
        Failure { executor: executor.into(), kind: kind.into(), message: message.into() }
    }

    /// The same for failures that may have one cause: numbers in the message do not count.
    pub fn class(&self) -> String {
        if matches!(self.kind.as_str(), "wrong" | "order" | "threads") {
            return format!("{} {}", self.executor, self.kind);
        }
        let plain: String = self.message.chars().filter(|c| !c.is_ascii_digit()).take(90).collect();
        format!("{} {} {plain}", self.executor, self.kind)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let message: Vec<&str> = self.message.lines().take(6).collect();
        write!(f, "[{}] {}: {}", self.executor, self.kind, message.join(" | "))
    }
}

/// A package form: name, machine class, portable or machine code.
const FORMS: [(&str, &str, Form); 6] = [
    ("portable 256", "avx2-generic", Form::Portable),
    ("portable 512", "avx512-bf16-generic", Form::Portable),
    ("avx2", "avx2-generic", Form::Machine),
    ("avx2 vnni", BYTE_DOTS, Form::Machine),
    ("avx512", "avx512-generic", Form::Machine),
    ("avx512 bf16", EVERY_INSTRUCTION, Form::Machine),
];
const EVERY_INSTRUCTION: &str = "avx512-bf16-generic";
/// The class whose code multiplies bytes by another instruction than the others run here.
const BYTE_DOTS: &str = "avx2-vnni-generic";

/// Whether a program may have products of bytes, by its text.
fn multiplies_bytes(text: &str) -> bool {
    text.contains("ui8>") && (text.contains("\"tgn.dot\"") || text.contains("\"tgn.conv\""))
}

/// Runs the case everywhere. Errors: the first executor that fails.
pub fn judge(case: &Case) -> Result<Agreement, Failure> {
    let expected = caught("evaluator", || {
        reference(&case.program, &case.inputs)
            .map_err(|error| Failure::new("evaluator", "refused", error.to_string()))
    })?;
    let text = print_program(&case.program, &PrintOptions::WHOLE);
    let mut total = Agreement::default();
    for (name, class, form) in FORMS {
        // Of what is simulated, the class that has all instructions stands for the others, to save time.
        let is_needed = match class {
            EVERY_INSTRUCTION => true,
            BYTE_DOTS => multiplies_bytes(&text),
            _ => !is_simulated(class),
        };
        if form == Form::Machine && !is_needed {
            continue;
        }
        caught(name, || {
            let refused = |found: Diagnostics| refused(name, &found);
            let options = options(class, form).map_err(refused)?;
            let compiled = compile_with(text.as_bytes(), &options).map_err(refused)?;
            let tuning = record_of_others(&compiled.stages, &options, case.seed as usize).map_err(refused)?;
            if form == Form::Machine {
                total.add(tile::check(&compiled.stages.tensor, class, &case.inputs)?);
            }
            total.add(run(name, class, compiled, case, &expected)?);
            if form == Form::Machine && !tuning.contractions.is_empty() {
                let options = CompileOptions { tuning: Some(tuning), ..options };
                let tuned = compile_with(text.as_bytes(), &options).map_err(refused)?;
                total.add(run(&format!("{name}, other tiles"), class, tuned, case, &expected)?);
            }
            Ok(())
        })?;
    }
    Ok(total)
}

/// Runs on one and on two threads, which must give the same bits; simulated, on one alone, to save time.
fn run(
    name: &str,
    class: &str,
    compiled: Compiled,
    case: &Case,
    expected: &[Bounded],
) -> Result<Agreement, Failure> {
    let bytes = package(compiled).map_err(|found| refused(name, &found))?;
    let on_threads = |threads| {
        let run = session_of(class, bytes.clone(), threads).and_then(|session| session.run(&case.inputs));
        run.map_err(|found| refused(name, &found))
    };
    let got: Vec<HostTensor> = on_threads(1)?;
    let mut agreement = Agreement::default();
    for (i, (got, want)) in got.iter().zip(expected).enumerate() {
        match compare(got, want) {
            Ok(part) => agreement.add(part),
            Err(difference) => return Err(Failure::new(name, "wrong", format!("result y{i} {difference}"))),
        }
    }
    if is_simulated(class) {
        return Ok(agreement);
    }
    let again = on_threads(2)?;
    for (i, (one, two)) in got.iter().zip(&again).enumerate() {
        if let Some(at) = (0..one.bytes.len()).find(|at| one.bytes[*at] != two.bytes[*at]) {
            let differing = one.bytes.iter().zip(&two.bytes).filter(|(one, two)| one != two).count();
            let (one, two) = (one.bytes[at], two.bytes[at]);
            let message = format!(
                "result y{i} differs on two threads: {differing} bytes, the first at {at}: {one:#x}, {two:#x}"
            );
            return Err(Failure::new(name, "threads", message));
        }
    }
    Ok(agreement)
}

pub(super) fn refused(name: &str, found: &Diagnostics) -> Failure {
    Failure::new(name, "refused", found.to_string())
}

pub(super) fn wrong(name: &str, message: String) -> Failure {
    Failure::new(name, "wrong", message)
}

fn caught<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    guarded(work).unwrap_or_else(|message| Err(Failure::new(name, "panic", message)))
}
