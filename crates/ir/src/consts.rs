//! Large constants beside the IR: ops hold a [`ConstId`], the store holds the bytes (often a slice of a mapped
//! file), and content hashes make equal constants one.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;
use tegula_base::host_tensor::Element;
use tegula_base::{Arena, DType, Diagnostic, EntityId, HostTensor, entity_id};

entity_id!(
    /// A constant of a [`ConstStore`]; prints as the key of `dense_resource<const7>`.
    pub struct ConstId, "const"
);

/// Row-major little-endian elements; `data.len() == product(shape) * dtype.size()`.
#[derive(Clone, Debug)]
pub struct ConstData {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub data: Bytes,
    hash: OnceLock<[u8; 32]>,
}

impl ConstData {
    /// Errors: the byte count does not fit the shape.
    pub fn new(dtype: DType, shape: Vec<usize>, data: Bytes) -> Result<ConstData, Diagnostic> {
        let expected = shape.iter().try_fold(dtype.size(), |bytes, n| bytes.checked_mul(*n));
        if expected != Some(data.len()) {
            return Err(Diagnostic::error(
                "constant-size",
                format!("a constant {dtype}{shape:?} cannot have {} bytes", data.len()),
            ));
        }
        Ok(ConstData { dtype, shape, data, hash: OnceLock::new() })
    }

    /// SHA-256 of the bytes (not of type and shape), computed once.
    pub fn hash(&self) -> &[u8; 32] {
        self.hash.get_or_init(|| Sha256::digest(&self.data).into())
    }

    /// Row-major elements; `None` when `T` is not their type.
    pub fn elements<T: Element>(&self) -> Option<Vec<T>> {
        T::all(self.dtype, &self.data)
    }

    pub fn to_host(&self) -> HostTensor {
        HostTensor { dtype: self.dtype, shape: self.shape.clone(), bytes: self.data.to_vec() }
    }
}

impl From<HostTensor> for ConstData {
    fn from(tensor: HostTensor) -> ConstData {
        ConstData::new(tensor.dtype, tensor.shape, tensor.bytes.into())
            .expect("invariant: a HostTensor's bytes fit its shape")
    }
}

/// All constants of a program. Clones share the bytes.
#[derive(Clone, Debug, Default)]
pub struct ConstStore {
    items: Arena<ConstId, ConstData>,
}

impl ConstStore {
    pub fn push(&mut self, data: impl Into<ConstData>) -> ConstId {
        self.items.push(data.into())
    }

    /// Makes room for constants to come.
    pub fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    pub fn get(&self, id: ConstId) -> Option<&ConstData> {
        self.items.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ConstId, &ConstData)> {
        self.items.iter()
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl std::ops::Index<ConstId> for ConstStore {
    type Output = ConstData;
    fn index(&self, id: ConstId) -> &ConstData {
        &self.items[id]
    }
}

/// `dense_resource<const3>`; the printer of programs, which knows the store, fills in the type.
impl crate::AttrText for ConstId {
    fn to_attr(&self) -> crate::mlir::Attr {
        crate::mlir::Attr::DenseResource(self.to_string(), crate::mlir::Type::None)
    }
    fn from_attr(attr: &crate::mlir::Attr) -> Result<ConstId, String> {
        let text = match attr {
            crate::mlir::Attr::DenseResource(key, _) => key,
            other => crate::attr::as_string(other)?,
        };
        let index = text.strip_prefix("const").and_then(|digits| digits.parse::<u32>().ok());
        index.map(|i| ConstId::new(i as usize)).ok_or_else(|| format!("`{text}` is no constant"))
    }
}
