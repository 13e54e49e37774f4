//! The register layouts that matrix instructions ask for.
//! Source: PTX ISA, "Matrix Fragments for mma.m16n8k8 / m16n8k16 / m16n8k32" and "Register Fragments and Shared Memory
//! Matrix Layouts" of wgmma. In all of them 4 lanes share 32-byte rows and 8 groups of 4 lanes stand for 8 rows; they
//! differ in how many neighbours one register of 32 bits packs.

use super::atom::Part;
use super::register::{LayoutBuilder, RegisterLayout};

/// How warps share the result of `mma`: those along m have neighbouring numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpGrid {
    pub m: u32,
    pub n: u32,
}

/// The sums of `mma.m16n8`: tile (m, n), 4 elements of 32 bits a 16x8 block, n fastest.
/// Each warp has a run of neighbouring rows and columns.
pub fn mma_sums(m: u32, n: u32, warps: WarpGrid) -> RegisterLayout {
    rows_of_8(LayoutBuilder::new().take(Part::Register, 1, 2).take(Part::Lane, 1, 4))
        .take(Part::Register, 0, 2)
        .take(Part::Register, 1, n.div_ceil(8 * warps.n))
        .take(Part::Register, 0, m.div_ceil(16 * warps.m))
        .take(Part::Warp, 0, warps.m)
        .take(Part::Warp, 1, warps.n)
        .finish(&[m, n])
}

/// The left factor of `mma`: tile (m, k) of elements of 8, 16 or 32 bits; k fastest, then 16-row blocks.
pub fn mma_left(m: u32, k: u32, bits: u32, warps: WarpGrid) -> RegisterLayout {
    let packed = packed(bits);
    let block = LayoutBuilder::new().take(Part::Register, 1, packed).take(Part::Lane, 1, 4);
    rows_of_8(block)
        .take(Part::Register, 0, 2)
        .take(Part::Register, 1, 2)
        .take(Part::Register, 1, k.div_ceil(8 * packed))
        .take(Part::Register, 0, m.div_ceil(16 * warps.m))
        .take(Part::Warp, 0, warps.m)
        .broadcast(Part::Warp, warps.n)
        .finish(&[m, k])
}

/// The right factor of `mma`: tile (k, n) of elements of 8, 16 or 32 bits; k fastest, then 8-column blocks.
pub fn mma_right(k: u32, n: u32, bits: u32, warps: WarpGrid) -> RegisterLayout {
    let packed = packed(bits);
    LayoutBuilder::new()
        .take(Part::Register, 0, packed)
        .take(Part::Lane, 0, 4)
        .take(Part::Lane, 1, 8)
        .take(Part::Register, 0, 2)
        .take(Part::Register, 0, k.div_ceil(8 * packed))
        .take(Part::Register, 1, n.div_ceil(8 * warps.n))
        .broadcast(Part::Warp, warps.m)
        .take(Part::Warp, 1, warps.n)
        .finish(&[k, n])
}

/// The sums of `wgmma.m64nN`: tile (m, n) over so many warpgroups of 4 warps, each a run of m.
/// Register `i` of a 64-row block lies at row `16 warp + lane / 4 + 8 (i / 2 % 2)`, column `8 (i / 4) + 2 (lane % 4) + i % 2`.
pub fn wgmma_sums(m: u32, n: u32, warpgroups: u32) -> RegisterLayout {
    rows_of_8(LayoutBuilder::new().take(Part::Register, 1, 2).take(Part::Lane, 1, 4))
        .take(Part::Register, 0, 2)
        .take(Part::Warp, 0, 4)
        .take(Part::Register, 1, n.div_ceil(8))
        .take(Part::Register, 0, m.div_ceil(64 * warpgroups))
        .take(Part::Warp, 0, warpgroups)
        .finish(&[m, n])
}

/// The left factor of `wgmma` in registers: tile (m, k) of elements of 8, 16 or 32 bits.
pub fn wgmma_left(m: u32, k: u32, bits: u32, warpgroups: u32) -> RegisterLayout {
    let packed = packed(bits);
    let block = LayoutBuilder::new().take(Part::Register, 1, packed).take(Part::Lane, 1, 4);
    rows_of_8(block)
        .take(Part::Register, 0, 2)
        .take(Part::Warp, 0, 4)
        .take(Part::Register, 1, 2)
        .take(Part::Register, 1, k.div_ceil(8 * packed))
        .take(Part::Register, 0, m.div_ceil(64 * warpgroups))
        .take(Part::Warp, 0, warpgroups)
        .finish(&[m, k])
}

/// How many elements a register of 32 bits packs. Panics for other widths than 8, 16 and 32.
fn packed(bits: u32) -> u32 {
    assert!([8, 16, 32].contains(&bits), "invariant: factors have 8, 16 or 32 bits");
    32 / bits
}

fn rows_of_8(builder: LayoutBuilder) -> LayoutBuilder {
    builder.take(Part::Lane, 0, 8)
}
