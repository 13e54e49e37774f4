//! Every scalar operation on every dtype against the shared semantics table (`ir`, `scalar/eval.rs`): operands at edges
//! and everywhere, and how far a result may be off (`docs/numerics.md`).

use tegula_base::DType;
use tegula_ir::{ScalarOp, scalar::eval::eval};

/// A generator's seed; one value a test keeps failures repeatable.
pub const SEED: u64 = 0x7e90_1a5e_ed00_0001;

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// The bits of a number as the dtype holds it in memory.
pub fn bits_of(dtype: DType, value: f64) -> u64 {
    eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::F64], &[value.to_bits()])
}

/// Whether memory may hold these bits.
fn valid(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::Bool => bits & 1,
        dtype if dtype.is_int() && dtype.is_signed() && dtype.bits() < 8 => {
            let unused = 8 - dtype.bits();
            u64::from(((bits << unused) as i8 >> unused) as u8)
        }
        _ if dtype.bits() == 64 => bits,
        _ => bits & ((1 << dtype.bits()) - 1),
    }
}

/// Edges, small numbers, numbers of every size, plain bit patterns.
pub fn values(dtype: DType, random: &mut Random, count: usize) -> Vec<u64> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        3.0,
        -7.0,
        15.0,
        16.0,
        100.0,
        127.0,
        128.0,
        -128.0,
        255.0,
        256.0,
        300.0,
        32_767.5,
        -32_769.0,
        65_535.0,
        65_536.0,
        2_147_483_648.0,
        -2_147_483_649.0,
        4_294_967_296.0,
        1e10,
        9.223_372_036_854_775e18,
        1.844_674_407_370_955_2e19,
        -9.3e18,
        1e-8,
        6e-8,
        1e-40,
        3e38,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        447.0,
        463.9,
        464.1,
        1.5e-5,
        0.003,
    ];
    let mut values: Vec<u64> = edges.iter().map(|value| bits_of(dtype, *value)).collect();
    values.extend((0..=64).map(|shift| valid(dtype, u64::MAX.checked_shr(shift).unwrap_or(0))));
    values.extend((0..64).map(|shift| valid(dtype, 1 << shift)));
    while values.len() < count {
        let bits = random.bits();
        values.push(match bits % 4 {
            0 => bits_of(dtype, (bits >> 11) as f64 / 2f64.powi(50) - 4.0),
            1 => bits_of(dtype, ((bits >> 32) as i32 >> (bits >> 8 & 31)).into()),
            _ => valid(dtype, bits >> (bits & 63) ^ random.bits() >> 20),
        });
    }
    values.truncate(count);
    values
}

pub fn as_f64(dtype: DType, bits: u64) -> f64 {
    f64::from_bits(eval(ScalarOp::Cast { to: DType::F64, saturate: true }, &[dtype], &[bits]))
}

/// Steps between two finite numbers of a float dtype.
fn distance(dtype: DType, a: u64, b: u64) -> u64 {
    let top = 1i128 << (dtype.bits() - 1);
    let order = |bits: u64| {
        let bits = i128::from(bits);
        if bits >= top { top - bits } else { bits }
    };
    order(a).abs_diff(order(b)) as u64
}

/// Ulps that the operation may be off. Products that are denormal in `bf16` are rounded twice.
fn allowance(op: ScalarOp, dtype: DType) -> u64 {
    use ScalarOp::*;
    match op {
        Mul | Div | Fma => u64::from(dtype == DType::BF16),
        Neg
        | Abs
        | Sign
        | Ceil
        | Floor
        | Round
        | Trunc
        | Sqrt
        | Reciprocal
        | Add
        | Sub
        | Min
        | Max
        | Select
        | Cast { .. }
        | Bitcast { .. }
        | Rem
        | Mod => 0,
        _ => 2,
    }
}

/// Runs an op: the operands' columns in, the bytes of the results out. `None`: the op is refused on these dtypes.
pub type Run<'a> = &'a dyn Fn(ScalarOp, &[DType], &[Vec<u8>]) -> Result<Option<Vec<u8>>, String>;

/// Runs the op on columns of operands. Whether it ran; errors: the first disagreement.
fn compare(run: Run, op: ScalarOp, dtypes: &[DType], columns: &[Vec<u64>]) -> Result<bool, String> {
    let result = op.result_type(dtypes)?;
    let bytes = |(dtype, column): (&DType, &Vec<u64>)| -> Vec<u8> {
        column.iter().flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec()).collect()
    };
    let operands: Vec<Vec<u8>> = dtypes.iter().zip(columns).map(bytes).collect();
    let Some(got) = run(op, dtypes, &operands)? else { return Ok(false) };
    for (i, bytes) in got.chunks_exact(result.size()).enumerate() {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let got = u64::from_le_bytes(word);
        let operands: Vec<u64> = columns.iter().map(|column| column[i]).collect();
        let expected = eval(op, dtypes, &operands);
        if got == expected {
            continue;
        }
        // The payload of a narrow NaN is lost where it is widened.
        let narrow_nan =
            dtypes[0].is_float() && dtypes[0].bits() < 32 && as_f64(dtypes[0], operands[0]).is_nan();
        if narrow_nan && matches!(op, ScalarOp::Bitcast { .. }) {
            continue;
        }
        if result.is_float() {
            let (a, b) = (as_f64(result, got), as_f64(result, expected));
            // Both zero, but of different sign: wrong.
            let flushed =
                result != DType::F64 && a == 0.0 && b.abs() < f32::MIN_POSITIVE.into() && op.may_flush();
            let near =
                flushed || (a, b) != (0.0, 0.0) && distance(result, got, expected) <= allowance(op, result);
            if a.is_nan() && b.is_nan() || near {
                continue;
            }
        }
        let shown: Vec<String> =
            dtypes.iter().zip(&operands).map(|(d, x)| format!("{:e} ({x:#x})", as_f64(*d, *x))).collect();
        let (a, b) = (as_f64(result, got), as_f64(result, expected));
        let operands = shown.join(", ");
        return Err(format!(
            "`{op}` on {}: ({operands}) gives {a:e} ({got:#x}), not {b:e} ({expected:#x})",
            dtypes[0]
        ));
    }
    Ok(true)
}

/// Checks an op on operands of every kind; panics where results are wrong. Gives what was refused, by op and dtype.
pub fn check_all(
    run: Run,
    cases: impl IntoIterator<Item = (ScalarOp, Vec<DType>)>,
) -> Vec<(ScalarOp, DType)> {
    let mut random = Random(SEED);
    let (mut wrong, mut refused) = (vec![], vec![]);
    for (op, dtypes) in cases {
        // One operand of at most 16 bits is tried whole.
        let whole = dtypes.len() == 1 && dtypes[0].bits() <= 16;
        let columns: Vec<Vec<u64>> = match whole {
            true => vec![(0..1u64 << dtypes[0].bits()).map(|bits| valid(dtypes[0], bits)).collect()],
            false => {
                dtypes.iter().map(|dtype| shuffled(values(*dtype, &mut random, 3000), &mut random)).collect()
            }
        };
        match compare(run, op, &dtypes, &columns) {
            Ok(true) => {}
            Ok(false) => refused.push((op, dtypes[dtypes.len() - 1])),
            Err(error) => wrong.push(error),
        }
    }
    assert!(wrong.is_empty(), "{} operations are wrong:\n{}", wrong.len(), wrong.join("\n"));
    refused
}

fn shuffled(mut values: Vec<u64>, random: &mut Random) -> Vec<u64> {
    for i in (1..values.len()).rev() {
        values.swap(i, (random.bits() % (i as u64 + 1)) as usize);
    }
    values
}

/// The op on each dtype of kernels that it is defined on.
pub fn on_all(op: ScalarOp) -> Vec<(ScalarOp, Vec<DType>)> {
    let operands = DType::COMPUTED.map(|dtype| match op {
        ScalarOp::Select => vec![DType::Bool, dtype, dtype],
        _ => vec![dtype; op.arity()],
    });
    operands.into_iter().filter(|dtypes| op.result_type(dtypes).is_ok()).map(|dtypes| (op, dtypes)).collect()
}

/// All ops without parameters on all dtypes of kernels, casts, and bit casts.
pub fn every_op() -> Vec<(ScalarOp, Vec<DType>)> {
    let plain = ScalarOp::PLAIN.into_iter().chain([ScalarOp::Fma]);
    let casts = DType::COMPUTED
        .into_iter()
        .flat_map(|to| [true, false].map(|saturate| ScalarOp::Cast { to, saturate }));
    let bits = DType::COMPUTED.into_iter().map(|to| ScalarOp::Bitcast { to });
    plain.chain(casts).chain(bits).flat_map(on_all).collect()
}
