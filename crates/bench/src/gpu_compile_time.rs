//! `gpu-compile-time [--untimed]`: the distinct kernels of a decoder of Llama 2 7B's sizes, weights and lengths symbolic, from the
//! tensor level to PTX for an H200; one thread, medians.
//! Then how many kernels one step of decoding has, and what a layer of it launches.
//! Bars: 5 ms a kernel, 300 ms and 40 kernels in all, as many of a step. What `ptxas` takes is told apart where it is installed.
//! With `--untimed` times are told and not judged: on a machine that nobody chose they say little of the code (a kernel that
//! takes 2.7 ms on a Zen 5 takes 6 on a Zen 3 that other guests share).

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::statistics::{least, median};
use tegula_automation::workspace;
use tegula_backend::{Code, Targets};
use tegula_base::Diagnostic;
use tegula_checks::gpu_ptxas::tools::Tools;
use tegula_driver::PassCx;
use tegula_ir::RunOptions;
use tegula_machine::Machine;
use tegula_opt::lower_to_host::distinct_kernels;
use tegula_opt::passes::Precision;
use tegula_opt::pipeline::tensor_pipeline;
use tegula_opt::update_in_place::{aliases, update_in_place};
use tegula_target_gpu::model::GpuTarget;
use tegula_tensor::TensorOp;
use tegula_testkit::decoder::Decoder;
use tegula_tiling::{TileMachine, Tiled, lower_kernel};

const REPEATS: usize = 7;
/// Repeats at most where the least of fewer is above the bar, and the pause before each: a guest that shares the core is
/// there for some seconds at a time.
const MOST_REPEATS: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);
const KERNEL_BAR_MS: f64 = 5.0;
const TOTAL_BAR_MS: f64 = 300.0;
const KERNELS_BAR: usize = 40;
/// Rows of the cache that a step of decoding writes to.
const STEP_ROOM: i64 = 4096;

pub fn run(args: &[String]) -> Result<Outcome> {
    let is_timed = !args.iter().any(|arg| arg == "--untimed");
    let machine = Machine::class("h200").context("there is no machine class `h200`")?;
    let plain = |error: Diagnostic| anyhow!("{error}");
    let target = Tiled::new(GpuTarget::new(machine).map_err(plain)?);
    let mut passes = Vec::new();
    let mut program = None;
    for _ in 0..REPEATS {
        let mut fresh = Decoder::LLAMA_7B.program().map_err(|error| anyhow!(error))?;
        let start = Instant::now();
        tensor_pipeline(Targets::host(&target), Precision::F32)
            .run(&mut fresh, &RunOptions::default(), &mut PassCx::new().without_remarks())
            .map_err(|errors| anyhow!("{errors}"))?;
        passes.push(milliseconds(start));
        program = Some(fresh);
    }
    let program = program.context("no round was run")?;
    let kernels = distinct_kernels(&program).map_err(|errors| anyhow!("{errors}"))?;
    let tools = Tools::find();
    if let Err(error) = &tools {
        println!("no ptxas: {error:#}");
    }
    let folder = workspace::target().join("gpu-compile-time");
    fs::create_dir_all(&folder)?;
    println!("{:20} {:>8} {:>8} {:>9} {:>9}", "kernel", "lower ms", "PTX ms", "PTX bytes", "ptxas ms");
    let (mut total, mut slowest, mut assembled) = (0.0, 0.0f64, 0.0);
    let mut launches = 0;
    for (op, name) in &kernels {
        let (mut lowering, mut lowered) = (Vec::new(), None);
        for _ in 0..REPEATS {
            let start = Instant::now();
            lowered =
                Some(lower_kernel(program.entry(), *op, target.tiles(), &program.symbols).map_err(plain)?);
            lowering.push(milliseconds(start));
        }
        let lowered = lowered.context("no round was run")?;
        let lower_ms = least(&lowering) / lowered.list.len() as f64;
        for (name, (_, launch)) in lowered.names(name).iter().zip(&lowered.list) {
            let (mut compiling, mut text) = (Vec::new(), Vec::new());
            for repeat in 0..MOST_REPEATS {
                if repeat >= REPEATS {
                    if !is_timed || lower_ms + least(&compiling) <= KERNEL_BAR_MS {
                        break;
                    }
                    thread::sleep(PAUSE);
                }
                let start = Instant::now();
                let compiled =
                    target.tiles().compile(name, &launch.kernel, &program.symbols).map_err(plain)?;
                compiling.push(milliseconds(start));
                let Code::Ptx(ptx) = compiled.code else {
                    return Err(anyhow!("kernel {name} is no PTX"));
                };
                text = ptx.text.into_bytes();
            }
            let file = folder.join(format!("{name}.ptx"));
            fs::write(&file, &text)?;
            let ptxas_ms = match &tools {
                Ok(Tools { ptxas, .. }) => {
                    let start = Instant::now();
                    Shell::new(ptxas).args(["-arch", "sm_90a", "-o", "/dev/null"]).arg(&file).read()?;
                    milliseconds(start)
                }
                Err(_) => f64::NAN,
            };
            let ptx_ms = least(&compiling);
            println!("{name:20} {lower_ms:8.3} {ptx_ms:8.3} {:9} {ptxas_ms:9.0}", text.len());
            launches += 1;
            total += lower_ms + ptx_ms;
            slowest = slowest.max(lower_ms + ptx_ms);
            assembled += ptxas_ms;
        }
    }
    let step = step_facts(&target)?;
    let is_fast = slowest <= KERNEL_BAR_MS && total <= TOTAL_BAR_MS;
    let holds = step.distinct <= KERNELS_BAR && launches <= KERNELS_BAR && (is_fast || !is_timed);
    Ok(Outcome::pass_if(holds && !kernels.is_empty())
        .with("kernels", launches)
        .with("timed", if is_timed { "yes" } else { "no" })
        .with("kernels_ms", format!("{total:.1}"))
        .with("slowest_ms", format!("{slowest:.2}"))
        .with("passes_ms", format!("{:.1}", median(passes)))
        .with("ptxas_ms", format!("{assembled:.0}"))
        .with("step_kernels", step.distinct)
        .with("step_launches", step.launches)
        .with("step_launches_a_layer", step.of_layer.len()))
}

/// One step of decoding into a cache of fixed room.
struct StepFacts {
    distinct: usize,
    launches: usize,
    /// What a layer launches, by the kinds of roots.
    of_layer: Vec<&'static str>,
}

fn step_facts(target: &Tiled<GpuTarget>) -> Result<StepFacts> {
    let launches = |layers: usize| -> Result<(usize, Vec<&'static str>)> {
        let decoder = Decoder { layers, ..Decoder::LLAMA_7B };
        let mut program = decoder.step(STEP_ROOM).map_err(|error| anyhow!(error))?;
        let aliases = aliases(program.entry(), &decoder.aliases()).map_err(|errors| anyhow!("{errors}"))?;
        let mut cx = PassCx::new().without_remarks();
        tensor_pipeline(Targets::host(target), Precision::F32)
            .run(&mut program, &RunOptions::default(), &mut cx)
            .map_err(|errors| anyhow!("{errors}"))?;
        update_in_place(&mut program, &aliases, &mut cx);
        let distinct = distinct_kernels(&program).map_err(|errors| anyhow!("{errors}"))?.len();
        let func = program.entry();
        let classes = func.ops_in(func.body()).iter().filter_map(|op| match func.kind(*op) {
            TensorOp::Kernel { class } => Some(class.name()),
            _ => None,
        });
        Ok((distinct, classes.collect()))
    };
    let (distinct, all) = launches(Decoder::LLAMA_7B.layers)?;
    let (less, more) = (launches(2)?.1, launches(3)?.1);
    // The third layer begins where the second one would end.
    let same = less.iter().zip(&more).take_while(|(a, b)| a == b).count();
    let count = more.len() - less.len();
    let of_layer = more[same - count.min(same)..same].to_vec();
    println!("a layer of a step launches: {}", of_layer.join(", "));
    Ok(StepFacts { distinct, launches: all.len(), of_layer })
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
