//! The scalar semantics table against hand-picked cases (`tests/scalar/table.txt`), and against itself: slices give
//! what single elements give.

use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::{eval, eval_slice, identity};

/// An independent reading of literals: straight bits for `0x`, else the standard library's parsers.
fn bits(text: &str, dtype: DType) -> u64 {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).unwrap();
    }
    let width = if dtype.size() == 8 { u64::MAX } else { (1 << (8 * dtype.size())) - 1 };
    match dtype {
        DType::Bool => u64::from(text.parse::<bool>().unwrap()),
        DType::F64 => text.parse::<f64>().unwrap().to_bits(),
        DType::F32 => u64::from(text.parse::<f32>().unwrap().to_bits()),
        DType::F16 => u64::from(half::f16::from_f32(text.parse().unwrap()).to_bits()),
        DType::BF16 => u64::from(half::bf16::from_f32(text.parse().unwrap()).to_bits()),
        small if small.small_float().is_some() => {
            u64::from(tegula_base::small_float::from_f64(dtype, text.parse().unwrap(), false))
        }
        _ => text.parse::<i128>().unwrap() as u64 & width,
    }
}

fn is_nan(bits: u64, dtype: DType) -> bool {
    match dtype.small_float() {
        Some(format) => format.to_f64(bits as u8).is_nan(),
        None => dtype.is_float() && eval(ScalarOp::IsNan, &[dtype], &[bits]) == 1,
    }
}

#[test]
fn table() {
    let text = std::fs::read_to_string("tests/scalar/table.txt").unwrap();
    let mut wrong = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (case, expected) = line.split_once(" => ").unwrap();
        let (head, operands) = case.split_once(" : ").unwrap();
        let (op, dtypes) = head.split_once(' ').unwrap();
        let op: ScalarOp = op.parse().unwrap();
        let operands: Vec<&str> = operands.split(' ').collect();
        let mut dtypes: Vec<DType> = dtypes.split(',').map(|name| name.parse().unwrap()).collect();
        dtypes.resize(operands.len(), dtypes[0]);
        let result = op.result_type(&dtypes).unwrap();
        let operands: Vec<u64> =
            operands.iter().zip(&dtypes).map(|(text, dtype)| bits(text, *dtype)).collect();
        let got = eval(op, &dtypes, &operands);
        let expected = bits(expected, result);
        if got != expected && !(is_nan(got, result) && is_nan(expected, result)) {
            wrong.push_str(&format!("{line}\n    got {got:#x}, expected {expected:#x}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Every op on every dtype it takes: 1100 elements (more than two blocks), also with one operand a single element.
#[test]
fn slices_agree_with_elements() {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut ops = ScalarOp::PLAIN.to_vec();
    ops.push(ScalarOp::Fma);
    for to in DType::ALL {
        ops.extend([ScalarOp::Cast { to, saturate: true }, ScalarOp::Cast { to, saturate: false }]);
        ops.push(ScalarOp::Bitcast { to });
    }
    for op in ops {
        for dtype in DType::ALL {
            let mut dtypes = vec![dtype; op.arity()];
            if op == ScalarOp::Select {
                dtypes[0] = DType::Bool;
            }
            let Ok(result) = op.result_type(&dtypes) else { continue };
            for single in 0..=dtypes.len() {
                let counts =
                    (0..dtypes.len()).map(|i| if i == single && dtypes.len() > 1 { 1 } else { 1100 });
                let operands: Vec<Vec<u8>> = counts
                    .zip(&dtypes)
                    .map(|(n, dtype)| {
                        (0..n).flat_map(|_| random().to_le_bytes()[..dtype.size()].to_vec()).collect()
                    })
                    .collect();
                let slices: Vec<(&[u8], DType)> =
                    operands.iter().zip(&dtypes).map(|(bytes, dtype)| (bytes.as_slice(), *dtype)).collect();
                let mut out = vec![];
                eval_slice(op, &slices, &mut out);
                assert_eq!(out.len(), 1100 * result.size(), "{op} {dtype}");
                for i in [0, 1, 511, 512, 1099] {
                    let element: Vec<u64> = slices
                        .iter()
                        .map(|(bytes, dtype)| {
                            let i = if bytes.len() == dtype.size() { 0 } else { i };
                            let mut raw = [0; 8];
                            raw[..dtype.size()].copy_from_slice(&bytes[i * dtype.size()..][..dtype.size()]);
                            u64::from_le_bytes(raw)
                        })
                        .collect();
                    let expected = eval(op, &dtypes, &element).to_le_bytes();
                    let got = &out[i * result.size()..][..result.size()];
                    let mut raw = [0; 8];
                    raw[..got.len()].copy_from_slice(got);
                    let both_nan = is_nan(u64::from_le_bytes(raw), result)
                        && is_nan(u64::from_le_bytes(expected), result);
                    assert!(both_nan || got == &expected[..result.size()], "{op} {dtype} element {i}");
                }
            }
        }
    }
}

#[test]
fn identities_change_nothing() {
    for op in [
        ScalarOp::Add,
        ScalarOp::Mul,
        ScalarOp::Min,
        ScalarOp::Max,
        ScalarOp::And,
        ScalarOp::Or,
        ScalarOp::Xor,
    ] {
        for dtype in DType::ALL {
            let Some(neutral) = identity(op, dtype) else {
                assert!(op.result_type(&[dtype, dtype]).is_err(), "{op} {dtype}");
                continue;
            };
            let endless = dtype.is_float() && dtype != DType::F8E4M3FN;
            let ends: &[&str] = if endless { &["inf", "-inf"] } else { &[] };
            let most = if dtype.bits() == 2 { "-1" } else { "3" };
            let most = if dtype == DType::U2 { "3" } else { most };
            for &value in ["0", "1", most].iter().chain(ends) {
                let value = if dtype == DType::Bool { u64::from(value != "0") } else { bits(value, dtype) };
                assert_eq!(eval(op, &[dtype, dtype], &[neutral, value]), value, "{op} {dtype}");
            }
        }
    }
}

#[test]
fn empty_slices_stay_empty() {
    let mut out = vec![1];
    eval_slice(ScalarOp::Add, &[(&[], DType::F32), (&[0; 4], DType::F32)], &mut out);
    assert!(out.is_empty());
}
