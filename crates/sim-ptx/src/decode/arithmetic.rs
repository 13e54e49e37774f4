//! What several kinds of instructions share: packed halves, and comparisons.

use tegula_isa_ptx::modifiers::Compare;

/// A function of 16-bit values on both halves of 32 bits.
pub fn halves2(f: impl Fn(u64, u64) -> u64) -> impl Fn(u64, u64) -> u64 {
    move |a, b| f(a & 0xffff, b & 0xffff) & 0xffff | (f(a >> 16, b >> 16) & 0xffff) << 16
}

pub fn halves1(f: impl Fn(u64) -> u64) -> impl Fn(u64) -> u64 {
    move |a| f(a & 0xffff) & 0xffff | (f(a >> 16) & 0xffff) << 16
}

pub fn halves3(f: impl Fn(u64, u64, u64) -> u64) -> impl Fn(u64, u64, u64) -> u64 {
    move |a, b, c| {
        f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff | (f(a >> 16, b >> 16, c >> 16) & 0xffff) << 16
    }
}

/// Of what order two values have; `None`: one is NaN.
pub fn holds(cmp: Compare, order: Option<std::cmp::Ordering>) -> bool {
    use Compare::*;
    use std::cmp::Ordering::*;
    match order {
        Some(order) => match cmp {
            Eq | Equ => order == Equal,
            Ne | Neu => order != Equal,
            Lt | Lo | Ltu => order == Less,
            Le | Ls | Leu => order != Greater,
            Gt | Hi | Gtu => order == Greater,
            Ge | Hs | Geu => order != Less,
            Num => true,
            Nan => false,
        },
        None => matches!(cmp, Equ | Neu | Ltu | Leu | Gtu | Geu | Nan),
    }
}
