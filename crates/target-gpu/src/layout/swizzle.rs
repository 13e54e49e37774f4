//! The swizzles of shared memory that TMA and wgmma apply: rows of a span of 16, 32, 64 or 128 bytes; in a group of 8
//! rows the 16-byte chunks of each row are exchanged by the row's number, so that a column of chunks meets all banks.
//! Source: PTX ISA, "Swizzling Modes"; CUTLASS `include/cute/atom/mma_traits_sm90_gmma.hpp` (`Swizzle<n, 4, 3>`).

/// Bytes of what is never torn apart.
pub const CHUNK: u32 = 16;

/// Rows after which the pattern begins anew.
pub const ROWS: u32 = 8;

/// Named by the bytes of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Swizzle {
    /// Rows of one chunk: nothing to exchange.
    #[default]
    None,
    B32,
    B64,
    B128,
}

impl Swizzle {
    pub const ALL: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

    /// Bytes of a row.
    pub fn span(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
        }
    }

    /// Bytes of the group of 8 rows; what is swizzled begins at a multiple.
    pub fn atom(self) -> u32 {
        ROWS * self.span()
    }

    /// Where a byte goes: bits 7.. are added to bits 4.., as many as the span has chunk bits.
    pub fn apply(self, offset: u32) -> u32 {
        offset ^ (offset >> 3 & (self.span() - 1) & !(CHUNK - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_chunks_meets_all_banks() {
        assert_eq!(Swizzle::B128.apply(0x0080), 0x0090);
        for swizzle in Swizzle::ALL {
            let mask = swizzle.span() - CHUNK;
            for offset in 0..4096 {
                let (moved, row) = (swizzle.apply(offset), offset >> 7);
                assert_eq!(swizzle.apply(moved), offset);
                assert_eq!(moved ^ offset, row << 4 & mask);
                assert_eq!(moved / swizzle.atom(), offset / swizzle.atom());
            }
            // 8 rows, one chunk of each: 128 different bytes of the 128 that banks serve at once.
            let mut banks: Vec<u32> =
                (0..ROWS).map(|row| swizzle.apply(row * swizzle.span()) % 128).collect();
            banks.sort_unstable();
            banks.dedup();
            assert_eq!(banks.len(), 8);
        }
    }
}
