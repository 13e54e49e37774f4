//! How the copy engine and wgmma permute 16-byte chunks of shared memory: bits of the row are added to those of the
//! chunk, so that a column of 8 rows lies in different banks.

use tegula_package::MapSwizzle;

/// Where the byte of an unpermuted address is (CuTe's `Swizzle<B, 4, 3>`).
pub fn swizzle(mode: MapSwizzle, address: u32) -> u32 {
    let mask = match mode {
        MapSwizzle::None => 0,
        MapSwizzle::B32 => 0x10,
        MapSwizzle::B64 => 0x30,
        MapSwizzle::B128 => 0x70,
    };
    address ^ (address >> 3 & mask)
}
