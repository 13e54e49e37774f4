//! Tensors stored in the model: typed fields, raw bytes, external files, sparse ones; to constants of the store.
//! Raw bytes of ordinary element types stay slices of the model's buffer. Nothing is allocated before the
//! stored byte count is known to fit the dims.

use super::proto::{SparseTensorProto, TensorProto, tensor_proto::DataLocation, tensor_proto::DataType};
use bytes::Bytes;
use std::collections::BTreeMap;
use tegula_base::DType;
use tegula_base::face::Files;
use tegula_ir::ConstData;

/// Dense forms of sparse tensors larger than this (bytes) are refused.
const MAX_EXPANDED: usize = 1 << 28;

/// Reads tensors; external files are read once and shared.
pub(crate) struct Weights<'f> {
    files: &'f dyn Files,
    read: BTreeMap<String, Bytes>,
}

/// Whether an ONNX type number is that of strings.
pub(crate) fn is_text(data_type: i32) -> bool {
    DataType::try_from(data_type) == Ok(DataType::String)
}

/// The element type of an ONNX type number. Errors: one that Tegula has not.
pub(crate) fn dtype_of(data_type: i32) -> Result<DType, String> {
    Ok(match DataType::try_from(data_type) {
        Ok(DataType::Float) => DType::F32,
        Ok(DataType::Double) => DType::F64,
        Ok(DataType::Float16) => DType::F16,
        Ok(DataType::Bfloat16) => DType::BF16,
        Ok(DataType::Float4e2m1) => DType::F4E2M1,
        Ok(DataType::Float6e2m3) => DType::F6E2M3,
        Ok(DataType::Float6e3m2) => DType::F6E3M2,
        Ok(DataType::Float8e4m3fn) => DType::F8E4M3FN,
        Ok(DataType::Float8e4m3fnuz) => DType::F8E4M3FNUZ,
        Ok(DataType::Float8e5m2) => DType::F8E5M2,
        Ok(DataType::Float8e5m2fnuz) => DType::F8E5M2FNUZ,
        Ok(DataType::Float8e8m0) => DType::F8E8M0,
        Ok(DataType::Bool) => DType::Bool,
        Ok(DataType::Int2) => DType::I2,
        Ok(DataType::Uint2) => DType::U2,
        Ok(DataType::Int4) => DType::I4,
        Ok(DataType::Uint4) => DType::U4,
        Ok(DataType::Int8) => DType::I8,
        Ok(DataType::Uint8) => DType::U8,
        Ok(DataType::Int16) => DType::I16,
        Ok(DataType::Uint16) => DType::U16,
        Ok(DataType::Int32) => DType::I32,
        Ok(DataType::Uint32) => DType::U32,
        Ok(DataType::Int64) => DType::I64,
        Ok(DataType::Uint64) => DType::U64,
        Ok(complex @ (DataType::Complex64 | DataType::Complex128)) => {
            let name = complex.as_str_name();
            return Err(format!(
                "element type {name} is not supported: ops on complex numbers take pairs of reals"
            ));
        }
        Ok(DataType::String) => {
            return Err("strings are not supported here, where numbers are expected".into());
        }
        Ok(other) => return Err(format!("element type {} is not supported", other.as_str_name())),
        Err(_) => return Err(format!("{data_type} is no element type of ONNX")),
    })
}

impl<'f> Weights<'f> {
    pub fn new(files: &'f dyn Files) -> Weights<'f> {
        Weights { files, read: BTreeMap::new() }
    }

    /// Errors: an element type Tegula has not, data that does not fit the dims, unreadable external data.
    pub fn load(&mut self, tensor: &TensorProto) -> Result<ConstData, String> {
        let dtype = dtype_of(tensor.data_type())?;
        let shape = extents(&tensor.dims)?;
        let count = shape
            .iter()
            .try_fold(1usize, |count, n| count.checked_mul(*n))
            .filter(|count| count.checked_mul(dtype.size()).is_some())
            .ok_or_else(|| format!("dims {:?} are larger than memory", tensor.dims))?;
        if tensor.segment.is_some() {
            return Err("segmented tensors are not supported".into());
        }
        let data = if tensor.data_location() == DataLocation::External {
            from_raw(self.external(tensor)?, dtype, count)?
        } else if let Some(raw) = &tensor.raw_data {
            from_raw(raw.clone(), dtype, count)?
        } else {
            from_fields(tensor, dtype, count)?
        };
        ConstData::new(dtype, shape, data).map_err(|error| error.message)
    }

    /// The dense form of a sparse tensor.
    pub fn load_sparse(&mut self, sparse: &SparseTensorProto) -> Result<ConstData, String> {
        let values = sparse.values.as_ref().ok_or("a sparse tensor has no values")?;
        let indices = sparse.indices.as_ref().ok_or("a sparse tensor has no indices")?;
        let (values, indices) = (self.load(values)?, self.load(indices)?);
        let shape = extents(&sparse.dims)?;
        let size = values.dtype.size();
        let bytes = shape
            .iter()
            .try_fold(size, |bytes, n| bytes.checked_mul(*n))
            .filter(|bytes| *bytes <= MAX_EXPANDED)
            .ok_or_else(|| format!("a sparse tensor of dims {:?} is too large to expand", sparse.dims))?;
        let stored = values.data.len() / size;
        let places = indices.to_host().elements::<i64>().ok_or("sparse indices must be int64")?;
        let linear = linear_places(&places, &indices.shape, stored, &shape)?;
        let mut dense = vec![0; bytes];
        for (value, place) in values.data.chunks_exact(size).zip(linear) {
            let at = place * size;
            dense
                .get_mut(at..at + size)
                .ok_or("a sparse index is outside of the tensor")?
                .copy_from_slice(value);
        }
        ConstData::new(values.dtype, shape, dense.into()).map_err(|error| error.message)
    }

    fn external(&mut self, tensor: &TensorProto) -> Result<Bytes, String> {
        let entry = |key: &str| {
            tensor
                .external_data
                .iter()
                .find(|entry| entry.key() == key)
                .map(|entry| entry.value().to_string())
        };
        let location = entry("location").ok_or("external data has no location")?;
        check_location(&location)?;
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => text
                .parse::<usize>()
                .map(Some)
                .map_err(|_| format!("external data `{location}`: {key} `{text}` is not a size")),
        };
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
        let file = match self.read.get(&location) {
            Some(file) => file.clone(),
            None => {
                let bytes =
                    self.files.read(&location).map_err(|why| format!("external data `{location}`: {why}"))?;
                let bytes = Bytes::from(bytes);
                self.read.insert(location.clone(), bytes.clone());
                bytes
            }
        };
        let end = match length {
            Some(length) => offset.checked_add(length),
            None => Some(file.len()),
        };
        match end {
            Some(end) if offset <= end && end <= file.len() => Ok(file.slice(offset..end)),
            _ => Err(format!(
                "external data `{location}`: bytes from {offset}{} are outside of its {} bytes",
                length.map_or(String::new(), |length| format!(", {length} long,")),
                file.len()
            )),
        }
    }
}

/// External data lies in the model's folder or below it, by a relative name.
fn check_location(location: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("external data `{location}`: {why}"));
    if location.is_empty() || location.contains('\0') {
        return refuse("this is no file name");
    }
    let drive = location.as_bytes().get(1) == Some(&b':');
    if location.starts_with(['/', '\\']) || drive {
        return refuse("absolute names are refused");
    }
    if location.split(['/', '\\']).any(|part| part == "..") {
        return refuse("names that leave the model's folder are refused");
    }
    Ok(())
}

fn extents(dims: &[i64]) -> Result<Vec<usize>, String> {
    dims.iter().map(|n| usize::try_from(*n).map_err(|_| format!("dims {dims:?} are negative"))).collect()
}

fn linear_places(
    places: &[i64],
    indices_shape: &[usize],
    stored: usize,
    shape: &[usize],
) -> Result<Vec<usize>, String> {
    let outside = || "a sparse index is outside of the tensor".to_string();
    match indices_shape {
        [n] if *n == stored => {
            places.iter().map(|place| usize::try_from(*place).map_err(|_| outside())).collect()
        }
        [n, rank] if *n == stored && *rank == shape.len() => places
            .chunks(*rank)
            .map(|place| {
                place.iter().zip(shape).try_fold(0usize, |linear, (i, extent)| {
                    let i = usize::try_from(*i).ok().filter(|i| i < extent).ok_or_else(outside)?;
                    Ok(linear * extent + i)
                })
            })
            .collect(),
        _ => Err("the indices of a sparse tensor do not fit its values".into()),
    }
}

fn from_raw(raw: Bytes, dtype: DType, count: usize) -> Result<Bytes, String> {
    let expected = stored_bytes(dtype, count);
    if raw.len() != expected {
        return Err(format!(
            "{count} elements of {dtype} take {expected} bytes, but {} are stored",
            raw.len()
        ));
    }
    Ok(match dtype {
        dtype if is_packed(dtype) => unpack(&raw, dtype, count),
        DType::Bool if raw.iter().any(|byte| *byte > 1) => {
            raw.iter().map(|byte| u8::from(*byte != 0)).collect()
        }
        _ => raw,
    })
}

/// Whether several elements share a byte. (`bool` does not, though one bit would hold it.)
fn is_packed(dtype: DType) -> bool {
    dtype.bits() < 8
}

/// Bytes that raw data of `count` elements takes.
fn stored_bytes(dtype: DType, count: usize) -> usize {
    // In this order nothing overflows that `load` has not checked.
    if is_packed(dtype) {
        (count / 8) * dtype.bits() as usize + (count % 8 * dtype.bits() as usize).div_ceil(8)
    } else {
        count * dtype.size()
    }
}

/// Elements packed from the lowest bit on, some across two bytes, to one element a byte.
fn unpack(packed: &[u8], dtype: DType, count: usize) -> Bytes {
    let bits = dtype.bits() as usize;
    let unused = 8 - bits as u32;
    let element = |i: usize| {
        let (byte, shift) = (i / 8 * bits + i % 8 * bits / 8, i % 8 * bits % 8);
        let next = packed.get(byte + 1).copied().unwrap_or(0);
        let aligned = (u16::from_le_bytes([packed[byte], next]) >> shift) as u8;
        match dtype.is_int() && dtype.is_signed() {
            true => ((aligned << unused) as i8 >> unused) as u8,
            false => aligned << unused >> unused,
        }
    };
    (0..count).map(element).collect()
}

fn from_fields(tensor: &TensorProto, dtype: DType, count: usize) -> Result<Bytes, String> {
    let bytes: Vec<u8> = match dtype {
        DType::F32 => tensor.float_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::F64 => tensor.double_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::I64 => tensor.int64_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::U64 => tensor.uint64_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::U32 => tensor.uint64_data.iter().flat_map(|x| (*x as u32).to_le_bytes()).collect(),
        DType::I32 => tensor.int32_data.iter().flat_map(|x| x.to_le_bytes()).collect(),
        DType::I16 | DType::U16 | DType::F16 | DType::BF16 => {
            tensor.int32_data.iter().flat_map(|x| (*x as u16).to_le_bytes()).collect()
        }
        DType::I8
        | DType::U8
        | DType::F8E4M3FN
        | DType::F8E4M3FNUZ
        | DType::F8E5M2
        | DType::F8E5M2FNUZ
        | DType::F8E8M0 => tensor.int32_data.iter().map(|x| *x as u8).collect(),
        // An element an entry, unlike raw data.
        DType::F6E2M3 | DType::F6E3M2 => tensor.int32_data.iter().map(|x| *x as u8 & 0x3f).collect(),
        DType::Bool => tensor.int32_data.iter().map(|x| u8::from(*x != 0)).collect(),
        DType::I2 | DType::U2 | DType::I4 | DType::U4 | DType::F4E2M1 => {
            let packed: Vec<u8> = tensor.int32_data.iter().map(|x| *x as u8).collect();
            if packed.len() != stored_bytes(dtype, count) {
                return Err(format!("{count} elements of {dtype} do not fit {} stored bytes", packed.len()));
            }
            return Ok(unpack(&packed, dtype, count));
        }
    };
    if bytes.len() != count * dtype.size() {
        let stored = bytes.len() / dtype.size();
        return Err(format!("{count} elements of {dtype} are expected, but {stored} are stored"));
    }
    Ok(bytes.into())
}
