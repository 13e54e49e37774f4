//! `reduce`: a wrong kernel planted in a real model comes down to a few ops by `tegula reduce`.
//! Bar: at most 5 ops are left, and the fault still shows on them.
//!
//! The planted bug: kernels of 5x5 max pools look at 3x3. `--judge FILE` is the command that fails on it: it compares
//! such kernels with the evaluator on a program as text, on ordinary numbers by a fixed seed.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::own_program;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;
use tegula_base::{Dim, HostTensor};
use tegula_driver::Form;
use tegula_ir::{PrintOptions, parse_program, print_program};
use tegula_tensor::{PoolKind, TensorOp, TensorProgram, evaluate};
use tegula_testkit::compare::{Tolerance, compare};
use tegula_testkit::random::Rng;
use tegula_testkit::random::data::{Values, tensor};

use crate::in_process::{best_class, compile_bytes, package, session};

const MODEL: &str = "yolov8n";
const SIZES: [&str; 3] = ["batch=1", "height=128", "width=128"];
const MOST_OPS: usize = 5;
const SEED: u64 = 1;
/// What the judge prints of a program on which the bug shows.
const SHOWN: &str = "WRONG";
const TOLERANCE: Tolerance = Tolerance::OfLargest { relative: 1e-3 };

pub fn run(args: &[String]) -> Result<Outcome> {
    if let Some(at) = args.iter().position(|arg| arg == "--judge") {
        return judge(Path::new(args.get(at + 1).context("`--judge` takes a file")?));
    }
    let model = fetch(&Catalog::load()?, MODEL)?;
    let own = own_program()?;
    let small = workspace::target().join("reduced.mlir");
    let sizes = SIZES.iter().flat_map(|size| ["--dim", size]);
    let command = Tegula::build()?.command().arg("reduce").arg(&model).args(sizes);
    let judged = format!("'{}' reduce --judge {{}}", own.display());
    command.args(["--check", &judged, "--says", SHOWN, "-o"]).arg(&small).run()?;
    let program = read(&small)?;
    let ops = tegula_driver::reduce::op_count(&program);
    println!("{}", print_program(&program, &PrintOptions::default()));
    let still_shows = shows(&program)?;
    Ok(Outcome::pass_if(ops <= MOST_OPS && still_shows).with("ops", ops).with("still_shows", still_shows))
}

/// Passes where the bug does not show.
fn judge(file: &Path) -> Result<Outcome> {
    let shows = shows(&read(file)?)?;
    if shows {
        println!("{SHOWN}");
    }
    Ok(Outcome::pass_if(!shows))
}

fn read(file: &Path) -> Result<TensorProgram> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    parse_program::<TensorOp>(&text, None).map_err(|found| anyhow!("{found}"))
}

fn shows(program: &TensorProgram) -> Result<bool> {
    let mut rng = Rng::new(SEED);
    let func = program.entry();
    let input = |arg: &tegula_ir::Value| -> Result<HostTensor> {
        let ty = func.ty(*arg);
        let shape: Option<Vec<usize>> = ty.shape.iter().map(|dim| dim.as_const()?.try_into().ok()).collect();
        Ok(tensor(&mut rng, ty.dtype, &shape.context("the program has open sizes")?, Values::Ordinary))
    };
    let inputs = func.args(func.body()).iter().map(input).collect::<Result<Vec<HostTensor>>>()?;
    let expected = evaluate(program, &inputs).map_err(|found| anyhow!("{found}"))?;
    let text = print_program(&planted(program), &PrintOptions::WHOLE);
    let compiled = compile_bytes(text.as_bytes(), best_class(), Form::Machine);
    let got = compiled
        .and_then(package)
        .and_then(|bytes| session(bytes, 1))
        .and_then(|session| session.run(&inputs))
        .map_err(|found| anyhow!("{found}"))?;
    Ok(got.iter().zip(&expected).any(|(got, want)| compare(got, want, TOLERANCE).is_err()))
}

/// The program as its wrong kernels compute it.
fn planted(program: &TensorProgram) -> TensorProgram {
    let mut wrong = program.clone();
    let func = wrong.entry_mut();
    for op in func.walk() {
        if let TensorOp::Pool { kind: PoolKind::Max, window } = func.kind_mut(op)
            && window.size == [5, 5]
        {
            window.size = vec![3, 3];
            for pad in window.low.iter_mut().chain(&mut window.high) {
                *pad = pad.clone() - Dim::from(1);
            }
        }
    }
    wrong
}
