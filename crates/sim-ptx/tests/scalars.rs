//! Scalar instructions against Rust's own arithmetic, on values at the edges and on noise.

use crate::common;

use common::{Buffers, launch, param};
use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{EntryBuilder, Op, Operand, Reg, RegClass};

/// Runs `op` of up to three sources on one lane.
fn eval(classes: &[RegClass], result: RegClass, values: &[u64], op: impl Fn(Reg, &[Reg]) -> Op) -> u64 {
    let mut b = EntryBuilder::new("scalar");
    let out = param(&mut b, "out");
    let mut sources = Vec::new();
    for (class, value) in classes.iter().zip(values) {
        let d = b.fresh(*class);
        let ty = match class {
            RegClass::Pred => LogicType::Pred,
            RegClass::B16 => LogicType::B16,
            RegClass::B32 => LogicType::B32,
            RegClass::B64 => LogicType::B64,
        };
        b.emit(Mov { ty, d, a: Operand::Imm(*value) });
        sources.push(d);
    }
    let d = b.fresh(result);
    let op = op(d, &sources);
    assert_eq!(op.check(), Ok(()), "{op:?}");
    b.emit(op);
    let (stored, ty) = match result {
        RegClass::Pred => {
            let word = b.b32();
            b.emit(Selp { ty: SelectType::U32, d: word, a: Operand::u32(1), b: Operand::u32(0), p: d });
            (word, MemoryType::U32)
        }
        RegClass::B16 => (d, MemoryType::U16),
        RegClass::B32 => (d, MemoryType::U32),
        RegClass::B64 => (d, MemoryType::U64),
    };
    let address = out.into();
    b.emit(St { space: StateSpace::Global, ty, a: [stored].into_iter().collect(), address, ..St::default() });
    let memory = Buffers::default();
    let out = memory.add(vec![0; 8]);
    launch(&b.finish(), 1, 1, &[out], &memory).unwrap();
    u64::from_le_bytes(memory.bytes(out).try_into().unwrap())
}

const W: RegClass = RegClass::B32;
const D: RegClass = RegClass::B64;
const H: RegClass = RegClass::B16;

const WORDS: [u32; 9] = [0, 1, 2, 7, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff_fffe, 0xffff_ffff];

#[test]
fn integers_of_32_bits() {
    for a in WORDS {
        for b in WORDS {
            let two = |op: &dyn Fn(Reg, Operand, Operand) -> Op| {
                eval(&[W, W], W, &[a as u64, b as u64], |d, s| op(d, s[0].into(), s[1].into())) as u32
            };
            let (u, s, lo, hi) = (IntType::U32, IntType::S32, MulPart::Lo, MulPart::Hi);
            let mul = |part, ty| two(&|d, a, b| Mul { part, ty, d, a, b }.into());
            assert_eq!(mul(lo, u), a.wrapping_mul(b));
            assert_eq!(mul(hi, u), ((a as u64 * b as u64) >> 32) as u32);
            assert_eq!(mul(hi, s), ((a as i32 as i64 * b as i32 as i64) >> 32) as u32);
            let sum = two(&|d, a, b| Add { sat: true, ty: IntType2::S32, d, a, b }.into());
            assert_eq!(sum, (a as i32).saturating_add(b as i32) as u32);
            let least = two(&|d, a, b| Min { relu: false, ty: IntType2::S32, d, a, b }.into());
            assert_eq!(least, (a as i32).min(b as i32) as u32);
            let most = two(&|d, a, b| Max { relu: false, ty: IntType2::U16x2, d, a, b }.into());
            assert_eq!(most, (a >> 16).max(b >> 16) << 16 | (a & 0xffff).max(b & 0xffff));
            let quotient = two(&|d, a, b| Div { ty: u, d, a, b }.into());
            assert!(a.checked_div(b).is_none_or(|wanted| quotient == wanted));
            let rest = two(&|d, a, b| Rem { ty: s, d, a, b }.into()) as i32;
            assert!(b == 0 || rest == (a as i32).wrapping_rem(b as i32));
            let right = two(&|d, a, b| Shr { ty: ShiftRightType::S32, d, a, b }.into());
            assert_eq!(right, ((a as i32 as i64) >> b.min(63)) as u32);
            let left = two(&|d, a, b| Shl { ty: BitsType::B32, d, a, b }.into());
            assert_eq!(left, a.checked_shl(b).unwrap_or(0));
        }
        let found = eval(&[W], W, &[a as u64], |d, s| {
            Bfind { shift_amount: false, ty: WideInt::S32, d, a: s[0].into() }.into()
        });
        let magnitude = if (a as i32) < 0 { !a } else { a };
        assert_eq!(found as u32, magnitude.checked_ilog2().unwrap_or(u32::MAX));
        let field = eval(&[W], W, &[a as u64], |d, s| {
            Bfe { ty: WideInt::S32, d, a: s[0].into(), pos: Operand::u32(28), len: Operand::u32(3) }.into()
        });
        assert_eq!(field as u32, ((a << 1) as i32 >> 29) as u32);
        let logic = eval(&[W, W, W], W, &[a as u64, 0x1234_5678, 0x0f0f_00ff], |d, s| {
            Lop3 { d, a: s[0].into(), b: s[1].into(), c: s[2].into(), table: 0xe8 }.into()
        }) as u32;
        let (b, c) = (0x1234_5678, 0x0f0f_00ff);
        assert_eq!(logic, a & b | a & c | b & c);
    }
}

#[test]
fn bytes_are_permuted() {
    let permuted = |selector: u64, mode| {
        eval(&[W, W], W, &[0x3322_1180, 0x7766_5544], |d, s| {
            Prmt { mode, d, a: s[0].into(), b: s[1].into(), selector: Operand::Imm(selector) }.into()
        })
    };
    assert_eq!(permuted(0x7521, None), 0x7755_2211);
    assert_eq!(permuted(0x8890, None), 0xffff_0080);
    assert_eq!(permuted(2, Some(PermuteMode::Rc8)), 0x2222_2222);
    assert_eq!(permuted(3, Some(PermuteMode::F4e)), 0x6655_4433);
}

#[test]
fn floats_of_32_bits_round_as_said() {
    let values = [
        0.0f32,
        -0.0,
        1.0,
        -1.5,
        3.0e-39,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
        0.1,
        16777217.0,
        1e-20,
        -7.25e10,
    ];
    for a in values {
        for b in values {
            let bits = [a.to_bits() as u64, b.to_bits() as u64];
            let ty = FloatType::F32;
            let sum = |round| {
                f32::from_bits(eval(&[W, W], W, &bits, |d, s| {
                    FAdd { round: Some(round), ty, d, a: s[0].into(), b: s[1].into(), ..FAdd::default() }
                        .into()
                }) as u32)
            };
            let near = sum(Round::Rn);
            assert!(near == a + b || near.is_nan() && (a + b).is_nan());
            let (down, up, zero) = (sum(Round::Rm), sum(Round::Rp), sum(Round::Rz));
            if (a + b).is_finite() {
                let exact = a as f64 + b as f64;
                assert!(down as f64 <= exact && up as f64 >= exact, "{a:e} + {b:e}: {down:e} {up:e}");
                assert!(down == up || down.next_up() == up, "{a:e} + {b:e}: {down:e} {up:e}");
                assert_eq!(zero, if exact > 0.0 { down } else { up });
            }
            let quotient = f32::from_bits(eval(&[W, W], W, &bits, |d, s| {
                FDiv {
                    round: DivRound::Rn,
                    ftz: false,
                    ty: Float32Or64::F32,
                    d,
                    a: s[0].into(),
                    b: s[1].into(),
                }
                .into()
            }) as u32);
            assert!(quotient == a / b || quotient.is_nan() && (a / b).is_nan());
            let least = f32::from_bits(eval(&[W, W], W, &bits, |d, s| {
                FMin { ty, d, a: s[0].into(), b: s[1].into(), ..FMin::default() }.into()
            }) as u32);
            assert!(least == a.min(b) || least.is_nan() && a.is_nan() && b.is_nan());
        }
    }
}

#[test]
fn conversions_clamp_and_round() {
    let convert = |round, to: ConvertType, from: ConvertType, value: u64| {
        eval(&[from.class()], to.class(), &[value], |d, s| {
            Cvt { round, to, from, d, a: s[0], ..Cvt::default() }.into()
        })
    };
    use ConvertRound::*;
    let f = |value: f32| value.to_bits() as u64;
    assert_eq!(convert(Some(Rni), ConvertType::S32, ConvertType::F32, f(2.5)), 2);
    assert_eq!(convert(Some(Rzi), ConvertType::S32, ConvertType::F32, f(-2.5)) as u32 as i32, -2);
    assert_eq!(convert(Some(Rzi), ConvertType::U8, ConvertType::F32, f(300.0)), 255);
    assert_eq!(convert(Some(Rzi), ConvertType::S32, ConvertType::F32, f(1e20)) as u32, i32::MAX as u32);
    assert_eq!(convert(Some(Rmi), ConvertType::F32, ConvertType::F32, f(-2.5)), f(-3.0));
    assert_eq!(convert(Some(Rn), ConvertType::F16, ConvertType::F32, f(65519.0)), 0x7bff);
    assert_eq!(convert(None, ConvertType::F32, ConvertType::BF16, 0x3fc0), f(1.5));
    assert_eq!(convert(None, ConvertType::S32, ConvertType::S8, 0xff80), 0xffff_ff80);
    let odd = (1u64 << 62) + (1 << 38) + 1;
    assert_eq!(convert(Some(Rn), ConvertType::F32, ConvertType::U64, odd), f(odd as f32));
    assert_eq!(
        eval(&[W, W], W, &[f(1.0), f(-2.0)], |d, s| {
            CvtHalves { to: PackedHalf::BF16x2, d, a: s[0].into(), b: s[1].into(), ..CvtHalves::default() }
                .into()
        }),
        0x3f80_c000
    );
    assert_eq!(
        eval(&[W], W, &[f(1.000_488_3)], |d, s| {
            CvtTf32 { round: Tf32Round::Rna, relu: false, d, a: s[0].into() }.into()
        }),
        f(1.000_976_6)
    );
    assert_eq!(
        eval(&[W, W], H, &[f(1e9), f(-0.3)], |d, s| {
            CvtF8 { relu: false, to: PackedF8::E4M3x2, d, a: s[0].into(), b: s[1].into() }.into()
        }),
        0x7eaa
    );
}

#[test]
fn wide_products_and_f64() {
    assert_eq!(
        eval(&[W, W], D, &[0xffff_ffff, 0xffff_ffff], |d, s| {
            MulWide { ty: NarrowInt::S32, d, a: s[0].into(), b: s[1].into() }.into()
        }),
        1
    );
    let [a, b, c] = [1.0 + f64::EPSILON, 1.0 - f64::EPSILON, -1.0];
    let bits = [a, b, c].map(f64::to_bits);
    assert_eq!(
        eval(&[D, D, D], D, &bits, |d, s| {
            Fma { ty: FloatType::F64, d, a: s[0].into(), b: s[1].into(), c: s[2].into(), ..Fma::default() }
                .into()
        }),
        a.mul_add(b, c).to_bits()
    );
    let x = 0.7f64;
    let two = eval(&[W], W, &[(x as f32).to_bits() as u64], |d, s| {
        Ex2 { ftz: false, ty: Ex2Type::F32, d, a: s[0].into() }.into()
    });
    assert_eq!(two, ((x as f32 as f64).exp2() as f32).to_bits() as u64);
}

/// Of two words beside each other; beyond 32 bits a count is 32, or wraps.
#[test]
fn funnel_shifts() {
    let (lo, hi) = (0x89ab_cdefu32, 0x0123_4567u32);
    let both = u64::from(hi) << 32 | u64::from(lo);
    for by in [0, 1, 31, 32, 33, 63, 64, u32::MAX] {
        for (mode, bits) in [(ShiftMode::Clamp, by.min(32)), (ShiftMode::Wrap, by % 32)] {
            let shifted = |direction| {
                let values = [lo, hi, by].map(u64::from);
                let op = |d, s: &[Reg]| {
                    Shf { direction, mode, d, lo: s[0].into(), hi: s[1].into(), by: s[2].into() }.into()
                };
                eval(&[W, W, W], W, &values, op)
            };
            let left = (u128::from(both) << bits >> 32) as u32;
            assert_eq!(shifted(Direction::Left), u64::from(left), "{mode:?} {by}");
            assert_eq!(shifted(Direction::Right), both >> bits & 0xffff_ffff, "{mode:?} {by}");
        }
    }
}
