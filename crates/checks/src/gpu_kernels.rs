//! `gpu-kernels [--only PREFIX] [--chip CLASS] [--print NAME]`: every row of the kernel list at its small sizes, compiled and run by the
//! interpreter of PTX. Bar: within the bound of `docs/numerics.md` of the evaluator; a row that is refused fails.
//! `--print` gives a row's program as text instead.

use std::time::Instant;

use anyhow::{Result, bail};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_driver::bound::{Agreement, compare, reference};
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx, session_options, simulated_gpu};
use tegula_ir::{PrintOptions, print_program};
use tegula_machine::Machine;
use tegula_runtime::Session;
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use crate::in_process::{guarded, keep_panics, package};

/// One chip with and one without the instructions of sm_90.
const CHIPS: [&str; 2] = ["a100", "h200"];
const SEED: u64 = 1;

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let (prefix, chip) = (value("--only").map_or("", String::as_str), value("--chip"));
    let chips: Vec<&str> = chip.map_or(CHIPS.to_vec(), |chip| vec![chip.as_str()]);
    if let Some(name) = value("--print") {
        return print(name);
    }
    keep_panics();
    let (mut total, mut failed, mut rows) = (Agreement::default(), 0, 0);
    let part = Part::asked(args)?;
    let mut number = 0;
    for kernel in gpu_kernels().iter().filter(|kernel| kernel.name.starts_with(prefix)) {
        for (sizes, class) in
            kernel.small.iter().flat_map(|sizes| chips.iter().map(move |chip| (sizes, chip)))
        {
            number += 1;
            if !part.has(number) {
                continue;
            }
            rows += 1;
            let began = Instant::now();
            let seconds = |began: Instant| began.elapsed().as_secs_f64();
            match guarded(|| check(kernel, sizes, class)).unwrap_or_else(Err) {
                Ok(agreement) => {
                    let Agreement { exact, bounded, used, .. } = agreement;
                    println!(
                        "{:40} {class} {sizes:?}: {exact} exact, {bounded} within {used:.3} of their bound, {:.1} s",
                        kernel.name,
                        seconds(began)
                    );
                    total.add(agreement);
                }
                Err(error) => {
                    failed += 1;
                    let line: String = error.lines().take(3).collect::<Vec<&str>>().join(" | ");
                    println!("{:40} {class} {sizes:?}: {line}, {:.1} s", kernel.name, seconds(began));
                }
            }
        }
    }
    Ok(Outcome::pass_if(failed == 0 && rows > 0)
        .with("rows", rows)
        .with("failed", failed)
        .with("exact", total.exact)
        .with("bounded", total.bounded)
        .with("used", format!("{:.2}", total.used)))
}

fn print(name: &str) -> Result<Outcome> {
    let Some(kernel) = gpu_kernels().into_iter().find(|kernel| kernel.name == name) else {
        bail!("the kernel list has no row `{name}`");
    };
    let program = kernel.program(&Sizes::new()).map_err(anyhow::Error::msg)?;
    println!("{}", print_program(&program, &PrintOptions::WHOLE));
    Ok(Outcome::pass_if(true))
}

/// Compiles a row for a machine class, runs it and compares. Errors: refusals and differences.
pub fn check(kernel: &GpuKernel, sizes: &Sizes, class: &str) -> Result<Agreement, String> {
    let case = kernel.case(sizes, SEED)?;
    let expected = reference(&case.program, &case.inputs).map_err(|error| error.to_string())?;
    let machine = Machine::class(class).ok_or_else(|| format!("there is no machine class `{class}`"))?;
    let options = CompileOptions { verify: true, ..CompileOptions::new(machine) };
    let compiled = compile_program(case.program, &kernel.name, &options, None, &mut PassCx::default());
    let got = compiled
        .and_then(package)
        .and_then(|package| Session::from_bytes(package, session_options(1, simulated_gpu())))
        .and_then(|session| session.run(&case.inputs))
        .map_err(|found| found.to_string())?;
    let mut total = Agreement::default();
    for (i, (got, want)) in got.iter().zip(&expected).enumerate() {
        total.add(compare(got, want).map_err(|difference| format!("y{i} {difference}"))?);
    }
    Ok(total)
}
