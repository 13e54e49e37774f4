//! The loops for x86-64, each of instructions that do not wait for each other: enough of them for the latency of any (4
//! to 6 cycles) times the two that start in a cycle, with room for an imperfect order. On Zen 5 `vdpbf16ps` reaches its
//! rate with 16 sums and misses it by 4 % with 14.

use super::{Arithmetic, Loop};
use std::arch::asm;

/// Floats near 1 as `f32` and as pairs of `bf16`, neither 0 nor the largest as bytes: sums that grow as real ones do.
const FACTOR: u32 = 0x3f80_3f80;

/// Cycles of a pass, and the passes: an addition of two registers takes a cycle on every processor; one of a constant
/// takes none on some.
pub(super) fn chain() -> Option<(u64, fn(u64))> {
    fn run(passes: u64) {
        // SAFETY: only the named registers and flags change.
        unsafe {
            asm!(
                "2:",
                ".rept 16",
                "add {sum}, {one}",
                ".endr",
                "dec {passes}",
                "jnz 2b",
                sum = inout(reg) 0u64 => _,
                one = in(reg) 1u64,
                passes = inout(reg) passes.max(1) => _,
                options(nomem, nostack),
            );
        }
    }
    Some((16, run))
}

/// A function whose passes run `$instruction` once on each `$sum`, with two registers that are factors.
macro_rules! register_loop {
    ($name:ident, $features:literal, $instruction:literal, $kind:literal $a:literal $b:literal: $($sum:literal)*) => {
        fn $name(passes: u64) {
            #[target_feature(enable = $features)]
            fn run(passes: u64) {
                // SAFETY: only flags and registers change that a call may change, and the processor has the
                // instruction.
                unsafe {
                    asm!(
                        "vmovd xmm0, eax",
                        concat!("vpbroadcastd ", $kind, $a, ", xmm0"),
                        concat!("vpbroadcastd ", $kind, $b, ", xmm0"),
                        $(concat!("vxorps ", $kind, $sum, ", ", $kind, $sum, ", ", $kind, $sum),)*
                        "2:",
                        $(concat!($instruction, " ", $kind, $sum, ", ", $kind, $a, ", ", $kind, $b),)*
                        "dec rcx",
                        "jnz 2b",
                        inout("eax") FACTOR => _,
                        inout("rcx") passes.max(1) => _,
                        clobber_abi("sysv64"),
                        options(nomem, nostack),
                    );
                }
            }
            // SAFETY: `register_loop` gives this function out only where the processor has the features.
            unsafe { run(passes) }
        }
    };
}

register_loop!(f32_of_512, "avx512f,avx512dq", "vfmadd231ps", "zmm" 30 31:
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
register_loop!(bf16_of_512, "avx512f,avx512dq,avx512bf16", "vdpbf16ps", "zmm" 30 31:
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
register_loop!(u8s8_of_512, "avx512f,avx512dq,avx512vnni", "vpdpbusd", "zmm" 30 31:
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
register_loop!(f32_of_256, "avx2,fma", "vfmadd231ps", "ymm" 14 15: 0 1 2 3 4 5 6 7 8 9 10 11 12 13);
register_loop!(u8s8_of_256, "avx2,avxvnni", "{{vex}} vpdpbusd", "ymm" 14 15: 0 1 2 3 4 5 6 7 8 9 10 11 12 13);

/// The widest that the processor has. A multiply-add of a 512-bit register is 16 of `f32`, 32 of `bf16`, 64 of bytes.
pub(super) fn register_loop(of: Arithmetic) -> Option<Loop> {
    let is_wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
    let is_medium = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let (instruction, multiply_adds, run): (_, _, fn(u64)) = match of {
        Arithmetic::F32 if is_wide => ("vfmadd231ps zmm", 16 * 20, f32_of_512),
        Arithmetic::F32 if is_medium => ("vfmadd231ps ymm", 8 * 14, f32_of_256),
        Arithmetic::Bf16 if is_wide && is_x86_feature_detected!("avx512bf16") => {
            ("vdpbf16ps zmm", 32 * 20, bf16_of_512)
        }
        Arithmetic::U8S8 if is_wide && is_x86_feature_detected!("avx512vnni") => {
            ("vpdpbusd zmm", 64 * 20, u8s8_of_512)
        }
        Arithmetic::U8S8 if is_medium && is_x86_feature_detected!("avxvnni") => {
            ("vpdpbusd ymm", 32 * 14, u8s8_of_256)
        }
        Arithmetic::F32 | Arithmetic::Bf16 | Arithmetic::U8S8 => return None,
    };
    Some(Loop { instruction, operations: 2 * multiply_adds, run })
}

/// A function that reads the two halves of a block at once, eight loads a pass: more of a cache's misses are under way
/// than with one stream.
macro_rules! reader {
    ($name:ident, $feature:literal, $kind:literal, $width:literal) => {
        fn $name(block: &[u8]) {
            #[target_feature(enable = $feature)]
            fn run(block: &[u8]) {
                let passes = block.len() / (8 * $width);
                if passes == 0 {
                    return;
                }
                let second = &block[passes * 4 * $width..];
                // SAFETY: reads `passes` times four registers from the block's start and as much behind it, which both
                // lie in the block; only flags and registers change that a call may change.
                unsafe {
                    asm!(
                        "2:",
                        concat!("vmovups ", $kind, "0, [rsi]"),
                        concat!("vmovups ", $kind, "1, [rsi + ", $width, "]"),
                        concat!("vmovups ", $kind, "2, [rsi + 2 * ", $width, "]"),
                        concat!("vmovups ", $kind, "3, [rsi + 3 * ", $width, "]"),
                        concat!("vmovups ", $kind, "4, [rdi]"),
                        concat!("vmovups ", $kind, "5, [rdi + ", $width, "]"),
                        concat!("vmovups ", $kind, "6, [rdi + 2 * ", $width, "]"),
                        concat!("vmovups ", $kind, "7, [rdi + 3 * ", $width, "]"),
                        concat!("add rsi, 4 * ", $width),
                        concat!("add rdi, 4 * ", $width),
                        "dec rcx",
                        "jnz 2b",
                        inout("rsi") block.as_ptr() => _,
                        inout("rdi") second.as_ptr() => _,
                        inout("rcx") passes => _,
                        clobber_abi("sysv64"),
                        options(readonly, nostack),
                    );
                }
            }
            // SAFETY: `reader` gives this function out only where the processor has the feature.
            unsafe { run(block) }
        }
    };
}

reader!(read_by_512, "avx512f", "zmm", 64);
reader!(read_by_256, "avx2", "ymm", 32);

/// Reads a block once, whole passes of it, by the widest loads there are.
pub(super) fn reader() -> Option<fn(&[u8])> {
    if is_x86_feature_detected!("avx512f") {
        Some(read_by_512)
    } else if is_x86_feature_detected!("avx2") {
        Some(read_by_256)
    } else {
        None
    }
}
