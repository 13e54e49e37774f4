//! Lane arithmetic: one function a (op, element), over slices of raw bits of equal length.

use crate::schedule::{CompareOp, Elem, ReduceOp, VecOp};

pub(super) type Apply1<W> = fn(&mut [W], &[W]);
pub(super) type Apply2<W> = fn(&mut [W], &[W], &[W]);
pub(super) type Apply3<W> = fn(&mut [W], &[W], &[W], &[W]);
/// Bit `i` of the result is the truth of lane `i`.
pub(super) type Test<W> = fn(&[W], &[W]) -> u64;

/// What an op does, by its number of operands.
pub(super) enum Apply<W> {
    One(Apply1<W>),
    Two(Apply2<W>),
    Three(Apply3<W>),
}

#[inline(always)]
fn map1<W: Copy>(out: &mut [W], a: &[W], f: impl Fn(W) -> W) {
    for (out, a) in out.iter_mut().zip(a) {
        *out = f(*a);
    }
}

#[inline(always)]
fn map2<W: Copy>(out: &mut [W], a: &[W], b: &[W], f: impl Fn(W, W) -> W) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

#[inline(always)]
fn map3<W: Copy>(out: &mut [W], a: &[W], b: &[W], c: &[W], f: impl Fn(W, W, W) -> W) {
    for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(*a, *b, *c);
    }
}

#[inline(always)]
fn test<W: Copy>(a: &[W], b: &[W], f: impl Fn(W, W) -> bool) -> u64 {
    a.iter().zip(b).enumerate().fold(0, |mask, (i, (a, b))| mask | u64::from(f(*a, *b)) << i)
}

/// The tables of one float type; `None` where the op takes other lanes.
macro_rules! float_tables {
    ($vec:ident, $compare:ident, $float:ty, $bits:ty) => {
        fn $vec(op: VecOp) -> Option<Apply<$bits>> {
            const fn real(bits: $bits) -> $float {
                <$float>::from_bits(bits)
            }
            Some(match op {
                VecOp::Add => Apply::Two(|o, a, b| map2(o, a, b, |a, b| (real(a) + real(b)).to_bits())),
                VecOp::Sub => Apply::Two(|o, a, b| map2(o, a, b, |a, b| (real(a) - real(b)).to_bits())),
                VecOp::Mul => Apply::Two(|o, a, b| map2(o, a, b, |a, b| (real(a) * real(b)).to_bits())),
                VecOp::Div => Apply::Two(|o, a, b| map2(o, a, b, |a, b| (real(a) / real(b)).to_bits())),
                VecOp::Min => {
                    Apply::Two(|o, a, b| map2(o, a, b, |a, b| if real(a) < real(b) { a } else { b }))
                }
                VecOp::Max => {
                    Apply::Two(|o, a, b| map2(o, a, b, |a, b| if real(a) > real(b) { a } else { b }))
                }
                VecOp::Maximum => Apply::Two(|o, a, b| {
                    map2(o, a, b, |a, b| {
                        let (one, two) = if real(a) > real(b) { (a, a) } else { (b, a) };
                        let two = if real(b) > real(a) { b } else { two };
                        (one & two) | ((one | two) & <$bits>::MAX >> 1)
                    })
                }),
                VecOp::Sqrt => Apply::One(|o, a| map1(o, a, |a| real(a).sqrt().to_bits())),
                VecOp::Floor => Apply::One(|o, a| map1(o, a, |a| real(a).floor().to_bits())),
                VecOp::Ceil => Apply::One(|o, a| map1(o, a, |a| real(a).ceil().to_bits())),
                VecOp::Trunc => Apply::One(|o, a| map1(o, a, |a| real(a).trunc().to_bits())),
                VecOp::RoundEven => Apply::One(|o, a| map1(o, a, |a| real(a).round_ties_even().to_bits())),
                VecOp::Fma => Apply::Three(|o, a, b, c| {
                    map3(o, a, b, c, |a, b, c| real(a).mul_add(real(b), real(c)).to_bits())
                }),
                VecOp::Fnma => Apply::Three(|o, a, b, c| {
                    map3(o, a, b, c, |a, b, c| (-real(a)).mul_add(real(b), real(c)).to_bits())
                }),
                _ => return None,
            })
        }

        fn $compare(op: CompareOp) -> Option<Test<$bits>> {
            const fn real(bits: $bits) -> $float {
                <$float>::from_bits(bits)
            }
            Some(match op {
                CompareOp::Eq => |a, b| test(a, b, |a, b| real(a) == real(b)),
                CompareOp::Ne => |a, b| test(a, b, |a, b| real(a) != real(b)),
                CompareOp::Lt => |a, b| test(a, b, |a, b| real(a) < real(b)),
                CompareOp::Le => |a, b| test(a, b, |a, b| real(a) <= real(b)),
                CompareOp::LtU | CompareOp::LeU => return None,
            })
        }
    };
}
float_tables!(vec_f32, compare_f32, f32, u32);
float_tables!(vec_f64, compare_f64, f64, u64);

/// The tables of one integer width, bitwise ops of any lanes among them.
macro_rules! int_tables {
    ($vec:ident, $compare:ident, $signed:ty, $bits:ty) => {
        fn $vec(op: VecOp) -> Option<Apply<$bits>> {
            const WIDTH: $bits = <$bits>::BITS as $bits;
            type S = $signed;
            Some(Apply::Two(match op {
                VecOp::Add => |o, a, b| map2(o, a, b, |a, b| a.wrapping_add(b)),
                VecOp::Sub => |o, a, b| map2(o, a, b, |a, b| a.wrapping_sub(b)),
                VecOp::Mul => |o, a, b| map2(o, a, b, |a, b| a.wrapping_mul(b)),
                VecOp::Div => |o, a, b| {
                    map2(o, a, b, |a, b| if b == 0 { 0 } else { (a as S).wrapping_div(b as S) as $bits })
                },
                VecOp::Rem => |o, a, b| {
                    map2(o, a, b, |a, b| if b == 0 { 0 } else { (a as S).wrapping_rem(b as S) as $bits })
                },
                VecOp::DivU => |o, a, b| map2(o, a, b, |a, b| a.checked_div(b).unwrap_or(0)),
                VecOp::RemU => |o, a, b| map2(o, a, b, |a, b| a.checked_rem(b).unwrap_or(0)),
                VecOp::Min => |o, a, b| map2(o, a, b, |a, b| (a as S).min(b as S) as $bits),
                VecOp::Max => |o, a, b| map2(o, a, b, |a, b| (a as S).max(b as S) as $bits),
                VecOp::MinU => |o, a, b| map2(o, a, b, |a, b| a.min(b)),
                VecOp::MaxU => |o, a, b| map2(o, a, b, |a, b| a.max(b)),
                VecOp::And => |o, a, b| map2(o, a, b, |a, b| a & b),
                VecOp::Or => |o, a, b| map2(o, a, b, |a, b| a | b),
                VecOp::Xor => |o, a, b| map2(o, a, b, |a, b| a ^ b),
                VecOp::AndNot => |o, a, b| map2(o, a, b, |a, b| !a & b),
                VecOp::Shl => |o, a, b| map2(o, a, b, |a, b| if b < WIDTH { a << b } else { 0 }),
                VecOp::Shr => |o, a, b| map2(o, a, b, |a, b| if b < WIDTH { a >> b } else { 0 }),
                VecOp::Sar => |o, a, b| map2(o, a, b, |a, b| ((a as S) >> b.min(WIDTH - 1)) as $bits),
                _ => return None,
            }))
        }

        fn $compare(op: CompareOp) -> Test<$bits> {
            type S = $signed;
            match op {
                CompareOp::Eq => |a, b| test(a, b, |a, b| a == b),
                CompareOp::Ne => |a, b| test(a, b, |a, b| a != b),
                CompareOp::Lt => |a, b| test(a, b, |a, b| (a as S) < (b as S)),
                CompareOp::Le => |a, b| test(a, b, |a, b| (a as S) <= (b as S)),
                CompareOp::LtU => |a, b| test(a, b, |a, b| a < b),
                CompareOp::LeU => |a, b| test(a, b, |a, b| a <= b),
            }
        }
    };
}
int_tables!(vec_i32, compare_i32, i32, u32);
int_tables!(vec_i64, compare_i64, i64, u64);

fn is_bitwise(op: VecOp) -> bool {
    matches!(op, VecOp::And | VecOp::Or | VecOp::Xor | VecOp::AndNot)
}

/// Lane-wise arithmetic on elements of at most 32 bits; narrow elements only bitwise.
pub(super) fn vec32(op: VecOp, elem: Elem) -> Option<Apply<u32>> {
    if elem == Elem::F32 && !is_bitwise(op) { vec_f32(op) } else { vec_i32(op) }
}

pub(super) fn vec64(op: VecOp, elem: Elem) -> Option<Apply<u64>> {
    if elem == Elem::F64 && !is_bitwise(op) { vec_f64(op) } else { vec_i64(op) }
}

pub(super) fn compare32(op: CompareOp, elem: Elem) -> Option<Test<u32>> {
    if elem == Elem::F32 { compare_f32(op) } else { Some(compare_i32(op)) }
}

pub(super) fn compare64(op: CompareOp, elem: Elem) -> Option<Test<u64>> {
    if elem == Elem::F64 { compare_f64(op) } else { Some(compare_i64(op)) }
}

/// The lane-wise op that a reduction repeats.
pub(super) const fn combiner(op: ReduceOp) -> VecOp {
    match op {
        ReduceOp::Add => VecOp::Add,
        ReduceOp::Mul => VecOp::Mul,
        ReduceOp::Min => VecOp::Min,
        ReduceOp::Max => VecOp::Max,
        ReduceOp::MinU => VecOp::MinU,
        ReduceOp::MaxU => VecOp::MaxU,
        ReduceOp::And => VecOp::And,
        ReduceOp::Or => VecOp::Or,
        ReduceOp::Xor => VecOp::Xor,
    }
}

/// `acc + a . b` of 4 unsigned and 4 signed bytes a lane, wrapping.
pub(super) fn dot_u8s8(out: &mut [u32], acc: &[u32], a: &[u32], b: &[u32]) {
    map3(out, acc, a, b, |acc, a, b| {
        let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        let sum: i32 = products.map(|(a, b)| i32::from(a) * i32::from(b as i8)).sum();
        acc.wrapping_add(sum as u32)
    });
}

/// As [`dot_u8s8`], the sums of the lower and of the upper two products each saturated to 16 bits.
pub(super) fn dot_u8s8_pairs(out: &mut [u32], acc: &[u32], a: &[u32], b: &[u32]) {
    map3(out, acc, a, b, |acc, a, b| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i] as i8);
        let pairs = [0, 2].map(|i| (product(i) + product(i + 1)).clamp(i16::MIN.into(), i16::MAX.into()));
        acc.wrapping_add((pairs[0] + pairs[1]) as u32)
    });
}

/// `acc + a . b` of 2 signed words a lane, wrapping.
pub(super) fn dot_words(out: &mut [u32], acc: &[u32], a: &[u32], b: &[u32]) {
    map3(out, acc, a, b, |acc, a, b| {
        let word = |lane: u32, i: u32| i32::from((lane >> (16 * i)) as u16 as i16);
        let products = [0, 1].map(|i| (word(a, i) * word(b, i)) as u32);
        acc.wrapping_add(products[0]).wrapping_add(products[1])
    });
}

/// `acc + a1 * b1 + a0 * b0`, each step fused, denormals flushed: what `vdpbf16ps` does (Intel 64 and IA-32 Architectures
/// Software Developer's Manual, volume 2), infinities and NaN included.
pub(super) fn dot_bf16(out: &mut [u32], acc: &[u32], a: &[u32], b: &[u32]) {
    map3(out, acc, a, b, |acc, a, b| {
        let low = |pair: u32| f32::from_bits(pair << 16);
        let high = |pair: u32| f32::from_bits(pair & 0xffff_0000);
        let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
        let step = |sum: f32, x: f32, y: f32| flushed(flushed(x).mul_add(flushed(y), sum));
        let sum = flushed(f32::from_bits(acc));
        step(step(sum, high(a), high(b)), low(a), low(b)).to_bits()
    });
}
