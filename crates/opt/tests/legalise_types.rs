//! `legalise_types` keeps the meaning of every cast from and to the floats that are only stored: all their codes, all
//! numbers of 16 bits, and of wider types the places where rounding turns, with what lies beside them.

use tegula_base::{DType, HostTensor};
use tegula_ir::{PassCx, ScalarOp};
use tegula_opt::passes::legalise_types;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, evaluate};

fn stored() -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(|dtype| dtype.is_stored_only())
}

/// `f` of tensors of these types.
fn program(f: ScalarOp, dtypes: &[DType], count: usize) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let operands: Vec<_> = dtypes.iter().map(|dtype| b.arg(*dtype, [count])).collect();
    let y = b.elementwise(f, &operands).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    program
}

/// The same results with and without the pass; NaN equals NaN.
fn check(f: ScalarOp, operands: &[HostTensor]) {
    let dtypes: Vec<DType> = operands.iter().map(|tensor| tensor.dtype).collect();
    let mut program = program(f, &dtypes, operands[0].count());
    let expected = evaluate(&program, operands).unwrap();
    legalise_types(&mut program, &mut PassCx::default()).unwrap();
    let func = program.entry();
    for op in func.walk() {
        let TensorOp::Elementwise { f } = func.kind(op) else { continue };
        let computes = matches!(f, ScalarOp::Cast { .. }) || f.is_comparison();
        let types = func.operands(op).iter().chain(func.results(op)).map(|value| func.ty(*value).dtype);
        assert!(
            !computes || types.into_iter().all(|dtype| !dtype.is_stored_only()),
            "{f} of {dtypes:?} is left"
        );
    }
    let got = evaluate(&program, operands).unwrap();
    let (got_real, expected_real) = (got[0].to_f64(), expected[0].to_f64());
    let size = got[0].dtype.size();
    for i in 0..got[0].count() {
        let both_nan = got_real[i].is_nan() && expected_real[i].is_nan();
        let at = i * size..(i + 1) * size;
        assert!(
            both_nan || got[0].bytes[at.clone()] == expected[0].bytes[at],
            "{f} of {dtypes:?}: element {i} of {:?} is {}, not {}",
            operands[0].to_f64()[i],
            got_real[i],
            expected_real[i]
        );
    }
}

fn codes(dtype: DType) -> HostTensor {
    let bytes: Vec<u8> = (0..=u8::MAX).filter(|byte| dtype.holds_byte(*byte)).collect();
    HostTensor { dtype, shape: vec![bytes.len()], bytes }
}

/// Codes, and the points half way between them.
fn turning_points(dtype: DType) -> Vec<f64> {
    let mut values = codes(dtype).to_f64();
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let middles: Vec<f64> = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
    let largest = values.last().copied().unwrap_or(1.0);
    let beyond = [1.01, 1.03, 1.07, 1.125, 1.25, 1.5, 2.0, 1e3].map(|factor| largest * factor);
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-60, -1e-60, 1e300, -1e300];
    [values, middles, beyond.to_vec(), beyond.map(|x| -x).to_vec(), special.to_vec()].concat()
}

/// A number and its neighbours.
fn around(x: f64, next: impl Fn(f64, bool) -> f64) -> [f64; 3] {
    [next(x, false), x, next(x, true)]
}

#[test]
fn every_code_casts_to_every_type() {
    for from in stored() {
        for to in DType::ALL {
            for saturate in [true, false] {
                check(ScalarOp::Cast { to, saturate }, &[codes(from)]);
            }
        }
    }
}

#[test]
fn every_short_number_casts_to_a_stored_type() {
    let words: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for from in DType::COMPUTED.into_iter().filter(|dtype| dtype.bits() <= 16) {
        let values = match from.size() {
            1 => codes(from),
            _ => HostTensor { dtype: from, shape: vec![1 << 16], bytes: words.clone() },
        };
        for to in stored() {
            for saturate in [true, false] {
                check(ScalarOp::Cast { to, saturate }, std::slice::from_ref(&values));
            }
        }
    }
}

#[test]
fn wide_floats_round_once() {
    for to in stored() {
        let next32 = |x: f64, up: bool| {
            let x = x as f32;
            f64::from(if up { x.next_up() } else { x.next_down() })
        };
        let next64 = |x: f64, up: bool| if up { x.next_up() } else { x.next_down() };
        let points = turning_points(to);
        let singles: Vec<f32> = points.iter().flat_map(|x| around(*x, next32)).map(|x| x as f32).collect();
        // Also what lies beside a turning point by less than `f32` tells.
        let doubles: Vec<f64> =
            points.iter().flat_map(|x| around(*x, next32).into_iter().chain(around(*x, next64))).collect();
        for saturate in [true, false] {
            let cast = ScalarOp::Cast { to, saturate };
            check(cast, &[HostTensor::from_elements(&[singles.len()], &singles)]);
            check(cast, &[HostTensor::from_elements(&[doubles.len()], &doubles)]);
        }
    }
}

#[test]
fn wide_integers_round_once() {
    let mut values: Vec<i128> = vec![0];
    for power in 0..64u32 {
        for eighths in 8..16i128 {
            let value = (eighths << power) >> 3;
            values.extend([value - 1, value, value + 1, -value - 1, -value, 1 - value]);
        }
    }
    let signed: Vec<i64> = values.iter().map(|x| *x as i64).collect();
    let unsigned: Vec<u64> = values.iter().map(|x| *x as u64).collect();
    let shape = [values.len()];
    let all = [
        HostTensor::from_elements(&shape, &signed),
        HostTensor::from_elements(&shape, &unsigned),
        HostTensor::from_elements(&shape, &signed.iter().map(|x| *x as i32).collect::<Vec<_>>()),
        HostTensor::from_elements(&shape, &unsigned.iter().map(|x| *x as u32).collect::<Vec<_>>()),
    ];
    for to in stored() {
        for values in &all {
            for saturate in [true, false] {
                check(ScalarOp::Cast { to, saturate }, std::slice::from_ref(values));
            }
        }
    }
}

#[test]
fn bits_and_equality() {
    for from in stored() {
        // Bits that the type does not use are lost.
        let bytes = HostTensor { dtype: DType::U8, shape: vec![256], bytes: (0..=u8::MAX).collect() };
        check(ScalarOp::Bitcast { to: from }, &[bytes]);
        let all = codes(from);
        for to in DType::ALL.into_iter().filter(|to| to.size() == 1 && *to != DType::Bool) {
            check(ScalarOp::Bitcast { to }, std::slice::from_ref(&all));
        }
        let count = all.count();
        let pairs = |of: &dyn Fn(usize) -> u8| HostTensor {
            dtype: from,
            shape: vec![count * count],
            bytes: (0..count * count).map(of).collect(),
        };
        let left = pairs(&|i| all.bytes[i / count]);
        let right = pairs(&|i| all.bytes[i % count]);
        for f in [ScalarOp::Eq, ScalarOp::Ne] {
            check(f, &[left.clone(), right.clone()]);
        }
    }
}
