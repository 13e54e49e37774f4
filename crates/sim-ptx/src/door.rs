//! The door of the runtime: a package's kernel for GPUs, run by the convention of `docs/abi.md`.
//! The entry's parameters, in order: the argument block as `.align 8 .b8 args[8 n]`, `.u64 begin`, `.u64 end` where the
//! kernel walks over its units by itself, then the tensor maps, 128 bytes each, bound from the block's words.

use std::sync::Arc;

use tegula_isa_ptx::types::Scalar;
use tegula_isa_ptx::{Entry, ParamType, parse};
use tegula_package::{MAP_WORDS, Memory, PortableKernel, PtxExecutor, PtxKernel, PtxLaunch};

use crate::launch::{Kernel, Launch, Options, Stopped};

/// Runs kernels for GPUs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator {
    pub options: Options,
}

/// Clusters that a kernel gets which walks over its units: few, so that each has more than one.
const PERSISTENT_CLUSTERS: u64 = 2;

impl PtxExecutor for Simulator {
    fn prepare(&self, kernel: &PtxKernel) -> Result<Arc<dyn PortableKernel>, String> {
        let module = parse(&kernel.text, "kernel").map_err(|errors| errors.to_string())?;
        match module.entries.as_slice() {
            [entry] => Ok(Arc::new(Simulated::new(entry, &kernel.launch, self.options)?)),
            entries => Err(format!("a kernel's PTX has one entry, not {}", entries.len())),
        }
    }
}

struct Simulated {
    kernel: Kernel,
    launch: PtxLaunch,
    block: [u32; 3],
    cluster: u64,
    /// Words of the argument block.
    n_words: usize,
    options: Options,
}

impl Simulated {
    /// Errors: instructions that the simulator lacks; an entry that does not say how many threads it has, or whose
    /// parameters are not those of the convention.
    fn new(entry: &Entry, launch: &PtxLaunch, options: Options) -> Result<Simulated, String> {
        let kernel = Kernel::new(entry).map_err(|error| error.to_string())?;
        let block = kernel.required_block().ok_or("a kernel says its threads by `.reqntid`")?;
        let [cluster, 1, 1] = kernel.cluster() else {
            return Err("a kernel has clusters along x only".to_string());
        };
        let params: Vec<ParamType> = entry.params.iter().map(|param| param.ty).collect();
        let (n_words, rest) = match params.split_first() {
            Some((ParamType::Bytes { size, .. }, rest)) if size % 8 == 0 => (*size as usize / 8, rest),
            _ => return Err("a kernel's first parameter is its argument block".to_string()),
        };
        let n_units = 1 + usize::from(launch.persistent.is_some());
        let map = ParamType::Bytes { align: 64, size: 8 * MAP_WORDS as u32 };
        let units = rest.iter().take_while(|ty| **ty == ParamType::Scalar(Scalar::U64)).count();
        let maps = rest.iter().skip(units).filter(|ty| **ty == map).count();
        if (units, maps) != (n_units, launch.maps.len()) || rest.len() != units + maps {
            return Err(format!(
                "behind its argument block a kernel has {n_units} numbers of units and {} tensor maps",
                launch.maps.len()
            ));
        }
        Ok(Simulated { kernel, launch: launch.clone(), block, cluster: cluster.into(), n_words, options })
    }

    /// The bytes of all parameters. Errors: there are fewer words than the block has, or a tensor map that these
    /// words do not make.
    fn params(&self, args: &[u64], begin: u64, end: u64) -> Result<Vec<u8>, String> {
        let block = args.get(..self.n_words).ok_or("the argument block is shorter than the parameters")?;
        let mut parts = vec![block.to_vec(), vec![begin]];
        parts.extend(self.launch.persistent.map(|_| vec![end]));
        for (number, map) in self.launch.maps.iter().enumerate() {
            let bound = map.bind(args).map_err(|rule| {
                let address = args.get(map.address_word).map_or(0, |word| word.wrapping_add(map.offset));
                format!("tensor map {number} at address {address:#x} breaks a rule: {rule}")
            })?;
            parts.push(bound.to_words().to_vec());
        }
        let mut bytes = vec![0; self.kernel.param_bytes()];
        for (part, offset) in parts.iter().zip(self.kernel.param_offsets()) {
            for (into, word) in bytes[*offset as usize..].chunks_exact_mut(8).zip(part) {
                into.copy_from_slice(&word.to_le_bytes());
            }
        }
        Ok(bytes)
    }
}

impl PortableKernel for Simulated {
    fn run(
        &self,
        args: &[u64],
        _scratch: u64,
        memory: &dyn Memory,
        begin: u64,
        end: u64,
    ) -> Result<(), String> {
        if begin >= end {
            return Ok(());
        }
        let units = end - begin;
        let clusters = if self.launch.persistent.is_some() { units.min(PERSISTENT_CLUSTERS) } else { units };
        let ctas = clusters.checked_mul(self.cluster).and_then(|ctas| u32::try_from(ctas).ok());
        let launch = Launch {
            grid: [ctas.ok_or_else(|| format!("{clusters} clusters are too many"))?, 1, 1],
            block: self.block,
            dynamic_shared: self.launch.dynamic_shared,
            params: self.params(args, begin, end)?,
            options: self.options,
        };
        match self.kernel.run(&launch, memory) {
            Ok(_) | Err(Stopped::ByCaller) => Ok(()),
            Err(Stopped::Failed(problem)) => Err(problem.to_string()),
        }
    }
}
