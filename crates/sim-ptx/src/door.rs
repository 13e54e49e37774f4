//! The door of the runtime: PTX text with one entry, run as the portable kernels of a package are.
//! The entry's parameters, in order: the argument block of `docs/abi.md` as `.align 8 .b8 args[8 n]`, then perhaps
//! `.u64 begin`, then tensor maps of 128 bytes, whose words follow the block's in the `args` of a run.
//! A work unit is a CTA: the unit's number is `%ctaid.x + begin`.

use std::sync::Arc;

use tegula_isa_ptx::{Entry, ParamType, parse};
use tegula_package::{Memory, PortableExecutor, PortableKernel};

use crate::launch::{Kernel, Launch, Options, Stopped};

/// Runs the PTX of packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct PtxExecutor;

impl PortableExecutor for PtxExecutor {
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String> {
        let text = std::str::from_utf8(code).map_err(|_| "PTX is UTF-8 text".to_string())?;
        let module = parse(text, "kernel").map_err(|errors| errors.to_string())?;
        match module.entries.as_slice() {
            [entry] => portable(entry),
            entries => Err(format!("a kernel's PTX has one entry, not {}", entries.len())),
        }
    }
}

struct Portable {
    kernel: Kernel,
    params: Vec<ParamType>,
    block: [u32; 3],
}

/// The entry as a portable kernel. Shared memory that grows with the launch gets all that there is.
/// Errors: instructions that the simulator lacks; an entry that does not say how many threads it has.
fn portable(entry: &Entry) -> Result<Arc<dyn PortableKernel>, String> {
    let kernel = Kernel::new(entry).map_err(|error| error.to_string())?;
    let block = kernel.required_block().ok_or("a portable kernel says its threads by `.reqntid`")?;
    if kernel.cluster()[1..] != [1, 1] {
        return Err("a portable kernel has clusters along x only".to_string());
    }
    let params = entry.params.iter().map(|param| param.ty).collect();
    Ok(Arc::new(Portable { kernel, params, block }))
}

impl PortableKernel for Portable {
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
        let units = u32::try_from(end - begin).map_err(|_| format!("{} CTAs are too many", end - begin))?;
        let launch = Launch {
            grid: [units, 1, 1],
            block: self.block,
            dynamic_shared: self.kernel.max_dynamic_shared(),
            params: self.param_bytes(args, begin)?,
            options: Options::default(),
        };
        match self.kernel.run(&launch, memory) {
            Ok(_) | Err(Stopped::ByCaller) => Ok(()),
            Err(Stopped::Failed(problem)) => Err(problem.to_string()),
        }
    }
}

impl Portable {
    /// Errors: there are fewer words than the parameters take.
    fn param_bytes(&self, args: &[u64], begin: u64) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.kernel.param_bytes()];
        let mut words = args.iter().flat_map(|word| word.to_le_bytes());
        for (ty, offset) in self.params.iter().zip(self.kernel.param_offsets()) {
            let into = &mut bytes[*offset as usize..][..ty.size() as usize];
            match ty {
                ParamType::Scalar(_) => {
                    let n = into.len();
                    into.copy_from_slice(&begin.to_le_bytes()[..n]);
                }
                ParamType::Bytes { .. } => {
                    for byte in into {
                        *byte = words.next().ok_or("the argument block is shorter than the parameters")?;
                    }
                }
            }
        }
        Ok(bytes)
    }
}
