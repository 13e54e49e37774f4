//! The GPU as recipes see it: tile candidates, and compiling a kernel.
//!
//! Every choice follows from the chip and the sizes asked about; nothing is measured here.

use crate::lower::{Chip, lower};
use crate::tiles;
use tegula_backend::{Code, CompiledKernel};
use tegula_base::{Bytes, DType, Diagnostic, Dim, Symbols};
use tegula_isa_ptx::{Module, Target, print};
use tegula_machine::Machine;
use tegula_package::PtxKernel;
use tegula_tile::TileKernel;
use tegula_tiling::tuning::TunedTile;
use tegula_tiling::{
    Attention, AttentionFacts, AttentionSplits, AttentionTile, Contract, ContractForm, ContractTile,
    ContractionFacts, Facts, RowFacts, TileMachine,
};

pub use crate::lower::Lowered;

/// An NVIDIA GPU.
#[derive(Clone, Debug)]
pub struct GpuTarget {
    machine: Machine,
    target: Target,
    facts: Facts,
}

/// Threads of a CTA that recipes count on: a row tile's step is one vector of each. Four warps fill the four schedulers
/// of an SM (CUDA C++ Programming Guide, "Multiprocessor Level").
const THREADS: i64 = 128;
/// Elements of a row that a thread reads a step: 16 bytes of halves, twice as many of words, so that all are in flight.
const STEP_ELEMENTS: i64 = 8;
/// The longest row, in bytes, that a CTA keeps in registers between passes: 32 words of each of 512 threads, with two live
/// rows under the 128 registers that so many threads have. Longer rows are read again, from L2.
const RESIDENT_BYTES: i64 = 64 << 10;
/// Elements of such a longer row that a CTA reads a step: what 512 threads ask for by 16 elements each.
const LONG_ROW_STEP: i64 = 8 << 10;
/// Bytes of a work unit: two passes of a CTA, so that a tensor of 10 MB already makes as many units as an H100 holds
/// CTAs (132 SMs x 4).
const UNIT_BYTES: u64 = 16 << 10;
impl GpuTarget {
    /// Errors: `machine-file` where the machine's tier is no instruction set known here.
    pub fn new(machine: Machine) -> Result<GpuTarget, Diagnostic> {
        let target = match machine.tier.as_str() {
            "sm_80" => Target::Sm80,
            "sm_86" => Target::Sm86,
            "sm_89" => Target::Sm89,
            "sm_90a" => Target::Sm90a,
            other => {
                let message = format!("no code is made for instruction set tier `{other}`");
                return Err(Diagnostic::error("machine-file", message).at(machine.name.clone()));
            }
        };
        let has_warpgroups = machine.gpu().is_some_and(|gpu| gpu.warpgroup_mma);
        let facts = Facts {
            contractions: ContractionFacts {
                reads_transposed: true,
                // Tensor cores of `sm_90a` multiply 8-bit floats; `bf16` holds all of them for those of other chips.
                f8_products: (!has_warpgroups).then_some(DType::BF16),
                // Tensor cores take halves; what is stored in fewer bits becomes some in registers. Sums of blocks are there
                // anyway.
                unpacks_to: vec![DType::BF16, DType::F16],
                block_scales: true,
                ..ContractionFacts::default()
            },
            rows: RowFacts { unit_bytes: Bytes(UNIT_BYTES), ..RowFacts::default() },
            attention: AttentionFacts { has_recipe: true },
            ..Facts::default()
        };
        Ok(GpuTarget { machine, target, facts })
    }

    /// A kernel as a module of one entry, with the sizes of its argument block.
    /// Errors: `unsupported` names a scalar operation and its dtype that no PTX is made for.
    pub fn module(
        &self,
        name: &str,
        kernel: &TileKernel,
        symbols: &Symbols,
    ) -> Result<(Module, Lowered), Diagnostic> {
        let lowered = lower(name, kernel, symbols, &self.chip()).map_err(|refused| {
            let message = format!("`{}` on {} is not compiled for NVIDIA GPUs", refused.what, refused.dtype);
            Diagnostic::error("unsupported", message).at(format!("kernel {name}"))
        })?;
        Ok((Module { target: self.target, entries: vec![lowered.entry.clone()] }, lowered))
    }

    fn chip(&self) -> Chip {
        let gpu = self.machine.gpu().expect("invariant: a target is of a GPU");
        Chip {
            has_warpgroups: gpu.warpgroup_mma,
            overlaps_launches: self.target >= Target::Sm90,
            shared_memory: gpu.shared_memory_per_cta.0 as u32,
            registers: gpu.registers,
        }
    }
}

impl TileMachine for GpuTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn isa(&self) -> &str {
        "ptx"
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    /// One element a thread: what a CTA holds of a row in one register each.
    fn lanes(&self, _dtype: DType) -> i64 {
        THREADS
    }

    fn contract_tile(&self, contract: &Contract, symbols: &Symbols) -> ContractTile {
        tiles::contract(&self.machine, contract, symbols).0
    }

    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
        tiles::forms(&self.machine, contract, symbols)
    }

    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile> {
        tiles::attention(self.machine.gpu().expect("invariant: a target is of a GPU"), attention)
    }

    fn attention_splits(
        &self,
        attention: &Attention,
        tile: &AttentionTile,
        symbols: &Symbols,
    ) -> Option<AttentionSplits> {
        let gpu = self.machine.gpu().expect("invariant: a target is of a GPU");
        tiles::attention_splits(gpu, attention, tile, symbols)
    }

    fn other_tiles(&self, _: &Contract, _: &Symbols) -> Vec<TunedTile> {
        vec![]
    }

    fn tile_reason(&self, _: &Contract) -> Option<String> {
        None
    }

    fn rows_worth_packing(&self, _: &Contract) -> Option<i64> {
        None
    }

    fn k_group(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        match (lhs, rhs) {
            (DType::U8, DType::I8) if k % 4 == 0 => 4,
            _ => 1,
        }
    }

    fn lines_of_panel(&self, _: Bytes, _: Bytes) -> i64 {
        1
    }

    fn winograd_tile(&self, _: &Contract, _: &Symbols) -> Option<ContractTile> {
        None
    }

    fn prefetches_rows(&self, _: &Contract) -> bool {
        false
    }

    fn row_tile(&self, _widest: DType, _live_rows: i64) -> i64 {
        THREADS * STEP_ELEMENTS
    }

    fn resident_row(&self, widest: DType) -> i64 {
        RESIDENT_BYTES / widest.size().max(4) as i64
    }

    fn long_row_tile(&self, _widest: DType, _live_rows: i64) -> i64 {
        LONG_ROW_STEP
    }

    fn columns_together(&self, widest: DType) -> i64 {
        self.lanes(widest)
    }

    fn compile(
        &self,
        name: &str,
        kernel: &TileKernel,
        symbols: &Symbols,
    ) -> Result<CompiledKernel, Diagnostic> {
        let (module, lowered) = self.module(name, kernel, symbols)?;
        let text = print(&module).map_err(|errors| {
            Diagnostic::internal(format!("the lowering of kernel `{name}` breaks a rule: {errors}"))
        })?;
        let code = Code::Ptx(PtxKernel { text, launch: lowered.launch });
        Ok(CompiledKernel {
            code,
            sizes: lowered.sizes,
            scratch: Dim::from(0),
            units: kernel.units(),
            remarks: lowered.remarks,
        })
    }
}
