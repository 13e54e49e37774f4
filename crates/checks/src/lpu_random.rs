//! `lpu-random [--seeds N] [--seed S] [--part K/N]`: random programs of known sizes, compiled for streaming chips of many sizes.
//!
//! Each seed takes the next machine of a list: those that come with Tegula, and others that lack something. What the chip
//! does not claim is the host's. Bar: each program that fits the memory has a schedule; its image is proved; the simulated
//! cycles are those of the proof; each launch is within its bounds of the evaluator. A program with a contraction that the
//! chip does not compute is refused, and counted. `--seed` takes one program.

use anyhow::{Context, Result, anyhow};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_base::Diagnostics;
use tegula_machine::Machine;
use tegula_tensor::eval::bindings;
use tegula_testkit::random::{Choices, generate};

use crate::in_process::{guarded, keep_panics};
use crate::lpu_chip::{self, Ran};

/// Programs of a whole run.
const SEEDS: u64 = 2000;

/// A machine: a class, and facts that it has instead.
struct Chip {
    what: &'static str,
    class: &'static str,
    facts: &'static [(&'static str, &'static str)],
}

const CHIPS: [Chip; 23] = [
    Chip { what: "tsp1", class: "tsp1", facts: &[] },
    Chip { what: "lpx", class: "lpx", facts: &[] },
    Chip { what: "lpu-mini", class: "lpu-mini", facts: &[] },
    Chip { what: "one plane a half", class: "tsp1", facts: &[("mxm_planes", "1")] },
    Chip {
        what: "8 streams",
        class: "tsp1",
        facts: &[("streams_east", "8"), ("streams_west", "8"), ("mxm_load_streams", "8")],
    },
    Chip { what: "2 slices a group", class: "tsp1", facts: &[("mem_group", "2")] },
    Chip { what: "no write masks", class: "tsp1", facts: &[("mem_mask_lanes", "320")] },
    Chip { what: "slow hops", class: "tsp1", facts: &[("hop", "3")] },
    Chip { what: "one row of ALUs", class: "tsp1", facts: &[("vxm_alus", "4"), ("vxm_large", "1")] },
    Chip {
        what: "slow units",
        class: "tsp1",
        facts: &[
            ("mem_read_delay", "5"),
            ("mxm_latency", "38"),
            ("mxm_install", "7"),
            ("vxm_delay", "3"),
            ("vxm_special_delay", "9"),
            ("sxm_shift_delay", "6"),
        ],
    },
    Chip { what: "8 accumulators", class: "tsp1", facts: &[("mxm_accumulators", "8")] },
    Chip { what: "short queues", class: "tsp1", facts: &[("queue_words", "40")] },
    Chip { what: "8 slices a half", class: "tsp1", facts: &[("mem_slices", "8"), ("mxm_load_streams", "8")] },
    Chip { what: "one weight buffer", class: "tsp1", facts: &[("mxm_buffers", "1")] },
    Chip { what: "one bank", class: "tsp1", facts: &[("mem_banks", "1")] },
    Chip { what: "one shifter a half", class: "tsp1", facts: &[("sxm_queues", "1")] },
    Chip { what: "one slice of text", class: "tsp1", facts: &[("text_slices", "1"), ("queue_words", "40")] },
    Chip { what: "16 streams", class: "tsp1", facts: &[("streams_east", "16"), ("streams_west", "16")] },
    Chip { what: "one large ALU", class: "tsp1", facts: &[("vxm_large", "1")] },
    Chip { what: "four planes a half", class: "tsp1", facts: &[("mxm_planes", "4")] },
    Chip { what: "banks of 128 words", class: "tsp1", facts: &[("mem_words", "128")] },
    Chip {
        what: "slow shifters",
        class: "tsp1",
        facts: &[("sxm_shift_delay", "11"), ("sxm_transpose_delay", "40"), ("barrier", "90")],
    },
    Chip {
        what: "two superlanes",
        class: "tsp1",
        facts: &[("superlanes", "2"), ("mxm_k", "32"), ("mxm_n", "32"), ("mxm_f16_k", "16")],
    },
];

/// What became of the programs.
#[derive(Default)]
struct Tally {
    regions: usize,
    /// A contraction has no form on the chip.
    refused: usize,
    /// The chip has too little memory.
    too_large: usize,
    wrong: usize,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let seeds = match args.iter().position(|arg| arg == "--seeds") {
        Some(at) => args.get(at + 1).and_then(|n| n.parse().ok()).context("`--seeds` needs a number")?,
        None => SEEDS,
    };
    let machines = CHIPS.iter().map(machine).collect::<Result<Vec<Machine>>>()?;
    keep_panics();
    let mut tally = Tally::default();
    let one = args.iter().position(|arg| arg == "--seed").and_then(|at| args.get(at + 1)?.parse().ok());
    let seeds: Vec<u64> = match one {
        Some(seed) => vec![seed],
        None => part.take((0..seeds).collect::<Vec<_>>()),
    };
    for seed in &seeds {
        // All parts take all machines.
        let at = (seed / part.of as u64) as usize % CHIPS.len();
        let ran = guarded(|| program(*seed, &machines[at], &mut tally)).map_err(|panic| anyhow!("{panic}"));
        if let Err(error) = ran.and_then(|ran| ran) {
            println!("FAIL seed {seed} on {}: {error:#}", CHIPS[at].what);
            tally.wrong += 1;
        }
    }
    Ok(Outcome::pass_if(tally.wrong == 0 && tally.regions > 0)
        .with("programs", seeds.len())
        .with("machines", CHIPS.len())
        .with("regions", tally.regions)
        .with("refused", tally.refused)
        .with("too_large", tally.too_large)
        .with("wrong", tally.wrong))
}

fn plain(found: Diagnostics) -> anyhow::Error {
    anyhow!("{found}")
}

/// The class with other facts, in a file of its own.
fn machine(chip: &Chip) -> Result<Machine> {
    let class = Machine::class(chip.class).with_context(|| format!("there is no class `{}`", chip.class))?;
    let mut text = class.text().to_string();
    for (fact, value) in chip.facts {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(fact));
        let line = line.with_context(|| format!("`{}` has no fact `{fact}`", chip.class))?.to_string();
        let unit = line.split_once("unit").with_context(|| format!("`{line}` has no unit"))?.1;
        text = text.replace(&line, &format!("{fact} = {{ value = {value}, unit{unit}"));
    }
    Machine::parse(&text, chip.what).map_err(plain)
}

fn program(seed: u64, machine: &Machine, tally: &mut Tally) -> Result<()> {
    let case = generate(seed, &Choices::default());
    let sizes = bindings(&case.program, &case.inputs).map_err(|error| anyhow!("{error}"))?;
    let dims = sizes.0.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let text = tegula_ir::print_program(&case.program, &tegula_ir::PrintOptions::WHOLE);
    match lpu_chip::run(text.as_bytes(), dims, machine, &case.inputs) {
        Ran::Holds(share) => tally.regions += share.regions,
        Ran::Refused => tally.refused += 1,
        Ran::TooLarge => tally.too_large += 1,
        Ran::Wrong(reason) => return Err(anyhow!("{reason}")),
    }
    Ok(())
}
