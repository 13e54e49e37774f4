//! What a launch did, in numbers that say how fast it could be on a card.

/// Sums over all CTAs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions of warps.
    pub warp_instructions: u64,
    /// Instructions of lanes whose guard held.
    pub lane_instructions: u64,
    /// Multiply-adds of matrix instructions.
    pub matrix_macs: u64,
    /// Accesses of warps to global memory, and the 32-byte sectors that they touched.
    pub global_accesses: u64,
    pub global_sectors: u64,
    /// Bytes that lanes asked for.
    pub global_bytes: u64,
    /// Accesses of warps to shared memory, and the passes over its 32 banks of 4 bytes that they took.
    pub shared_accesses: u64,
    pub shared_passes: u64,
    /// Passes more than the bytes need.
    pub bank_conflicts: u64,
    pub shared_bytes: u64,
    /// Bytes that bulk copies moved; once for all CTAs of a multicast.
    pub bulk_bytes: u64,
}

impl Counters {
    pub fn global(&mut self, addresses: &[u64], bytes: usize) {
        self.global_accesses += 1;
        self.global_bytes += (addresses.len() * bytes) as u64;
        let mut sectors = [0u64; 64];
        let mut n = 0;
        for address in addresses {
            for sector in address / 32..=address.saturating_add(bytes as u64 - 1) / 32 {
                if !sectors[..n].iter().rev().any(|seen| *seen == sector) && n < 64 {
                    sectors[n] = sector;
                    n += 1;
                }
            }
        }
        self.global_sectors += n as u64;
    }

    /// Banks serve 128 bytes a pass: 32 lanes of 4 bytes, 16 of 8, 8 of 16; equal words are one.
    pub fn shared(&mut self, addresses: &[u64], bytes: usize) {
        self.shared_accesses += 1;
        self.shared_bytes += (addresses.len() * bytes) as u64;
        let together = (128 / bytes.max(4)).max(1);
        for group in addresses.chunks(together) {
            let mut banks = [0u8; 32];
            let mut words = [u64::MAX; 64];
            let mut n = 0;
            for address in group {
                for word in address / 4..=(address + bytes as u64 - 1) / 4 {
                    if n < 64 && !words[..n].iter().rev().any(|seen| *seen == word) {
                        words[n] = word;
                        n += 1;
                        banks[word as usize % 32] += 1;
                    }
                }
            }
            let passes = banks.iter().max().copied().unwrap_or(0) as u64;
            self.shared_passes += passes;
            self.bank_conflicts += passes.saturating_sub(n.div_ceil(32) as u64);
        }
    }
}
