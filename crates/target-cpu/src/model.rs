//! The CPU as `opt` sees it: tile candidates from the machine description, and compiling a kernel.
//!
//! Every choice follows from the register file, the caches and the sizes asked about; nothing is measured here.

mod tuned;
mod winograd;

use crate::exec;
use crate::lower::{Registers, Schedule, lower, wants_halves};
use crate::native::{Templates, Tier};
use crate::schedule::Elem;
use tegula_base::{Bytes, DType, Diagnostic, Diagnostics, Symbols};
use tegula_machine::{Cpu, Machine};
use tegula_target::tuning::{TunedContract, TunedTile, Tuning};
use tegula_target::{
    Attention, AttentionTile, BytePairs, Code, CompiledKernel, Contract, ContractTile, Edges, Scores,
    TargetModel,
};
use tegula_tensor::KernelClass;
use tegula_tile::TileKernel;

/// What [`CpuTarget::compile`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// x86-64 machine code.
    Machine,
    /// The schedule, for the portable executor.
    Portable,
}

/// A CPU of one instruction set tier.
#[derive(Clone, Debug)]
pub struct CpuTarget {
    machine: Machine,
    /// The machine's own facts.
    cpu: Cpu,
    tier: Tier,
    form: Form,
    /// Tiles that stand for its own.
    tuning: Tuning,
    /// Of the kernels compiled so far.
    templates: Templates,
}

/// The feature by which a processor of [`Tier::Avx512`] has `vdpbf16ps`; Ice Lake has all but that.
const PAIRS: &str = "avx512bf16";

/// Accumulators of a contraction tile, of the registers that the tier has: the rest holds the vectors of the
/// right side, a broadcast element and what the epilogue needs. 14 x 2 of 32 and 6 x 2 of 16 are the largest
/// that leave three; multiply-adds need latency (4 cycles) x 2 units = 8 to be busy.
const MOST_ACCUMULATORS: [(Tier, i64); 2] = [(Tier::Avx2, 12), (Tier::Avx512, 28)];
/// Accumulators that keep two multiply-add units of 4 cycles latency busy (Zen 4, Zen 5, Golden Cove:
/// their optimization manuals).
const BUSY_ACCUMULATORS: i64 = 8;
/// The same for products of bytes, by tier: VPDPBUSD takes 5 cycles on Golden Cove and 4 on Zen (uops.info). On AVX2 two
/// additions follow two multiplications that wait for no sum, and take no longer than these.
const BUSY_BYTE_ACCUMULATORS: [(Tier, i64); 2] = [(Tier::Avx2, 2), (Tier::Avx512, 10)];
/// As above on AVX2 for 8-bit operands: beside 4 x 2 sums stay two halves of each vector of columns and of a row's element,
/// their mask and a product, which is all there are. Summed in pairs, 2 x 4 sums leave one register of 16.
const MOST_BYTE_ACCUMULATORS: i64 = 8;
/// Against exact halves, on AVX2. Measured on a Zen 3: 0.67 to 0.73 of the time for 1 to 64 rows of 256 to 1024 steps by 64 and
/// 128 columns, 0.51 for 256 rows; 64 rows of 256 steps by 64 columns take 1.03 and 1.34 of it with an eighth and a quarter of
/// steps added, for which rows are copied.
const BYTE_PAIRS: BytePairs = BytePairs { share: 0.7, copy: 18.0 };
/// Rows of a tile when the number of rows is not known, by tier: with two vectors of columns. On AVX-512 8 keep the
/// units busy and divide most lengths: 4 rows that are left over take as long, as panels come from L2 no faster.
const USUAL_ROWS: [(Tier, i64); 2] = [(Tier::Avx2, 6), (Tier::Avx512, 8)];
/// Columns in vectors that row tiles of the usual height take: each element of the left side then serves two
/// multiply-adds, so that loads keep up (2 a cycle).
const USUAL_VECTORS: i64 = 2;
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
/// The part of L2 that a block of the left side may take; the panel of the right side and the result share it.
const L2_SHARE: i64 = 2;
/// The part of L3 that panels of the right side may take that all blocks of rows pass over: the left side, the result
/// and the other cores take theirs. Measured on Zen 5 (32 MiB), 2048^3 in `f32`: 252 GFLOP/s with 16 MiB of panels in
/// one part, 260 with 4 MiB.
const L3_SHARE: u64 = 8;
/// Bytes of a way of L1, on every x86-64 processor: a place in it hangs on the offset in a page.
const WAY_BYTES: i64 = 4096;
/// Rows for which a right side is packed first whose rows of k all fall into one set of L1. Measured on Zen 5, `f32`, k and
/// n of 2048: 64 rows 4.9 ms as it lies, 2.3 ms from panels, which take 1 ms to write; 32 rows 2.4 and 1.2 ms.
const FEWEST_ALIASED_ROWS: i64 = 64;
/// Rows for which a right side is packed first that L2 does not hold. Measured there too: 1024x1536x1536 25.7 ms as it
/// lies, 21.5 from panels with their writing, 2048x2000x2000 78 and 73; 256x1024x4000 9.5 and 10.
const FEWEST_PACKED_ROWS: i64 = 512;
/// Row tiles of a block for which a panel of bytes is converted once. Measured on Golden Cove, k of 384 and 1536, against
/// panels stored as floats: converted once 1.16 of their time for 2 tiles of 8 rows, 1.08 for 8, 1.04 for 16; by each tile
/// 1.12, 1.25 and 1.24.
const CONVERTED_TILES: i64 = 3;
/// Panels for which they are: each is one thread's. Two threads took 118 us for one of k of 1536, and 62 by row tiles.
const CONVERTED_PANELS: i64 = 8;
/// Row tiles a block at most: work units of one panel stay many enough to spread over threads.
const MOST_ROW_TILES: i64 = 16;
/// Lines a block at most: beyond, weights are read so seldom that work units spread better.
const MOST_LINES: u64 = 16;
/// Vectors of a row step: enough independent chains to hide the latency of arithmetic (4 cycles).
const ROW_VECTORS: i64 = 4;
/// Rows that are reduced at the same time: a row of a transformer waits 70 cycles for its mean, and again for its
/// deviation, and the processor looks 450 instructions ahead, which is less than two rows.
const ROWS_TOGETHER: i64 = 4;
/// Vectors that the rows live in one step of a row kernel may take, of the tier's registers.
const LIVE_VECTORS: [(Tier, i64); 2] = [(Tier::Avx2, 8), (Tier::Avx512, 16)];
/// Bytes of a work unit: about a microsecond at 32 B a cycle, some ten times what taking a unit from the
/// queue costs (one contended atomic, about 100 ns).
const UNIT_BYTES: u64 = 32 << 10;
/// Vector instructions of a work unit whose elements take several functions. Measured on Golden Cove, the step of an LSTM of
/// 768 on two threads: as one unit 3.0 us, as two 2.3, as three, of which one thread has two, 2.9.
const UNIT_INSTRUCTIONS: i64 = 5 << 10;

/// Rows of scores that are summed at once, with [`USUAL_VECTORS`] of columns: enough accumulators to keep the units busy,
/// and few enough for the queries' vectors and a broadcast element beside them.
const SCORE_ROWS: [(Tier, i64); 2] = [(Tier::Avx2, 4), (Tier::Avx512, 8)];
/// The part of L1 that the scores of a block of keys may take: keys, values and the result pass by them.
const L1_SHARE: i64 = 2;
/// Keys for which attention is one kernel: scores of fewer stay in L1 anyway, and what is turned is turned for less.
/// Measured on a Zen 4 in time taken apart: 49 keys 1.04, 64 keys 1.02, 128 keys 0.87.
const FEWEST_KEYS: i64 = 96;
/// Columns of scores for each query at most: beyond, empty lanes cost more than what is saved. Measured on a Zen 4, 33
/// queries in 64 columns took 1.25 times as long as taken apart, 17 in 32 1.46 times.
const MOST_PADDED: (i64, i64) = (7, 5);
/// Elements of a query or value whose turned forms, two of them, stay in L2 with the scores: 64 KiB at 512 bits.
const MOST_HEAD_DIM: i64 = 256;

/// Instructions a multiply-add of a step of k takes in a tile of `rows` x `vectors`: beside it the columns' loads, an element a
/// row, and a share of the loop.
fn instructions(rows: i64, vectors: i64) -> f64 {
    let products = (rows * vectors) as f64;
    (products + (rows + vectors + 1) as f64) / products
}

fn of_tier(table: &[(Tier, i64); 2], tier: Tier) -> i64 {
    table.iter().find(|(own, _)| *own == tier).expect("invariant: tables name every tier").1
}

impl CpuTarget {
    /// Errors: `machine-file`, the machine is no CPU, its tier is none that code is made for, or it lacks what such code
    /// uses.
    pub fn new(machine: Machine, form: Form) -> Result<CpuTarget, Diagnostic> {
        let tier = Tier::ALL.into_iter().find(|tier| tier.name() == machine.tier);
        let Some((tier, cpu)) = tier.zip(machine.cpu().cloned()) else {
            let message = format!("no processor's code is made for instruction set tier `{}`", machine.tier);
            return Err(Diagnostic::error("machine-file", message).at(machine.name.clone()));
        };
        let needed = match form {
            Form::Machine => tier.features(),
            Form::Portable => &[],
        };
        let missing: Vec<&str> = needed.iter().copied().filter(|feature| !cpu.has(feature)).collect();
        if !missing.is_empty() {
            let message = format!("code of tier `{}` uses {}", tier.name(), missing.join(", "));
            return Err(Diagnostic::error("machine-file", message).at(machine.name.clone()).help(
                "name them in `features` of `[isa]` if the processor has them, or give a tier whose code it runs",
            ));
        }
        let tuning = Tuning::of(&machine);
        Ok(CpuTarget { machine, cpu, tier, form, tuning, templates: Templates::default() })
    }

    /// With tiles of a record in place of its own. Errors: `tuning-record`.
    pub fn with_tuning(self, tuning: Tuning) -> Result<CpuTarget, Diagnostics> {
        tuned::check(&self, &tuning)?;
        Ok(CpuTarget { tuning, ..self })
    }

    /// With `vdpbf16ps`; without it a pair takes two multiply-adds and what takes it apart.
    fn multiplies_pairs(&self, lhs: DType, rhs: DType) -> bool {
        (lhs, rhs) == (DType::BF16, DType::BF16) && self.registers().pairs
    }

    pub fn tier(&self) -> Tier {
        self.tier
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// A kernel on the schedule level.
    pub fn schedule(&self, name: &str, kernel: &TileKernel, symbols: &Symbols) -> Schedule {
        lower(name, kernel, self.registers(), symbols)
    }

    fn registers(&self) -> Registers {
        let bits = self.tier.vector_bytes() as u32 * 8;
        // A multiply-add of whole registers a cycle: two of halves, on the same units.
        let lanes = f64::from(bits) / 32.0;
        let halves = self.tier == Tier::Avx512 && self.cpu.flops_per_cycle.f32 <= 2.0 * lanes;
        let pairs = self.tier == Tier::Avx512 && self.cpu.has(PAIRS);
        Registers { bits, halves, pairs }
    }

    /// Lanes of the vectors of columns.
    fn product_lanes(&self, contract: &Contract) -> i64 {
        let lanes = self.lanes(contract.acc);
        let columns = contract.n.as_const().filter(|_| self.registers().halves);
        if columns.is_some_and(|columns| wants_halves(columns, lanes)) { lanes / 2 } else { lanes }
    }

    /// What its own choices make of a contraction.
    fn own_tile(&self, contract: &Contract) -> TunedTile {
        let lanes = self.product_lanes(contract);
        let [rows, vectors] = self.tile(contract, lanes);
        let row_tiles = self.row_tiles_of_block(contract, rows);
        TunedTile { rows, columns: vectors * lanes, row_tiles }
    }

    /// Rows, and vectors of columns, of a tile.
    fn tile(&self, contract: &Contract, lanes: i64) -> [i64; 2] {
        let columns = contract.n.as_const().map(|n| (n + lanes - 1) / lanes);
        let vectors = match contract.m.as_const() {
            // Few rows: as many columns as keep the units busy.
            // Halves of columns that several rows meet stay in registers.
            Some(2..=4) if self.takes_bytes_apart(contract) => USUAL_VECTORS,
            Some(rows @ 1..=4) => BUSY_ACCUMULATORS / rows,
            _ if self.is_held_by_front_end(contract) || self.takes_bytes_apart(contract) => {
                return self.dense_tile(contract, columns);
            }
            _ if columns == Some(3) => 3,
            _ => USUAL_VECTORS,
        };
        let vectors = columns.map_or(vectors, |columns| vectors.min(columns)).max(1);
        [self.tile_rows(contract, vectors), vectors]
    }

    /// Whether a core that two threads share takes longer to take in the instructions of a tile of usual height than to
    /// multiply and add.
    fn is_held_by_front_end(&self, contract: &Contract) -> bool {
        let k = contract.k.as_const().unwrap_or(USUAL_K);
        let steps = self.steps_together(contract.lhs, contract.rhs, k);
        let rates = &self.cpu.flops_per_cycle;
        let flops = match steps {
            4 => rates.i8,
            2 => rates.bf16,
            _ => self.cpu.peak(contract.acc).0 / self.cpu.frequency_hz,
        };
        let products = flops / (2 * self.lanes(contract.acc) * steps) as f64;
        let entering = f64::from(self.cpu.dispatch) / THREADS_OF_CORE;
        products * instructions(of_tier(&USUAL_ROWS, self.tier), USUAL_VECTORS) > entering
    }

    /// A tile that takes few instructions for each product. Its width follows from the columns alone, so that weights that
    /// products of several heights share are packed once, and divides them where one does, as groups of columns need.
    fn dense_tile(&self, contract: &Contract, columns: Option<i64>) -> [i64; 2] {
        let padding = |size: i64, tile: i64| ((size + tile - 1) / tile * tile) as f64 / size as f64;
        let accumulators = self.most_accumulators(contract).min(DENSE_ACCUMULATORS);
        let usual = |vectors: i64| match of_tier(&USUAL_ROWS, self.tier) {
            rows if rows * vectors <= accumulators => rows,
            _ => FEW_ROWS.min(accumulators / vectors).max(1),
        };
        let narrowest = if self.takes_bytes_apart(contract) { 1 } else { USUAL_VECTORS };
        let widths = narrowest..=of_tier(&DENSE_VECTORS, self.tier);
        let vectors = match columns {
            None => USUAL_VECTORS,
            Some(columns) if columns <= USUAL_VECTORS => columns.max(1),
            Some(columns) => {
                let divides = widths.clone().any(|vectors| columns % vectors == 0);
                let fits = widths.filter(|vectors| !divides || columns % vectors == 0);
                let cost = |vectors: i64| match self.tier {
                    Tier::Avx2 if vectors == 1 => ONE_VECTOR_OF_BYTES * padding(columns, vectors),
                    Tier::Avx2 => padding(columns, vectors),
                    Tier::Avx512 => instructions(usual(vectors), vectors) * padding(columns, vectors),
                };
                fits.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(USUAL_VECTORS)
            }
        };
        let most = (accumulators / vectors).max(1);
        let Some(rows) = contract.m.as_const() else { return [usual(vectors).min(most), vectors] };
        let cost = |height: i64| instructions(height, vectors) * padding(rows.max(1), height);
        let heights = (1..=most.min(rows.max(1))).rev();
        [heights.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(1), vectors]
    }

    fn most_accumulators(&self, contract: &Contract) -> i64 {
        match self.tier == Tier::Avx2 && contract.lhs.bits() == 8 {
            true => MOST_BYTE_ACCUMULATORS,
            false => of_tier(&MOST_ACCUMULATORS, self.tier),
        }
    }

    /// Without `vpdpbusd` the even and odd bytes of a factor are multiplied apart, as 16-bit lanes, where their products are not
    /// summed in pairs.
    fn takes_bytes_apart(&self, contract: &Contract) -> bool {
        self.tier == Tier::Avx2 && contract.lhs.bits() == 8 && !contract.pair_sums
    }

    /// Rows of a tile with `vectors` vectors of columns.
    fn tile_rows(&self, contract: &Contract, vectors: i64) -> i64 {
        let most = (self.most_accumulators(contract) / vectors).max(1);
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
    fn column_slabs(&self, contract: &Contract, [rows, width]: [i64; 2]) -> i64 {
        let (Some(n), Some(k)) = (contract.n.as_const(), contract.k.as_const()) else { return 1 };
        let is_passed_once = contract.m.as_const().is_some_and(|m| m <= rows);
        if is_passed_once || !contract.rhs_packed || contract.windowed {
            return 1;
        }
        let tiles = (n + width - 1) / width;
        let bytes = tiles.saturating_mul(width).saturating_mul(k).saturating_mul(contract.rhs.size() as i64);
        let least = (bytes as u64).div_ceil(self.cpu.l3.0 / L3_SHARE).clamp(1, tiles.max(1) as u64) as i64;
        (least..=2 * least).find(|slabs| tiles % slabs == 0).unwrap_or(1)
    }

    /// Whether L2 holds a panel of weights stored narrower as floats, beside the left side's block and the next panel's bytes.
    fn holds_floats(&self, contract: &Contract, width: i64) -> bool {
        let is_narrow = matches!(contract.rhs, DType::I8 | DType::F16 | DType::BF16);
        let is_stored = contract.lhs == DType::F32 && is_narrow && contract.rhs_packed;
        let floats = contract.k.as_const().map(|k| k.saturating_mul(width * DType::F32.size() as i64));
        let fits = floats.is_some_and(|bytes| (1..=self.cpu.l2.0 as i64 / L2_SHARE).contains(&bytes));
        let are_many = contract.n.as_const().is_some_and(|n| n >= CONVERTED_PANELS * width);
        is_stored && !contract.windowed && fits && are_many
    }

    /// Whether a tile multiplies a step of k at a time, by whole registers of columns that are there.
    fn has_plain_panels(&self, contract: &Contract) -> bool {
        let Some((n, k)) = contract.n.as_const().zip(contract.k.as_const()) else { return false };
        let width = self.contract_tile(contract, &Symbols::default()).n;
        let is_plain = self.steps_together(contract.lhs, contract.rhs, k) == 1;
        is_plain && n >= width && width % self.lanes(contract.rhs) == 0
    }

    /// Row tiles whose left side stays in L2 while panel after panel of the right side passes. Where rows are known they are
    /// those of the even blocks that a recipe walks, so that slabs and prefetches count what a block has.
    fn row_tiles_of_block(&self, contract: &Contract, rows: i64) -> i64 {
        let k = contract.k.as_const().unwrap_or(USUAL_K).max(1);
        let tile_bytes = rows * k * contract.lhs.size() as i64;
        let most = (self.cpu.l2.0 as i64 / L2_SHARE / tile_bytes).clamp(1, MOST_ROW_TILES);
        let Some(m) = contract.m.as_const() else { return most };
        let tiles = ((m + rows - 1) / rows).max(1);
        let blocks = (tiles + most - 1) / most;
        (tiles + blocks - 1) / blocks
    }
}

impl TargetModel for CpuTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn claims(&self, class: KernelClass) -> bool {
        !matches!(class, KernelClass::Recurrent | KernelClass::Native)
    }

    /// As many queries as the columns of a contraction's tile, and as many rows of keys as its rows. One query a step, as
    /// when a decoder goes on, would leave lanes empty: such attention is taken apart.
    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile> {
        let dims = [attention.qk_dim, attention.v_dim];
        let fits = dims.iter().all(|dim| (1..=MOST_HEAD_DIM).contains(dim));
        let few = attention.keys.as_const().is_some_and(|keys| keys < FEWEST_KEYS);
        if attention.dtype != DType::F32 || attention.scattered || !fits || few {
            return None;
        }
        let lanes = self.lanes(DType::F32);
        let heights = [USUAL_VECTORS * lanes, lanes];
        let queries = match attention.queries.as_const() {
            Some(own) => heights.into_iter().find(|height| {
                own > 0 && (own + height - 1) / height * height <= own * MOST_PADDED.0 / MOST_PADDED.1
            })?,
            None if attention.queries == attention.keys => heights[0],
            None => return None,
        };
        let row = queries * DType::F32.size() as i64;
        let rows = of_tier(&SCORE_ROWS, self.tier);
        let keys = (self.cpu.l1d.0 as i64 / L1_SHARE / row / rows * rows).max(rows);
        let keys = attention.keys.as_const().map_or(keys, |all| all.clamp(1, keys));
        Some(AttentionTile { queries, keys, v_dim: attention.v_dim, scores: Scores::Turned { rows } })
    }

    fn lanes(&self, dtype: DType) -> i64 {
        (self.tier.vector_bytes() / Elem::of(dtype).bytes()) as i64
    }

    fn turned_square(&self, widest: DType) -> Option<i64> {
        Some(self.lanes(widest))
    }

    fn contract_tile(&self, contract: &Contract, _symbols: &Symbols) -> ContractTile {
        let tuned = self.tuning.tile(contract).map(TunedContract::tile);
        let TunedTile { rows, columns, row_tiles } = tuned.unwrap_or_else(|| self.own_tile(contract));
        let vectors = (columns / self.product_lanes(contract)).max(1);
        let unroll = if self.multiplies_pairs(contract.lhs, contract.rhs) { PAIR_UNROLL } else { K_UNROLL };
        let k = contract.k.as_const().map_or(unroll, |k| k.clamp(1, unroll));
        let busy = match contract.lhs.is_int() {
            true => of_tier(&BUSY_BYTE_ACCUMULATORS, self.tier),
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

    fn other_tiles(&self, contract: &Contract, _symbols: &Symbols) -> Vec<TunedTile> {
        tuned::others(self, contract)
    }

    fn tile_reason(&self, contract: &Contract) -> Option<String> {
        tuned::reason(self, contract)
    }

    /// Panels are read line after line. As it lies, each row of k is in another page, and where rows are whole ways apart
    /// they put each other out of L1.
    fn rows_worth_packing(&self, contract: &Contract) -> Option<i64> {
        let (n, k) = contract.n.as_const().zip(contract.k.as_const())?;
        if !self.has_plain_panels(contract) {
            return None;
        }
        let pitch = n.checked_mul(contract.rhs.size() as i64)?;
        let bytes = Bytes(pitch.checked_mul(k)? as u64);
        match pitch % WAY_BYTES == 0 {
            true if bytes > self.cpu.l1d => Some(FEWEST_ALIASED_ROWS),
            false if bytes > self.cpu.l2 => Some(FEWEST_PACKED_ROWS),
            _ => None,
        }
    }

    /// Weights that fit L2 pass by for each line. Others come from beyond it as seldom as the input of a block of lines,
    /// which passes by for each panel, stays there.
    fn lines_of_panel(&self, weights: Bytes, line: Bytes) -> i64 {
        let share = self.cpu.l2.0 / L2_SHARE as u64;
        if weights.0 <= share {
            return 1;
        }
        (share / line.0.max(1)).clamp(1, MOST_LINES) as i64
    }

    fn winograd_tile(&self, products: &Contract, symbols: &Symbols) -> Option<ContractTile> {
        winograd::tile(self, products, symbols)
    }

    fn prefetched_line(&self) -> Option<Bytes> {
        Some(self.cpu.cache_line)
    }

    /// An element of a left side takes a conversion of its own before it goes to all lanes.
    fn widens(&self, dtype: DType) -> bool {
        matches!(dtype, DType::F16 | DType::BF16) && !self.multiplies_pairs(dtype, dtype)
    }

    fn shuffles_groups(&self) -> bool {
        true
    }

    /// A group of bytes is worth it from two products on.
    fn steps_together(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        match (lhs, rhs) {
            (DType::U8, DType::I8) if k > 1 => 4,
            _ if k > 1 && self.multiplies_pairs(lhs, rhs) => 2,
            _ => 1,
        }
    }

    fn byte_products(&self) -> i64 {
        match self.tier {
            // `vpdpbusd` adds four products to each lane, as often as `vfmadd` one.
            Tier::Avx512 => 4,
            // `vpmaddubsw`, `vpmaddwd` and `vpaddd` take the time of two `vfmadd` and add 32 products, and no byte becomes a
            // float. Measured on a Zen 3, steps of an LSTM of 768: two digits by exact sums of four 0.86 of the time of
            // floats, by sums of pairs 0.6.
            Tier::Avx2 => 3,
        }
    }

    fn byte_pairs(&self) -> Option<BytePairs> {
        (self.tier == Tier::Avx2).then_some(BYTE_PAIRS)
    }

    fn wants_signed_bytes(&self) -> bool {
        true
    }

    fn looks_up(&self) -> bool {
        true
    }

    fn row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        let (live, rows) = (of_tier(&LIVE_VECTORS, self.tier), live_rows.max(1));
        // Chains of several rows hide each other's latency.
        (live / rows).min(ROW_VECTORS / rows).max(1) * self.lanes(widest)
    }

    fn rows_together(&self) -> i64 {
        ROWS_TOGETHER
    }

    fn rereads_results(&self) -> bool {
        true
    }

    fn reduces_rows_first(&self) -> bool {
        true
    }

    fn resident_row(&self, widest: DType) -> i64 {
        of_tier(&LIVE_VECTORS, self.tier) * self.lanes(widest)
    }

    fn unit_instructions(&self) -> Option<i64> {
        Some(UNIT_INSTRUCTIONS)
    }

    fn unit_bytes(&self) -> Bytes {
        Bytes(UNIT_BYTES)
    }

    fn compile(
        &self,
        name: &str,
        kernel: &TileKernel,
        symbols: &Symbols,
    ) -> Result<CompiledKernel, Diagnostic> {
        if cfg!(debug_assertions) {
            tegula_ir::verify(&kernel.func).map_err(|errors| broken(name, "recipe", errors))?;
        }
        let schedule = self.schedule(name, kernel, symbols);
        if cfg!(debug_assertions) {
            tegula_ir::verify(&schedule.func).map_err(|errors| broken(name, "lowering", errors))?;
        }
        let code = match self.form {
            Form::Machine => Code::Machine(self.templates.compile(&schedule.func, self.tier)?),
            Form::Portable => Code::Portable(exec::encode(&schedule.func)),
        };
        Ok(CompiledKernel {
            code,
            sizes: schedule.sizes,
            scratch: schedule.scratch,
            units: schedule.units,
            remarks: Vec::new(),
        })
    }
}

/// The first of what a stage got wrong.
fn broken(name: &str, stage: &str, errors: Diagnostics) -> Diagnostic {
    Diagnostic::internal(format!("the {stage} of kernel `{name}` breaks a rule: {errors}"))
}

#[cfg(test)]
mod tests;
