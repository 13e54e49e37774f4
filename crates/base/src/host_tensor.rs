//! A dense tensor in host memory: row-major, contiguous, little-endian; the currency of faces, evaluators and tests.

use crate::{DType, small_float};

/// `bytes.len() == product(shape) * dtype.size()`; sub-byte elements take a byte each.
#[derive(Clone, Debug, PartialEq)]
pub struct HostTensor {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

/// A Rust type with a [`DType`]: plain old data of fixed little-endian layout.
pub trait Element: Copy + 'static {
    const DTYPE: DType;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut Vec<u8>);

    /// All elements of a tensor; `None` when this is not its type.
    fn all(dtype: DType, bytes: &[u8]) -> Option<Vec<Self>> {
        (Self::DTYPE == dtype).then(|| bytes.chunks_exact(size_of::<Self>()).map(Self::read).collect())
    }
}

macro_rules! element {
    ($($ty:ty => $dtype:ident),*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn read(bytes: &[u8]) -> Self {
                <$ty>::from_le_bytes(bytes.try_into().expect("invariant: one element's bytes"))
            }
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
element!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    f32 => F32, f64 => F64, half::f16 => F16, half::bf16 => BF16);

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(self as u8);
    }
}

impl HostTensor {
    /// All zero bytes.
    pub fn zeros(dtype: DType, shape: &[usize]) -> HostTensor {
        let count: usize = shape.iter().product();
        HostTensor { dtype, shape: shape.to_vec(), bytes: vec![0; count * dtype.size()] }
    }

    /// Row-major elements. Panics when the count is not the shape's product (a caller's bug).
    pub fn from_elements<T: Element>(shape: &[usize], elements: &[T]) -> HostTensor {
        assert_eq!(elements.len(), shape.iter().product::<usize>(), "element count and shape differ");
        let mut bytes = Vec::with_capacity(std::mem::size_of_val(elements));
        for element in elements {
            element.write(&mut bytes);
        }
        HostTensor { dtype: T::DTYPE, shape: shape.to_vec(), bytes }
    }

    pub fn scalar<T: Element>(element: T) -> HostTensor {
        HostTensor::from_elements(&[], &[element])
    }

    /// Row-major elements; `None` when `T` is not this tensor's type.
    pub fn elements<T: Element>(&self) -> Option<Vec<T>> {
        T::all(self.dtype, &self.bytes)
    }

    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Elements widened to `f64`, for comparison and statistics.
    pub fn to_f64(&self) -> Vec<f64> {
        fn wide<T: Element>(tensor: &HostTensor, f: impl Fn(T) -> f64) -> Vec<f64> {
            tensor.bytes.chunks_exact(tensor.dtype.size()).map(|bytes| f(T::read(bytes))).collect()
        }
        match self.dtype {
            DType::Bool | DType::U2 | DType::U4 | DType::U8 => wide::<u8>(self, f64::from),
            DType::I2 | DType::I4 | DType::I8 => wide::<i8>(self, f64::from),
            DType::I16 => wide::<i16>(self, f64::from),
            DType::U16 => wide::<u16>(self, f64::from),
            DType::I32 => wide::<i32>(self, f64::from),
            DType::U32 => wide::<u32>(self, f64::from),
            DType::I64 => wide::<i64>(self, |x| x as f64),
            DType::U64 => wide::<u64>(self, |x| x as f64),
            DType::F16 => wide::<half::f16>(self, f64::from),
            DType::BF16 => wide::<half::bf16>(self, f64::from),
            DType::F32 => wide::<f32>(self, f64::from),
            DType::F64 => wide::<f64>(self, |x| x),
            DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E5M2
            | DType::F8E5M2FNUZ
            | DType::F8E8M0 => wide::<u8>(self, |bits| small_float::to_f64(self.dtype, bits)),
        }
    }

    /// Elements widened to `i64`; floats truncate, `u64` wraps.
    pub fn to_i64(&self) -> Vec<i64> {
        match self.dtype {
            DType::I64 => self.elements().unwrap_or_default(),
            DType::U64 => self.elements::<u64>().unwrap_or_default().into_iter().map(|x| x as i64).collect(),
            _ => self.to_f64().into_iter().map(|x| x as i64).collect(),
        }
    }
}
