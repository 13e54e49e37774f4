//! Every scalar operation on every dtype: the expansion in the portable executor against the shared semantics
//! table. Integers, bool, casts and correctly rounded operations bitwise; functions within 2 ulp of the dtype.

use tegula_base::DType;
use tegula_ir::{ScalarOp, scalar::eval::eval};
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::math::expand;
use tegula_target_cpu::schedule::{Builder, CompareOp, CpuFunc, LoopLevel, builder::At};

const LANES: u32 = 8;
/// A generator's seed; one value a test keeps failures repeatable.
const SEED: u64 = 0x7e90_1a5e_ed00_0001;

/// Arguments 1 to n are the operands, n + 1 the result; one work unit an element.
fn kernel(op: ScalarOp, dtypes: &[DType], result: DType) -> CpuFunc {
    let mut b = Builder::new("elementwise");
    let (begin, end) = (b.begin(), b.end());
    b.for_(begin, end, LANES.into(), LoopLevel::L1, &[], |b, i, _| {
        let left = b.sub(end, i);
        let at = |b: &mut Builder, word: usize, dtype: DType| {
            At::new(b.arg(word)).indexed(i, dtype.size() as u32).count(left)
        };
        let mut args = vec![];
        for (k, dtype) in dtypes.iter().enumerate() {
            let at = at(b, k + 1, *dtype);
            let loaded = b.load_at(*dtype, LANES, at);
            let zero = b.i32(LANES, 0);
            args.push(if *dtype == DType::Bool { b.compare(CompareOp::Ne, loaded, zero) } else { loaded });
        }
        let value = expand(b, op, dtypes, &args);
        let value = if result == DType::Bool { b.mask_to_vec(value) } else { value };
        let at = at(b, dtypes.len() + 1, result);
        b.store_at(result, value, at);
        vec![]
    });
    b.finish()
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// The bits of a number as the dtype holds it in memory.
fn bits_of(dtype: DType, value: f64) -> u64 {
    eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::F64], &[value.to_bits()])
}

/// Whether memory may hold these bits.
fn valid(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::Bool => bits & 1,
        DType::U4 => bits & 0xf,
        DType::I4 => u64::from(((bits as u8) << 4) as i8 as u8 >> 4 | if bits & 8 != 0 { 0xf0 } else { 0 }),
        _ if dtype.bits() == 64 => bits,
        _ => bits & ((1 << dtype.bits()) - 1),
    }
}

/// Edges, small numbers, numbers of every size, plain bit patterns.
fn values(dtype: DType, random: &mut Random, count: usize) -> Vec<u64> {
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
        let bits = random.next();
        values.push(match bits % 4 {
            0 => bits_of(dtype, (bits >> 11) as f64 / 2f64.powi(50) - 4.0),
            1 => bits_of(dtype, ((bits >> 32) as i32 >> (bits >> 8 & 31)).into()),
            _ => valid(dtype, bits >> (bits & 63) ^ random.next() >> 20),
        });
    }
    values.truncate(count);
    values
}

fn as_f64(dtype: DType, bits: u64) -> f64 {
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

/// Runs the kernel on columns of operands; the first disagreement.
fn compare(op: ScalarOp, dtypes: &[DType], columns: &[Vec<u64>]) -> Result<(), String> {
    let result = op.result_type(dtypes)?;
    let count = columns[0].len();
    let memory = VecMemory::new();
    let mut args = vec![0];
    for (dtype, column) in dtypes.iter().zip(columns) {
        args.push(
            memory.add(column.iter().flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec()).collect()),
        );
    }
    let out = memory.add(vec![0; count * result.size()]);
    args.push(out);
    let kernel = Executable::new(&kernel(op, dtypes, result))?;
    kernel.run(&args, 0, 0, count as u64, &memory).map_err(|fault| fault.to_string())?;
    let got = memory.bytes(out);
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
            let near = (a, b) != (0.0, 0.0) && distance(result, got, expected) <= allowance(op, result);
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
    Ok(())
}

fn check_all(cases: impl IntoIterator<Item = (ScalarOp, Vec<DType>)>) {
    let mut random = Random(SEED);
    let mut wrong = vec![];
    for (op, dtypes) in cases {
        // One operand of at most 16 bits is tried whole.
        let whole = dtypes.len() == 1 && dtypes[0].bits() <= 16;
        let columns: Vec<Vec<u64>> = match whole {
            true => vec![(0..1u64 << dtypes[0].bits()).map(|bits| valid(dtypes[0], bits)).collect()],
            false => {
                dtypes.iter().map(|dtype| shuffled(values(*dtype, &mut random, 3000), &mut random)).collect()
            }
        };
        if let Err(error) = compare(op, &dtypes, &columns) {
            wrong.push(error);
        }
    }
    assert!(wrong.is_empty(), "{} operations are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn shuffled(mut values: Vec<u64>, random: &mut Random) -> Vec<u64> {
    for i in (1..values.len()).rev() {
        values.swap(i, (random.next() % (i as u64 + 1)) as usize);
    }
    values
}

/// The op on each dtype that it is defined on.
fn on_all(op: ScalarOp) -> Vec<(ScalarOp, Vec<DType>)> {
    let operands = DType::ALL.map(|dtype| match op {
        ScalarOp::Select => vec![DType::Bool, dtype, dtype],
        _ => vec![dtype; op.arity()],
    });
    operands.into_iter().filter(|dtypes| op.result_type(dtypes).is_ok()).map(|dtypes| (op, dtypes)).collect()
}

#[test]
fn plain_operations() {
    check_all(ScalarOp::PLAIN.into_iter().chain([ScalarOp::Fma]).flat_map(on_all));
}

#[test]
fn casts() {
    let casts =
        DType::ALL.into_iter().flat_map(|to| [true, false].map(|saturate| ScalarOp::Cast { to, saturate }));
    check_all(casts.flat_map(on_all));
}

#[test]
fn bitcasts() {
    check_all(DType::ALL.into_iter().flat_map(|to| on_all(ScalarOp::Bitcast { to })));
}

/// Constant operands take other roads.
#[test]
fn extrema_with_constants() {
    for dtype in [DType::F32, DType::F64] {
        for constant in [0.0, -0.0, 6.0, -1.0, f64::NAN, f64::INFINITY] {
            for op in [ScalarOp::Min, ScalarOp::Max] {
                for first in [true, false] {
                    extremum_with_constant(op, dtype, constant, first);
                }
            }
        }
    }
}

fn extremum_with_constant(op: ScalarOp, dtype: DType, constant: f64, first: bool) {
    let column = values(dtype, &mut Random(SEED), 400);
    let mut b = Builder::new("extremum");
    let (begin, end, input, output) = (b.begin(), b.end(), b.arg(1), b.arg(2));
    b.for_(begin, end, 1, LoopLevel::L1, &[], |b, i, _| {
        let x = b.load_at(dtype, 1, At::new(input).indexed(i, dtype.size() as u32));
        let c = if dtype == DType::F32 { b.f32(1, constant as f32) } else { b.f64(1, constant) };
        let y = expand(b, op, &[dtype; 2], &if first { [c, x] } else { [x, c] });
        b.store_at(dtype, y, At::new(output).indexed(i, dtype.size() as u32));
        vec![]
    });
    let memory = VecMemory::new();
    let size = dtype.size();
    let input = memory.add(column.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect());
    let output = memory.add(vec![0; column.len() * size]);
    let kernel = Executable::new(&b.finish()).expect("the kernel is well formed");
    kernel
        .run(&[0, input, output], 0, 0, column.len() as u64, &memory)
        .expect("the kernel stays in its buffers");
    for (x, got) in column.iter().zip(memory.bytes(output).chunks_exact(size)) {
        let c = bits_of(dtype, constant);
        let expected = eval(op, &[dtype; 2], &if first { [c, *x] } else { [*x, c] });
        let mut word = [0; 8];
        word[..size].copy_from_slice(got);
        let (a, b) = (as_f64(dtype, u64::from_le_bytes(word)), as_f64(dtype, expected));
        assert!(
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            "{op} of {dtype} {constant:?} and {:?}: {a:?}, not {b:?}",
            as_f64(dtype, *x)
        );
    }
}
