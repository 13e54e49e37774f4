//! `ulp [--only OP] [--step N]`: functions of one `f32` on all 2^32 inputs (or every N-th), as compiled kernels in
//! both tiers, against the function in `f64`.
//! Bar (`docs/numerics.md`): exp, log, tanh, erf, sigmoid and their kin 2 ulp on every input; sin and cos 2 ulp, also
//! beyond 1e5; the functions of the runtime's table 1; rounding operations half.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use tegula_automation::outcome::Outcome;
use tegula_base::{DType, HostTensor};
use tegula_driver::Form;
use tegula_ir::{PrintOptions, ScalarOp, print_program};
use tegula_runtime::Session;
use tegula_target_cpu::math::ulp::{exact, ulp_error};
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

use crate::in_process::{compile_bytes, lacking, package, session};

/// Inputs of one run.
const BATCH: u64 = 1 << 16;

const INPUTS: u64 = 1 << 32;

/// Functions with their bounds in ulps. A correctly rounded result is at most half an ulp away; the hundredth is
/// the measure's own error.
const BOUNDS: [(ScalarOp, f64); 21] = [
    (ScalarOp::Exp, 2.0),
    (ScalarOp::Log, 2.0),
    (ScalarOp::Tanh, 2.0),
    (ScalarOp::Erf, 2.0),
    (ScalarOp::Sigmoid, 2.0),
    (ScalarOp::Sin, 2.0),
    (ScalarOp::Cos, 2.0),
    (ScalarOp::Expm1, 2.0),
    (ScalarOp::Log1p, 2.0),
    (ScalarOp::Rsqrt, 2.0),
    (ScalarOp::Sqrt, 0.51),
    (ScalarOp::Reciprocal, 0.51),
    (ScalarOp::Tan, 1.0),
    (ScalarOp::Asin, 1.0),
    (ScalarOp::Acos, 1.0),
    (ScalarOp::Atan, 1.0),
    (ScalarOp::Sinh, 1.0),
    (ScalarOp::Cosh, 1.0),
    (ScalarOp::Asinh, 1.0),
    (ScalarOp::Acosh, 1.0),
    (ScalarOp::Atanh, 1.0),
];

/// Tier and machine class.
const TIERS: [(&str, &str); 2] = [("avx2", "avx2-generic"), ("avx512", "avx512-generic")];

/// The largest error seen, where, and what came out.
#[derive(Clone, Copy, Default)]
struct Worst {
    ulp: f64,
    input: f32,
    got: f32,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let only = value("--only");
    let step: u64 = match value("--step") {
        Some(text) => text.parse().with_context(|| format!("`--step {text}` is no number"))?,
        None => 1,
    };
    let tiers: Vec<_> = TIERS.into_iter().filter(|(_, class)| lacking(class).is_empty()).collect();
    if tiers.is_empty() {
        return Ok(Outcome::skip("the processor has no AVX2"));
    }
    let mut beyond = vec![];
    let mut checked = 0;
    for (op, bound) in BOUNDS.into_iter().filter(|(op, _)| only.is_none_or(|name| name == op.name())) {
        let packages =
            tiers.iter().map(|(_, class)| kernel(op, class)).collect::<Result<Vec<bytes::Bytes>>>()?;
        let worst = sweep(op, &packages, step.max(1))?;
        for ((tier, ..), worst) in tiers.iter().zip(worst) {
            let holds = worst.ulp <= bound;
            println!(
                "{:5} {:10} {tier:6} {:.3} ulp at {:e} ({:#010x}), gives {:e}; bound {bound}",
                if holds { "ok" } else { "FAIL" },
                op.name(),
                worst.ulp,
                worst.input,
                worst.input.to_bits(),
                worst.got
            );
            if !holds {
                beyond.push(format!("{}:{tier}", op.name()));
            }
            checked += INPUTS / step.max(1);
        }
    }
    let outcome = Outcome::pass_if(beyond.is_empty() && checked > 0)
        .with("tiers", tiers.len())
        .with("inputs", checked)
        .with("step", step);
    Ok(if beyond.is_empty() { outcome } else { outcome.with("beyond", beyond.join(",")) })
}

/// A package that computes `op` on `f32[BATCH]`.
fn kernel(op: ScalarOp, class: &str) -> Result<bytes::Bytes> {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let x = b.arg(DType::F32, [BATCH as i64]);
    let y = b.elementwise(op, &[x]).and_then(|y| b.ret(&[y]));
    y.map_err(|error| anyhow!("{op}: {error}"))?;
    let func = program.entry_mut();
    func.arg_names = vec!["x".into()];
    func.result_names = vec!["y".into()];
    let text = print_program(&program, &PrintOptions::WHOLE);
    let bytes = compile_bytes(text.as_bytes(), class, Form::Machine).and_then(package);
    bytes.map_err(|found| anyhow!("{op} for {class}: {found}"))
}

/// The worst of each package.
fn sweep(op: ScalarOp, packages: &[bytes::Bytes], step: u64) -> Result<Vec<Worst>> {
    let next = AtomicU64::new(0);
    let worst = Mutex::new(vec![Worst::default(); packages.len()]);
    let threads = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let sessions = packages
                        .iter()
                        .map(|bytes| session(bytes.clone(), 1).map_err(|found| anyhow!("{op}: {found}")))
                        .collect::<Result<Vec<Session>>>()?;
                    let mut mine = vec![Worst::default(); packages.len()];
                    loop {
                        let first = next.fetch_add(BATCH * step, Ordering::Relaxed);
                        if first >= INPUTS {
                            break;
                        }
                        batch(op, &sessions, first, step, &mut mine)?;
                    }
                    let mut all = worst.lock().expect("invariant: no thread panics with the result");
                    for (all, mine) in all.iter_mut().zip(mine) {
                        if mine.ulp > all.ulp {
                            *all = mine;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("invariant: workers do not panic"))
    })?;
    Ok(worst.into_inner().expect("invariant: no thread panics with the result"))
}

fn batch(op: ScalarOp, sessions: &[Session], first: u64, step: u64, worst: &mut [Worst]) -> Result<()> {
    let inputs: Vec<f32> = (0..BATCH).map(|i| f32::from_bits((first + i * step) as u32)).collect();
    let tensor = HostTensor::from_elements(&[BATCH as usize], &inputs);
    let truths: Vec<f64> = inputs.iter().map(|x| exact(op, f64::from(*x))).collect();
    for (session, worst) in sessions.iter().zip(worst) {
        let outputs = session.run(std::slice::from_ref(&tensor)).map_err(|found| anyhow!("{op}: {found}"))?;
        let outputs: Vec<f32> = outputs[0].elements().context("the result is no f32")?;
        for ((input, got), truth) in inputs.iter().zip(outputs).zip(&truths) {
            // Rounded rightly: nothing to measure, unless nothing larger was seen.
            if got.to_bits() == (*truth as f32).to_bits() && worst.ulp >= 0.5 {
                continue;
            }
            let ulp = ulp_error(op, *truth, got);
            if ulp > worst.ulp {
                *worst = Worst { ulp, input: *input, got };
            }
        }
    }
    Ok(())
}
