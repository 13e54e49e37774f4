//! Results of every row against the evaluator: at small sizes whole, with sizes open; at the table's, compiled for them, on
//! a sample of the axes along which results do not depend on each other: of attention one head, where that is not too
//! much, and whole at sizes between.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use anyhow::Result;
use bytes::Bytes;
use serde_json::{Value, json};
use tegula_base::{Dim, HostTensor};
use tegula_driver::bound::{Agreement, compare, reference};
use tegula_runtime::Session;
use tegula_testkit::gpu_kernels::{GpuKernel, Kind, Sizes, gpu_kernels};
use tegula_testkit::random::Case;

use super::rows::{Rows, Subject, code};
use super::worker::Worker;

/// Results looked at along an axis that is sampled, and heads of attention.
const SAMPLE: usize = 64;
const HEADS: usize = 1;
/// Scores of a head that the evaluator computes in seconds.
const MOST_SCORES: i64 = 1 << 21;
/// Elements of the largest input; more random numbers would take longer than the check.
const MOST_ELEMENTS: i64 = 600_000_000;

pub fn run(worker: &Worker, rows: &mut Rows) -> Result<()> {
    let plan = worker.plan;
    let own = gpu_kernels().into_iter().filter(|kernel| plan.asks(&kernel.name)).enumerate();
    for kernel in own.filter_map(|(number, kernel)| worker.is_own(number).then_some(kernel)) {
        let package = plan.package(&kernel, &Sizes::new());
        let open = LazyCell::new(|| worker.session(&package, true));
        let mut all: Vec<Sizes> = kernel.small.clone();
        if !plan.small {
            all.extend(between(&kernel));
            all.extend(kernel.table().map(|(_, sizes)| sizes.clone()));
        }
        let n_whole = kernel.small.len() + usize::from(!plan.small && between(&kernel).is_some());
        for (at, sizes) in all.iter().enumerate() {
            let fixed = at >= n_whole;
            let package = if fixed { plan.package(&kernel, sizes) } else { package.clone() };
            let code = code(&package);
            let subject = Subject { part: "correctness", kernel: &kernel.name, sizes, fixed, code };
            if rows.has(&subject) {
                continue;
            }
            if plan.is_over() {
                return Ok(());
            }
            worker.row(rows, &subject, |_| match &*open {
                Err(reason) => json!({ "verdict": "refused", "why": reason }),
                Ok(open) if !fixed => verdict(check(&kernel, open, sizes, &[], worker.seed)),
                Ok(_) => sample(worker, &kernel, sizes, &package),
            })?;
        }
    }
    Ok(())
}

/// Sizes at which attention fills many tiles and the evaluator still answers at once.
fn between(kernel: &GpuKernel) -> Option<Sizes> {
    let sizes: &[(&str, i64)] = match kernel.kind {
        Kind::Attention(_) => &[("b", 1), ("g", 1), ("l", 700), ("s", 700)],
        Kind::Decode(_) => &[("b", 2), ("g", 1), ("s", 1500)],
        _ => return None,
    };
    Some(sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect())
}

/// A row of the table.
fn sample(worker: &Worker, kernel: &GpuKernel, sizes: &Sizes, package: &Result<Bytes, String>) -> Value {
    let (axes, _) = independent(&kernel.kind);
    let unsampled = |why: &str| json!({ "verdict": "unsampled", "why": why });
    if axes.is_empty() {
        return unsampled("every result depends on too much: see the smaller sizes");
    }
    if largest(sizes) > MOST_ELEMENTS {
        return unsampled("its inputs take too long to make");
    }
    let scores = sizes.get("l").unwrap_or(&1) * sizes.get("s").unwrap_or(&1);
    if scores > MOST_SCORES {
        return unsampled("the evaluator takes too long for a head");
    }
    match worker.session(package, true) {
        Ok(session) => verdict(check(kernel, &session, sizes, axes, worker.seed)),
        Err(reason) => json!({ "verdict": "refused", "why": reason }),
    }
}

fn verdict(checked: Result<Agreement, String>) -> Value {
    match checked {
        Ok(Agreement { exact, bounded, used, .. }) => {
            json!({ "verdict": "right", "exact": exact, "bounded": bounded, "used": used })
        }
        Err(why) => json!({ "verdict": "wrong", "why": why }),
    }
}

/// The product of the two largest sizes, about the elements of the largest matrix.
fn largest(sizes: &Sizes) -> i64 {
    let mut sorted: Vec<i64> = sizes.values().copied().collect();
    sorted.sort_unstable();
    sorted.iter().rev().take(2).product()
}

/// Sizes along which each result depends on its own part of the inputs only, and how many are looked at.
fn independent(kind: &Kind) -> (&'static [&'static str], usize) {
    match kind {
        Kind::Gemm(_) | Kind::GroupedGemm { .. } | Kind::GemmWeights { .. } => (&["m", "n"], SAMPLE),
        Kind::GemmBlockScales {} => (&["m"], SAMPLE),
        Kind::Gemv { .. } => (&["n"], SAMPLE),
        Kind::Rows { .. } | Kind::RowsAny { .. } | Kind::Swiglu { .. } | Kind::AddRmsNormQuant { .. } => {
            (&["r"], SAMPLE)
        }
        Kind::Transpose { .. } => (&["r", "c"], SAMPLE),
        Kind::Argmax { .. } | Kind::Sample { .. } => (&["r"], SAMPLE),
        Kind::Attention(_) | Kind::Decode(_) => (&["b", "g"], HEADS),
        Kind::PagedDecode(_) => (&["b"], HEADS),
        Kind::RopeKvUpdate { .. } | Kind::Sum { .. } => (&[], SAMPLE),
    }
}

/// Runs the row whole and compares the sample. Errors: what differs, or why it does not run.
fn check(
    kernel: &GpuKernel,
    session: &Session,
    sizes: &Sizes,
    axes: &[&str],
    seed: u64,
) -> Result<Agreement, String> {
    let case = kernel.case(sizes, seed)?;
    let got = session.run(&case.inputs).map_err(|found| found.to_string())?;
    let picked = pick(kernel, sizes, axes, independent(&kernel.kind).1, seed);
    let func = case.program.entry();
    let shapes = |values: &[tegula_ir::Value]| -> Vec<Vec<Dim>> {
        values.iter().map(|value| func.ty(*value).shape.iter().cloned().collect()).collect()
    };
    let inputs = case.inputs.iter().zip(shapes(func.args(func.body())));
    let inputs = inputs.map(|(tensor, shape)| sampled(tensor, &shape, &picked)).collect::<Result<_, _>>()?;
    let results = func.terminator(func.body()).map(|end| shapes(func.operands(end))).unwrap_or_default();
    let sample = Case { inputs, ..case.clone() };
    let expected = reference(&sample.program, &sample.inputs).map_err(|error| error.to_string())?;
    let mut total = Agreement::default();
    for (i, ((got, shape), want)) in got.iter().zip(&results).zip(&expected).enumerate() {
        let got = sampled(got, shape, &picked)?;
        total.add(compare(&got, want).map_err(|difference| format!("y{i} {difference}"))?);
    }
    Ok(total)
}

/// Indices along each sampled axis, the first and the last among several; as many as the axis' divisor allows.
fn pick(
    kernel: &GpuKernel,
    sizes: &Sizes,
    axes: &[&str],
    count: usize,
    seed: u64,
) -> BTreeMap<String, Vec<usize>> {
    let mut state = seed | 1;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut picked = BTreeMap::new();
    for axis in axes {
        let Some(&size) = sizes.get(*axis) else { continue };
        let (size, divisor) = (size as usize, kernel.symbols.get(*axis).copied().unwrap_or(1) as usize);
        let count = count.next_multiple_of(divisor);
        if size <= count {
            continue;
        }
        let mut indices: Vec<usize> = (0..count).map(|_| random(size)).collect();
        if let [first, .., last] = &mut indices[..] {
            (*first, *last) = (0, size - 1);
        }
        indices.sort_unstable();
        picked.insert(axis.to_string(), indices);
    }
    picked
}

/// How many times a size an extent is; `None`: it is something else.
fn multiple(dim: &Dim, name: &str) -> Option<usize> {
    let at = |n: i64| dim.eval(&|own| (own == name).then_some(n));
    let times = at(1)?;
    (at(2)? == 2 * times && at(0)? == 0).then_some(times as usize)
}

/// The part of a tensor at the picked indices. Errors: an axis is computed from a sampled size.
fn sampled(
    tensor: &HostTensor,
    shape: &[Dim],
    picked: &BTreeMap<String, Vec<usize>>,
) -> Result<HostTensor, String> {
    let size = tensor.dtype.size();
    let mut result = tensor.clone();
    for (axis, dim) in shape.iter().enumerate() {
        let mut names = Vec::new();
        dim.for_each_symbol(&mut |name| names.extend(picked.get_key_value(name.as_ref())));
        let (times, indices) = match names[..] {
            [] => continue,
            [(name, indices)] => (multiple(dim, name), indices),
            _ => (None, &Vec::new()),
        };
        let times = times.ok_or_else(|| format!("`{dim}` is computed from a size that is sampled"))?;
        let indices = indices.iter().flat_map(|index| index * times..(index + 1) * times);
        let indices: Vec<usize> = indices.collect();
        let inner = result.shape[axis + 1..].iter().product::<usize>() * size;
        let outer: usize = result.shape[..axis].iter().product();
        let extent = result.shape[axis];
        let mut bytes = Vec::with_capacity(outer * indices.len() * inner);
        for o in 0..outer {
            for index in &indices {
                bytes.extend_from_slice(&result.bytes[(o * extent + index) * inner..][..inner]);
            }
        }
        result.shape[axis] = indices.len();
        result.bytes = bytes;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_driver::{session_options, simulated_gpu};
    use tegula_machine::Machine;

    fn kernel(name: &str) -> GpuKernel {
        gpu_kernels().into_iter().find(|kernel| kernel.name == name).unwrap()
    }

    #[test]
    fn sampled_sizes_are_axes_of_their_own() {
        for kernel in gpu_kernels() {
            let program = kernel.program(&Sizes::new()).unwrap();
            let func = program.entry();
            let results = func.operands(func.terminator(func.body()).unwrap());
            for value in func.args(func.body()).iter().chain(results) {
                for dim in func.ty(*value).shape.iter() {
                    let (axes, _) = independent(&kernel.kind);
                    dim.for_each_symbol(&mut |name| {
                        let is_plain = !axes.contains(&name.as_ref()) || multiple(dim, name).is_some();
                        assert!(is_plain, "{}: {dim}", kernel.name);
                    });
                }
            }
        }
    }

    #[test]
    fn a_sample_is_a_part_of_the_whole() {
        let row = kernel("gemm_bf16_nt_bias");
        let sizes: Sizes = [("m", 200), ("n", 160), ("k", 24)].map(|(name, n)| (name.to_string(), n)).into();
        let machine = Machine::class("h200").unwrap();
        let session = |row: &GpuKernel| {
            let package = super::super::compile(row, &sizes, &machine).unwrap();
            Session::from_bytes(package, session_options(1, simulated_gpu())).unwrap()
        };
        let found = check(&row, &session(&row), &sizes, &["m", "n"], 7).unwrap();
        assert_eq!(found.bounded + found.exact, 64 * 64);
        // Another kernel's results are not taken for right.
        let other = session(&kernel("gemm_bf16_nt_bias_gelu"));
        assert!(check(&row, &other, &sizes, &["m", "n"], 7).unwrap_err().contains("expected"));
    }
}
