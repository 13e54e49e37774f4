//! `lpu-compile [--quick] [--one LAYERS FACTORS]`: what it takes to compile encoders for a streaming chip, `tsp1`.
//!
//! Bar: the image of a program is byte for byte the same in every thread and in another process; calendars are asked at most
//! [`MOST_PROBES`] times for a pattern that is taken; four layers take at most [`MOST_OF_FOUR`] of one layer's instructions, by
//! callgrind. `--quick` leaves the instructions out. `--one` compiles one encoder and prints its image's hash.

use anyhow::{Context, Result, anyhow, ensure};
use sha2::{Digest, Sha256};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::valgrind;
use tegula_isa_lpu::encode;
use tegula_machine::Machine;
use tegula_perf::lpu::Factors;
use tegula_target_lpu::FloatFactors;
use tegula_target_lpu::compile::{Compiled, compile};

use crate::lpu_published::programs::Encoder;

/// Calendar probes for a reservation.
const MOST_PROBES: f64 = 6.0;

/// Instructions of four layers to those of one.
const MOST_OF_FOUR: f64 = 4.6;

/// Threads that compile at once.
const THREADS: usize = 7;

/// Layers of a size that callgrind counts in seconds.
const LAYER: Encoder = Encoder { tokens: 16, hidden: 320, heads: 5, feed_forward: 640, layers: 1 };

const FACTORS: [(&str, Factors); 2] = [("i8", Factors::I8), ("f16", Factors::F16)];

pub fn run(args: &[String]) -> Result<Outcome> {
    if let Some(at) = args.iter().position(|arg| arg == "--one") {
        let layers =
            args.get(at + 1).and_then(|n| n.parse().ok()).context("`--one` needs a number of layers")?;
        let factors = args.get(at + 2).context("`--one` needs factors")?;
        println!("{}", hash(&compiled(layers, factors)?));
        return Ok(Outcome::pass_if(true));
    }
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let this = std::env::current_exe()?;
    let (mut differing, mut most_probes, mut most_of_four) = (0, 0f64, 0f64);
    for (name, _) in FACTORS {
        let own = compiled(1, name)?;
        let probes = own.probes as f64 / own.reservations.max(1) as f64;
        most_probes = most_probes.max(probes);
        println!("{name:4} {probes:.2} probes a reservation, {} reservations", own.reservations);
        let own = hash(&own);
        let others: Vec<Result<String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| scope.spawn(|| compiled(1, name).map(|compiled| hash(&compiled))))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
                .collect()
        });
        for other in others {
            differing += usize::from(other? != own);
        }
        let printed = Shell::new(&this).args(["lpu-compile", "--one", "1", name]).read()?;
        differing += usize::from(!printed.contains(&own));
        if !is_quick {
            ensure!(valgrind::is_installed(), "instructions are not counted");
            let count = |layers: &str| -> Result<u64> {
                let program = valgrind::counting(&this).args(["lpu-compile", "--one", layers, name]);
                valgrind::count(&program.read()?)
            };
            let (one, four) = (count("1")?, count("4")?);
            let ratio = four as f64 / one as f64;
            most_of_four = most_of_four.max(ratio);
            println!("{name:4} {ratio:.2} times the instructions of a layer for four: {one} and {four}");
        }
    }
    let holds = differing == 0 && most_probes <= MOST_PROBES && most_of_four <= MOST_OF_FOUR;
    let outcome = Outcome::pass_if(holds)
        .with("programs", FACTORS.len())
        .with("differing", differing)
        .with("probes", format!("{most_probes:.2}"));
    Ok(if is_quick { outcome } else { outcome.with("four_layers", format!("{most_of_four:.2}")) })
}

fn compiled(layers: usize, factors: &str) -> Result<Compiled> {
    let known = FACTORS.iter().find(|(name, _)| *name == factors);
    let (_, factors) = known.with_context(|| format!("factors are no `{factors}`"))?;
    let program = Encoder { layers, ..LAYER }.program(*factors).map_err(|problem| anyhow!("{problem}"))?;
    let machine = Machine::class("tsp1").context("there is no class `tsp1`")?;
    let lpu = machine.lpu().context("`tsp1` is no streaming chip")?;
    compile(&program, &machine, lpu, FloatFactors::F16)
        .map_err(|found| anyhow!("{}", found.on(&machine.name).message))
}

fn hash(compiled: &Compiled) -> String {
    Sha256::digest(encode(&compiled.image)).iter().map(|byte| format!("{byte:02x}")).collect()
}
