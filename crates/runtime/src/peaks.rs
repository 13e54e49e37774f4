//! What this processor can do at most, measured: its clock, arithmetic on registers alone, reads of memory.
//! Kernels are judged by these, and not by a data sheet: a shared or throttled processor has other figures every minute.
//!
//! A figure is the median of a few short samples. What a sample measures is machine code without a choice left to a
//! compiler (`peaks/x86.rs`); where there is none for the processor, there is no figure.

use crate::processor;
#[cfg(not(target_arch = "x86_64"))]
use elsewhere as code;
use std::panic::resume_unwind;
use std::sync::Barrier;
use std::time::Instant;
#[cfg(target_arch = "x86_64")]
use x86 as code;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(target_arch = "x86_64")]
mod x86;

/// A multiply-add by the types of its factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arithmetic {
    F32,
    /// Pairs of products, with sums in `f32`.
    Bf16,
    /// Unsigned with signed bytes, groups of four products, with sums in `i32`.
    U8S8,
}

impl Arithmetic {
    pub const ALL: [Arithmetic; 3] = [Arithmetic::F32, Arithmetic::Bf16, Arithmetic::U8S8];

    pub fn name(self) -> &'static str {
        match self {
            Arithmetic::F32 => "f32",
            Arithmetic::Bf16 => "bf16",
            Arithmetic::U8S8 => "u8s8",
        }
    }
}

/// A loop over registers.
struct Loop {
    /// As an assembler spells it.
    instruction: &'static str,
    /// Operations of one pass; a multiply-add counts two.
    operations: u64,
    run: fn(u64),
}

const SAMPLES: usize = 9;
/// Long against the clock's grain and a call, short against a time slice.
const SAMPLE_SECONDS: f64 = 1e-3;

/// Cycles a second, by additions that wait for each other; `None` where there is no code for the processor.
pub fn clock_hz() -> Option<f64> {
    let (cycles, run) = code::chain()?;
    Some(typical_rate(cycles as f64, run))
}

/// The instruction that [`operations_per_second`] measures.
pub fn instruction(of: Arithmetic) -> Option<&'static str> {
    Some(code::register_loop(of)?.instruction)
}

/// Operations a second of the calling thread on registers alone, independent of each other; a multiply-add counts two.
/// `None` where the processor has no instruction for it.
pub fn operations_per_second(of: Arithmetic) -> Option<f64> {
    let Loop { operations, run, .. } = code::register_loop(of)?;
    Some(typical_rate(operations as f64, run))
}

/// Bytes a second that the calling thread reads, again and again from the same block: from the cache that holds it, or
/// from memory. `None` where there is no code for the processor.
pub fn bytes_per_second(block: &[u8]) -> Option<f64> {
    let read = code::reader()?;
    Some(typical_rate(block.len() as f64, |passes| (0..passes).for_each(|_| read(block))))
}

/// What each of some threads measures that start at once, each on a processor of its own where the system lets it
/// choose.
pub fn on_threads<T: Send>(threads: usize, measure: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(threads);
    let run = |index| {
        processor::stay_on(index);
        start.wait();
        measure(index)
    };
    std::thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> = (0..threads).map(|index| scope.spawn(move || run(index))).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// `amount` a pass over the time of a pass, the median of some samples.
fn typical_rate(amount: f64, run: impl Fn(u64)) -> f64 {
    let seconds = |passes: u64| {
        let start = Instant::now();
        run(passes);
        start.elapsed().as_secs_f64().max(1e-9)
    };
    let mut passes = 1;
    let mut took = seconds(passes);
    while took < SAMPLE_SECONDS / 4.0 && passes < 1 << 40 {
        passes *= 2;
        took = seconds(passes);
    }
    let passes = ((passes as f64 * SAMPLE_SECONDS / took) as u64).max(1);
    let mut rates = [(); SAMPLES].map(|()| amount * passes as f64 / seconds(passes));
    rates.sort_by(f64::total_cmp);
    rates[SAMPLES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine that others use, no more than the order of a figure is sure: an x86-64 processor has a clock of
    /// 0.5 to 8 GHz, and does 4 to 512 operations a cycle.
    #[test]
    fn figures_are_possible() {
        let Some(clock) = clock_hz() else { return };
        assert!((5e8..8e9).contains(&clock), "{clock}");
        for of in Arithmetic::ALL {
            let Some(rate) = operations_per_second(of) else { continue };
            assert!((2e9..4e12).contains(&rate), "{of:?} {rate}");
        }
        let rate = bytes_per_second(&vec![1; 1 << 20]).unwrap_or(1e9);
        assert!((1e8..1e12).contains(&rate), "{rate}");
    }

    #[test]
    fn each_thread_has_its_result() {
        assert_eq!(on_threads(3, |index| index), [0, 1, 2]);
    }
}
