//! Hash maps for ids, sizes and ops: a short hash of a few instructions a word.
//!
//! The order of a map is the same in every run, yet no result may depend on it. Equal hashes are easy to make, so keys
//! that an outsider chooses at will, such as names in a file, go into a [`SeededMap`], or their [`fingerprint`]s stand for
//! them: the hash of crate `foldhash` under a secret that is another in every run.
//! Method of the short one: rotate, add, multiply by an odd constant with about half its bits set; the high bits, which depend on
//! all of the word, come down at the end, where the table looks at them.

use foldhash::quality::RandomState;
use std::collections;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::sync::LazyLock;

pub type HashMap<K, V> = collections::HashMap<K, V, BuildHasherDefault<Mixer>>;
pub type HashSet<K> = collections::HashSet<K, BuildHasherDefault<Mixer>>;
/// A secret that is another in every run, and the hash under it.
pub type Seed = RandomState;
pub type SeededMap<K, V> = collections::HashMap<K, V, Seed>;
pub type SeededSet<K> = collections::HashSet<K, Seed>;

/// A number that stands for a value while the process runs: the hash of crate `foldhash` under a secret that is another in
/// every run, so that nobody can choose values that collide. Two have the same once in 2^64 pairs.
pub fn fingerprint(value: &impl Hash) -> u64 {
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    SECRET.hash_one(value)
}

/// The state of a hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixer(u64);

/// 2^64 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming 3, section 6.4).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Mixer {
    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    }
}

impl Hasher for Mixer {
    /// The last word, if it is not whole, tells how much of it there is: "a" from "a\0".
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let bits = rest.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            self.word(bits ^ (rest.len() as u64) << 56);
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.word(n.into());
    }

    fn write_u16(&mut self, n: u16) {
        self.word(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.word(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_i64(&mut self, n: i64) {
        self.word(n as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn write_isize(&mut self, n: isize) {
        self.word(n as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(key: impl Hash) -> u64 {
        let mut mixer = Mixer::default();
        key.hash(&mut mixer);
        mixer.finish()
    }

    #[test]
    fn small_keys_spread_over_buckets_and_tags() {
        // Tables take the low bits for the bucket and the top seven for the tag.
        for low in [false, true] {
            let part = |key: u32| if low { hash(key) & 127 } else { hash(key) >> 57 };
            let mut counts = [0; 128];
            (0..128 * 64).for_each(|key| counts[part(key) as usize] += 1);
            assert!(counts.iter().all(|count| (16..256).contains(count)), "{counts:?}");
        }
    }

    /// Complements cancel in sums and products modulo 2^64 - 1, whatever the secret is: names of such words made all
    /// hashes of a former method equal.
    #[test]
    fn complements_do_not_collide() {
        let word = [*b"1A1A1A1A", b"1A1A1A1A".map(|byte| !byte)];
        let names: Vec<Vec<[u8; 8]>> = (0..1u32 << 12)
            .map(|bits| {
                (0..12).flat_map(|i| if bits >> i & 1 == 0 { word } else { [word[1], word[0]] }).collect()
            })
            .collect();
        let seed = RandomState::default();
        let hashes: HashSet<u64> = names.iter().map(|name| seed.hash_one(name.concat())).collect();
        assert_eq!(hashes.len(), names.len());
    }

    #[test]
    fn order_and_length_count() {
        assert_ne!(hash((1u32, 2u32)), hash((2u32, 1u32)));
        assert_ne!(hash("a"), hash("a\0"));
        assert_ne!(hash(&[1u8, 2][..]), hash(&[1u8, 2, 0][..]));
    }
}
