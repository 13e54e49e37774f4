//! AMD's cores since Zen: two pipes multiply vectors and two add them, beside the units of general registers. A vector
//! wider than the datapath holds its pipe for a cycle a part.
//! Source: uops.info, Zen 3 to Zen 5; AMD, Software Optimization Guides for these, publications 56665, 57647 and 58455.

use super::{Figures, Ports, Unit, of_width};
use tegula_machine::{Core, ZenPipes};

const ALU_DIVIDE: Ports = 0x0001;
const BRANCH: Ports = 0x00c0;
const FP: Ports = 0x0f00;
const FP_FIRST: Ports = 0x0100;
const FP_MULTIPLY: Ports = 0x0300;
const FP_ADD: Ports = 0x0c00;
const FP_SHUFFLE: Ports = 0x0600;
const FP_DIVIDE: Ports = 0x0200;

pub(super) fn figures(unit: Unit, bytes: usize, core: &Core, pipes: ZenPipes) -> Figures {
    let of = |ports, latency| Figures { ports, latency, taken: 1, divides: 0, slots: 1 };
    let in_parts = |width: usize, ports, latency| Figures {
        taken: bytes.div_ceil(width).max(1) as u16,
        ..of(ports, latency)
    };
    let of_pipe = |ports, latency| in_parts(core.datapath, ports, latency);
    let crossing = |latency| in_parts(pipes.crossing, FP_SHUFFLE, latency);
    let alus = |count: u16| (1u32 << count) - 1;
    match unit {
        Unit::None => of(0, 0),
        Unit::Integer => of(alus(pipes.alus), 1),
        Unit::Multiply => of(alus(pipes.multipliers), 3),
        Unit::Divide => Figures { taken: 7, slots: 2, ..of(ALU_DIVIDE, 12) },
        Unit::Branch => of(BRANCH, 1),
        Unit::Fma => of_pipe(FP_MULTIPLY, 4),
        Unit::FloatMultiply => of_pipe(FP_MULTIPLY, 3),
        Unit::FloatAdd => of_pipe(FP_ADD, 3),
        Unit::Logic => of_pipe(FP, if bytes > 32 { core.logic } else { 1 }),
        Unit::Shift => of_pipe(FP_FIRST << (pipes.shift - 1) | FP_FIRST << pipes.shift, core.shift),
        Unit::IntMultiply | Unit::IntMultiplyLow => of_pipe(FP_MULTIPLY, 3),
        Unit::Shuffle => of_pipe(FP_SHUFFLE, 2),
        Unit::Permute => crossing(4),
        Unit::Permute2 => crossing(5),
        Unit::Convert | Unit::Round => of_pipe(FP_ADD, core.convert),
        Unit::Narrow | Unit::Half => Figures { slots: 2, ..crossing(5) },
        Unit::FloatDivide => Figures { divides: of_width(core.divide, bytes), ..of_pipe(FP_DIVIDE, 11) },
        Unit::FloatSqrt => Figures { divides: of_width(core.sqrt, bytes), ..of_pipe(FP_DIVIDE, 15) },
        Unit::Dot => of_pipe(FP_MULTIPLY, 4),
        Unit::DotBf16 => of_pipe(FP_MULTIPLY, 6),
        Unit::Compare => of_pipe(FP_MULTIPLY, 5),
        Unit::Mask => of_pipe(FP_MULTIPLY, 2),
        Unit::FromGeneral => of_pipe(FP_SHUFFLE, 6),
        Unit::ToGeneral => of_pipe(FP_SHUFFLE, 6),
        Unit::Gather => Figures { taken: 8, slots: 40, ..of_pipe(FP_SHUFFLE, 24) },
        Unit::Call => Figures { taken: 30, slots: 60, ..of(ALU_DIVIDE, 60) },
    }
}
