//! Tiles of contractions: rows and vectors of columns by registers and instructions, blocks by caches.

use super::{CpuTarget, L2_SHARE, USUAL_VECTORS, of_tier};
use crate::lower::wants_halves;
use crate::tier::Tier;
use tegula_base::{DType, Symbols};
use tegula_tiling::tuning::TunedTile;
use tegula_tiling::{Contract, ContractTile, Edges, Panels, TileMachine};

/// Registers of a vector unit.
pub(super) const REGISTERS: [(Tier, i64); 2] = [(Tier::Avx2, 16), (Tier::Avx512, 32)];
/// Accumulators of a contraction tile, of the registers that the tier has: the rest holds the vectors of the
/// right side, a broadcast element and what the epilogue needs. 14 x 2 of 32 and 6 x 2 of 16 are the largest
/// that leave three; multiply-adds need latency (4 cycles) x 2 units = 8 to be busy.
const MOST_ACCUMULATORS: [(Tier, i64); 2] = [(Tier::Avx2, 12), (Tier::Avx512, 28)];
/// Accumulators that keep two multiply-add units of 4 cycles latency busy (Zen 4, Zen 5, Golden Cove:
/// their optimization manuals).
const BUSY_ACCUMULATORS: i64 = 8;
/// The same for products of bytes: VPDPBUSD takes 5 cycles on Golden Cove and 4 on Zen (uops.info).
const BUSY_BYTE_ACCUMULATORS: i64 = 10;
/// The same without it: two additions follow two multiplications that wait for no sum, and take no longer than these.
const BUSY_HALVES: i64 = 2;
/// Accumulators of bytes without it on AVX2: beside 4 x 2 sums stay two halves of each vector of columns and of a row's element,
/// their mask and a product, which is all there are. Summed in pairs, 2 x 4 sums leave one register of 16.
const MOST_BYTE_ACCUMULATORS: i64 = 8;
/// Rows of a tile when the number of rows is not known, by tier: with two vectors of columns. On AVX-512 8 keep the
/// units busy and divide most lengths: 4 rows that are left over take as long, as panels come from L2 no faster.
const USUAL_ROWS: [(Tier, i64); 2] = [(Tier::Avx2, 6), (Tier::Avx512, 8)];
/// Accumulators at most of a tile where instructions rather than multiply-adds take the time. Measured on an Emerald Rapids
/// whose cores run a thread of somebody else's too, 128x384x384 in `f32`: 8 x 2 111 GFLOP/s, 14 x 2 113, 8 x 3 123, 6 x 4 126,
/// 4 x 6 117; on a core of their own all are the same.
const DENSE_ACCUMULATORS: i64 = 24;
/// Vectors of columns of such a tile at most. On AVX2 three leave registers for four rows, which is as fast for a launch alone
/// but takes up to 5 % longer in models, whose panels come from beyond L2 for fewer rows (Zen 3, `minilm`, `yolov8n`): they are
/// for columns that two would pad more.
const DENSE_VECTORS: [(Tier, i64); 2] = [(Tier::Avx2, 3), (Tier::Avx512, 4)];
/// Time of a tile of one vector of columns of bytes that are taken apart, whose halves of rows serve that vector alone, against
/// one of two or three that the columns fill. Measured on a Zen 3, 33 to 330 rows: 0.98 to 1.06.
const ONE_VECTOR_OF_BYTES: f64 = 1.03;
/// Vectors of columns of words that are multiplied in each turn of a loop by rows whose number is not known. Of one row two take
/// as long for their rows' elements and the loop's instructions as for the weights: on a Zen 3 2.4 MB of them pass at 34 GB/s, at
/// 43 by four and at 44 by eight. Many rows take 3 % more instructions by two rows and four vectors than by six and two.
const WORD_VECTORS_IN_LOOPS: i64 = 4;
/// Rows of such a tile whose usual ones take too many accumulators, where their number is not known: what is left over of
/// rows goes by fours.
const FEW_ROWS: i64 = 4;
/// Threads that may share a core's front end.
const THREADS_OF_CORE: f64 = 2.0;
/// Contractions steps unrolled: hides the loop's own instructions (3) behind 4 x 24 multiply-adds, and is the
/// group of a four-way 8-bit product.
const K_UNROLL: i64 = 4;
/// The same in pairs of 16-bit floats, of which one instruction takes two steps.
const PAIR_UNROLL: i64 = 2 * K_UNROLL;
/// Contraction length assumed where it is not known, when sizing blocks for L2.
const USUAL_K: i64 = 1024;
/// The part of L3 that panels of the right side may take that all blocks of rows pass over: the left side, the result
/// and the other cores take theirs. Measured on Zen 5 (32 MiB), 2048^3 in `f32`: 252 GFLOP/s with 16 MiB of panels in
/// one part, 260 with 4 MiB.
const L3_SHARE: u64 = 8;
/// Row tiles of a block for which a panel of bytes is converted once. Measured on Golden Cove, k of 384 and 1536, against
/// panels stored as floats: converted once 1.16 of their time for 2 tiles of 8 rows, 1.08 for 8, 1.04 for 16; by each tile
/// 1.12, 1.25 and 1.24.
const CONVERTED_TILES: i64 = 3;
/// Panels for which they are: each is one thread's. Two threads took 118 us for one of k of 1536, and 62 by row tiles.
const CONVERTED_PANELS: i64 = 8;
/// Row tiles a block at most: work units of one panel stay many enough to spread over threads.
pub(super) const MOST_ROW_TILES: i64 = 16;

impl CpuTarget {
    /// Lanes of the vectors of columns.
    pub(super) fn product_lanes(&self, contract: &Contract) -> i64 {
        let lanes = self.lanes(contract.acc);
        let columns = contract.n.as_const().filter(|_| self.registers().halves);
        if columns.is_some_and(|columns| wants_halves(columns, lanes)) { lanes / 2 } else { lanes }
    }

    /// What its own choices make of a contraction.
    pub(super) fn own_tile(&self, contract: &Contract) -> TunedTile {
        let lanes = self.product_lanes(contract);
        let [rows, vectors] = self.tile(contract, lanes);
        let row_tiles = self.row_tiles_of_block(contract, rows);
        TunedTile { rows, columns: vectors * lanes, row_tiles }
    }

    /// A tile with what else follows from it.
    pub(super) fn walked(&self, contract: &Contract, tile: TunedTile) -> ContractTile {
        let TunedTile { rows, columns, .. } = tile;
        let row_tiles = even_block(contract, rows, tile.row_tiles);
        let vectors = (columns / self.product_lanes(contract)).max(1);
        let unroll = if self.multiplies_pairs(contract.lhs, contract.rhs) { PAIR_UNROLL } else { K_UNROLL };
        let k = contract.k.as_const().map_or(unroll, |k| k.clamp(1, unroll));
        let busy = match contract.lhs.is_int() {
            true if self.has_byte_dots() => BUSY_BYTE_ACCUMULATORS,
            true => BUSY_HALVES,
            false => BUSY_ACCUMULATORS,
        };
        ContractTile {
            m: rows,
            n: columns,
            k,
            m_block: row_tiles,
            n_slabs: self.column_slabs(contract, [rows * row_tiles, columns]),
            busy_rows: (busy + vectors - 1) / vectors,
            converts_for: self.holds_floats(contract, columns).then_some(CONVERTED_TILES),
            edges: Edges::Cut,
            swapped: false,
            splits: 1,
        }
    }

    /// Rows, and vectors of columns, of a tile.
    pub(super) fn tile(&self, contract: &Contract, lanes: i64) -> [i64; 2] {
        let columns = contract.n.as_const().map(|n| (n + lanes - 1) / lanes);
        let vectors = match contract.panels {
            Panels::Of(width) => width / lanes,
            Panels::OfTile | Panels::None => self.vectors(contract, columns),
        };
        let vectors = columns.map_or(vectors, |columns| vectors.min(columns)).max(1);
        let rows = if self.is_dense(contract) { Self::dense_height } else { Self::tile_rows };
        [rows(self, contract, vectors), vectors]
    }

    fn vectors(&self, contract: &Contract, columns: Option<i64>) -> i64 {
        let is_step = contract.in_loop && contract.panels == Panels::OfTile;
        let cover = |vectors: i64| columns.map_or(1.0, |columns| padding(columns, vectors));
        let widens = || cover(WORD_VECTORS_IN_LOOPS) <= cover(self.dense_vectors(contract, columns));
        match contract.m.as_const() {
            // Few rows: as many columns as keep the units busy.
            // Halves of columns that several rows meet stay in registers.
            Some(2..=4) if self.takes_bytes_apart(contract) => USUAL_VECTORS,
            Some(rows @ 1..=4) => BUSY_ACCUMULATORS / rows,
            None if is_step && self.multiplies_words(contract) && widens() => WORD_VECTORS_IN_LOOPS,
            _ if self.is_dense(contract) || self.tier == Tier::Avx2 => self.dense_vectors(contract, columns),
            _ if columns == Some(3) => 3,
            _ => USUAL_VECTORS,
        }
    }

    /// Whether instructions rather than multiply-adds take the time of a tile of more than a few rows.
    fn is_dense(&self, contract: &Contract) -> bool {
        let are_few = contract.m.as_const().is_some_and(|rows| (1..=4).contains(&rows));
        !are_few && (self.is_held_by_front_end(contract) || self.takes_bytes_apart(contract))
    }

    /// Whether a core that two threads share takes longer to take in the instructions of a tile of usual height than to
    /// multiply and add.
    pub(super) fn is_held_by_front_end(&self, contract: &Contract) -> bool {
        let k = contract.k.as_const().unwrap_or(USUAL_K);
        let steps = self.k_group(contract.lhs, contract.rhs, k);
        let rates = &self.cpu.flops_per_cycle;
        let flops = match steps {
            4 => rates.i8,
            2 if contract.lhs == DType::I16 => rates.i8,
            2 => rates.bf16,
            _ => self.cpu.peak(contract.acc).0 / self.cpu.frequency_hz,
        };
        let products = flops / (2 * self.lanes(contract.acc) * steps) as f64;
        let entering = f64::from(self.cpu.dispatch) / THREADS_OF_CORE;
        products * instructions(of_tier(&USUAL_ROWS, self.tier), USUAL_VECTORS) > entering
    }

    /// Rows of a tile that takes few instructions for each product.
    fn dense_height(&self, contract: &Contract, vectors: i64) -> i64 {
        let most = self.most_rows(contract, vectors, self.dense_accumulators(contract));
        let Some(rows) = contract.m.as_const() else {
            return self.dense_rows(contract, vectors).min(most);
        };
        let cost = |height: i64| instructions(height, vectors) * padding(rows.max(1), height);
        let heights = (1..=most.min(rows.max(1))).rev();
        heights.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(1)
    }

    /// Vectors of columns of such a tile. They follow from the columns alone, so that weights that products of several heights
    /// share are packed once, and divide them where some do, as groups of columns need.
    fn dense_vectors(&self, contract: &Contract, columns: Option<i64>) -> i64 {
        let narrowest = if self.takes_bytes_apart(contract) { 1 } else { USUAL_VECTORS };
        let widths = narrowest..=of_tier(&DENSE_VECTORS, self.tier);
        let columns = match columns {
            None => return USUAL_VECTORS,
            Some(columns) if columns <= USUAL_VECTORS => return columns.max(1),
            Some(columns) => columns,
        };
        let divides = widths.clone().any(|vectors| columns % vectors == 0);
        let fits = widths.filter(|vectors| !divides || columns % vectors == 0);
        let cost = |vectors: i64| match self.tier {
            Tier::Avx2 if vectors == 1 => ONE_VECTOR_OF_BYTES * padding(columns, vectors),
            Tier::Avx2 => padding(columns, vectors),
            Tier::Avx512 => {
                instructions(self.dense_rows(contract, vectors), vectors) * padding(columns, vectors)
            }
        };
        fits.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(USUAL_VECTORS)
    }

    /// Its rows where their number is not known.
    fn dense_rows(&self, contract: &Contract, vectors: i64) -> i64 {
        let accumulators = self.dense_accumulators(contract);
        match of_tier(&USUAL_ROWS, self.tier) {
            rows if rows * vectors <= accumulators => rows,
            _ => FEW_ROWS.min(accumulators / vectors).max(1),
        }
    }

    fn dense_accumulators(&self, contract: &Contract) -> i64 {
        self.most_accumulators(contract).min(DENSE_ACCUMULATORS)
    }

    /// Rows of a tile of so many sums at most. A step of words holds as many factors as there are rows or vectors, whichever are
    /// fewer, one of the other side and a product.
    fn most_rows(&self, contract: &Contract, vectors: i64, accumulators: i64) -> i64 {
        let registers = of_tier(&REGISTERS, self.tier);
        let has_room = |rows: i64| {
            !self.multiplies_words(contract) || rows * vectors + rows.min(vectors) + 2 <= registers
        };
        (1..=accumulators / vectors).rev().find(|rows| has_room(*rows)).unwrap_or(1)
    }

    pub(super) fn most_accumulators(&self, contract: &Contract) -> i64 {
        match !self.has_byte_dots() && contract.lhs.bits() == 8 {
            true => MOST_BYTE_ACCUMULATORS,
            false => of_tier(&MOST_ACCUMULATORS, self.tier),
        }
    }

    /// Without `vpdpbusd` the even and odd bytes of a factor are multiplied apart, as 16-bit lanes, where their products are not
    /// summed in pairs.
    pub(super) fn takes_bytes_apart(&self, contract: &Contract) -> bool {
        !self.has_byte_dots() && contract.lhs.bits() == 8 && !contract.pair_sums
    }

    fn multiplies_words(&self, contract: &Contract) -> bool {
        !self.has_byte_dots() && (contract.lhs, contract.rhs) == (DType::I16, DType::I8)
    }

    /// Rows of a tile with `vectors` vectors of columns.
    pub(super) fn tile_rows(&self, contract: &Contract, vectors: i64) -> i64 {
        let most = self.most_rows(contract, vectors, self.most_accumulators(contract));
        let usual = (of_tier(&USUAL_ROWS, self.tier) * USUAL_VECTORS / vectors).min(most);
        let Some(rows) = contract.m.as_const() else { return usual };
        if rows <= most {
            return rows.max(1);
        }
        // The height that leaves the fewest rows over, the usual one or near it; of equal ones the highest.
        let least = (usual * 2 / 3).max(1);
        let left_over = |height: i64| (height - rows % height) % height;
        (least..=most).rev().min_by_key(|height| left_over(*height)).unwrap_or(usual)
    }

    /// Parts of packed columns that stay in a share of L3 while all blocks of rows pass over them: as few as do, where
    /// the column tiles divide so.
    pub(super) fn column_slabs(&self, contract: &Contract, [rows, width]: [i64; 2]) -> i64 {
        let (Some(n), Some(k)) = (contract.n.as_const(), contract.k.as_const()) else { return 1 };
        let is_passed_once = contract.m.as_const().is_some_and(|m| m <= rows);
        if is_passed_once || contract.panels == Panels::None || contract.windowed {
            return 1;
        }
        let tiles = (n + width - 1) / width;
        let bytes = tiles.saturating_mul(width).saturating_mul(k).saturating_mul(contract.rhs.size() as i64);
        let least = (bytes as u64).div_ceil(self.cpu.l3.0 / L3_SHARE).clamp(1, tiles.max(1) as u64) as i64;
        (least..=2 * least).find(|slabs| tiles % slabs == 0).unwrap_or(1)
    }

    /// Whether the left side is so large that a block's rows come from memory, or from an L3 that others fill, at its first panel.
    /// Measured on a Zen 5 whose neighbours left it half of its memory's rate, 2048^3 in `f32`: 0.928 of the peak without asking
    /// for them, 0.935 to 0.946 with. 786 kB, which L2 keeps for the most part, take 1.01 of their time with.
    pub(super) fn reads_rows_from_afar(&self, contract: &Contract) -> bool {
        let elements = contract.m.as_const().zip(contract.k.as_const()).map(|(m, k)| m.saturating_mul(k));
        let bytes = elements.map_or(0, |elements| elements.saturating_mul(contract.lhs.size() as i64));
        self.tier == Tier::Avx512 && bytes as u64 > self.cpu.l3.0 / L3_SHARE
    }

    /// Whether L2 holds a panel of weights stored narrower as floats, beside the left side's block and the next panel's bytes.
    pub(super) fn holds_floats(&self, contract: &Contract, width: i64) -> bool {
        let is_narrow = matches!(contract.rhs, DType::I8 | DType::F16 | DType::BF16);
        let is_stored = contract.lhs == DType::F32 && is_narrow && contract.panels != Panels::None;
        let floats = contract.k.as_const().map(|k| k.saturating_mul(width * DType::F32.size() as i64));
        let fits = floats.is_some_and(|bytes| (1..=self.cpu.l2.0 as i64 / L2_SHARE).contains(&bytes));
        let are_many = contract.n.as_const().is_some_and(|n| n >= CONVERTED_PANELS * width);
        is_stored && !contract.windowed && fits && are_many
    }

    /// Whether a tile multiplies a step of k at a time, by whole registers of columns that are there.
    pub(super) fn has_plain_panels(&self, contract: &Contract) -> bool {
        let Some((n, k)) = contract.n.as_const().zip(contract.k.as_const()) else { return false };
        let width = self.contract_tile(contract, &Symbols::default()).n;
        let is_plain = self.k_group(contract.lhs, contract.rhs, k) == 1;
        is_plain && n >= width && width % self.lanes(contract.rhs) == 0
    }

    /// Row tiles whose left side stays in L2 while panel after panel of the right side passes. Where rows are known they are
    /// those of the even blocks that a recipe walks, so that slabs and prefetches count what a block has.
    pub(super) fn row_tiles_of_block(&self, contract: &Contract, rows: i64) -> i64 {
        let k = contract.k.as_const().unwrap_or(USUAL_K).max(1);
        let tile_bytes = rows * k * contract.lhs.size() as i64;
        let most = (self.cpu.l2.0 as i64 / L2_SHARE / tile_bytes).clamp(1, MOST_ROW_TILES);
        even_block(contract, rows, most)
    }
}

/// What tiles that cover a size take for what is there.
fn padding(size: i64, tile: i64) -> f64 {
    ((size + tile - 1) / tile * tile) as f64 / size as f64
}

/// Instructions a multiply-add of a step of k takes in a tile of `rows` x `vectors`: beside it the columns' loads, an element a
/// row, and a share of the loop.
pub(super) fn instructions(rows: i64, vectors: i64) -> f64 {
    let products = (rows * vectors) as f64;
    (products + (rows + vectors + 1) as f64) / products
}

/// Row tiles of a block of `most` at most: where rows are known, of the even blocks that a recipe walks.
pub(super) fn even_block(contract: &Contract, rows: i64, most: i64) -> i64 {
    let Some(m) = contract.m.as_const() else { return most };
    let tiles = ((m + rows - 1) / rows).max(1);
    let blocks = (tiles + most - 1) / most;
    (tiles + blocks - 1) / blocks
}
