//! A kernel for NVIDIA GPUs: PTX text with one entry, and what its launch needs that the text cannot say.
//! `docs/abi.md`, "Kernels for GPUs", has the convention.

use crate::portable::PortableKernel;
use crate::tensor_map::MapTemplate;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Tensor maps of a kernel at most: parameters have 4 KB (CUDA programming guide, "Function Parameters").
pub const MAX_MAPS: usize = 24;
/// Shared memory of a CTA at most, on any GPU so far: what an SM has for it and the L1 cache together (CUDA
/// programming guide, "Technical Specifications per Compute Capability").
pub const MAX_DYNAMIC_SHARED: u32 = 256 << 10;
/// CTAs of an SM at most (same table).
pub const MAX_CTAS_PER_SM: u32 = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxKernel {
    /// Threads and clusters stand in it: `.reqntid`, `.reqnctapercluster`.
    pub text: String,
    pub launch: PtxLaunch,
}

/// What a launch of a GPU's kernel needs beside its words; by default the least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PtxLaunch {
    /// Bytes of shared memory beyond what the text declares.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// In the order of their parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<MapTemplate>,
    /// CTAs an SM where the kernel walks over its units by itself; `None`: a launch has a CTA (or cluster) a unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent: Option<u32>,
    /// The kernel waits by itself for the launches before it, so that it may begin before they end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
}

impl PtxLaunch {
    /// Errors: a limit that no launch keeps.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.dynamic_shared > MAX_DYNAMIC_SHARED {
            return Err("wants more shared memory than any GPU has");
        }
        if self.persistent.is_some_and(|ctas| !(1..=MAX_CTAS_PER_SM).contains(&ctas)) {
            return Err("has 1 to 32 CTAs on each multiprocessor");
        }
        if self.maps.len() > MAX_MAPS {
            return Err("has more tensor maps than parameters can hold");
        }
        self.maps.iter().try_for_each(MapTemplate::check)
    }
}

/// Runs kernels for GPUs without one: a simulator.
pub trait PtxExecutor: Send + Sync {
    /// Errors: why this is no kernel, in plain words. Must not panic on any text.
    fn prepare(&self, kernel: &PtxKernel) -> Result<Arc<dyn PortableKernel>, String>;
}
