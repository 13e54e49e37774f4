//! The kind of work of each instruction that selection uses.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};
use tegula_perf::cpu::Unit;

/// Bytes of the widest register, or of what general registers hold.
pub(super) fn bytes_of(instruction: &Instruction) -> usize {
    let registers = (0..instruction.op_count())
        .filter(|i| instruction.op_kind(*i) == OpKind::Register)
        .map(|i| instruction.op_register(i))
        .filter(|register| !register.is_k());
    registers.map(Register::size).max().unwrap_or(8)
}

/// `xor` of a register with itself: a zero that waits for nothing.
pub(super) fn is_zeroing(instruction: &Instruction) -> bool {
    use Mnemonic::{Kxorq, Vpxor, Vpxord, Vxorps, Xor};
    let same = |a: u32, b: u32| {
        instruction.op_kind(a) == OpKind::Register
            && instruction.op_kind(b) == OpKind::Register
            && instruction.op_register(a) == instruction.op_register(b)
    };
    match instruction.mnemonic() {
        Xor => same(0, 1),
        Vpxor | Vpxord | Vxorps | Kxorq => same(1, 2),
        _ => false,
    }
}

fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory)
}

/// The kind of work, memory aside: a plain load or store has none.
pub(super) fn unit_of(instruction: &Instruction) -> Unit {
    use Mnemonic as M;
    if is_zeroing(instruction) {
        return Unit::None;
    }
    match instruction.flow_control() {
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Return => {
            return Unit::Branch;
        }
        FlowControl::IndirectCall | FlowControl::Call => return Unit::Call,
        _ => {}
    }
    let in_memory = has_memory(instruction);
    let is_general =
        |i: u32| instruction.op_kind(i) == OpKind::Register && instruction.op_register(i).is_gpr();
    match instruction.mnemonic() {
        M::Nop | M::Push | M::Pop | M::Vzeroupper | M::Prefetcht1 => Unit::None,
        M::Mov | M::Vmovups | M::Vmovaps | M::Vmovdqu64 | M::Vmovdqu32 => match instruction.op_mask() {
            // Copies are renamed.
            Register::None => Unit::None,
            _ => Unit::Logic,
        },
        M::Vmovss | M::Vmovsd => Unit::None,
        M::Movzx | M::Movsx | M::Movsxd if in_memory => Unit::None,
        M::Imul => Unit::Multiply,
        M::Div | M::Idiv => Unit::Divide,
        M::Vmovd | M::Vmovq if in_memory => Unit::None,
        M::Vmovd | M::Vmovq => {
            if is_general(0) {
                Unit::ToGeneral
            } else {
                Unit::FromGeneral
            }
        }
        M::Vpextrb | M::Vpextrw | M::Vpextrd | M::Vpextrq => {
            if in_memory {
                Unit::Narrow
            } else {
                Unit::ToGeneral
            }
        }
        M::Vpinsrb | M::Vpinsrw | M::Vpinsrd | M::Vpinsrq => {
            if in_memory {
                Unit::Shuffle
            } else {
                Unit::FromGeneral
            }
        }
        M::Kmovq | M::Kmovd | M::Kmovw | M::Kmovb => match in_memory {
            true => Unit::None,
            false if is_general(1) => Unit::FromGeneral,
            false if is_general(0) => Unit::ToGeneral,
            false => Unit::Mask,
        },
        M::Kandq | M::Korq | M::Kxorq | M::Kandnq | M::Vpmovm2d => Unit::Mask,
        M::Vpbroadcastb | M::Vpbroadcastw | M::Vpbroadcastd | M::Vpbroadcastq | M::Vbroadcastss => {
            match (in_memory, is_general(1)) {
                // Of four bytes and more the load itself repeats.
                (true, _) => match instruction.mnemonic() {
                    M::Vpbroadcastb | M::Vpbroadcastw => Unit::Shuffle,
                    _ => Unit::None,
                },
                (_, true) => Unit::FromGeneral,
                _ => Unit::Permute,
            }
        }
        M::Vaddps | M::Vaddpd | M::Vsubps | M::Vsubpd | M::Vaddss | M::Vsubss => Unit::FloatAdd,
        M::Vmulps | M::Vmulpd | M::Vmulss => Unit::FloatMultiply,
        M::Vminps | M::Vmaxps | M::Vminpd | M::Vmaxpd => Unit::FloatAdd,
        M::Vdivps | M::Vdivpd | M::Vdivss | M::Vdivsd => Unit::FloatDivide,
        M::Vsqrtps | M::Vsqrtpd => Unit::FloatSqrt,
        M::Vpmuludq | M::Vpmaddwd | M::Vpmaddubsw => Unit::IntMultiply,
        M::Vpmulld | M::Vpmullq => Unit::IntMultiplyLow,
        M::Vpdpbusd => Unit::Dot,
        M::Vdpbf16ps => Unit::DotBf16,
        M::Vpshufb | M::Vpshufd | M::Vshufps => Unit::Shuffle,
        M::Vpermd
        | M::Vperm2f128
        | M::Vextractf128
        | M::Vextractf32x4
        | M::Vextractf64x4
        | M::Vinsertf128
        | M::Vinsertf32x4
        | M::Vinsertf64x4 => match in_memory {
            // Halves come and go by the load and the store.
            true if instruction.mnemonic() != M::Vpermd => Unit::Logic,
            _ => Unit::Permute,
        },
        M::Vpermi2d | M::Vpermi2b | M::Vpermt2d | M::Vpermt2b => Unit::Permute2,
        M::Vpmovsxbd
        | M::Vpmovzxbd
        | M::Vpmovsxwd
        | M::Vpmovzxwd
        | M::Vpmovsxdq
        | M::Vpmovzxdq
        | M::Vpmovzxbw
        | M::Vpmovsxbw => Unit::Permute,
        M::Vpmovdb | M::Vpmovdw | M::Vpmovqd => Unit::Narrow,
        M::Vcvtps2ph | M::Vcvtph2ps => Unit::Half,
        M::Vroundps | M::Vroundpd | M::Vrndscaleps | M::Vrndscalepd => Unit::Round,
        // Into vectors they pass by the adders, into masks by units of their own.
        M::Vcmpps | M::Vcmppd if instruction.op_register(0).is_vector_register() => Unit::FloatAdd,
        M::Vcmpps | M::Vcmppd | M::Vpcmpd | M::Vpcmpud | M::Vpcmpq | M::Vpcmpuq => Unit::Compare,
        M::Vpgatherdd | M::Vpgatherdq | M::Vpgatherqq | M::Vpgatherqd => Unit::Gather,
        mnemonic => by_name(mnemonic, instruction),
    }
}

/// Families with many members.
fn by_name(mnemonic: Mnemonic, instruction: &Instruction) -> Unit {
    let name = format!("{mnemonic:?}");
    let starts = |prefix: &str| name.starts_with(prefix);
    if !starts("V") {
        return Unit::Integer;
    }
    if starts("Vfmadd") || starts("Vfnmadd") || starts("Vfmsub") {
        Unit::Fma
    } else if starts("Vcvt") {
        let general =
            (0..2).any(|i| instruction.op_kind(i) == OpKind::Register && instruction.op_register(i).is_gpr());
        if general { Unit::FromGeneral } else { Unit::Convert }
    } else if starts("Vpsll") || starts("Vpsrl") || starts("Vpsra") {
        Unit::Shift
    } else if starts("Vpunpck") || starts("Vpack") {
        Unit::Shuffle
    } else {
        Unit::Logic
    }
}
