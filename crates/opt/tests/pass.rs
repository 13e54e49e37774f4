//! Passes on text: a folder a pass below `pass/`, a case a file: a sentence, the input, a rule, the remarks and result.
//!
//! Each case runs with the verifier on and the claim of no change checked. A second run changes nothing. Before and
//! after are evaluated on the same inputs of random sizes and numbers: the results agree. `BLESS=1` rewrites the results.

#[path = "pass/inputs.rs"]
mod inputs;
use crate::target;

use std::path::{Path, PathBuf};
use tegula_backend::{Contractions, Target, Targets};
use tegula_base::{DType, Diagnostics};
use tegula_ir::rewrite::{cse, dce};
use tegula_ir::{Changed, PassCx, Pipeline, PrintOptions, RunOptions, parse_program, print_program};
use tegula_opt::passes::Precision;
use tegula_opt::{
    assign_layouts::assign_layouts, form_kernels::form_kernels, keep_wide::keep_wide, passes,
    share_kernels::share_kernels,
};
use tegula_tensor::TensorProgram;

const RULE: &str = "// -----\n";
/// The end of a folder's name whose target reads no lookup tables.
const WITHOUT_LOOKUP_TABLES: &str = "_without_lookup_tables";
/// The same of one that multiplies no pairs of `bf16`.
const WITHOUT_PAIRS: &str = "_without_pairs";
/// The same of one that multiplies `i16`.
const WITH_I16: &str = "_with_i16";
/// Inputs of random sizes and numbers that each case runs on.
const SEEDS: u64 = 12;

fn pipeline<'a>(name: &str, target: &'a dyn Target) -> Pipeline<'a, TensorProgram> {
    let p = Pipeline::new("tensor");
    match name {
        "assign_layouts" => p
            .pass("form_kernels", move |program, cx| form_kernels(program, target, cx))
            .pass("assign_layouts", move |program, cx| assign_layouts(program, target, cx)),
        "canonicalise" => p.pass("canonicalise", passes::canonicalise),
        "cse" => p.pass("cse", |program: &mut TensorProgram, _: &mut PassCx| Ok(program.for_each_func(cse))),
        "dce" => p.pass("dce", |program: &mut TensorProgram, _: &mut PassCx| Ok(program.for_each_func(dce))),
        "decompose_composites" => p.pass("decompose_composites", move |program, cx| {
            passes::decompose_composites(program, target, cx)
        }),
        "decompose_recurrent" => p.pass("decompose_recurrent", move |program, cx| {
            passes::decompose_recurrent(program, Targets::host(target), cx)
        }),
        "fold_constants" => {
            p.pass("fold_constants", move |program, cx| passes::fold_constants(program, target, cx))
        }
        "fold_scales" => p.pass("fold_scales", passes::fold_scales),
        "form_kernels" => p.pass("form_kernels", move |program, cx| form_kernels(program, target, cx)),
        "inline_branches" => p.pass("inline_branches", passes::inline_branches),
        "legalise_types" => p.pass("legalise_types", passes::legalise_types),
        "narrow_places" => p.pass("narrow_places", move |program, cx| {
            let targets = Targets { contractions: Contractions::Device, ..Targets::host(target) };
            passes::narrow_places(program, targets, cx)
        }),
        "recover_composites" => p.pass("recover_composites", move |program, cx| {
            passes::recover_composites(program, Targets::host(target), cx)
        }),
        "requantise" => p.pass("requantise", passes::requantise),
        "round_factors" => p.pass("round_factors", move |program, cx| {
            passes::round_factors(program, Precision::Bf16, target, cx)
        }),
        "keep_wide" => p
            .pass("form_kernels", move |program, cx| form_kernels(program, target, cx))
            .pass("keep_wide", keep_wide),
        "share_kernels" => p
            .pass("form_kernels", move |program, cx| form_kernels(program, target, cx))
            .pass("share_kernels", share_kernels),
        "simplify_sizes" => p.pass("simplify_sizes", passes::simplify_sizes),
        "sum_channels" => {
            p.pass("sum_channels", move |program, cx| passes::sum_channels(program, target, cx))
        }
        "sum_pairs" => p.pass("sum_pairs", move |program, cx| passes::sum_pairs(program, target, cx)),
        "transform_filters" => {
            p.pass("transform_filters", move |program, cx| passes::transform_filters(program, target, cx))
        }
        "transpose_factors" => {
            p.pass("transpose_factors", move |program, cx| passes::transpose_factors(program, target, cx))
        }
        "unpack_nibbles" => {
            p.pass("unpack_nibbles", move |program, cx| passes::unpack_nibbles(program, target, cx))
        }
        "widen_rows" => p.pass("widen_rows", move |program, cx| passes::widen_rows(program, target, cx)),
        other => panic!("no pass is called `{other}`"),
    }
}

#[test]
fn pass() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    for (name, path) in cases() {
        let text = std::fs::read_to_string(&path).expect("readable case");
        let (input, blessed) = text.split_once(RULE).unwrap_or((&text, ""));
        let actual = run(&name, input, &path);
        if actual == blessed {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{input}{RULE}{actual}")).expect("writable case");
        } else {
            failures.push(format!("{}\n--- blessed\n{blessed}--- actual\n{actual}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nBLESS=1 accepts the actual texts", failures.join("\n"));
}

/// (pass, file), sorted.
fn cases() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pass");
    let mut cases = Vec::new();
    for folder in std::fs::read_dir(&root).expect("a folder of cases") {
        let folder = folder.expect("readable folder").path();
        let Some(name) = folder.file_name().and_then(|name| name.to_str()).filter(|_| folder.is_dir()) else {
            continue;
        };
        for file in std::fs::read_dir(&folder).expect("a folder of cases") {
            let path = file.expect("readable folder").path();
            if path.extension().is_some_and(|extension| extension == "mlir") {
                cases.push((name.to_string(), path));
            }
        }
    }
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn run(name: &str, input: &str, path: &Path) -> String {
    let is_of = |kind: &str| name.ends_with(kind);
    let target = target::small(target::Can {
        lookup_tables: !is_of(WITHOUT_LOOKUP_TABLES),
        multiply_pairs: !is_of(WITHOUT_PAIRS),
        multiply_i16: is_of(WITH_I16),
    });
    let kinds = [WITHOUT_LOOKUP_TABLES, WITHOUT_PAIRS, WITH_I16];
    let pass = kinds.iter().fold(name, |pass, kind| pass.trim_end_matches(kind));
    let pipeline = pipeline(pass, &target);
    let mut program: TensorProgram =
        parse_program(input, None).unwrap_or_else(|found| panic!("{}: {found}", path.display()));
    let before = program.clone();
    let options = RunOptions { check_claims: true, ..RunOptions::default() };
    let mut cx = PassCx::new();
    if let Err(found) = pipeline.run(&mut program, &options, &mut cx) {
        return commented(&found);
    }
    let changed = cx.records.iter().any(|record| record.changed == Changed::Yes);
    let remarks: String = cx
        .remarks
        .iter()
        .map(|remark| match &remark.location {
            Some(node) => format!("// {node}: {}\n", remark.text),
            None => format!("// {}\n", remark.text),
        })
        .collect();
    let printed = print_program(&program, &PrintOptions::default());
    let narrowest = if pass == "round_factors" { DType::BF16 } else { DType::F32 };
    (0..=SEEDS).for_each(|seed| inputs::agree(&before, &program, narrowest, path, seed));
    let ran = cx.records.len();
    if let Err(found) = pipeline.run(&mut program, &options, &mut cx) {
        panic!("{}: the second run fails: {found}", path.display());
    }
    assert!(
        cx.records[ran..].iter().all(|record| record.changed == Changed::No),
        "{}: {name} is not idempotent:\n{}",
        path.display(),
        print_program(&program, &PrintOptions::default())
    );
    if changed { format!("{remarks}{printed}") } else { format!("// unchanged\n{remarks}") }
}

fn commented(found: &Diagnostics) -> String {
    found.to_string().lines().map(|line| format!("// {line}\n")).collect()
}
