//! Results of every row against the evaluator: at small sizes whole, with sizes open; at the table's, compiled for them, on
//! a sample of the axes along which results do not depend on each other. Attention has none that are cheap: its code is
//! checked whole at sizes between.

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

use super::Bench;
use super::rows::{Rows, Subject, code};

/// Results looked at along an axis that is sampled.
const SAMPLE: usize = 64;
/// Elements of the largest input; more random numbers would take longer than the check.
const MOST_ELEMENTS: i64 = 600_000_000;

pub fn run(bench: &Bench, rows: &mut Rows) -> Result<()> {
    for kernel in gpu_kernels().into_iter().filter(|kernel| kernel.name.starts_with(&bench.prefix)) {
        let package = bench.package(&kernel, &Sizes::new());
        let open = LazyCell::new(|| bench.session(&package));
        let mut all: Vec<Sizes> = kernel.small.clone();
        if !bench.small {
            all.extend(between(&kernel));
            all.extend(kernel.table().map(|(_, sizes)| sizes.clone()));
        }
        let n_whole = kernel.small.len() + usize::from(!bench.small && between(&kernel).is_some());
        for (at, sizes) in all.iter().enumerate() {
            let fixed = at >= n_whole;
            let package = if fixed { bench.package(&kernel, sizes) } else { package.clone() };
            let code = code(&package);
            let subject = Subject { part: "correctness", kernel: &kernel.name, sizes, fixed, code };
            if rows.has(&subject) {
                continue;
            }
            if bench.is_over() {
                return Ok(());
            }
            let found = match &*open {
                Err(reason) => json!({ "verdict": "refused", "why": reason }),
                Ok(open) if !fixed => verdict(check(&kernel, open, sizes, &[], bench.seed)),
                Ok(_) => sample(bench, &kernel, sizes, &package),
            };
            rows.add(&subject, bench.seed, found)?;
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
fn sample(bench: &Bench, kernel: &GpuKernel, sizes: &Sizes, package: &Result<Bytes, String>) -> Value {
    let axes = independent(&kernel.kind);
    let unsampled = |why: &str| json!({ "verdict": "unsampled", "why": why });
    if axes.is_empty() {
        return unsampled("every result depends on too much: see the smaller sizes");
    }
    if largest(sizes) > MOST_ELEMENTS {
        return unsampled("its inputs take too long to make");
    }
    match bench.session(package) {
        Ok(session) => verdict(check(kernel, &session, sizes, axes, bench.seed)),
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

/// Sizes along which each result depends on its own part of the inputs only.
fn independent(kind: &Kind) -> &'static [&'static str] {
    match kind {
        Kind::Gemm(_) => &["m", "n"],
        Kind::GemmBlockScales {} => &["m"],
        Kind::GroupedGemm { .. } | Kind::GemmWeights { .. } => &["m", "n"],
        Kind::Gemv { .. } => &["n"],
        Kind::Rows { .. } | Kind::RowsAny { .. } | Kind::Swiglu { .. } | Kind::AddRmsNormQuant { .. } => {
            &["r"]
        }
        Kind::Transpose { .. } => &["r", "c"],
        Kind::Argmax { .. } | Kind::Sample { .. } => &["r"],
        Kind::Attention(_) | Kind::Decode(_) | Kind::PagedDecode(_) => &[],
        Kind::RopeKvUpdate { .. } | Kind::Sum { .. } => &[],
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
    let picked = pick(kernel, sizes, axes, seed);
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

/// Indices along each sampled axis, the first and the last among them; as many as the axis' divisor allows.
fn pick(kernel: &GpuKernel, sizes: &Sizes, axes: &[&str], seed: u64) -> BTreeMap<String, Vec<usize>> {
    let mut state = seed | 1;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let mut picked = BTreeMap::new();
    for axis in axes {
        let Some(&size) = sizes.get(*axis) else { continue };
        let (size, divisor) = (size as usize, kernel.symbols.get(*axis).copied().unwrap_or(1) as usize);
        let count = SAMPLE.next_multiple_of(divisor);
        if size <= count {
            continue;
        }
        let mut indices: Vec<usize> = (0..count - 2).map(|_| random(size)).collect();
        indices.extend([0, size - 1]);
        indices.sort_unstable();
        picked.insert(axis.to_string(), indices);
    }
    picked
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
        let Some(indices) = dim.as_symbol().and_then(|name| picked.get(name)) else {
            let mut uses = false;
            dim.for_each_symbol(&mut |name| uses |= picked.contains_key(name.as_ref()));
            if uses {
                return Err(format!("`{dim}` is computed from a size that is sampled"));
            }
            continue;
        };
        let inner = result.shape[axis + 1..].iter().product::<usize>() * size;
        let outer: usize = result.shape[..axis].iter().product();
        let extent = result.shape[axis];
        let mut bytes = Vec::with_capacity(outer * indices.len() * inner);
        for o in 0..outer {
            for index in indices {
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
