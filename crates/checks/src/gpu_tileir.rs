//! `gpu-tileir [--only NAME]`: kernels as CUDA Tile IR, assembled for sm_90 by NVIDIA's `tileiras`.
//! Which: the tile kernels of the tests, random ones, the kernel list, a decoder, and `minilm` where it was fetched.
//! Bar: every kernel of tiles whose extents are powers of two is written, and every one that is written is assembled;
//! NVIDIA's disassembler finds in the bytecode the ops that our text has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;
use tegula_backend::Targets;
use tegula_base::{Diagnostic, Symbols};
use tegula_driver::{Model, PassCx};
use tegula_export_tileir::export;
use tegula_ir::RunOptions;
use tegula_machine::Machine;
use tegula_opt::lower_to_host::distinct_kernels;
use tegula_opt::passes::Precision;
use tegula_opt::pipeline::tensor_pipeline;
use tegula_target_gpu::model::GpuTarget;
use tegula_tensor::TensorProgram;
use tegula_testkit::decoder::Decoder;
use tegula_testkit::gpu_kernels::{Sizes, gpu_kernels};
use tegula_testkit::tiles::kernels::random_kernel;
use tegula_tile::TileKernel;
use tegula_tiling::{Tiled, lower_kernel};

use crate::in_process::NoFiles;
use crate::tileiras;

const SEEDS: u64 = 60;
/// A kernel's time in the assembler; most take less than two seconds.
pub const LIMIT: Duration = Duration::from_secs(300);

pub fn run(args: &[String]) -> Result<Outcome> {
    let tools = match tileiras::programs() {
        Ok(tools) => tools,
        Err(error) => {
            println!("no tileiras: {error:#}");
            return Ok(Outcome::skip(&format!("no tileiras {}", tileiras::VERSION)));
        }
    };
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    let folder = workspace::target().join("gpu-tileir");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    write_all(&folder)?;
    let is_wanted = |file: &PathBuf| {
        only.is_none_or(|name| {
            file.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(name.as_str()))
        })
    };
    let refusals = workspace::files_with_extension(&folder, "refused")?;
    let mut unexcused = 0;
    for file in &refusals {
        let reason = fs::read_to_string(file)?;
        if !reason.contains("not all powers of two") {
            println!("{}: {reason}", file.display());
            unexcused += 1;
        }
    }
    let mut files = workspace::files_with_extension(&folder, "tileirbc")?;
    files.retain(is_wanted);
    let (assembled, read_back) = assemble_all(&tools, &files)?;
    Ok(Outcome::pass_if(
        unexcused == 0 && assembled == files.len() && read_back == files.len() && !files.is_empty(),
    )
    .with("tileiras", tileiras::VERSION)
    .with("written", files.len())
    .with("refused_no_power_of_two", refusals.len() - unexcused)
    .with("refused_otherwise", unexcused)
    .with("same_ops", read_back)
    .with("cubins", assembled))
}

// --- writing ---------------------------------------------------------------------------------------------------

fn write_all(folder: &Path) -> Result<()> {
    let profile = workspace::profile();
    // With the command, so that nothing is built with other features. The filter leaves the tests of tiles.
    let packages = ["-p", "tegula-cli", "-p", "tegula-export-tileir", "--test", "main"];
    let tests = Shell::new("cargo").args(["test", "--quiet", "--profile", &profile]).args(packages);
    let finished =
        tests.args(["--", "arithmetic::", "movement::", "tiles::"]).env("TILEIR_OUT", folder).finish(None)?;
    ensure!(finished.success(), "the tests of export-tileir fail:\n{}{}", finished.stdout, finished.stderr);
    for seed in 1..=SEEDS {
        let (_, kernel) = random_kernel(seed);
        write(folder, &format!("random_{seed}"), &kernel, &Symbols::default())?;
    }
    for kernel in gpu_kernels() {
        let first = kernel.small.first().map(|sizes| ("small", sizes.clone()));
        for (suffix, sizes) in [("any", Sizes::new())].into_iter().chain(first) {
            // What the tensor level does not say is told by `gpu-ptxas`.
            if let Ok(program) = kernel.program(&sizes) {
                write_program(folder, &format!("{}_{suffix}", kernel.name), program)?;
            }
        }
    }
    let decoder = Decoder { layers: 2, groups: 8, ..Decoder::LLAMA_7B };
    write_program(folder, "decoder", decoder.program().map_err(|error| anyhow!(error))?)?;
    let minilm = workspace::models().join("minilm.onnx");
    if minilm.exists() {
        let bytes = fs::read(&minilm)?.into();
        let model =
            Model { name: "minilm.onnx".into(), bytes, results: vec![], checked: false, files: &NoFiles };
        let program = model.import(&Default::default()).map_err(|errors| anyhow!("{errors}"))?;
        write_program(folder, "minilm", program)?;
    }
    Ok(())
}

/// Every distinct kernel of a program compiled for an H200.
pub fn write_program(folder: &Path, name: &str, mut program: TensorProgram) -> Result<()> {
    let machine = Machine::class("h200").context("there is no machine class `h200`")?;
    let plain = |error: Diagnostic| anyhow!("{name}: {error}");
    let target = Tiled::new(GpuTarget::new(machine).map_err(plain)?);
    tensor_pipeline(Targets::host(&target), Precision::F32)
        .run(&mut program, &RunOptions::default(), &mut PassCx::new())
        .map_err(|errors| anyhow!("{name}: {errors}"))?;
    for (op, kernel) in distinct_kernels(&program).map_err(|errors| anyhow!("{name}: {errors}"))? {
        let lowered = lower_kernel(program.entry(), op, target.tiles(), &program.symbols).map_err(plain)?;
        for (kernel, (_, launch)) in lowered.names(&kernel).iter().zip(&lowered.list) {
            write(folder, &format!("{name}_{kernel}"), &launch.kernel, &program.symbols)?;
        }
    }
    Ok(())
}

fn write(folder: &Path, name: &str, kernel: &TileKernel, symbols: &Symbols) -> Result<()> {
    let file = folder.join(name);
    match export("kernel", kernel, symbols) {
        Ok(exported) => {
            let bytes = exported.bytecode().map_err(|error| anyhow!("{name}: {error}"))?;
            fs::write(file.with_extension("tileirbc"), bytes)?;
            fs::write(file.with_extension("tileir"), exported.text())?;
        }
        Err(refused) => fs::write(file.with_extension("refused"), refused.to_string())?,
    }
    Ok(())
}

// --- assembling ------------------------------------------------------------------------------------------------

/// How many became cubins, and how many were read as we print them.
fn assemble_all(tools: &Path, files: &[PathBuf]) -> Result<(usize, usize)> {
    let (next, assembled, read_back) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let errors: Mutex<Vec<anyhow::Error>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let note = |result: Result<()>, count: &AtomicUsize| match result {
                Ok(()) => {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => errors.lock().unwrap_or_else(|lock| lock.into_inner()).push(error),
            };
            note(assemble(tools, file), &assembled);
            note(reads_alike(tools, file), &read_back);
        }
    };
    std::thread::scope(|scope| {
        let others = std::thread::available_parallelism().map_or(1, |n| n.get()) - 1;
        for _ in 0..others {
            scope.spawn(work);
        }
        work();
    });
    for error in errors.into_inner().unwrap_or_else(|lock| lock.into_inner()) {
        println!("{error:#}");
    }
    Ok((assembled.into_inner(), read_back.into_inner()))
}

fn assemble(tools: &Path, file: &Path) -> Result<()> {
    let cubin = file.with_extension("cubin");
    let finished = Shell::new(tools.join("tileiras"))
        .args(["--gpu-name=sm_90", "-o"])
        .arg(&cubin)
        .arg(file)
        .finish(Some(LIMIT))?;
    ensure!(finished.status.is_some(), "{}: tileiras: not done in {LIMIT:?}", file.display());
    ensure!(
        finished.success(),
        "{}: tileiras: {} {}",
        file.display(),
        finished.stdout.trim(),
        finished.stderr.trim()
    );
    let usage = Shell::new(tools.join("cuobjdump")).arg("-res-usage").arg(&cubin).read()?;
    ensure!(usage.contains("Function kernel"), "{}: its cubin holds no kernel: {usage}", file.display());
    Ok(())
}

/// The disassembler finds the ops of our text, in its order.
fn reads_alike(tools: &Path, file: &Path) -> Result<()> {
    let theirs = Shell::new(tools.join("tileirdisasm")).arg(file).read()?;
    let ours = fs::read_to_string(file.with_extension("tileir"))?;
    let (theirs, ours) = (ops_of(&theirs), ops_of(&ours));
    let differs = ours.iter().zip(&theirs).position(|(a, b)| a != b);
    ensure!(
        ours == theirs,
        "{}: {} ops, read as {}; the first that differs is {:?}",
        file.display(),
        ours.len(),
        theirs.len(),
        differs.map(|at| (&ours[at], &theirs[at]))
    );
    Ok(())
}

/// The names of ops, line by line.
fn ops_of(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let op = line
                .split_once(" = ")
                .filter(|(values, _)| values.starts_with('%'))
                .map_or(line, |(_, op)| op);
            let op = op.strip_prefix("cuda_tile.").unwrap_or(op);
            let end = op.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(op.len());
            // What ends a region without giving values is left out by the disassembler.
            let is_silent = ["continue", "yield", "module", ""].contains(&op) || op.starts_with("module ");
            Some(&op[..end]).filter(|name| !is_silent && !name.is_empty())
        })
        .collect()
}
