//! Instructions of AVX-512 under masks and with broadcasts, each with what the SDM says of it, worked out by hand.

use crate::common;

use common::{BUFFER, Bytes};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register as R};
use tegula_sim_x86::{Call, Kernel};

type Made = Result<Instruction, iced_x86::IcedError>;

/// Words of the buffer: 0 to 15 for `zmm0`, 16 to 31 for `zmm1`, 32 to 47 for `zmm2`, 48 to 63 the operand in memory; then
/// 16 for what a case stores.
const OPERAND: i64 = 192;
const STORED: usize = 64;
const WORDS: usize = 80;

/// What one instruction leaves: `zmm2` in words, `k1` and `k2`, and the words that it stored.
struct Left {
    zmm2: Vec<u32>,
    masks: [u64; 2],
    stored: Vec<u32>,
}

impl Left {
    fn floats(&self) -> Vec<f32> {
        self.zmm2.iter().map(|bits| f32::from_bits(*bits)).collect()
    }

    fn longs(&self) -> Vec<u64> {
        self.zmm2.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }
}

fn at(disp: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(R::R8, disp)
}

/// Runs an instruction on `zmm0` = 0, 1, ...; `zmm1` = 100, 101, ...; `zmm2` = nines; in memory 1000, 1001, ... unless words
/// are given; under `k1` = `mask` where the case says so.
fn left(given: &[(usize, u32)], mask: u64, instruction: Instruction) -> Result<Left, String> {
    let mut words: Vec<u32> =
        (0..16).chain(100..116).chain([9; 16]).chain(1000..1016).chain([7; 16]).collect();
    given.iter().for_each(|(place, word)| words[*place] = *word);
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let masks = bytes.len() as i64;
    bytes.extend([mask, 0].into_iter().flat_map(u64::to_le_bytes));
    let load = |register, disp| Instruction::with2(Code::EVEX_Vmovups_zmm_k1z_zmmm512, register, at(disp));
    let list: [Made; 11] = [
        Instruction::with2(Code::Mov_r64_rm64, R::R8, MemoryOperand::with_base_displ(R::RDI, 8)),
        Instruction::with2(Code::VEX_Kmovq_kr_km64, R::K1, at(masks)),
        load(R::ZMM0, 0),
        load(R::ZMM1, 64),
        load(R::ZMM2, 128),
        Ok(instruction),
        Instruction::with2(Code::EVEX_Vmovups_zmmm512_k1z_zmm, at(128), R::ZMM2),
        Instruction::with2(Code::VEX_Kmovq_m64_kr, at(masks), R::K1),
        Instruction::with2(Code::VEX_Kmovq_m64_kr, at(masks + 8), R::K2),
        Ok(Instruction::with(Code::VEX_Vzeroupper)),
        Ok(Instruction::with(Code::Retnq)),
    ];
    let mut encoder = Encoder::new(64);
    for instruction in list {
        encoder.encode(&instruction.unwrap(), 0).unwrap();
    }
    let memory = Bytes::new(bytes);
    let kernel = Kernel::new(&encoder.take_buffer()).map_err(|problem| problem.to_string())?;
    let ran = kernel.run(&Call { words: &[0, BUFFER], scratch: 0, begin: 0, end: 1 }, &memory);
    ran.map_err(|stopped| format!("{stopped:?}"))?;
    let words = memory.words();
    let mask = |i: usize| u64::from(words[WORDS + 2 * i]) | u64::from(words[WORDS + 2 * i + 1]) << 32;
    Ok(Left {
        zmm2: words[32..48].to_vec(),
        masks: [mask(0), mask(1)],
        stored: words[STORED..WORDS].to_vec(),
    })
}

fn ran(given: &[(usize, u32)], mask: u64, instruction: Instruction) -> Left {
    left(given, mask, instruction).unwrap_or_else(|problem| panic!("{problem}"))
}

fn masked(mut instruction: Instruction, zeroing: bool) -> Instruction {
    instruction.set_op_mask(R::K1);
    instruction.set_zeroing_masking(zeroing);
    instruction
}

/// The memory operand is one element.
fn one(code: Code, operands: &[R]) -> Instruction {
    let memory = MemoryOperand::new(R::R8, R::None, 1, OPERAND, 1, true, R::None);
    match operands {
        [a] => Instruction::with2(code, *a, memory),
        [a, b] => Instruction::with3(code, *a, *b, memory),
        _ => unreachable!("no case has more"),
    }
    .unwrap()
}

fn of3(code: Code, a: R, b: R, c: R) -> Instruction {
    Instruction::with3(code, a, b, c).unwrap()
}

fn double(value: f64) -> [u32; 2] {
    [value.to_bits() as u32, (value.to_bits() >> 32) as u32]
}

#[test]
fn comparisons_give_bits_and_zeros_where_a_lane_is_off() {
    let mut code =
        Instruction::with4(Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, R::K2, R::ZMM0, R::ZMM1, 1).unwrap();
    // 7 in lane 3 of the right side: 3 < 7, 4 < 104, but not 5 < -1.
    let given = [(16 + 3, 7), (16 + 5, u32::MAX)];
    assert_eq!(ran(&given, 0, code).masks[1], 0xffdf);
    code = masked(code, false);
    assert_eq!(ran(&given, 0b1011_1000, code).masks[1], 0b1001_1000);
    let unsigned =
        Instruction::with4(Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, R::K2, R::ZMM0, R::ZMM1, 1);
    assert_eq!(ran(&given, 0, unsigned.unwrap()).masks[1], 0xffff);
    // Neither less nor equal nor greater: predicate 3 is "unordered".
    let floats =
        Instruction::with4(Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae, R::K2, R::ZMM0, R::ZMM1, 3);
    assert_eq!(ran(&[(2, f32::NAN.to_bits())], 0, floats.unwrap()).masks[1], 0b100);
}

/// Lanes 0, 1 and 2 are equal, less and greater.
#[test]
fn each_predicate_tells_equal_less_and_greater() {
    let given = [(16, 5), (0, 5), (17, 5), (1, 4), (18, 5), (2, 6)];
    let expected = [0b001, 0b010, 0b011, 0b000, 0b110, 0b101, 0b100, 0b111];
    for (predicate, expected) in (0u32..).zip(expected) {
        for code in
            [Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8]
        {
            let compared = Instruction::with4(code, R::K2, R::ZMM0, R::ZMM1, predicate).unwrap();
            assert_eq!(ran(&given, 0, compared).masks[1] & 0b111, expected, "{predicate} of {code:?}");
        }
    }
}

/// A count of the width or more leaves nothing, or the sign.
#[test]
fn shifts_by_the_width_leave_nothing() {
    let (word, counts) = (0x8000_0101u32, [0, 1, 31, 32, 33, u32::MAX]);
    let given: Vec<(usize, u32)> = (0..6).flat_map(|i| [(i, word), (16 + i, counts[i])]).collect();
    let shifted = |code| ran(&given, 0, of3(code, R::ZMM2, R::ZMM0, R::ZMM1)).zmm2[..6].to_vec();
    let each = |f: &dyn Fn(u32) -> u32| counts.map(f).to_vec();
    let left = shifted(Code::EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32);
    assert_eq!(left, each(&|by| word.checked_shl(by).unwrap_or(0)));
    let right = shifted(Code::EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32);
    assert_eq!(right, each(&|by| word.checked_shr(by).unwrap_or(0)));
    let signed = shifted(Code::EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32);
    assert_eq!(signed, each(&|by| (word as i32 >> by.min(31)) as u32));
}

/// Of two NaNs the first is handed on, quiet.
#[test]
fn sums_hand_on_a_nan() {
    let [first, second] = [0x7f80_0001, 0xffc0_0002];
    let sum = of3(Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er, R::ZMM2, R::ZMM0, R::ZMM1);
    let one = 1.0f32.to_bits();
    let given = [(0, first), (16, second), (1, one), (17, second), (2, first), (18, one)];
    assert_eq!(ran(&given, 0, sum).zmm2[..3], [0x7fc0_0001, second, 0x7fc0_0001]);
}

#[test]
fn chosen_lanes() {
    let blend = masked(of3(Code::EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, R::ZMM1), false);
    assert_eq!(ran(&[], 0b0110, blend).zmm2[..4], [0, 101, 102, 3]);
    let spread = Instruction::with2(Code::EVEX_Vpmovm2d_zmm_kr, R::ZMM2, R::K1).unwrap();
    assert_eq!(ran(&[], 0b0101, spread).zmm2[..4], [u32::MAX, 0, u32::MAX, 0]);
    // Bit `4 a + 2 b + c` of the table: 0xca is `a ? b : c`, of 9, 0b0011 and 0b0101.
    let mut choose = Instruction::default();
    choose.set_code(Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8);
    for (i, register) in [R::ZMM2, R::ZMM0, R::ZMM1].into_iter().enumerate() {
        choose.set_op_kind(i as u32, iced_x86::OpKind::Register);
        choose.set_op_register(i as u32, register);
    }
    choose.set_op_kind(3, iced_x86::OpKind::Immediate8);
    choose.set_immediate8(0xca);
    assert_eq!(ran(&[(0, 0b0011), (16, 0b0101)], 0, choose).zmm2[0], (9 & 0b0011) | (!9 & 0b0101));
}

#[test]
fn bytes_and_words_of_two_tables() {
    // Numbers in the result's register: 17 is word 1 of the second table, 40 wraps to 8.
    let permute = of3(Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, R::ZMM1);
    assert_eq!(ran(&[(32, 17), (33, 40)], 0, permute).zmm2[..3], [101, 8, 9]);
    // 9 is a byte of lane 2, whose lowest is 8; 64 is the lowest of the second table.
    let bytes = of3(Code::EVEX_Vpermi2b_zmm_k1z_zmm_zmmm512, R::ZMM2, R::ZMM0, R::ZMM1);
    assert_eq!(ran(&[(32, 0x44_40_08_04)], 0, bytes).zmm2[0], 0x65_64_02_01);
}

#[test]
fn a_shuffle_reads_memory_whole() {
    let whole =
        Instruction::with3(Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, at(OPERAND)).unwrap();
    // Lane 0 is on, and takes word 15, whose own lane is off.
    assert_eq!(ran(&[(0, 15)], 1, masked(whole, true)).zmm2[..2], [1015, 0]);
    let past =
        Instruction::with3(Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, at(4 * 76)).unwrap();
    assert!(left(&[], 1, masked(past, true)).is_err_and(|problem| problem.contains("outside")));
    let lanes = Instruction::with2(Code::EVEX_Vmovups_zmm_k1z_zmmm512, R::ZMM2, at(4 * 76)).unwrap();
    assert!(left(&[], 1, masked(lanes, true)).is_ok());
}

#[test]
fn gathers_clear_their_mask() {
    let indices = MemoryOperand::new(R::R8, R::ZMM0, 4, OPERAND, 1, false, R::None);
    let gather = Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, R::ZMM2, indices).unwrap();
    let left = ran(&[(1, 5), (3, u32::MAX)], 0b1010, masked(gather, false));
    // Index -1 is the word before the operand.
    assert_eq!(left.zmm2[..4], [9, 1005, 9, 9]);
    assert_eq!(left.masks[0], 0);
}

#[test]
fn narrowing_stores_and_widening_loads_keep_to_their_lanes() {
    let narrow =
        Instruction::with2(Code::EVEX_Vpmovdb_xmmm128_k1z_zmm, at(4 * STORED as i64), R::ZMM1).unwrap();
    assert_eq!(ran(&[], 0b0101, masked(narrow, false)).stored[..2], [0x0066_0064, 7]);
    let wide = Instruction::with2(Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128, R::ZMM2, at(OPERAND)).unwrap();
    assert_eq!(
        ran(&[(48, 0x80_01_ff_02)], 0b1110, masked(wide, true)).zmm2[..5],
        [0, u32::MAX, 1, -128i32 as u32, 0]
    );
    let halves =
        Instruction::with3(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, at(4 * STORED as i64), R::ZMM1, 0)
            .unwrap();
    let ones = [(16, 1f32.to_bits()), (17, 2f32.to_bits()), (18, 65536f32.to_bits())];
    assert_eq!(ran(&ones, 0b101, masked(halves, false)).stored[..2], [0x3c00, 0x7c00]);
}

#[test]
fn one_element_is_converted_for_all_lanes() {
    let [low, high] = double(-2.5);
    let given = [(48, low), (49, high)];
    let narrow = one(Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er, &[R::YMM2]);
    assert_eq!(ran(&given, 0, narrow).floats()[..9], [-2.5, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5, -2.5, 0.0]);
    let wide = one(Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae, &[R::ZMM2]);
    assert_eq!(ran(&[(48, 1.5f32.to_bits())], 0, wide).longs()[..], [1.5f64.to_bits(); 8]);
}

#[test]
fn what_fits_no_integer() {
    let longs = [(0, double(-9.3e18)), (1, double(9.2e18)), (2, double(f64::NAN)), (3, double(-1.5))];
    let given: Vec<(usize, u32)> =
        longs.iter().flat_map(|(i, [low, high])| [(2 * i, *low), (2 * i + 1, *high)]).collect();
    let cut = Instruction::with2(Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae, R::ZMM2, R::ZMM0).unwrap();
    let least = i64::MIN as u64;
    assert_eq!(ran(&given, 0, cut).longs()[..4], [least, 9_200_000_000_000_000_000, least, u64::MAX]);
    let to_even = Instruction::with2(Code::EVEX_Vcvtpd2qq_zmm_k1z_zmmm512b64_er, R::ZMM2, R::ZMM0).unwrap();
    assert_eq!(ran(&given, 0, to_even).longs()[3], -2i64 as u64);
    // As unsigned, all ones are the largest.
    let unsigned = Instruction::with2(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, R::ZMM2, R::ZMM0).unwrap();
    assert_eq!(ran(&[(0, u32::MAX)], 0, unsigned).floats()[..2], [4294967296.0, 1.0]);
}

#[test]
fn sums_of_products() {
    // Bytes 1, 2, 255, 4 by 1, -1, 2, -128, and the nine.
    let dot = of3(Code::EVEX_Vpdpbusd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, R::ZMM1);
    let given = [(0, 0x04_ff_02_01), (16, 0x80_02_ff_01)];
    assert_eq!(ran(&given, 0, dot).zmm2[0] as i32, 9 + 1 - 2 + 510 - 512);
    // (1.5, 2) by (4, -0.5), on 100.
    let pairs = of3(Code::EVEX_Vdpbf16ps_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, R::ZMM1);
    let given = [(32, 100f32.to_bits()), (0, 0x4000_3fc0), (16, 0xbf00_4080)];
    assert_eq!(ran(&given, 0, pairs).floats()[0], 100.0 + 1.5 * 4.0 - 2.0 * 0.5);
}

#[test]
fn parts_of_registers() {
    let extract =
        Instruction::with3(Code::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8, R::XMM2, R::ZMM1, 2).unwrap();
    assert_eq!(ran(&[], 0b0110, masked(extract, true)).zmm2[..5], [0, 109, 110, 0, 0]);
    let insert =
        Instruction::with4(Code::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8, R::ZMM2, R::ZMM0, R::XMM1, 3)
            .unwrap();
    assert_eq!(ran(&[], 0, insert).zmm2[11..], [11, 100, 101, 102, 103]);
}
