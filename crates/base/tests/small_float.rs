//! The small floats against what `ml_dtypes` makes of them (`small_float.txt`, written by `tegula_tools/small_floats.py`).

use tegula_base::{DType, small_float};

fn real(word: &str) -> f64 {
    f64::from(f32::from_bits(u32::from_str_radix(word, 16).unwrap()))
}

#[test]
fn codes_and_rounding_are_those_of_ml_dtypes() {
    let text = include_str!("small_float.txt");
    let mut types = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (name, kind) = (words.next().unwrap(), words.next().unwrap());
        let dtype: DType = name.parse().unwrap();
        types.push(dtype);
        if kind == "codes" {
            for (code, word) in words.enumerate() {
                let (got, expected) = (small_float::to_f64(dtype, code as u8), real(word));
                let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
                assert!(same, "{dtype} {code:#x} is {got}, not {expected}");
            }
            continue;
        }
        for pair in words {
            let (number, code) = pair.split_once(':').unwrap();
            let (number, code) = (real(number), u8::from_str_radix(code, 16).unwrap());
            let got = small_float::from_f64(dtype, number, false);
            let both_nan = [got, code].iter().all(|code| small_float::to_f64(dtype, *code).is_nan());
            assert!(got == code || both_nan, "{dtype} of {number} is {got:#x}, not {code:#x}");
        }
    }
    types.dedup();
    let all: Vec<DType> = DType::ALL.into_iter().filter(|dtype| dtype.small_float().is_some()).collect();
    assert_eq!(types, all);
}
