//! Every scalar operation on every dtype: the expansion in the interpreter against the shared semantics
//! table. Integers, bool, casts and correctly rounded operations bitwise; functions within 2 ulp of the dtype.

use tegula_base::DType;
use tegula_ir::{ScalarOp, scalar::eval::eval};
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::math::{expand, ulp::ulp_error};
use tegula_target_cpu::schedule::{Builder, CompareOp, CpuFunc, LoopLevel, builder::At};
use tegula_testkit::scalars::{Random, SEED, as_f64, bits_of, check_all, every_op, values};

const LANES: u32 = 8;
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

/// The interpreter's results.
fn run(op: ScalarOp, dtypes: &[DType], columns: &[Vec<u8>]) -> Result<Option<Vec<u8>>, String> {
    let result = op.result_type(dtypes)?;
    let count = columns[0].len() / dtypes[0].size();
    let memory = VecMemory::new();
    let mut args = vec![0];
    args.extend(columns.iter().map(|column| memory.add(column.clone())));
    let out = memory.add(vec![0; count * result.size()]);
    args.push(out);
    let kernel = Executable::new(&kernel(op, dtypes, result))?;
    kernel.run(&args, 0, 0, count as u64, &memory).map_err(|fault| fault.to_string())?;
    Ok(Some(memory.bytes(out)))
}

#[test]
fn every_operation() {
    assert_eq!(check_all(&run, every_op()), []);
}

/// Special numbers to the power of each other as the shared semantics have them; others within 0.54 ulp of `f64`.
#[test]
fn powers() {
    let mut special =
        vec![0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 127.0, 0.333_333_34, 1.175_494_4e-38, 1e-45, 1e-40, 3.4e38];
    special.extend([
        0.999_999_94,
        1.000_000_1,
        16_777_215.0,
        16_777_216.0,
        8_388_607.5,
        f32::INFINITY,
        f32::NAN,
    ]);
    special.extend(special.clone().into_iter().map(|x| -x));
    let mut pairs: Vec<[f32; 2]> = special.iter().flat_map(|x| special.iter().map(|y| [*x, *y])).collect();
    let mut random = Random(SEED);
    for _ in 0..300_000 {
        let x = f32::from_bits(random.bits() as u32);
        // Any power that leaves a number, mostly: of log2 from -150 to 128; then whole and half ones.
        let log = f64::from(x.abs()).log2();
        let y = ((random.bits() as u32 as f64 / 2f64.powi(32) * 278.0 - 150.0) / log) as f32;
        let near_one = 1.0 + (random.bits() as i32 >> (8 + random.bits() % 20)) as f32 * 2f32.powi(-24);
        pairs.extend([[x, y], [x, y.round()], [x.abs(), (2.0 * y).round() / 2.0], [near_one, y * 100.0]]);
    }
    let columns = [0, 1].map(|k| pairs.iter().flat_map(|pair| pair[k].to_le_bytes()).collect::<Vec<u8>>());
    let got = run(ScalarOp::Pow, &[DType::F32; 2], &columns).unwrap().unwrap();
    for ([x, y], got) in pairs.iter().zip(got.chunks_exact(4)) {
        let got = f32::from_le_bytes(got.try_into().expect("4 bytes"));
        let wide = [x, y].map(|v| f64::from(*v).to_bits());
        let truth = f64::from_bits(eval(ScalarOp::Pow, &[DType::F64; 2], &wide));
        let error = ulp_error(ScalarOp::Pow, truth, got);
        assert!(error <= 0.54, "{x:?} to the power of {y:?} is {got:?}, {error} ulp off {truth:?}");
        let signs = got.is_sign_negative() == truth.is_sign_negative();
        assert!(signs || got.is_nan(), "{x:?} to the power of {y:?} is {got:?}, not {truth:?}");
        let exact = f64::from(truth as f32) == truth;
        assert!(!exact || f64::from(got) == truth, "{x:?} to the power of {y:?} is {got:?}, not {truth:?}");
    }
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

/// Quantisation by constants takes another road than its division: at the numbers where bytes change, and at all
/// special ones, it gives the same bytes, and the same numbers where they are dequantised at once.
#[test]
fn quantisation_by_constants() {
    let mut random = Random(SEED);
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    let mut scales = vec![1.0f32, 0.5, 1.0 / 255.0, 0.1, 8.7e-19, 1.1e18, 1e-30, 1e30, -0.25, f32::NAN];
    scales.extend((0..300).map(|_| f32_of(0x3000_0000 + random.bits() % 0x1000_0000)));
    for scale in scales {
        for (dtype, zero) in [(DType::U8, 0.0), (DType::U8, 131.0), (DType::I8, 0.0), (DType::I8, -7.0)] {
            let (lo, hi) = dtype.int_range().expect("an integer");
            let mut column: Vec<u64> =
                values(DType::F32, &mut random, 60).into_iter().chain([0, 0x8000_0000]).collect();
            for step in lo - 2..hi + 3 {
                let edge = (((step as f32 - zero) + 0.5) * scale).to_bits();
                column.extend((0..9).map(|i| u64::from(edge.wrapping_add(i).wrapping_sub(4))));
            }
            quantisation(scale, zero, dtype, &column);
        }
    }
}

fn quantisation(scale: f32, zero: f32, dtype: DType, column: &[u64]) {
    let steps = |zero: bool| {
        let cast = |to| (ScalarOp::Cast { to, saturate: true }, None);
        let mut steps = vec![(ScalarOp::Div, Some(scale)), (ScalarOp::Round, None)];
        steps.extend(zero.then_some((ScalarOp::Add, None)));
        steps.push(cast(dtype));
        steps.push(cast(DType::F32));
        steps.extend(zero.then_some((ScalarOp::Sub, None)));
        steps
    };
    let mut b = Builder::new("quantisation");
    let (begin, end, input, output) = (b.begin(), b.end(), b.arg(1), b.arg(2));
    let run = |value: &mut dyn FnMut(ScalarOp, Option<f32>, DType)| {
        let mut of = DType::F32;
        for (op, operand) in steps(zero != 0.0) {
            let operand = matches!(op, ScalarOp::Add | ScalarOp::Sub).then_some(zero).or(operand);
            value(op, operand, of);
            if let ScalarOp::Cast { to, .. } = op {
                of = to;
            }
        }
    };
    b.for_(begin, end, 1, LoopLevel::L1, &[], |b, i, _| {
        let mut x = b.load_at(DType::F32, 1, At::new(input).indexed(i, 4));
        run(&mut |op, operand, of| {
            let c = operand.map(|c| b.f32(1, c));
            let args: Vec<_> = std::iter::once(x).chain(c).collect();
            x = expand(b, op, &vec![of; args.len()], &args);
        });
        b.store_at(DType::F32, x, At::new(output).indexed(i, 4));
        vec![]
    });
    let memory = VecMemory::new();
    let input = memory.add(column.iter().flat_map(|bits| (*bits as u32).to_le_bytes()).collect());
    let output = memory.add(vec![0; column.len() * 4]);
    let kernel = Executable::new(&b.finish()).expect("the kernel is well formed");
    kernel
        .run(&[0, input, output], 0, 0, column.len() as u64, &memory)
        .expect("the kernel stays in its buffers");
    for (x, got) in column.iter().zip(memory.bytes(output).chunks_exact(4)) {
        let mut expected = *x;
        run(&mut |op, operand, of| {
            let args: Vec<u64> =
                std::iter::once(expected).chain(operand.map(|c| c.to_bits().into())).collect();
            expected = eval(op, &vec![of; args.len()], &args);
        });
        let (got, x) = (u32::from_le_bytes(got.try_into().expect("4 bytes")), f32::from_bits(*x as u32));
        assert_eq!(got, expected as u32, "{x:?} over {scale:?} and {zero} as {dtype}");
    }
}
