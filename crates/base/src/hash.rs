//! Hash maps for ids, sizes and ops: a short hash of a few instructions a word.
//!
//! The order of a map is the same in every run, yet no result may depend on it. Equal hashes are easy to make, so keys
//! that an outsider chooses at will, such as names in a file, go into a [`SeededMap`], whose order is another in every
//! run.
//! Method: rotate, add, multiply by an odd constant with about half its bits set; the high bits, which depend on
//! all of the word, come down at the end, where the table looks at them.

use std::collections;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

pub type HashMap<K, V> = collections::HashMap<K, V, BuildHasherDefault<Mixer>>;
pub type HashSet<K> = collections::HashSet<K, BuildHasherDefault<Mixer>>;
pub type SeededMap<K, V> = collections::HashMap<K, V, Seed>;
pub type SeededSet<K> = collections::HashSet<K, Seed>;

/// The state of a hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixer(u64);

/// 2^64 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming 3, section 6.4).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Mixer {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MULTIPLIER);
    }
}

/// Calls `f` with the words of bytes; the last, if it is not whole, tells how much of it there is: "a" from "a\0".
fn for_each_word(bytes: &[u8], mut f: impl FnMut(u64)) {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| f(u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        let bits = rest.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        f(bits ^ (rest.len() as u64) << 56);
    }
}

/// The secret of a map, drawn when the map is made.
#[derive(Clone, Copy, Debug)]
pub struct Seed(u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = SeededMixer;
    fn build_hasher(&self) -> SeededMixer {
        SeededMixer { state: self.0, factor: self.0.rotate_left(32) | 1 }
    }
}

/// Multiplies by a secret factor and adds the halves of the product, so that which words cancel is secret too.
#[derive(Clone, Copy, Debug)]
pub struct SeededMixer {
    state: u64,
    factor: u64,
}

impl SeededMixer {
    fn word(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.factor);
        self.state = (product as u64).wrapping_add((product >> 64) as u64);
    }
}

impl Hasher for SeededMixer {
    fn write(&mut self, bytes: &[u8]) {
        for_each_word(bytes, |word| self.word(word));
    }

    fn write_u8(&mut self, n: u8) {
        self.word(n.into());
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for_each_word(bytes, |word| self.word(word));
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
    use std::hash::Hash;

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

    #[test]
    fn what_collides_under_one_seed_does_not_under_another() {
        let names: Vec<String> = (0..128 * 64).map(|i| format!("/layer.{i}/MatMul_output_0")).collect();
        let buckets = |seed: Seed| -> Vec<u64> { names.iter().map(|name| seed.hash_one(name)).collect() };
        let (one, two) = (buckets(Seed(0x1234_5678)), buckets(Seed(0x8765_4321_0fed_cba9)));
        for part in [|hash: u64| hash & 127, |hash: u64| hash >> 57] {
            let mut counts = [0; 128];
            one.iter().for_each(|hash| counts[part(*hash) as usize] += 1);
            assert!(counts.iter().all(|count| (16..256).contains(count)), "{counts:?}");
            let met = |i: usize| part(one[i]) == part(one[0]) && part(two[i]) == part(two[0]);
            assert!((1..names.len()).filter(|i| met(*i)).count() < 16);
        }
    }

    #[test]
    fn order_and_length_count() {
        assert_ne!(hash((1u32, 2u32)), hash((2u32, 1u32)));
        assert_ne!(hash("a"), hash("a\0"));
        assert_ne!(hash(&[1u8, 2][..]), hash(&[1u8, 2, 0][..]));
    }
}
