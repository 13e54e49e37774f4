//! How long shared memory takes for one instruction of a warp.
//! Model: 32 banks of 4 bytes; 32 lanes of up to 4 bytes go at once, lanes of 8 bytes in 2 halves, of 16 in 4 quarters; in
//! each group a bank serves one word a wavefront, lanes that want the same word share it.
//! Source: CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later; vector accesses by their
//! documented 128-byte transactions.

use super::register::LANES;

const BANKS: u32 = 32;
const BANK_BYTES: u32 = 4;

/// Wavefronts of one instruction: the byte offset of each lane and the bytes a lane, 1 to 16.
pub fn wavefronts(offsets: &[u32; LANES as usize], bytes: u32) -> u32 {
    let lanes = (LANES * BANK_BYTES / bytes.max(BANK_BYTES)) as usize;
    offsets.chunks(lanes).map(|group| group_wavefronts(group, bytes)).sum()
}

/// The fewest wavefronts that so many bytes a lane can take.
pub fn fewest_wavefronts(bytes: u32) -> u32 {
    bytes.div_ceil(BANK_BYTES)
}

fn group_wavefronts(offsets: &[u32], bytes: u32) -> u32 {
    let words = |offset: &u32| offset / BANK_BYTES..(offset + bytes).div_ceil(BANK_BYTES);
    let mut wanted: Vec<u32> = offsets.iter().flat_map(words).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut load = [0; BANKS as usize];
    wanted.iter().for_each(|word| load[(word % BANKS) as usize] += 1);
    load.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u32, bytes: u32) -> u32 {
        wavefronts(&std::array::from_fn(|lane| lane as u32 * stride), bytes)
    }

    #[test]
    fn strides_conflict_by_their_common_divisor_with_the_banks() {
        assert_eq!(
            [0, 2, 4, 8, 12, 16, 128, 132].map(|stride| strided(stride, 4)),
            [1, 1, 1, 2, 1, 4, 32, 1]
        );
        assert_eq!([8, 16, 128].map(|stride| strided(stride, 8)), [2, 4, 32]);
        assert_eq!([16, 32, 128, 144].map(|stride| strided(stride, 16)), [4, 8, 32, 4]);
    }
}
