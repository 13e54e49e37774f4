//! What the processor reaches while kernels are measured, and whether that is what its width and ports allow.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use tegula_automation::cores;
use tegula_automation::statistics::Interval;
use tegula_machine::Machine;
use tegula_runtime::peaks::{self, Arithmetic};

use crate::bench::report;

/// The share of width times ports times clock that a loop over registers must reach for its figure to be a peak.
const REACH: f64 = 0.97;

/// What a core's level 2 cache holds, and more than any cache does, of each thread.
const BLOCKS: [usize; 2] = [256 << 10, 128 << 20];

const PAUSE: Duration = Duration::from_millis(5);

/// Reading a large block takes long.
const READ_ROUNDS: usize = 10;

#[derive(Serialize)]
pub struct Peaks {
    arithmetic: Vec<Peak>,
    reads: Vec<Read>,
}

/// Multiply-adds on registers alone, each counted two.
#[derive(Serialize)]
struct Peak {
    arithmetic: String,
    instruction: String,
    threads: usize,
    operations_per_second: Interval,
    /// By additions that wait for each other, in the same rounds.
    clock_hz: Interval,
    /// Width times ports of all threads, by the machine class.
    operations_per_cycle: f64,
    /// Of width times ports times clock.
    share: Interval,
}

#[derive(Serialize)]
struct Read {
    threads: usize,
    bytes_each: usize,
    bytes_per_second: Interval,
}

pub fn are_measured() -> bool {
    peaks::clock_hz().is_some() && peaks::bytes_per_second(&[0; 4096]).is_some()
}

/// What a kernel's time is compared with.
pub struct Rates {
    pub operations_per_second: f64,
    pub bytes_per_second: f64,
}

/// Measures the rates for one kernel.
pub struct Sampler {
    arithmetic: Arithmetic,
    /// One a thread; together as large as what the kernel reads and writes.
    blocks: Vec<Vec<u8>>,
}

impl Sampler {
    pub fn of(arithmetic: &str, bytes: usize, threads: usize) -> Result<Sampler> {
        let arithmetic = Arithmetic::ALL.into_iter().find(|known| known.name() == arithmetic);
        let arithmetic = arithmetic.context("there is no such arithmetic")?;
        // A block of one page at least: less is not read in whole strides.
        let blocks = vec![vec![1; (bytes / threads).max(4096)]; threads];
        Ok(Sampler { arithmetic, blocks })
    }

    /// Each loop starts after a pause, as the kernel's runs do: on a machine that is not at rest, who has slept runs first.
    pub fn sample(&self) -> Result<Rates> {
        let threads = self.blocks.len();
        let lacks = || format!("the processor has no instruction for {}", self.arithmetic.name());
        let operations = on(threads, |_| {
            thread::sleep(PAUSE);
            peaks::operations_per_second(self.arithmetic)
        });
        let bytes = on(threads, |index| {
            thread::sleep(PAUSE);
            peaks::bytes_per_second(&self.blocks[index])
        });
        Ok(Rates {
            operations_per_second: operations.with_context(lacks)?.iter().sum(),
            bytes_per_second: bytes.context("memory cannot be measured")?.iter().sum(),
        })
    }
}

/// On the processors that racers run on.
fn on<T: Send>(threads: usize, measure: impl Fn(usize) -> Option<T> + Sync) -> Option<Vec<T>> {
    cores::on(&cores::last(threads), || peaks::on_threads(threads, &measure).into_iter().collect())
}

impl Peaks {
    pub fn measure(machine: &Machine, threads: &[usize], rounds: usize) -> Result<Peaks> {
        let rates = machine.cpu().context("the machine is no processor")?.flops_per_cycle;
        let (mut arithmetic, mut reads) = (Vec::new(), Vec::new());
        for threads in threads.iter().copied() {
            for of in Arithmetic::ALL {
                let Some(instruction) = peaks::instruction(of) else { continue };
                let width_times_ports = match of {
                    Arithmetic::F32 => rates.f32,
                    Arithmetic::Bf16 => rates.bf16,
                    Arithmetic::U8S8 => rates.i8,
                };
                let (mut found, mut clocks, mut shares) = (Vec::new(), Vec::new(), Vec::new());
                for _ in 0..rounds {
                    let measure = |_| Some((peaks::clock_hz()?, peaks::operations_per_second(of)?));
                    let pairs = on(threads, measure).context("the loop over registers has no figure")?;
                    let clock: f64 = pairs.iter().map(|(clock, _)| clock).sum();
                    let rate: f64 = pairs.iter().map(|(_, rate)| rate).sum();
                    shares.push(rate / (clock * width_times_ports));
                    clocks.push(clock / threads as f64);
                    found.push(rate);
                }
                arithmetic.push(Peak {
                    arithmetic: of.name().to_string(),
                    instruction: instruction.to_string(),
                    threads,
                    operations_per_second: Interval::of(&found),
                    clock_hz: Interval::of(&clocks),
                    operations_per_cycle: width_times_ports * threads as f64,
                    share: Interval::of(&shares),
                });
            }
            for bytes_each in BLOCKS {
                // Each thread reads its own: what one has brought to a shared cache is no memory to the others.
                let blocks = vec![vec![1; bytes_each]; threads];
                let sample = || -> Result<f64> {
                    let rates = on(threads, |thread| peaks::bytes_per_second(&blocks[thread]));
                    Ok(rates.context("memory cannot be measured")?.iter().sum())
                };
                let found = (0..rounds.min(READ_ROUNDS)).map(|_| sample()).collect::<Result<Vec<f64>>>()?;
                reads.push(Read { threads, bytes_each, bytes_per_second: Interval::of(&found) });
            }
        }
        Ok(Peaks { arithmetic, reads })
    }

    /// Of width times ports times clock.
    pub fn worst(&self) -> f64 {
        self.arithmetic.iter().map(|peak| peak.share.median).fold(f64::INFINITY, f64::min)
    }

    pub fn hold(&self) -> bool {
        self.worst() >= REACH
    }

    pub fn markdown(&self) -> String {
        let giga = |value: &Interval| {
            report::interval(&Interval {
                median: value.median / 1e9,
                low: value.low / 1e9,
                high: value.high / 1e9,
            })
        };
        let peaks = self.arithmetic.iter().map(|peak| {
            vec![
                peak.arithmetic.clone(),
                peak.instruction.clone(),
                peak.threads.to_string(),
                giga(&peak.operations_per_second),
                giga(&peak.clock_hz),
                peak.operations_per_cycle.to_string(),
                report::interval(&peak.share),
                report::verdict(Some(peak.share.median >= REACH)).to_string(),
            ]
        });
        let reads = self.reads.iter().map(|read| {
            let size = format!("{} KiB", read.bytes_each >> 10);
            vec![size, read.threads.to_string(), giga(&read.bytes_per_second)]
        });
        format!(
            "## Peaks\n\nMultiply-adds on registers alone, independent of each other; the clock by additions that wait for each \
             other, in the same rounds; width times ports by the machine class. At least {:.0} % must be reached.\n\n{}\n\
             Reads of a block again and again:\n\n{}\n",
            REACH * 100.0,
            report::table(
                &["type", "instruction", "threads", "Gop/s", "clock GHz", "op/cycle", "share", "verdict"],
                2,
                &peaks.collect::<Vec<_>>()
            ),
            report::table(&["each thread's block", "threads", "GB/s"], 1, &reads.collect::<Vec<_>>()),
        )
    }
}
