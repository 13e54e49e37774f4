//! Vectors: a byte of each lane, and groups of them as words of 32 bits.

use std::sync::Arc;

/// The bytes of all lanes; a copy shares them.
pub(crate) type Vector = Arc<[u8]>;

/// The elements of a group of 1, 2 or 4 vectors, each of so many bytes, the first vector the lowest.
pub(crate) fn joined(parts: &[Vector], lanes: usize) -> Vec<u32> {
    let mut words = vec![0u32; lanes];
    for (part, vector) in parts.iter().enumerate() {
        for (word, byte) in words.iter_mut().zip(vector.iter()) {
            *word |= u32::from(*byte) << (8 * part);
        }
    }
    words
}

/// The lowest `width` bytes of each element as vectors.
pub(crate) fn split(words: &[u32], width: u32) -> Vec<Vector> {
    (0..width).map(|part| words.iter().map(|word| (word >> (8 * part)) as u8).collect()).collect()
}
