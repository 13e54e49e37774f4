//! A tensor map but for what a launch gives: which words of the argument block are its address and sizes.

use super::{MAX_RANK, MapElement, MapPromotion, MapSwizzle, TensorMap};
use serde::{Deserialize, Serialize};

/// A size that is known when the kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapSize {
    Const(u64),
    /// A word of the argument block, times a factor.
    Word {
        word: usize,
        factor: u64,
    },
}

/// A tensor map but for the words of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MapTemplate {
    pub element: MapElement,
    /// The word with the buffer's address.
    pub address_word: usize,
    /// Bytes from there to the tensor's first element.
    pub offset: u64,
    /// Elements, innermost first.
    pub dims: Vec<MapSize>,
    /// Bytes, of each dim but the innermost.
    pub strides: Vec<MapSize>,
    pub box_dims: Vec<u32>,
    pub swizzle: MapSwizzle,
}

impl MapSize {
    fn bind(self, words: &[u64]) -> Result<u64, &'static str> {
        match self {
            MapSize::Const(size) => Ok(size),
            MapSize::Word { word, factor } => {
                word_at(words, word)?.checked_mul(factor).ok_or("a size of the tensor has 64 bits")
            }
        }
    }

    fn word(self) -> Option<usize> {
        match self {
            MapSize::Const(_) => None,
            MapSize::Word { word, .. } => Some(word),
        }
    }
}

impl MapTemplate {
    /// The map of a launch with this argument block. Errors: a rule of tensor maps that its sizes break.
    pub fn bind(&self, words: &[u64]) -> Result<TensorMap, &'static str> {
        let bind = |sizes: &[MapSize]| {
            sizes.iter().map(|size| size.bind(words)).collect::<Result<Vec<u64>, &'static str>>()
        };
        let map = TensorMap {
            element: self.element,
            address: word_at(words, self.address_word)?.wrapping_add(self.offset),
            // Of what is empty nothing is copied; the driver's rules want sizes all the same.
            dims: bind(&self.dims)?.into_iter().map(|size| size.max(1)).collect(),
            strides: bind(&self.strides)?.into_iter().map(|stride| stride.max(LEAST_STRIDE)).collect(),
            box_dims: self.box_dims.clone(),
            swizzle: self.swizzle,
            promotion: MapPromotion::B256,
        };
        map.check().map(|()| map)
    }

    /// Words that hold sizes.
    pub fn size_words(&self) -> impl Iterator<Item = usize> + '_ {
        self.dims.iter().chain(&self.strides).filter_map(|size| size.word())
    }

    /// Errors: a rule that no launch's words can mend.
    pub fn check(&self) -> Result<(), &'static str> {
        let rank = self.dims.len();
        let whole = (1..=MAX_RANK).contains(&rank)
            && self.strides.len() + 1 == rank
            && self.box_dims.len() == rank
            && self.box_dims.iter().all(|extent| (1..=256).contains(extent));
        match whole {
            true => Ok(()),
            false => Err(
                "a tensor map has 1 to 5 dims with box extents of 1 to 256, and strides of all but the first",
            ),
        }
    }
}

/// Bytes.
const LEAST_STRIDE: u64 = 16;

fn word_at(words: &[u64], at: usize) -> Result<u64, &'static str> {
    words.get(at).copied().ok_or("the argument block has the words that its tensor maps use")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_gives_the_sizes() {
        let template = MapTemplate {
            element: MapElement::BF16,
            address_word: 1,
            offset: 32,
            dims: vec![MapSize::Word { word: 2, factor: 1 }, MapSize::Const(7)],
            strides: vec![MapSize::Word { word: 2, factor: 2 }],
            box_dims: vec![64, 128],
            swizzle: MapSwizzle::B128,
        };
        assert_eq!(template.check(), Ok(()));
        let map = template.bind(&[0, 4096, 1024]).expect("keeps the rules");
        assert_eq!((map.address, map.dims, map.strides), (4128, vec![1024, 7], vec![2048]));
        let empty = template.bind(&[0, 4096, 0]).expect("an empty tensor has a map");
        assert_eq!((empty.dims, empty.strides), (vec![1, 7], vec![16]));
        assert!(template.bind(&[0, 4096, 1023]).is_err());
        assert!(template.bind(&[0, 4097, 1024]).is_err());
        assert!(template.bind(&[0, 4096]).is_err());
        assert!(template.bind(&[0, 4096, u64::MAX]).is_err());
        assert!(MapTemplate { box_dims: vec![64], ..template }.check().is_err());
    }
}
