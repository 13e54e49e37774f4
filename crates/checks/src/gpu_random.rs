//! `gpu-random [--seeds N] [--from S]`: random tile functions as PTX on the simulator, and one fresh seed that is printed, but in a part;
//! then random products of matrices, a quarter as many, from the tensor level down. Some run with races reported and
//! asynchronous work done at random times.
//! Bar: on every chip the results are those of the tile level's executor, and products within their bounds.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_backend::Code;
use tegula_base::Symbols;
use tegula_machine::Machine;
use tegula_package::PtxExecutor;
use tegula_sim_ptx::{Options, Simulator};
use tegula_target_gpu::model::GpuTarget;
use tegula_testkit::tiles::kernels::random_kernel;
use tegula_testkit::tiles::products::random_product;
use tegula_tiling::TileMachine;

use crate::simulated::{self, Job, Subject, Verdict};

const SEEDS: u64 = 2000;
/// One function in this many runs with races reported and a completion seed.
const RACES: u64 = 4;
/// One function in this many is a product in whole tiles, up to those that CTAs of a cluster share.
const MATRICES: u64 = 8;
/// Functions to a product of matrices.
const PRODUCTS: u64 = 4;
/// One chip with and one without the instructions of sm_90.
const CHIPS: [&str; 2] = ["a100", "h200"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let number = |flag: &str, otherwise: u64| -> Result<u64> {
        match args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1)) {
            Some(text) => text.parse().with_context(|| format!("`{flag} {text}` is no number")),
            None => Ok(otherwise),
        }
    };
    let (first, count) = (number("--from", 1)?, number("--seeds", SEEDS)?);
    let fresh = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos().into());
    let part = Part::asked(args)?;
    if part.is_whole() {
        println!("fresh seed {fresh}");
    }
    // A part has the same seeds every time.
    let seeds: Vec<u64> =
        part.take(first..first + count).into_iter().chain(part.is_whole().then_some(fresh)).collect();
    let mut wrong = 0;
    for seed in seeds.iter().copied() {
        if let Err(error) = check(seed) {
            println!("seed {seed}: {error}");
            wrong += 1;
        }
    }
    let products = products(&part.take(first..first + count.div_ceil(PRODUCTS)))?;
    for (job, verdict) in &products {
        match verdict {
            Verdict::Holds(_) => continue,
            Verdict::NotClaimed(reason) | Verdict::Wrong(reason) | Verdict::Crashed(reason) => {
                println!("{job}: {reason}");
                wrong += 1;
            }
        }
    }
    Ok(Outcome::pass_if(wrong == 0)
        .with("functions", seeds.len())
        .with("products", products.len())
        .with("wrong", wrong))
}

fn products(seeds: &[u64]) -> Result<Vec<(Job, Verdict)>> {
    let job = |seed: u64| Job {
        subject: Subject::Product(seed),
        // Mostly the chip with more ways to multiply.
        chip: CHIPS[usize::from(!seed.is_multiple_of(3))].into(),
        races: is_watched(seed),
        seed: is_watched(seed).then_some(seed),
    };
    simulated::run_jobs(seeds.iter().copied().map(job).collect())
}

fn is_watched(seed: u64) -> bool {
    seed.is_multiple_of(RACES)
}

fn check(seed: u64) -> Result<(), String> {
    let (case, kernel) = match seed.is_multiple_of(MATRICES) {
        true => random_product(seed),
        false => random_kernel(seed),
    };
    let start = case.buffers();
    let expected = case.expected(&kernel, &start)?;
    let watched = is_watched(seed);
    let options = Options { races: watched, seed: watched.then_some(seed), ..Options::default() };
    for chip in CHIPS {
        let machine = Machine::class(chip).ok_or("no such machine class")?;
        let target = GpuTarget::new(machine).map_err(|error| error.to_string())?;
        let compiled = target.compile("kernel", &kernel, &Symbols::default());
        let compiled = compiled.map_err(|error| error.to_string())?;
        let Code::Ptx(ptx) = &compiled.code else { return Err("a GPU runs PTX".to_string()) };
        let code = Simulator { options }.prepare(ptx)?;
        let got =
            case.run(&kernel, &*code, &compiled.sizes, &start).map_err(|error| format!("{chip}: {error}"))?;
        case.compare_all(&expected, &got).map_err(|error| format!("{chip}: {error}"))?;
    }
    Ok(())
}
