//! Whole steps of decoding, each one graph: a small decoder's tokens against the evaluator's, then times of decoders of
//! published sizes with few layers, whose cache stays on the card and is full.

use anyhow::Result;
use bytes::Bytes;
use serde_json::{Value, json};
use tegula_base::{DType, HostTensor};
use tegula_driver::compile::compile_program;
use tegula_driver::{CompileOptions, PassCx};
use tegula_runtime::{Session, TensorView};
use tegula_tensor::evaluate;
use tegula_testkit::decoder::{Decoder, Weights};
use tegula_testkit::gpu_kernels::{Sizes, repeated};
use tegula_testkit::random::Rng;
use tegula_testkit::random::data::from_reals;

use super::Plan;
use super::rows::{Rows, Subject, code};
use super::speed::median;
use super::worker::Worker;

const STEPS: usize = 16;
/// Rows of the cache of the small decoder, and of the others.
const SMALL_ROOM: i64 = 24;
const ROOM: i64 = 4096;
const RUNS: usize = 200;
/// How far a logit may lie from the evaluator's, of its size or of 1.
const TOLERANCE: f64 = 5e-3;
/// Random numbers that are told apart; tensors repeat them.
const DISTINCT: usize = 1 << 20;

/// One row: a decoder whose cache has room for so many rows, and how it is looked at.
struct Step {
    name: &'static str,
    decoder: Decoder,
    room: i64,
    /// Tokens that are compared with the evaluator's; 0: times are taken.
    compared: usize,
}

impl Step {
    fn sizes(&self) -> Sizes {
        let layers = self.decoder.layers as i64;
        [("compared", self.compared as i64), ("layers", layers), ("room", self.room)]
            .map(|(name, n)| (name.to_string(), n))
            .into_iter()
            .collect()
    }
}

pub fn run(worker: &Worker, rows: &mut Rows) -> Result<()> {
    let plan = worker.plan;
    for step in steps(plan.small).iter().filter(|step| plan.asks(step.name)) {
        let (sizes, package) = (step.sizes(), package(plan, step));
        let subject =
            Subject { part: "decode", kernel: step.name, sizes: &sizes, fixed: true, code: code(&package) };
        if rows.has(&subject) {
            continue;
        }
        if plan.is_over() {
            break;
        }
        worker.row(rows, &subject, |_| {
            let session = match worker.session(&package, false) {
                Ok(session) => session,
                Err(why) => return json!({ "verdict": "refused", "why": why }),
            };
            let found = match step.compared {
                0 => time(worker, step, &session),
                _ => right_tokens(step, &session),
            };
            found.unwrap_or_else(|why| json!({ "verdict": "wrong", "why": why }))
        })?;
    }
    Ok(())
}

/// Today's package of a row; `None` where it is none of a step.
pub fn package_of(plan: &Plan, name: &str, sizes: &Sizes) -> Option<Result<Bytes, String>> {
    let step = steps(plan.small).into_iter().find(|step| step.name == name && step.sizes() == *sizes)?;
    Some(package(plan, &step))
}

/// Tokens of a small one; times at two numbers of layers, whose difference is what a layer takes.
fn steps(small: bool) -> Vec<Step> {
    let llama_3_8b = Decoder { feed_forward: 14336, groups: 8, vocabulary: 128_256, ..Decoder::LLAMA_7B };
    let tiny = Decoder { dtype: DType::BF16, weights: Weights::Arguments, ..Decoder::TINY };
    let timed = match small {
        true => vec![("decode_step_tiny_bf16", tiny, SMALL_ROOM)],
        false => {
            vec![
                ("decode_step_llama_2_7b", Decoder::LLAMA_7B, ROOM),
                ("decode_step_llama_3_8b", llama_3_8b, ROOM),
            ]
        }
    };
    let compared =
        Step { name: "decode_step_tiny", decoder: Decoder::TINY, room: SMALL_ROOM, compared: STEPS };
    let timed = timed.into_iter().flat_map(|(name, decoder, room)| {
        [2, 4].map(|layers| Step { name, decoder: Decoder { layers, ..decoder }, room, compared: 0 })
    });
    [compared].into_iter().chain(timed).collect()
}

fn package(plan: &Plan, step: &Step) -> Result<Bytes, String> {
    let aliases = step.decoder.aliases();
    let options = CompileOptions { aliases, ..CompileOptions::new(plan.machine.clone()) };
    let program = step.decoder.step(step.room)?;
    compile_program(program, step.name, &options, None, &mut PassCx::default())
        .and_then(crate::in_process::package)
        .map_err(|found| found.to_string())
}

/// Decodes as the evaluator does. Errors: what differs.
fn right_tokens(step: &Step, session: &Session) -> Result<Value, String> {
    let program = step.decoder.step(step.room)?;
    let mut stream = session.stream();
    let mut caches = caches(&step.decoder, step.room);
    let (mut outputs, mut token) = (Vec::new(), 3);
    for position in 0..step.compared {
        let given = [token, position as i64].map(|n| HostTensor::from_elements(&[1], &[n]));
        let all = [&given[..], &caches].concat();
        let want = evaluate(&program, &all).map_err(|error| error.to_string())?;
        let views: Vec<TensorView> = all.iter().map(TensorView::from).collect();
        match position {
            0 => stream.run_into(&views, &mut outputs),
            _ => stream.update(&views[..2], &mut outputs),
        }
        .map_err(|found| found.to_string())?;
        for (got, want) in outputs[1].to_f64().iter().zip(want[1].to_f64()) {
            if (got - want).abs() > TOLERANCE * want.abs().max(1.0) {
                return Err(format!("step {position}: a logit is {got}, expected {want}"));
            }
        }
        // The evaluator's: where two logits are nearly equal, ours may be the other.
        token = want[0].to_i64()[0];
        caches = want[2..].to_vec();
    }
    let graphs = session.counters().graphs;
    let expected = (1, 1, step.compared as u64 - 1);
    if (graphs.captured, graphs.made, graphs.launched) != expected {
        return Err(format!("{graphs:?}: expected one graph, launched {} times", expected.2));
    }
    Ok(json!({ "verdict": "right", "launches": session.package().program.steps.len() }))
}

fn caches(decoder: &Decoder, room: i64) -> Vec<HostTensor> {
    let shape = [1, decoder.groups, room, decoder.hidden / decoder.heads].map(|extent| extent as usize);
    vec![HostTensor::zeros(decoder.dtype, &shape); 2 * decoder.layers]
}

/// Errors: why the step does not run.
fn time(worker: &Worker, step: &Step, session: &Session) -> Result<Value, String> {
    let (decoder, room) = (&step.decoder, step.room);
    let program = decoder.step(room)?;
    let func = program.entry();
    let mut rng = Rng::new(worker.seed);
    let reals: Vec<f64> = (0..DISTINCT).map(|_| (rng.unit() - 0.5) * 0.06).collect();
    let pool = from_reals(decoder.dtype, &[DISTINCT], &reals);
    let inputs: Vec<HostTensor> = func
        .args(func.body())
        .iter()
        .enumerate()
        .map(|(number, arg)| match number {
            0 => HostTensor::from_elements(&[1], &[3i64]),
            1 => HostTensor::from_elements(&[1], &[room - 1]),
            _ => repeated(&pool, &func.ty(*arg).shape.as_static().unwrap_or_default()),
        })
        .collect();
    let views: Vec<TensorView> = inputs.iter().map(TensorView::from).collect();
    let runs = if worker.plan.small { 4 } else { RUNS };
    let timer = session.timer_on_card(&views, 1);
    let mut times = timer.and_then(|timer| timer.times(runs)).map_err(|found| found.to_string())?;
    let ns = median(&mut times);
    // Of the embedding one row is read.
    let embedding = decoder.vocabulary * decoder.hidden;
    let elements: usize = inputs.iter().skip(2).map(HostTensor::count).sum();
    let moved = (elements as i64 - embedding) * decoder.dtype.size() as i64;
    let steps = &session.package().program.steps;
    Ok(json!({
        "ns": ns,
        "p10_ns": times[times.len() / 10],
        "p90_ns": times[times.len() * 9 / 10],
        "gbps": moved as f64 / ns as f64,
        "launches": steps.len(),
        "data": format!("random in -0.03 to 0.03, every {DISTINCT} numbers again"),
    }))
}
