//! One wgmma of each type and layout. Shared memory is an image made here, element by element, from the canonical
//! layouts as CuTe writes them (`cute/atom/mma_traits_sm90_gmma.hpp`); the kernel copies it and multiplies.

use crate::common;

use common::{Buffers, noise, run};
use tegula_sim_ptx::Launch;

const N: usize = 32;
const M: usize = 64;

struct Case {
    ty: &'static str,
    /// Bytes of an element.
    size: usize,
    /// Bytes of the swizzle, 16 for none.
    span: usize,
    transpose: [bool; 2],
    registers: bool,
}

/// Where an element of a matrix of `rows` x k stands, in bytes; leading and stride offsets.
fn layout(case: &Case, transposed: bool, rows: usize, row: usize, k: usize) -> (usize, [usize; 2]) {
    let (size, span) = (case.size, case.span);
    let total_k = 32 / size;
    let swizzled = |at: usize| {
        // Bits of the 128-byte row are added to those of the chunk.
        let mask = (span / 16 - 1) << 4;
        at ^ (at >> 3 & mask)
    };
    match (transposed, span) {
        // Core matrices of 8 rows of 16 bytes, one after the other along k, then along rows.
        (false, 16) => {
            let byte = k * size;
            let stride = 128 * (total_k * size / 16);
            (row / 8 * stride + byte / 16 * 128 + row % 8 * 16 + byte % 16, [128, stride])
        }
        // Rows of the span, 8 of them an atom, one after the other.
        (false, _) => (swizzled(row * span + k * size), [16, 8 * span]),
        // Core matrices with 8 elements of rows together; along rows first.
        (true, 16) => {
            let leading = 128 * (rows / 8);
            (row / 8 * 128 + k / 8 * leading + k % 8 * 16 + row % 8 * 2, [leading, 128])
        }
        // Atoms of span bytes of rows by 8 of k; along k first.
        (true, _) => {
            let per = span / 2;
            let leading = 8 * span * (total_k / 8);
            (
                swizzled(row / per * leading + k / 8 * 8 * span + k % 8 * span + row % per * 2),
                [leading, 8 * span],
            )
        }
    }
}

/// Small integers that every type holds.
fn value(noise: f32) -> f64 {
    (noise * 4.0).round() as f64
}

fn bits(ty: &str, value: f64) -> Vec<u8> {
    let f32_bits = (value as f32).to_bits();
    match ty {
        "bf16" => ((f32_bits >> 16) as u16).to_le_bytes().to_vec(),
        // Of integers up to 4: sign, exponent with its bias moved, highest bits of the fraction.
        "f16" if value == 0.0 => vec![0, 0],
        "f16" => {
            let exponent = (f32_bits >> 23 & 0xff) - 127 + 15;
            ((f32_bits >> 16 & 0x8000 | exponent << 10 | f32_bits >> 13 & 0x3ff) as u16)
                .to_le_bytes()
                .to_vec()
        }
        "tf32" => f32_bits.to_le_bytes().to_vec(),
        "e4m3" if value == 0.0 => vec![0],
        "e4m3" => {
            let exponent = (f32_bits >> 23 & 0xff) - 127 + 7;
            vec![(f32_bits >> 24 & 0x80 | exponent << 3 | f32_bits >> 20 & 7) as u8]
        }
        _ => vec![value as i8 as u8],
    }
}

fn kernel(case: &Case, k: usize, b_at: usize, descriptors: [u64; 2]) -> String {
    let is_integer = case.ty == "s8";
    let sum_ty = if is_integer { "s32" } else { "f32" };
    let sums: Vec<String> = (0..N / 2).map(|i| format!("%r{}", 16 + i)).collect();
    let a = if case.registers { "{%r8, %r9, %r10, %r11}" } else { "%rd2" };
    let mut flags = if is_integer { String::new() } else { ", 1, 1".to_string() };
    if case.size == 2 {
        if !case.registers {
            flags += &format!(", {}", case.transpose[0] as u8);
        }
        flags += &format!(", {}", case.transpose[1] as u8);
    }
    // Fragments of `a`, as the last 2048 bytes of the image have them: 16 bytes a thread.
    let stores: String = sums
        .iter()
        .enumerate()
        .map(|(i, sum)| format!("    st.global.b32 [%rd6+{}], {sum};\n", 4 * i))
        .collect();
    format!(
        "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry one(.param .u64 image, .param .u64 out)
.reqntid 128, 1, 1
{{
    .reg .pred %p<2>;
    .reg .b32 %r<64>;
    .reg .b64 %rd<8>;
    .shared .align 1024 .b8 buffer[32768];
    .shared .align 8 .b8 full[8];
    ld.param.u64 %rd0, [image];
    ld.param.u64 %rd1, [out];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, buffer;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra met;
    mbarrier.init.shared.b64 [full], 1;
met:
    barrier.sync.aligned 0;
    @%p0 bra wait;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 32768;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 32768, [full];
wait:
    mbarrier.try_wait.parity.shared.b64 %p1, [full], 0;
    @!%p1 bra wait;
    mad.lo.u32 %r2, %r0, 16, %r1;
    ld.shared.v4.b32 {{%r8, %r9, %r10, %r11}}, [%r2+30720];
    shr.u32 %r3, %r1, 4;
    mov.b32 %r4, 0;
    mov.b64 %rd4, {{%r3, %r4}};
    add.u64 %rd2, %rd4, {a_desc};
    add.u64 %rd3, %rd4, {b_desc};
    setp.ne.u32 %p1, %r4, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n{N}k{k}.{sum_ty}.{ty}.{ty} {{{sums}}}, {a}, %rd3, %p1{flags};
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mad.wide.u32 %rd6, %r0, {row}, %rd1;
{stores}    ret;
}}
",
        a_desc = descriptors[0],
        b_desc = descriptors[1] + (b_at as u64 >> 4),
        ty = case.ty,
        sums = sums.join(", "),
        row = 4 * N / 2,
    )
}

fn check(case: &Case) {
    let k = 32 / case.size;
    let (a, b): (Vec<f64>, Vec<f64>) =
        (noise(M * k, 5).into_iter().map(value).collect(), noise(N * k, 6).into_iter().map(value).collect());
    let b_at = 16384;
    let mut image = vec![0; 32768];
    let mut descriptors = [0; 2];
    for (which, (values, rows, base)) in [(&a, M, 0), (&b, N, b_at)].into_iter().enumerate() {
        for row in 0..rows {
            for at in 0..k {
                let (byte, [leading, stride]) = layout(case, case.transpose[which], rows, row, at);
                image[base + byte..][..case.size].copy_from_slice(&bits(case.ty, values[row * k + at]));
                let mode = match case.span {
                    16 => 0u64,
                    32 => 3,
                    64 => 2,
                    _ => 1,
                };
                descriptors[which] = mode << 62 | (stride as u64 >> 4) << 32 | (leading as u64 >> 4) << 16;
            }
        }
    }
    // Thread t of warp w has rows 16 w + t / 4 and + 8, bytes 4 (t % 4) of k and + 16.
    for thread in 0..128 {
        let (warp, lane) = (thread / 32, thread % 32);
        for register in 0..4 {
            let row = 16 * warp + lane / 4 + 8 * (register % 2);
            let first = (4 * (lane % 4) + 16 * (register / 2)) / case.size;
            let bytes = (first..first + 4 / case.size).flat_map(|at| bits(case.ty, a[row * k + at]));
            for (i, byte) in bytes.enumerate() {
                image[30720 + 16 * thread + 4 * register + i] = byte;
            }
        }
    }
    let text = kernel(case, k, b_at, descriptors);
    let name = format!("{} span {} {:?} {}", case.ty, case.span, case.transpose, case.registers);
    let module = tegula_isa_ptx::parse(&text, &name).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let memory = Buffers::default();
    let (image_at, out) = (memory.add(image), memory.add(vec![0; 4 * M * N]));
    let params = [image_at, out].iter().flat_map(|word| word.to_le_bytes()).collect();
    let launch = Launch { grid: [1; 3], block: [128, 1, 1], params, ..Launch::default() };
    run(&module.entries[0], &launch, &memory).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (at, bits) in memory.u32s(out).into_iter().enumerate() {
        let (thread, i) = (at / (N / 2), at % (N / 2));
        let (warp, lane) = (thread / 32, thread % 32);
        let row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
        let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
        let got = if case.ty == "s8" { bits as i32 as f64 } else { f32::from_bits(bits) as f64 };
        let wanted: f64 = (0..k).map(|at| a[row * k + at] * b[column * k + at]).sum();
        assert_eq!(got, wanted, "{name}: row {row}, column {column}");
    }
}

#[test]
fn every_type_and_layout_multiplies() {
    for (ty, size) in [("bf16", 2), ("f16", 2), ("tf32", 4), ("e4m3", 1), ("s8", 1)] {
        for span in [16, 32, 64, 128] {
            for registers in [false, true] {
                check(&Case { ty, size, span, transpose: [false; 2], registers });
            }
        }
    }
}

#[test]
fn factors_may_lie_along_rows() {
    for ty in ["bf16", "f16"] {
        for span in [16, 32, 64] {
            for transpose in [[true, false], [false, true], [true, true]] {
                check(&Case { ty, size: 2, span, transpose, registers: false });
            }
        }
        // 64 elements of rows are an atom of 128 bytes: more than n has.
        check(&Case { ty, size: 2, span: 128, transpose: [true, false], registers: false });
    }
}
