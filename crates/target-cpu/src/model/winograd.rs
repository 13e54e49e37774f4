//! Convolutions by Winograd's algorithm: where it pays, and how many tiles of an image are a work unit's.

use super::{CpuTarget, L2_SHARE};
use crate::native::Tier;
use tegula_base::{DType, Dim, Symbols};
use tegula_target::{Contract, ContractTile, TargetModel};
use tegula_tensor::winograd::{FEWEST_CHANNELS, REACH};

/// Tiles of an image from which it pays to transform them: the transformed filters, 16 numbers for 9, are read for each
/// image. Measured on an Emerald Rapids: 25 tiles of 128 channels take 0.80 of the time of walked windows; fewer were not measured.
const FEWEST_WINOGRAD_TILES: i64 = 25;
/// Tiles of a work unit at most, whose transforms stay in L2 beside the filters'. By judgement: other numbers were not measured.
const MOST_WINOGRAD_TILES: i64 = 64;

/// Extents for such products. Rows past the last tile are computed too, so that an unknown number of them is as good as a
/// whole unit's. AVX2 has 16 registers, as many as a tile has
/// elements: not measured.
pub(super) fn tile(target: &CpuTarget, products: &Contract, symbols: &Symbols) -> Option<ContractTile> {
    let (k, n) = products.k.as_const().zip(products.n.as_const())?;
    let tiles = products.m.as_const().unwrap_or(MOST_WINOGRAD_TILES);
    let are_many = k.min(n) >= FEWEST_CHANNELS && tiles >= FEWEST_WINOGRAD_TILES;
    if !are_many || target.tier != Tier::Avx512 {
        return None;
    }
    let tile = target.contract_tile(&Contract { m: Dim::from(tiles), ..products.clone() }, symbols);
    let bytes = REACH.pow(2) * k * DType::F32.size() as i64;
    let most = (target.cpu.l2.0 as i64 / L2_SHARE / bytes).min(MOST_WINOGRAD_TILES) / tile.m;
    let row_tiles = (tiles + tile.m - 1) / tile.m;
    let blocks = (row_tiles + most.max(1) - 1) / most.max(1);
    Some(ContractTile { m_block: (row_tiles + blocks - 1) / blocks, ..tile })
}
