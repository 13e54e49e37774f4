//! What is ours without a compiler: sizes of the machine file, programs by hand, closed forms.

use anyhow::{Context, Result, anyhow, bail, ensure};
use tegula_isa_lpu::verify;
use tegula_machine::{Lpu, Machine};
use tegula_perf::lpu::{Factors, Gemm};
use tegula_testkit::lpu::{Words, barrier, gemm, install};

use super::figures::{Figure, Ours};

const MIB: f64 = (1 << 20) as f64;

/// Errors: a program by hand that is refused, traps or gives other bytes; a row without a check.
pub fn ours(row: &Figure, machine: &Machine) -> Result<Ours> {
    let lpu = machine.lpu().context("no streaming chip")?;
    let (value, note) = match (row.id.as_str(), row.case.as_str()) {
        ("V1", "i8") => (peak(lpu, 0), "machine file"),
        ("V1", "f16") => (peak(lpu, 1), "machine file"),
        ("V2", "chip") => (lpu.sram() as f64 / MIB, "machine file"),
        ("V2", "slice") => (lpu.sram() as f64 / f64::from(2 * lpu.mem.slices) / MIB, "machine file"),
        ("V3", _) => (f64::from(lpu.queues()), "machine file"),
        ("V4", _) => (cycles(&install())? as f64, "by hand, proved and simulated"),
        // The word behind the barrier issues in the last cycle, and those before it make the barrier.
        ("V5", _) => (cycles(&barrier())? as f64 - 1.0, "by hand, proved and simulated"),
        // Cycles count from 0, and the last word writes.
        ("V14", _) => (cycles(&gemm())? as f64 - 1.0, "by hand, proved and simulated"),
        ("V15", _) => (no_overlap(row, lpu)? as f64, "closed form"),
        (id, case) => bail!("there is no check of {id} {case}"),
    };
    Ok(Ours { value, note: note.to_string(), ..Ours::default() })
}

/// TOP/s; a multiply-add is two.
fn peak(lpu: &Lpu, factors: usize) -> f64 {
    2.0 * lpu.multiply_adds()[factors] as f64 * lpu.clock_hz / 1e12
}

fn no_overlap(row: &Figure, lpu: &Lpu) -> Result<u64> {
    let [m, k, n] = row.sizes[..] else { bail!("{} has no three sizes", row.id) };
    Ok(Gemm { m, k, n, factors: Factors::I8 }.no_overlap(lpu))
}

/// The cycles of a program, which its proof and its run agree on.
fn cycles(words: &Words) -> Result<u64> {
    let proof = verify(&words.image, &words.machine).map_err(|faults| anyhow!("{faults}"))?;
    let outcome = words.run(words.image.clone()).map_err(|trap| anyhow!("{trap}"))?;
    let proved = proof.programs.first().context("the image has no program")?.cycles;
    ensure!(outcome.outputs == words.outputs, "{}: the results are others", words.name);
    ensure!(outcome.cycles == proved as i64, "{}: {} cycles, proved {proved}", words.name, outcome.cycles);
    Ok(proved)
}
