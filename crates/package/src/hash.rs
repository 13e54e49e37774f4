//! Checksums of sections: XXH64 with seed 0, which reads at memory speed; it finds damage, not forgery.
//! Source: the xxHash specification, "XXH64 Algorithm Description", version 0.1.1.

const PRIME_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME_5: u64 = 0x27D4_EB2F_1656_67C5;
const STRIPE: usize = 32;

/// The checksum of one run of bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// A checksum of bytes that come in pieces; only their concatenation matters.
pub struct Hasher {
    lanes: [u64; 4],
    /// The last `len % 32` bytes.
    pending: [u8; STRIPE],
    len: u64,
}

impl Default for Hasher {
    fn default() -> Hasher {
        let lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, 0u64.wrapping_sub(PRIME_1)];
        Hasher { lanes, pending: [0; STRIPE], len: 0 }
    }
}

impl Hasher {
    pub fn update(&mut self, mut bytes: &[u8]) {
        let held = (self.len % STRIPE as u64) as usize;
        self.len += bytes.len() as u64;
        if held > 0 {
            let take = bytes.len().min(STRIPE - held);
            self.pending[held..held + take].copy_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if held + take < STRIPE {
                return;
            }
            let stripe = self.pending;
            self.stripe(&stripe);
        }
        let mut stripes = bytes.chunks_exact(STRIPE);
        for stripe in &mut stripes {
            self.stripe(stripe);
        }
        let rest = stripes.remainder();
        self.pending[..rest.len()].copy_from_slice(rest);
    }

    fn stripe(&mut self, stripe: &[u8]) {
        for (lane, word) in self.lanes.iter_mut().zip(stripe.chunks_exact(8)) {
            *lane = round(*lane, word64(word));
        }
    }

    pub fn finish(&self) -> u64 {
        let mut hash = if self.len >= STRIPE as u64 {
            let [a, b, c, d] = self.lanes;
            let sum = a
                .rotate_left(1)
                .wrapping_add(b.rotate_left(7))
                .wrapping_add(c.rotate_left(12))
                .wrapping_add(d.rotate_left(18));
            self.lanes
                .iter()
                .fold(sum, |hash, lane| (hash ^ round(0, *lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
        } else {
            PRIME_5
        };
        hash = hash.wrapping_add(self.len);
        let mut rest = &self.pending[..(self.len % STRIPE as u64) as usize];
        while let Some((word, tail)) = rest.split_first_chunk::<8>() {
            hash =
                (hash ^ round(0, word64(word))).rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
            rest = tail;
        }
        if let Some((word, tail)) = rest.split_first_chunk::<4>() {
            let word = u64::from(u32::from_le_bytes(*word));
            hash = (hash ^ word.wrapping_mul(PRIME_1))
                .rotate_left(23)
                .wrapping_mul(PRIME_2)
                .wrapping_add(PRIME_3);
            rest = tail;
        }
        for byte in rest {
            hash = (hash ^ u64::from(*byte).wrapping_mul(PRIME_5)).rotate_left(11).wrapping_mul(PRIME_1);
        }
        avalanche(hash)
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

fn avalanche(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(PRIME_2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(PRIME_3);
    hash ^ (hash >> 32)
}

fn word64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("invariant: eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the reference implementation.
    #[test]
    fn agrees_with_the_reference() {
        assert_eq!(hash(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(hash(b"abc"), 0x44BC_2CF5_AD77_0999);
        assert_eq!(hash(b"Nobody inspects the spammish repetition"), 0xFBCE_A83C_8A37_8BF1);
    }

    #[test]
    fn pieces_hash_like_the_whole() {
        let bytes: Vec<u8> = (0..200u32).map(|i| (i * 37) as u8).collect();
        for step in [1, 3, 31, 32, 33, 100] {
            let mut hasher = Hasher::default();
            bytes.chunks(step).for_each(|piece| hasher.update(piece));
            assert_eq!(hasher.finish(), hash(&bytes), "pieces of {step}");
        }
    }
}
