//! Values of the 32 lanes of a warp, and masks of lanes.

/// One register of a warp: bits of each lane, zeros above the register's width; of a predicate 0 or 1.
pub type Lanes = [u64; 32];

pub const FULL: u32 = u32::MAX;

/// The lanes of a mask, lowest first.
pub fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// The lanes whose lowest bit is set.
pub fn mask_of(row: &Lanes) -> u32 {
    let mut mask = 0;
    for (lane, value) in row.iter().enumerate() {
        mask |= (*value as u32 & 1) << lane;
    }
    mask
}

/// `bits` ones.
pub fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The low `bits` bits as a signed number.
pub fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}
