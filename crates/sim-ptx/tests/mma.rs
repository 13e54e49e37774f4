//! `mma.sync` of each type against plain products; fragments are made here from the tables of the PTX ISA.

use crate::common;

use common::{Buffers, noise, run};
use tegula_sim_ptx::Launch;

/// Rows, columns and k; bits of a factor's element; the types of `d`, `a`, `b`, `c`.
struct Case {
    mnk: [usize; 3],
    bits: usize,
    ty: &'static str,
}

fn element(ty: &str, value: i32) -> u64 {
    let float = (value as f32).to_bits();
    match ty.split('.').nth(1).unwrap() {
        "f16" if value == 0 => 0,
        "f16" => (float >> 16 & 0x8000 | ((float >> 23 & 0xff) - 112) << 10 | float >> 13 & 0x3ff) as u64,
        "bf16" => (float >> 16) as u64,
        "tf32" => float as u64,
        "f64" => (value as f64).to_bits(),
        "e5m2" if value == 0 => 0,
        "e5m2" => (float >> 24 & 0x80 | ((float >> 23 & 0xff) - 112) << 2 | float >> 21 & 3) as u64,
        "s4" => value as u64 & 0xf,
        _ => value as u64 & 0xff,
    }
}

/// PTX ISA 9.7.14.5, "Matrix Fragments": row and k of element `i` of `a`, in the order of registers.
fn place_a(case: &Case, lane: usize, i: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let per = (32 / case.bits).max(1);
    let (register, part) = (i / per, i % per);
    match case.mnk[0] {
        8 => (group, per * thread + part),
        // Registers go: rows 0-7, rows 8-15, then both again further along k.
        _ => (group + 8 * (register & 1), per * thread + part + 4 * per * (register >> 1)),
    }
}

fn place_b(case: &Case, lane: usize, i: usize) -> (usize, usize) {
    let per = (32 / case.bits).max(1);
    (lane / 4, per * (lane % 4) + i % per + 4 * per * (i / per))
}

fn check(case: &Case) {
    let [m, n, k] = case.mnk;
    let is_f64 = case.ty.starts_with("f64");
    let small =
        |seed, len| noise(len, seed).into_iter().map(|x| (x * 3.0).round() as i32).collect::<Vec<i32>>();
    let (a, b) = (small(1, m * k), small(2, n * k));
    let width = if is_f64 { 8 } else { 4 };
    let counts = [m * k * case.bits / 32 / (8 * width), n * k * case.bits / 32 / (8 * width)];
    let is_half = case.ty.starts_with("f16");
    let n_sums = m * n / 32 / if is_half { 2 } else { 1 };
    let mut image = Vec::new();
    for lane in 0..32 {
        for (which, count) in counts.iter().enumerate() {
            let per = 8 * width / case.bits;
            for register in 0..*count {
                let word = (0..per).fold(0u64, |word, part| {
                    let i = register * per + part;
                    let value = if which == 0 {
                        let (row, at) = place_a(case, lane, i);
                        a[row * k + at]
                    } else {
                        let (column, at) = place_b(case, lane, i);
                        b[column * k + at]
                    };
                    word | element(case.ty, value) << (part * case.bits)
                });
                image.extend(&word.to_le_bytes()[..width]);
            }
        }
    }
    let (class, prefix) = if is_f64 { ("b64", "%rd") } else { ("b32", "%r") };
    let list = |first: usize, count: usize| {
        let names: Vec<String> = (first..first + count).map(|i| format!("{prefix}{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let n_loads = counts[0] + counts[1];
    let loads: String = (0..n_loads)
        .map(|i| format!("    ld.global.{class} {prefix}{}, [%rd1+{}];\n", 20 + i, width * i))
        .collect();
    let zeros: String = (0..n_sums).map(|i| format!("    mov.{class} {prefix}{}, 0;\n", 10 + i)).collect();
    let stores: String = (0..n_sums)
        .map(|i| format!("    st.global.{class} [%rd3+{}], {prefix}{};\n", width * i, 10 + i))
        .collect();
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n
.visible .entry one(.param .u64 image, .param .u64 out)
{{
    .reg .b32 %r<64>;
    .reg .b64 %rd<64>;
    ld.param.u64 %rd0, [image];
    ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %rd1, %r0, {}, %rd0;
    mad.wide.u32 %rd3, %r0, {}, %rd2;
{loads}{zeros}    mma.sync.aligned.m{m}n{n}k{k}.row.col.{} {}, {}, {}, {};
{stores}    ret;
}}
",
        width * n_loads,
        width * n_sums,
        case.ty,
        list(10, n_sums),
        list(20, counts[0]),
        list(20 + counts[0], counts[1]),
        list(10, n_sums),
    );
    let module = tegula_isa_ptx::parse(&text, case.ty).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let memory = Buffers::default();
    let (image, out) = (memory.add(image), memory.add(vec![0; 32 * width * n_sums]));
    let params = [image, out].iter().flat_map(|word| word.to_le_bytes()).collect();
    let launch = Launch { grid: [1; 3], block: [32, 1, 1], params, ..Launch::default() };
    run(&module.entries[0], &launch, &memory).unwrap_or_else(|error| panic!("{}: {error}", case.ty));
    let bytes = memory.bytes(out);
    for lane in 0..32 {
        for i in 0..m * n / 32 {
            let (row, column) = (lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
            let wanted: i32 = (0..k).map(|at| a[row * k + at] * b[column * k + at]).sum();
            let size = if is_half { 2 } else { width };
            let mut word = [0; 8];
            word[..size].copy_from_slice(&bytes[lane * width * n_sums + size * i..][..size]);
            let word = u64::from_le_bytes(word);
            let wanted = match case.ty.split('.').next().unwrap() {
                "s32" => wanted as u32 as u64,
                "f64" => (wanted as f64).to_bits(),
                "f16" => element("f16.f16", wanted),
                _ => (wanted as f32).to_bits() as u64,
            };
            assert_eq!(word, wanted, "{} {:?}: row {row}, column {column}", case.ty, case.mnk);
        }
    }
}

#[test]
fn every_type_and_shape_multiplies() {
    let cases: &[(&str, usize, &[[usize; 3]])] = &[
        ("f32.f16.f16.f32", 16, &[[16, 8, 8], [16, 8, 16]]),
        ("f16.f16.f16.f16", 16, &[[16, 8, 8], [16, 8, 16]]),
        ("f32.bf16.bf16.f32", 16, &[[16, 8, 8], [16, 8, 16]]),
        ("f32.tf32.tf32.f32", 32, &[[16, 8, 4], [16, 8, 8]]),
        ("f64.f64.f64.f64", 64, &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]]),
        ("s32.s8.s8.s32", 8, &[[8, 8, 16], [16, 8, 16], [16, 8, 32]]),
        ("s32.s4.s4.s32", 4, &[[8, 8, 32], [16, 8, 32], [16, 8, 64]]),
        ("f32.e5m2.e5m2.f32", 8, &[[16, 8, 32]]),
    ];
    for (ty, bits, shapes) in cases {
        for mnk in *shapes {
            check(&Case { mnk: *mnk, bits: *bits, ty });
        }
    }
}
