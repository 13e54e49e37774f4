//! Intel's cores since Sunny Cove, as servers have them: one set of ports for general registers and vectors. Of 512-bit
//! instructions ports 0 and 1 take one together, and port 5 another. Golden Cove adds narrow floats on port 5, in less time,
//! and has a port more for general registers.
//! Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, 248966, chapter 2; uops.info, Ice Lake and Alder
//! Lake P; loops of one instruction on an Ice Lake, 2026-11-24, and on an Emerald Rapids, 2026-11-23.

use super::{Figures, Ports, Unit, of_width};
use tegula_machine::{Core, CoreFamily};

const P0: Ports = 0x0100;
const P1: Ports = 0x0200;
const P5: Ports = 0x0400;
const P6: Ports = 0x0040;
const P10: Ports = 0x0001;

pub(super) fn figures(unit: Unit, bytes: usize, core: &Core) -> Figures {
    let wide = bytes > 32;
    let is_golden = core.family == CoreFamily::GoldenCove;
    let of = |ports, latency| Figures { ports, latency, taken: 1, divides: 0, slots: 1 };
    // Of two micro-ops.
    let twice = |figures: Figures| Figures { taken: 2, slots: 2, ..figures };
    let multiply = if wide { P0 | P5 } else { P0 | P1 };
    let (add, sum) = match (wide, is_golden) {
        (true, _) => (P0 | P5, 4),
        (false, true) => (P1 | P5, 3),
        (false, false) => (P0 | P1, 4),
    };
    let shuffle = if wide { P5 } else { P1 | P5 };
    match unit {
        Unit::None => of(0, 0),
        Unit::Integer => of(P0 | P1 | P5 | P6 | if is_golden { P10 } else { 0 }, 1),
        Unit::Multiply => of(P1, 3),
        Unit::Divide => Figures { taken: 6, slots: 4, ..of(P1, 14) },
        Unit::Branch => of(P0 | P6, 1),
        Unit::Fma | Unit::FloatMultiply => of(multiply, 4),
        Unit::FloatAdd => of(add, sum),
        Unit::Logic => of(if wide { P0 | P5 } else { P0 | P1 | P5 }, core.logic),
        Unit::Shift => of(if wide { P0 } else { P0 | P1 }, core.shift),
        Unit::IntMultiply => of(multiply, 5),
        Unit::IntMultiplyLow => twice(of(multiply, 10)),
        Unit::Shuffle => of(shuffle, 1),
        Unit::Permute | Unit::Permute2 => of(P5, 3),
        Unit::Convert => of(multiply, core.convert),
        Unit::Round => twice(of(multiply, 8)),
        Unit::Narrow => twice(of(P5, 4)),
        Unit::Half => Figures { slots: 2, ..of(P5, 8) },
        Unit::FloatDivide => Figures { divides: of_width(core.divide, bytes), ..of(P0, 17) },
        Unit::FloatSqrt => Figures { divides: of_width(core.sqrt, bytes), ..of(P0, 20) },
        Unit::Dot => of(multiply, if wide { 6 } else { 5 }),
        Unit::DotBf16 => twice(of(P0, 8)),
        Unit::Compare => of(P5, 3),
        Unit::Mask => of(P0, 1),
        Unit::FromGeneral => of(P5, 3),
        Unit::ToGeneral => of(P0, 3),
        Unit::Gather => Figures { taken: 4, slots: 26, ..of(P5, 20) },
        Unit::Call => Figures { taken: 30, slots: 60, ..of(P1, 60) },
    }
}
