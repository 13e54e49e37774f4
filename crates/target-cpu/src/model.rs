//! The CPU as recipes see it: tile candidates from the machine description, and compiling a kernel.
//!
//! Every choice follows from the register file, the caches and the sizes asked about; nothing is measured here.

mod tile;
mod tuned;
mod winograd;

use crate::exec;
use crate::lower::{Registers, Schedule, lower};
use crate::native::Templates;
use crate::schedule::Elem;
use crate::tier::{InstructionSet, Tier};
use tegula_backend::{BytePairs, Code, CompiledKernel};
use tegula_base::{Bytes, DType, Diagnostic, Diagnostics, Symbols};
use tegula_machine::{Cpu, Machine};
use tegula_tile::TileKernel;
use tegula_tiling::tuning::{TunedContract, TunedTile, Tuning};
use tegula_tiling::{
    Attention, AttentionFacts, AttentionSplits, AttentionTile, ByteProductFacts, Contract, ContractForm,
    ContractTile, ContractionFacts, Facts, RowFacts, Scores, TileMachine,
};

/// What [`CpuTarget::compile`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// x86-64 machine code.
    Machine,
    /// The schedule, for the interpreter.
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
    facts: Facts,
    /// Tiles that stand for its own.
    tuning: Tuning,
    /// Of the kernels compiled so far.
    templates: Templates,
}

/// The feature by which a processor of [`Tier::Avx512`] has `vdpbf16ps`; Ice Lake has all but that.
const PAIRS: &str = "avx512bf16";
/// The feature by which a processor of [`Tier::Avx2`] has `vpdpbusd`.
const BYTE_DOTS: &str = "avxvnni";

/// Against exact halves, on AVX2. Measured on a Zen 3: 0.67 to 0.73 of the time for 1 to 64 rows of 256 to 1024 steps by 64 and
/// 128 columns, 0.51 for 256 rows; 64 rows of 256 steps by 64 columns take 1.03 and 1.34 of it with an eighth and a quarter of
/// steps added, for which rows are copied.
const BYTE_PAIRS: BytePairs = BytePairs { share: 0.7, copy: 18.0 };
/// Columns in vectors that row tiles of the usual height take: each element of the left side then serves two
/// multiply-adds, so that loads keep up (2 a cycle).
const USUAL_VECTORS: i64 = 2;
/// The part of L2 that a block of the left side may take; the panel of the right side and the result share it.
const L2_SHARE: i64 = 2;
/// Bytes of a way of L1, on every x86-64 processor: a place in it hangs on the offset in a page.
const WAY_BYTES: i64 = 4096;
/// Rows for which a right side is packed first whose rows of k all fall into one set of L1. Measured on Zen 5, `f32`, k and
/// n of 2048: 64 rows 4.9 ms as it lies, 2.3 ms from panels, which take 1 ms to write; 32 rows 2.4 and 1.2 ms.
const FEWEST_ALIASED_ROWS: i64 = 64;
/// Rows for which a right side is packed first that L2 does not hold. Measured there too: 1024x1536x1536 25.7 ms as it
/// lies, 21.5 from panels with their writing, 2048x2000x2000 78 and 73; 256x1024x4000 9.5 and 10.
const FEWEST_PACKED_ROWS: i64 = 512;
/// Lines a block at most: beyond, weights are read so seldom that work units spread better.
const MOST_LINES: u64 = 16;
/// Products of an element from which on a kernel that widens it costs half of what it saves: on a Zen 3 a byte takes 0.3
/// cycles, and a product of it 0.009 less.
const FEWEST_WORD_PRODUCTS: usize = 64;
/// As `sums_channels_from` has it. By the model of the cores, 128x128 places, 3x3: of a Zen 3 five channels take 0.50 of the
/// time and 64 take 0.42, of a Zen 5 0.66 and 0.10; four, fewer than a depthwise kernel has in lanes, 5 times as long.
const FEWEST_SUMMED_CHANNELS: i64 = 5;
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
/// Queries whose weighted sums are made at once. Their sums go on through all keys of a block, so that as many as the units'
/// latency takes leave nothing over for a step that comes late; a score's are few steps, and those of the next rows begin
/// beside them. Measured on a Zen 3, attention of 12 heads of 128 x 32: six queries 0.93 of the time of four, six rows of
/// scores 1.04.
const WEIGHED_QUERIES: [(Tier, i64); 2] = [(Tier::Avx2, 6), (Tier::Avx512, 8)];
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
        let facts = facts(&cpu, tier);
        Ok(CpuTarget { machine, cpu, tier, form, facts, tuning, templates: Templates::default() })
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
        registers(&self.cpu, self.tier)
    }

    /// What its code is made of.
    pub fn instruction_set(&self) -> InstructionSet {
        instruction_set(&self.cpu, self.tier)
    }

    /// Whether it has `vpdpbusd`.
    fn has_byte_dots(&self) -> bool {
        self.instruction_set().byte_dots
    }
}

fn registers(cpu: &Cpu, tier: Tier) -> Registers {
    let bits = tier.vector_bytes() as u32 * 8;
    // A multiply-add of whole registers a cycle: two of halves, on the same units.
    let lanes = f64::from(bits) / 32.0;
    let halves = tier == Tier::Avx512 && cpu.flops_per_cycle.f32 <= 2.0 * lanes;
    let pairs = tier == Tier::Avx512 && cpu.has(PAIRS);
    Registers { bits, halves, pairs }
}

fn instruction_set(cpu: &Cpu, tier: Tier) -> InstructionSet {
    let common = InstructionSet::from(tier);
    InstructionSet { byte_dots: common.byte_dots || cpu.has(BYTE_DOTS), ..common }
}

fn facts(cpu: &Cpu, tier: Tier) -> Facts {
    let has_byte_dots = instruction_set(cpu, tier).byte_dots;
    // An element of a left side takes a conversion of its own before it goes to all lanes; `vdpbf16ps` takes pairs.
    let widened = match registers(cpu, tier).pairs {
        true => vec![DType::F16],
        false => vec![DType::F16, DType::BF16],
    };
    Facts {
        contractions: ContractionFacts {
            widened,
            shuffles_groups: true,
            fewest_summed_channels: Some(FEWEST_SUMMED_CHANNELS),
            prefetched_line: Some(cpu.cache_line),
            // One row passes over a panel about as fast as its lines come, and the hardware prefetches those by itself: on a
            // Zen 3 a row of 768 bytes by weights in L3 takes 0.88 of the time without. On AVX-512 nobody has measured it.
            prefetches_tails: tier == Tier::Avx512,
            ..ContractionFacts::default()
        },
        byte_products: ByteProductFacts {
            rate: match has_byte_dots {
                // `vpdpbusd` adds four products to each lane, as often as `vfmadd` one.
                true => 4,
                // `vpmaddubsw`, `vpmaddwd` and `vpaddd` take the time of two `vfmadd` and add 32 products, and no byte
                // becomes a float. Measured on a Zen 3, steps of an LSTM of 768: two digits by exact sums of four 0.86 of the
                // time of floats, by sums of pairs 0.6.
                false => 3,
            },
            signed_weights: true,
            pairs: (!has_byte_dots).then_some(BYTE_PAIRS),
            // `vpmaddwd` by weights that `vpmovsxbw` widens as it loads them.
            fewest_i16_products: (!has_byte_dots).then_some(FEWEST_WORD_PRODUCTS),
        },
        rows: RowFacts {
            transposes: true,
            lookup_tables: true,
            rows_together: ROWS_TOGETHER,
            rereads_results: true,
            two_step_extremes: true,
            unit_bytes: Bytes(UNIT_BYTES),
            unit_instructions: Some(UNIT_INSTRUCTIONS),
        },
        attention: AttentionFacts { has_recipe: true },
    }
}

impl TileMachine for CpuTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn isa(&self) -> &str {
        match self.form {
            Form::Machine => "x86-64",
            Form::Portable => "",
        }
    }

    fn facts(&self) -> &Facts {
        &self.facts
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
        // As many where those left over keep the units as busy as fewer would.
        let most = of_tier(&WEIGHED_QUERIES, self.tier);
        let at_once = if queries % most == 0 || queries % most >= rows { most } else { rows };
        let scores = Scores::Transposed { rows, queries: at_once };
        Some(AttentionTile { queries, keys, v_dim: attention.v_dim, scores })
    }

    fn lanes(&self, dtype: DType) -> i64 {
        (self.tier.vector_bytes() / Elem::of(dtype).bytes()) as i64
    }

    fn contract_tile(&self, contract: &Contract, _symbols: &Symbols) -> ContractTile {
        let tuned = self.tuning.tile(contract).map(TunedContract::tile);
        self.walked(contract, tuned.unwrap_or_else(|| self.own_tile(contract)))
    }

    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
        ContractForm::only(self.contract_tile(contract, symbols))
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

    fn winograd_tile(&self, products: &Contract, _symbols: &Symbols) -> Option<ContractTile> {
        winograd::tile(self, products)
    }

    fn prefetches_rows(&self, contract: &Contract) -> bool {
        self.reads_rows_from_afar(contract)
    }

    /// A group of bytes is worth it from two products on.
    fn k_group(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        match (lhs, rhs) {
            (DType::U8, DType::I8) if k > 1 => 4,
            (DType::I16, DType::I8) if k > 1 && k % 2 == 0 => 2,
            _ if k > 1 && self.multiplies_pairs(lhs, rhs) => 2,
            _ => 1,
        }
    }

    fn row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        let (live, rows) = (of_tier(&LIVE_VECTORS, self.tier), live_rows.max(1));
        // Chains of several rows hide each other's latency.
        (live / rows).min(ROW_VECTORS / rows).max(1) * self.lanes(widest)
    }

    /// As a row's step: lines are read as wholes, as going down a column comes back too late for the rest of one.
    fn columns_together(&self, widest: DType) -> i64 {
        self.row_tile(widest, 1)
    }

    fn long_row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        self.row_tile(widest, live_rows)
    }

    fn resident_row(&self, widest: DType) -> i64 {
        of_tier(&LIVE_VECTORS, self.tier) * self.lanes(widest)
    }

    fn attention_splits(&self, _: &Attention, _: &AttentionTile, _: &Symbols) -> Option<AttentionSplits> {
        None
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
            Form::Machine => Code::Machine(self.templates.compile(&schedule.func, self.instruction_set())?),
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
