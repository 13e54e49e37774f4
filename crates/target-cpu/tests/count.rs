//! Counts of `asm/axpy.mlir`'s code against those read off its listing.

use std::path::Path;
use tegula_target_cpu::count::{Call, Program, Tally, tally};
use tegula_target_cpu::exec::decode;
use tegula_target_cpu::native::compile;
use tegula_target_cpu::tier::Tier;

fn program(tier: Tier) -> Program {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/asm/axpy.mlir");
    let text = std::fs::read_to_string(path).expect("the case");
    let (input, _) = text.split_once("// -----\n").expect("a listing behind the kernel");
    let func = decode(input.as_bytes()).expect("a schedule");
    Program::decode(&compile(&func, tier).expect("code").bytes).expect("code that kernels have")
}

fn count(program: &Program, begin: u64, end: u64) -> Tally {
    tally(program, &Call { words: &[0, 0x10000, 0x20000], scratch: 0x30000, begin, end }).expect("an end")
}

#[test]
fn a_loop_counts_as_its_listing_says() {
    let program = program(Tier::Avx2);
    // Ten instructions around the loop, twenty in it or nineteen where not all lanes are stored, three that align its head;
    // two loads and a store of 32 bytes; two constants, two words.
    let around = Tally { instructions: 10, bytes_read: 32 + 4 + 2 * 8, bytes_written: 0, calls: 0 };
    assert_eq!(count(&program, 5, 5), around);
    for trips in [1, 2, 9, 1000] {
        let expected = Tally {
            instructions: 10 + 3 + 20 * trips,
            bytes_read: around.bytes_read + 64 * trips,
            bytes_written: 32 * trips,
            calls: 0,
        };
        assert_eq!(count(&program, 0, 8 * trips), expected);
        let masked = Tally { instructions: expected.instructions - 1, ..expected };
        assert_eq!(count(&program, 3, 8 * trips), masked, "the last trip is masked");
    }
}

#[test]
fn both_tiers_move_the_same() {
    let (narrow, wide) = (program(Tier::Avx2), program(Tier::Avx512));
    let moved = |program: &Program| {
        let (few, many) = (count(program, 0, 80), count(program, 0, 160));
        (many.bytes_read - few.bytes_read, many.bytes_written - few.bytes_written)
    };
    assert_eq!(moved(&narrow), moved(&wide));
    assert!(count(&wide, 0, 800).instructions < count(&narrow, 0, 800).instructions);
}

#[test]
fn what_is_no_code_is_refused() {
    assert!(Program::decode(&[0x06, 0x06, 0x06]).is_err());
}

/// What the model of a core is told of an instruction's memory.
#[test]
fn accesses_are_of_the_bytes_that_they_touch() {
    let told = |code: &[u8]| {
        let program = Program::decode(&[code, &[0xc3]].concat()).expect("code that kernels have");
        let inst = &program.blocks[0].insts[0];
        (inst.bytes, inst.memory_bytes, inst.masked)
    };
    // `vaddps zmm0, zmm1, [rdi]{1to16}`, `vbroadcastss zmm0, [rdi]`, `vpmovzxbd zmm0, [rdi]`, `vmovups zmm0, [rdi]`.
    assert_eq!(told(&[0x62, 0xf1, 0x74, 0x58, 0x58, 0x07]), (64, 4, false));
    assert_eq!(told(&[0x62, 0xf2, 0x7d, 0x48, 0x18, 0x07]), (64, 4, false));
    assert_eq!(told(&[0x62, 0xf2, 0x7d, 0x48, 0x31, 0x07]), (64, 16, false));
    assert_eq!(told(&[0x62, 0xf1, 0x7c, 0x48, 0x10, 0x07]), (64, 64, false));
    // `vmovups [rdi]{k1}, zmm0`, `vpmaskmovd [rdi], ymm1, ymm0`, `vmaskmovps [rdi], ymm1, ymm0`.
    assert_eq!(told(&[0x62, 0xf1, 0x7c, 0x49, 0x11, 0x07]), (64, 64, true));
    assert_eq!(told(&[0xc4, 0xe2, 0x75, 0x8e, 0x07]), (32, 32, true));
    assert_eq!(told(&[0xc4, 0xe2, 0x75, 0x2e, 0x07]), (32, 32, true));
}
