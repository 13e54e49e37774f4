//! A launch: how many CTAs of how many threads, with which parameters, and how the simulator goes about it.

use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_ptx::Entry;
use tegula_package::Memory;

use crate::counters::Counters;
use crate::decode::decode;
use crate::program::{Program, SHARED_START};
use crate::stream::{Given, run_in_order};

/// Shared memory of a CTA at most, bytes (CUDA programming guide, "Technical Specifications per Compute Capability",
/// 9.0: 227 KB a block).
pub const MAX_SHARED: u32 = 232_448;
/// Threads of a CTA at most (same table).
pub const MAX_THREADS: u32 = 1024;
/// Registers of a multiprocessor (same table).
const SM_REGISTERS: u32 = 65_536;
/// Registers of a thread at most (same table).
const MAX_REGISTERS: u32 = 255;

/// An entry that is ready to run.
pub struct Kernel {
    program: Program,
}

#[derive(Clone, Debug, Default)]
pub struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of shared memory beyond what the entry declares.
    pub dynamic_shared: u32,
    /// The bytes of all parameters, each at its offset.
    pub params: Vec<u8>,
    pub options: Options,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// With a seed, asynchronous work is done at random later times and warps take turns at random; without, at once
    /// and in order.
    pub seed: Option<u64>,
    /// Whether accesses that nothing orders are reported.
    pub races: bool,
    /// Instructions that asynchronous work takes at most.
    pub max_delay: u64,
    /// Instructions without any effect after which warps are said to spin for ever.
    pub patience: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { seed: None, races: false, max_delay: 2000, patience: 1 << 24 }
    }
}

/// Why a run ended early.
#[derive(Debug)]
pub enum Stopped {
    /// `Memory::is_stopped`.
    ByCaller,
    Failed(Box<Diagnostic>),
}

impl From<Diagnostic> for Stopped {
    fn from(diagnostic: Diagnostic) -> Stopped {
        Stopped::Failed(Box::new(diagnostic))
    }
}

impl Kernel {
    /// Errors: instructions that break the language's rules, or that the simulator lacks.
    pub fn new(entry: &Entry) -> Result<Kernel, Diagnostics> {
        Ok(Kernel { program: decode(entry)? })
    }

    /// What `.reqntid` says.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.program.directives.reqntid
    }

    /// CTAs of a cluster.
    pub fn cluster(&self) -> [u32; 3] {
        self.program.directives.cluster.unwrap_or([1; 3])
    }

    /// Bytes of all parameters.
    pub fn param_bytes(&self) -> usize {
        self.program.param_offsets.last().map_or(0, |end| *end as usize)
    }

    /// Where each parameter stands among them; the last number is the size.
    pub fn param_offsets(&self) -> &[u32] {
        &self.program.param_offsets
    }

    /// Bytes that a launch can add to the entry's shared memory; 0 where it declares none that grows.
    pub fn max_dynamic_shared(&self) -> u32 {
        if self.program.has_dynamic {
            (SHARED_START + MAX_SHARED).saturating_sub(self.program.shared_end)
        } else {
            0
        }
    }

    /// Runs all CTAs, one cluster after the other.
    /// Errors: what the program does wrong, with the instruction that does it.
    pub fn run(&self, launch: &Launch, memory: &dyn Memory) -> Result<Counters, Stopped> {
        let given = Given { kernel: self, launch, early: false };
        run_in_order(&[given], memory).map(|counters| counters.into_iter().next().unwrap_or_default())
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }
}

impl Launch {
    pub(crate) fn cluster(&self, program: &Program) -> [u32; 3] {
        program.directives.cluster.unwrap_or([1; 3])
    }

    pub(crate) fn shared_end(&self, program: &Program) -> u32 {
        program.shared_end + self.dynamic_shared
    }

    /// Registers of a thread before any setmaxnreg: as promised, or an even share of the multiprocessor.
    pub(crate) fn register_budget(&self, program: &Program) -> u32 {
        let threads: u32 = self.block.iter().product();
        let share = SM_REGISTERS / threads.max(1).next_multiple_of(32) / 8 * 8;
        program.directives.maxnreg.unwrap_or(share).min(MAX_REGISTERS)
    }

    pub(crate) fn check(&self, program: &Program) -> Result<(), Diagnostic> {
        let refuse =
            |message: String| Err(Diagnostic::error("sim-launch", format!("`{}`: {message}", program.name)));
        let threads =
            self.block.iter().try_fold(1u32, |n, extent| n.checked_mul(*extent)).unwrap_or(u32::MAX);
        if threads == 0 || threads > MAX_THREADS {
            return refuse(format!("a CTA has 1 to {MAX_THREADS} threads, not {threads}"));
        }
        if program.directives.reqntid.is_some_and(|wanted| wanted != self.block) {
            return refuse(format!(
                "a CTA has {:?} threads, not {:?}",
                program.directives.reqntid, self.block
            ));
        }
        if program.directives.maxntid.is_some_and(|most| threads > most.iter().product()) {
            return refuse(format!("{threads} threads are more than `.maxntid` says"));
        }
        let cluster = self.cluster(program);
        if cluster.contains(&0) || cluster.iter().product::<u32>() > 16 {
            return refuse(format!("a cluster has 1 to 16 CTAs, not {cluster:?}"));
        }
        if self.grid.iter().zip(cluster).any(|(grid, cluster)| grid % cluster != 0) {
            return refuse(format!("the grid {:?} is not made of whole clusters {cluster:?}", self.grid));
        }
        if self.dynamic_shared > 0 && !program.has_dynamic {
            return refuse("no shared variable grows with the launch".to_string());
        }
        let shared = (program.shared_end - SHARED_START).saturating_add(self.dynamic_shared);
        if shared > MAX_SHARED {
            return refuse(format!("{shared} bytes of shared memory are more than {MAX_SHARED}"));
        }
        let wanted = program.param_offsets.last().map_or(0, |end| *end as usize);
        if self.params.len() != wanted {
            return refuse(format!("parameters have {wanted} bytes, not {}", self.params.len()));
        }
        Ok(())
    }
}
