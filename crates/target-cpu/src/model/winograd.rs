//! Convolutions by Winograd's algorithm: where it pays, and how many tiles of an image are a work unit's.

use super::{CpuTarget, L2_SHARE};
use crate::tier::Tier;
use tegula_base::{DType, Dim};
use tegula_tensor::winograd::{FEWEST_CHANNELS, REACH};
use tegula_tiling::{Contract, ContractTile};

/// Tiles of an image from which it pays to transform them, whatever the filters: transformed, they are 16 numbers for 9, and read
/// for each image. On a Zen 3, AVX2, the 25 to 1,600 tiles of `yolov8n` and `ocr-detect-yolox` take 0.43 to 0.87 of the time of walked
/// windows, 16 of 256 and of 512 channels, each convolution with filters of its own, 1.0 and 1.3; on an Emerald Rapids, AVX-512, 25
/// of 128 channels 0.80.
const MANY_WINOGRAD_TILES: i64 = 25;
/// The same on AVX2 of filters that come fast, from near L2: 4 tiles of 128 channels, each convolution with filters of its own, take
/// 0.61 on a Zen 3, and of 256, filters of 4 MB, 1.5. On AVX-512 nobody has measured fewer.
const FEW_WINOGRAD_TILES: i64 = 4;
/// Times L2 that such filters may take.
const NEAR_FILTERS: u64 = 2;
/// Tiles of a work unit at most, whose transforms stay in L2 beside the filters'. Measured on an Ice Lake server,
/// `yolov8n`'s and `ppocrv4-det`'s convolutions: 24, 36, 64 and 96 take the same time within 3 %.
const MOST_WINOGRAD_TILES: i64 = 64;
/// Work units of an image, where it has so many panels of filters: threads share them. By judgement, a few for each of two.
const FEWEST_UNITS: i64 = 4;

/// Extents for such products; `None` also where a row tile of so many channels is more than its share of L2. Rows past the
/// last tile are computed too, so that an unknown number of them is as good as a whole unit's.
pub(super) fn tile(target: &CpuTarget, products: &Contract) -> Option<ContractTile> {
    let (k, n) = products.k.as_const().zip(products.n.as_const())?;
    let tiles = products.m.as_const().unwrap_or(MOST_WINOGRAD_TILES);
    let filters = (REACH.pow(2) * DType::F32.size() as i64).saturating_mul(k).saturating_mul(n);
    let are_near = target.tier == Tier::Avx2 && filters as u64 <= NEAR_FILTERS * target.cpu.l2.0;
    let fewest = if are_near { FEW_WINOGRAD_TILES } else { MANY_WINOGRAD_TILES };
    if k.min(n) < FEWEST_CHANNELS || tiles < fewest {
        return None;
    }
    // Its own, whatever a record says of a product of these sizes: the transforms are made for whole registers.
    let of_many = Contract { m: Dim::from(tiles), ..products.clone() };
    let tile = target.walked(&of_many, target.own_tile(&of_many));
    let bytes = REACH.pow(2) * k * DType::F32.size() as i64;
    let most = (target.cpu.l2.0 as i64 / L2_SHARE / bytes).min(MOST_WINOGRAD_TILES) / tile.m;
    if most == 0 {
        return None;
    }
    let row_tiles = (tiles + tile.m - 1) / tile.m;
    let blocks = (row_tiles + most - 1) / most;
    let m_block = (row_tiles + blocks - 1) / blocks;
    let units = products.m.as_const().map(|tiles| (tiles + tile.m * m_block - 1) / (tile.m * m_block));
    let panels = (n + tile.n - 1) / tile.n;
    let are_enough =
        |slabs: &i64| panels % slabs == 0 && units.is_none_or(|units| units * slabs >= FEWEST_UNITS);
    let n_slabs = (1..=panels).find(are_enough).unwrap_or(panels);
    Some(ContractTile { m_block, n_slabs, ..tile })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Form;
    use tegula_base::Symbols;
    use tegula_machine::Machine;
    use tegula_tiling::TileMachine;

    fn products(tiles: impl Into<Dim>, channels: i64) -> Contract {
        let sizes = [REACH.pow(2).into(), tiles.into(), 64.into(), channels.into()];
        Contract { batch_axes: 3, ..Contract::new(sizes, [DType::F32; 3]) }
    }

    /// Of every machine, any number of tiles: what a unit transforms fits its share of L2, or windows are walked.
    #[test]
    fn blocks_fit_their_share_of_l2() {
        for class in Machine::class_names() {
            let machine = Machine::class(class).expect("a class");
            let Some(l2) = machine.cpu().map(|cpu| cpu.l2.0 as i64) else { continue };
            let target = CpuTarget::new(machine, Form::Machine).expect("a known tier");
            for tiles in [Dim::symbol("tiles"), 4.into(), 25.into(), 49.into(), 400.into(), 1600.into()] {
                for channels in (16..8192).step_by(16) {
                    let products = products(tiles.clone(), channels);
                    let Some(tile) = target.winograd_tile(&products, &Symbols::default()) else { continue };
                    let bytes = REACH.pow(2) * tile.m * tile.m_block * channels * DType::F32.size() as i64;
                    assert!(bytes <= l2 / L2_SHARE, "{class}: {tiles} tiles of {channels} channels");
                }
            }
        }
    }

    #[test]
    fn many_channels_are_convolved_directly() {
        let target = CpuTarget::new(Machine::class("avx512-generic").expect("a class"), Form::Machine);
        let target = target.expect("a known tier");
        let pays = |channels| target.winograd_tile(&products(400, channels), &Symbols::default()).is_some();
        assert!(pays(512) && !pays(3072));
    }

    #[test]
    fn few_tiles_want_filters_that_are_near() {
        let pays = |class: &str, tiles: i64, channels: i64| {
            let target = CpuTarget::new(Machine::class(class).expect("a class"), Form::Machine);
            let products = Contract { n: channels.into(), ..products(tiles, channels) };
            let tile = target.expect("a known tier").winograd_tile(&products, &Symbols::default());
            tile.is_some()
        };
        assert!(pays("zen3", 4, 128) && !pays("zen3", 4, 256) && !pays("zen3", 3, 128));
        assert!(!pays("zen3", 16, 256) && pays("zen3", 25, 256));
        assert!(!pays("zen5", 16, 128) && pays("zen5", 25, 128));
    }

    /// Images of few tiles share out the panels of filters, as many parts as divide them.
    #[test]
    fn threads_share_an_image() {
        let target = CpuTarget::new(Machine::class("avx512-generic").expect("a class"), Form::Machine);
        let target = target.expect("a known tier");
        let slabs = |tiles: Dim, columns: i64| {
            let products = Contract { n: columns.into(), ..products(tiles, 64) };
            target.winograd_tile(&products, &Symbols::default()).expect("it pays").n_slabs
        };
        assert_eq!(slabs(25.into(), 320), 5);
        assert_eq!(slabs(25.into(), 32), 1);
        assert_eq!(slabs(100.into(), 128), 2);
        assert_eq!(slabs(400.into(), 128), 1);
        assert_eq!(slabs(Dim::symbol("tiles"), 128), 1);
    }
}
