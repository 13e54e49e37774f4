//! Element types: numpy's own, and those that the package `ml_dtypes` adds to it. Both hold elements as Tegula does,
//! narrow ones a byte each; all but [`is_masked`] ones have the same bits.

use crate::error::refuse;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use tegula::DType;

/// Type numbers below are numpy's own.
const FIRST_USER_TYPE: i32 = 256;

/// The element type of an array; `None`: one that no model has.
pub fn of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    if descr.num() >= FIRST_USER_TYPE {
        let name: String = descr.getattr("name").ok()?.extract().ok()?;
        return DType::ALL.into_iter().find(|dtype| !is_numpy(*dtype) && name_of(*dtype) == name);
    }
    Some(match (descr.kind(), descr.itemsize()) {
        (b'b', 1) => DType::Bool,
        (b'i', 1) => DType::I8,
        (b'i', 2) => DType::I16,
        (b'i', 4) => DType::I32,
        (b'i', 8) => DType::I64,
        (b'u', 1) => DType::U8,
        (b'u', 2) => DType::U16,
        (b'u', 4) => DType::U32,
        (b'u', 8) => DType::U64,
        (b'f', 2) => DType::F16,
        (b'f', 4) => DType::F32,
        (b'f', 8) => DType::F64,
        _ => return None,
    })
}

/// Numpy's descriptor. Errors: `missing-package` where it needs `ml_dtypes`, which is not there.
pub fn to_numpy<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyArrayDescr>> {
    if is_numpy(dtype) {
        return PyArrayDescr::new(py, name_of(dtype));
    }
    let scalar = py.import("ml_dtypes").and_then(|module| module.getattr(name_of(dtype)));
    let scalar = scalar.map_err(|error| {
        let message = format!("arrays of {dtype} need the Python package `ml_dtypes`: {error}");
        refuse(py, "missing-package", message)
    })?;
    PyArrayDescr::new(py, scalar)
}

/// Whether numpy has the type itself.
fn is_numpy(dtype: DType) -> bool {
    dtype == DType::Bool
        || dtype.bits() >= 8 && !(dtype.is_float() && (dtype.bits() == 8 || dtype == DType::BF16))
}

/// Signed integers whose upper bits are zeros in `ml_dtypes` and copies of the sign in Tegula: they are converted.
pub fn is_masked(dtype: DType) -> bool {
    matches!(dtype, DType::I2 | DType::I4)
}

/// The name in numpy or `ml_dtypes`.
pub fn name_of(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I2 => "int2",
        DType::U2 => "uint2",
        DType::I4 => "int4",
        DType::U4 => "uint4",
        DType::I8 => "int8",
        DType::U8 => "uint8",
        DType::I16 => "int16",
        DType::U16 => "uint16",
        DType::I32 => "int32",
        DType::U32 => "uint32",
        DType::I64 => "int64",
        DType::U64 => "uint64",
        DType::F4E2M1 => "float4_e2m1fn",
        DType::F6E2M3 => "float6_e2m3fn",
        DType::F6E3M2 => "float6_e3m2fn",
        DType::F8E4M3FN => "float8_e4m3fn",
        DType::F8E4M3FNUZ => "float8_e4m3fnuz",
        DType::F8E5M2 => "float8_e5m2",
        DType::F8E5M2FNUZ => "float8_e5m2fnuz",
        DType::F8E8M0 => "float8_e8m0fnu",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F32 => "float32",
        DType::F64 => "float64",
    }
}
