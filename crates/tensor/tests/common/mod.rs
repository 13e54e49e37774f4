//! Cases in short form: `op {attributes} : type values; type values => type values`.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{Op, ScalarOp, scalar::eval::eval};
use tegula_tensor::{TensorOp, TensorType};

/// The files of a folder below `tests/`, by name.
pub fn files(folder: &str, extension: &str) -> Vec<(PathBuf, String)> {
    let path = Path::new("tests").join(folder);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", path.display());
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect()
}

/// The cases of all files: place, line.
pub fn lines(folder: &str) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for (path, text) in files(folder, "txt") {
        for (i, line) in text.lines().enumerate() {
            if !line.trim().is_empty() && !line.starts_with('#') {
                cases.push((format!("{}:{}", path.display(), i + 1), line.trim().to_owned()));
            }
        }
    }
    cases
}

/// `dot {dims = {...}, out = "f32"}`; a string attribute may leave out its quotes where it is one word.
pub fn op(text: &str) -> TensorOp {
    let (name, attrs) = text.split_once(' ').unwrap_or((text, "{}"));
    let text = format!("\"x.x\"() <{attrs}> : () -> ()\n");
    let module = tegula_mlir::parse_module(&text)
        .unwrap_or_else(|e| panic!("{text}: expected {}, found {}", e.expected, e.found));
    let properties = module.ops[0].properties.clone();
    let lookup = |key: &str| properties.iter().find(|(name, _)| name == key).map(|(_, attr)| attr.clone());
    TensorOp::from_attrs(name, &lookup).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// `f32[2,n]`.
pub fn ty(text: &str) -> TensorType {
    let (dtype, dims) = text.split_once('[').unwrap_or_else(|| panic!("`{text}` is no type"));
    let dims = dims.strip_suffix(']').unwrap();
    let shape: Shape =
        dims.split(',').filter(|dim| !dim.is_empty()).map(|dim| dim.parse::<Dim>().unwrap()).collect();
    TensorType::new(dtype.parse().unwrap(), shape)
}

/// `f32[2,2] 1 2 3 4`; one number fills.
pub fn tensor(text: &str) -> HostTensor {
    let mut words = text.split_whitespace();
    let ty = ty(words.next().unwrap_or_default());
    let shape = ty.shape.as_static().unwrap();
    let mut elements: Vec<[u8; 8]> = words.map(|word| element(word, ty.dtype).to_le_bytes()).collect();
    let count = shape.iter().product();
    if elements.len() == 1 {
        elements = vec![elements[0]; count];
    }
    assert_eq!(elements.len(), count, "{text}");
    let bytes = elements.iter().flat_map(|element| element[..ty.dtype.size()].to_vec()).collect();
    HostTensor { dtype: ty.dtype, shape, bytes }
}

pub fn tensors(text: &str) -> Vec<HostTensor> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(tensor).collect()
}

fn element(word: &str, dtype: DType) -> u64 {
    match word {
        "true" => 1,
        "false" => 0,
        _ if dtype.is_float() => {
            let cast = ScalarOp::Cast { to: dtype, saturate: false };
            eval(cast, &[DType::F64], &[word.parse::<f64>().unwrap().to_bits()])
        }
        _ => word.parse::<i128>().unwrap_or_else(|_| panic!("`{word}` is no {dtype}")) as u64,
    }
}

/// The largest relative difference that decimal expected values may show.
const TOLERANCE: f64 = 2e-6;

/// Bitwise for integers; floats within a relative 2e-6 (an absolute one below 1), NaN equal to NaN.
pub fn assert_equal(place: &str, got: &[HostTensor], expected: &[HostTensor]) {
    assert_eq!(got.len(), expected.len(), "{place}: number of results");
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let same_type = got.dtype == expected.dtype && got.shape == expected.shape;
        assert!(same_type, "{place}: result {i} is {}{:?}", got.dtype, got.shape);
        let (values, wanted) = (got.to_f64(), expected.to_f64());
        let tolerance = if got.dtype == DType::F16 || got.dtype == DType::BF16 { 4e-3 } else { TOLERANCE };
        let close = |a: f64, b: f64| {
            a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs().max(1.0)
        };
        let equal = if got.dtype.is_float() {
            values.iter().zip(&wanted).all(|(a, b)| close(*a, *b))
        } else {
            got.bytes == expected.bytes
        };
        assert!(equal, "{place}: result {i} is {values:?}, expected {wanted:?}");
    }
}
