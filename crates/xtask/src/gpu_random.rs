//! `gpu-random [--seeds N] [--from S]`: random tile functions as PTX on the simulator, and one fresh seed that is printed.
//! Bar: on every chip the results are those of the tile level's executor.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use tegula_base::Symbols;
use tegula_machine::Machine;
use tegula_package::PtxExecutor;
use tegula_sim_ptx::Simulator;
use tegula_target::{Code, TargetModel};
use tegula_target_gpu::model::GpuTarget;
use tegula_testkit::tiles::kernels::random_kernel;

use crate::outcome::Outcome;

const SEEDS: u64 = 200;
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
    println!("fresh seed {fresh}");
    let mut wrong = 0;
    for seed in (first..first + count).chain([fresh]) {
        if let Err(error) = check(seed) {
            println!("seed {seed}: {error}");
            wrong += 1;
        }
    }
    Ok(Outcome::pass_if(wrong == 0).with("functions", count + 1).with("wrong", wrong))
}

fn check(seed: u64) -> Result<(), String> {
    let (case, kernel) = random_kernel(seed);
    let start = case.buffers();
    let expected = case.expected(&kernel, &start)?;
    for chip in CHIPS {
        let machine = Machine::class(chip).ok_or("no such machine class")?;
        let target = GpuTarget::new(machine).map_err(|error| error.to_string())?;
        let compiled = target.compile("kernel", &kernel, &Symbols::default());
        let compiled = compiled.map_err(|error| error.to_string())?;
        let Code::Ptx(ptx) = &compiled.code else { return Err("a GPU runs PTX".to_string()) };
        let code = Simulator::default().prepare(ptx)?;
        let got =
            case.run(&kernel, &*code, &compiled.sizes, &start).map_err(|error| format!("{chip}: {error}"))?;
        case.compare_all(&expected, &got).map_err(|error| format!("{chip}: {error}"))?;
    }
    Ok(())
}
