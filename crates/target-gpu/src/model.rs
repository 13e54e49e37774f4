//! The GPU as `opt` sees it: tile candidates, and compiling a kernel.
//!
//! Every choice follows from the chip and the sizes asked about; nothing is measured here.

use crate::lower::{Chip, lower};
use crate::tiles;
use tegula_backend::{
    Attention, AttentionRuns, AttentionTile, Code, CompiledKernel, Contract, ContractForm, ContractTile,
    Prologue, TargetModel,
};
use tegula_base::{Bytes, DType, Diagnostic, Dim, Symbols};
use tegula_isa_ptx::{Module, Target, print};
use tegula_machine::Machine;
use tegula_package::PtxKernel;
use tegula_tensor::KernelClass;
use tegula_tile::TileKernel;

pub use crate::lower::Lowered;

/// An NVIDIA GPU.
#[derive(Clone, Debug)]
pub struct GpuTarget {
    machine: Machine,
    target: Target,
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
        Ok(GpuTarget { machine, target })
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

impl TargetModel for GpuTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn claims(&self, class: KernelClass) -> bool {
        !matches!(class, KernelClass::Recurrent | KernelClass::Native)
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

    fn attention_runs(
        &self,
        attention: &Attention,
        tile: &AttentionTile,
        symbols: &Symbols,
    ) -> Option<AttentionRuns> {
        let gpu = self.machine.gpu().expect("invariant: a target is of a GPU");
        tiles::attention_runs(gpu, attention, tile, symbols)
    }

    fn reads_turned(&self) -> bool {
        true
    }

    /// Tensor cores of `sm_90a` multiply 8-bit floats; `bf16` holds all of them for those of other chips.
    fn product_of_bytes(&self, dtype: DType) -> DType {
        if self.chip().has_warpgroups { dtype } else { DType::BF16 }
    }

    /// Tensor cores take halves; what is stored in fewer bits becomes some in registers. Sums of blocks are there anyway.
    fn takes_prologue(&self, prologue: Prologue) -> bool {
        match prologue {
            Prologue::Unpack { to, .. } => matches!(to, DType::BF16 | DType::F16),
            Prologue::BlockScales { .. } => true,
        }
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

    fn unit_bytes(&self) -> Bytes {
        Bytes(UNIT_BYTES)
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
