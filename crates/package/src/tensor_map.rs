//! A tensor map as typed data: what a GPU's copy engine must know of a tensor to move boxes of it.
//! It is encoded late: the driver makes its opaque 128 bytes of these fields (`cuTensorMapEncodeTiled`, CUDA Driver API,
//! "Tensor Map Object Management"); a simulator reads the fields, for which they have words of their own.

mod template;

pub use template::{MapSize, MapTemplate};

use serde::{Deserialize, Serialize};

/// The type of the elements; numbers are those of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapElement {
    /// Any 8-bit type.
    U8 = 0,
    U16 = 1,
    U32 = 2,
    S32 = 3,
    U64 = 4,
    S64 = 5,
    F16 = 6,
    F32 = 7,
    F64 = 8,
    BF16 = 9,
    Tf32 = 11,
}

/// How 16-byte chunks are exchanged in shared memory; numbers are those of `CUtensorMapSwizzle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MapSwizzle {
    #[default]
    None = 0,
    B32 = 1,
    B64 = 2,
    B128 = 3,
}

/// Bytes that a miss brings to L2; numbers are those of `CUtensorMapL2promotion`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MapPromotion {
    #[default]
    None = 0,
    B64 = 1,
    B128 = 2,
    B256 = 3,
}

/// A tensor in global memory and the box that one copy moves; reads outside of the tensor give zeros.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMap {
    pub element: MapElement,
    pub address: u64,
    /// Elements of each dim, innermost first: 1 to 5 of them.
    pub dims: Vec<u64>,
    /// Bytes from one index to the next, of each dim but the innermost.
    pub strides: Vec<u64>,
    /// Elements of the box along each dim.
    pub box_dims: Vec<u32>,
    pub swizzle: MapSwizzle,
    pub promotion: MapPromotion,
}

/// Words of a tensor map: 128 bytes.
pub const MAP_WORDS: usize = 16;

/// In the first word, so that other bytes are not taken for a tensor map.
const MARK: u64 = 0x5447_4d50 << 32;
const MAX_RANK: usize = 5;
const DIMS: usize = 2;
const STRIDES: usize = DIMS + MAX_RANK;
const BOXES: usize = STRIDES + MAX_RANK - 1;

impl MapElement {
    pub const ALL: [MapElement; 11] = [
        MapElement::U8,
        MapElement::U16,
        MapElement::U32,
        MapElement::S32,
        MapElement::U64,
        MapElement::S64,
        MapElement::F16,
        MapElement::F32,
        MapElement::F64,
        MapElement::BF16,
        MapElement::Tf32,
    ];

    pub fn bytes(self) -> u32 {
        match self {
            MapElement::U8 => 1,
            MapElement::U16 | MapElement::F16 | MapElement::BF16 => 2,
            MapElement::U32 | MapElement::S32 | MapElement::F32 | MapElement::Tf32 => 4,
            MapElement::U64 | MapElement::S64 | MapElement::F64 => 8,
        }
    }
}

impl MapSwizzle {
    pub const ALL: [MapSwizzle; 4] = [MapSwizzle::None, MapSwizzle::B32, MapSwizzle::B64, MapSwizzle::B128];

    /// Bytes of the box's innermost dim at most; none without a swizzle.
    pub fn span(self) -> Option<u32> {
        match self {
            MapSwizzle::None => None,
            MapSwizzle::B32 => Some(32),
            MapSwizzle::B64 => Some(64),
            MapSwizzle::B128 => Some(128),
        }
    }
}

impl MapPromotion {
    pub const ALL: [MapPromotion; 4] =
        [MapPromotion::None, MapPromotion::B64, MapPromotion::B128, MapPromotion::B256];
}

impl TensorMap {
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Bytes that one copy moves, those outside of the tensor among them.
    pub fn box_bytes(&self) -> u64 {
        let elements: u64 = self.box_dims.iter().map(|extent| u64::from(*extent)).product();
        elements * u64::from(self.element.bytes())
    }

    /// Errors: the rule of the driver's function that is broken.
    pub fn check(&self) -> Result<(), &'static str> {
        let rank = self.rank();
        let rule = |holds: bool, rule: &'static str| if holds { Ok(()) } else { Err(rule) };
        rule((1..=MAX_RANK).contains(&rank), "a tensor map has 1 to 5 dimensions")?;
        let full = self.strides.len() + 1 == rank && self.box_dims.len() == rank;
        rule(full, "a tensor map has a box extent a dimension and a stride for each but the first")?;
        rule(self.address.is_multiple_of(16), "the tensor's address is a multiple of 16 bytes")?;
        // The driver takes 2^32; coordinates are of 32 bits with a sign (PTX ISA, `cp.async.bulk.tensor`).
        let dims = self.dims.iter().all(|dim| (1..=1 << 31).contains(dim));
        rule(dims, "a dimension has 1 to 2^31 elements")?;
        let strides = self.strides.iter().all(|stride| stride.is_multiple_of(16) && *stride < 1 << 40);
        rule(strides, "strides are multiples of 16 bytes below 2^40")?;
        rule(
            self.box_dims.iter().all(|extent| (1..=256).contains(extent)),
            "a box has 1 to 256 elements a dimension",
        )?;
        let inner = self.box_dims[0] * self.element.bytes();
        rule(inner.is_multiple_of(16), "the box's rows are multiples of 16 bytes")?;
        rule(self.swizzle.span().is_none_or(|span| inner <= span), "the box's rows fit the swizzle's span")
    }

    /// The fields as words for a simulator: first what they are, then address, dims, strides and the box.
    /// Panics where `check` fails.
    pub fn to_words(&self) -> [u64; MAP_WORDS] {
        assert_eq!(self.check(), Ok(()), "invariant: a tensor map keeps the driver's rules");
        let mut words = [0; MAP_WORDS];
        let fields = [self.rank() as u64, self.element as u64, self.swizzle as u64, self.promotion as u64];
        words[0] = fields.iter().rev().fold(0, |word, field| word << 8 | field) | MARK;
        words[1] = self.address;
        words[DIMS..DIMS + self.rank()].copy_from_slice(&self.dims);
        words[STRIDES..STRIDES + self.strides.len()].copy_from_slice(&self.strides);
        for (word, extent) in words[BOXES..].iter_mut().zip(&self.box_dims) {
            *word = u64::from(*extent);
        }
        words
    }

    /// Errors: the words are no tensor map, or one that breaks a rule.
    pub fn from_words(words: &[u64; MAP_WORDS]) -> Result<TensorMap, &'static str> {
        let field = |at: u32| (words[0] >> (8 * at) & 0xff) as usize;
        let rank = field(0);
        if words[0] >> 32 << 32 != MARK || !(1..=MAX_RANK).contains(&rank) {
            return Err("these bytes are no tensor map");
        }
        let element = MapElement::ALL.into_iter().find(|element| *element as usize == field(1));
        let extents = words[BOXES..BOXES + rank].iter().map(|extent| u32::try_from(*extent).unwrap_or(0));
        let map = TensorMap {
            element: element.ok_or("a tensor map has a type that is none")?,
            address: words[1],
            dims: words[DIMS..DIMS + rank].to_vec(),
            strides: words[STRIDES..STRIDES + rank - 1].to_vec(),
            box_dims: extents.collect(),
            swizzle: *MapSwizzle::ALL.get(field(2)).ok_or("a tensor map has a swizzle that is none")?,
            promotion: *MapPromotion::ALL.get(field(3)).ok_or("a tensor map has a promotion that is none")?,
        };
        map.check().map(|()| map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> TensorMap {
        TensorMap {
            element: MapElement::BF16,
            address: 0x7f00_0000_1000,
            dims: vec![4096, 333],
            strides: vec![8192],
            box_dims: vec![64, 128],
            swizzle: MapSwizzle::B128,
            promotion: MapPromotion::B256,
        }
    }

    #[test]
    fn words_bring_the_fields_back() {
        assert_eq!(TensorMap::from_words(&sample().to_words()), Ok(sample()));
        assert_eq!(sample().box_bytes(), 16384);
        assert!(TensorMap::from_words(&[0; MAP_WORDS]).is_err());
    }

    #[test]
    fn rules_are_the_driver_s() {
        let broken = [
            TensorMap { address: 8, ..sample() },
            TensorMap { strides: vec![8200], ..sample() },
            TensorMap { strides: vec![], ..sample() },
            TensorMap { box_dims: vec![72, 128], ..sample() },
            TensorMap { box_dims: vec![64, 257], ..sample() },
            TensorMap { box_dims: vec![4, 128], ..sample() },
            TensorMap { dims: vec![0, 1], ..sample() },
        ];
        assert_eq!(sample().check(), Ok(()));
        assert!(broken.iter().all(|map| map.check().is_err()));
    }
}
