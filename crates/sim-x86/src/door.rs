//! The door of the runtime: a package's machine code, run by the convention of `docs/abi.md`.

use crate::kernel::{Call, Kernel, Stopped};
use std::sync::Arc;
use tegula_package::{MachineExecutor, Memory, PortableKernel};

/// Runs kernels that hold x86-64 code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator;

impl MachineExecutor for Simulator {
    fn isa(&self) -> &'static str {
        "x86-64"
    }

    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String> {
        Ok(Arc::new(Simulated(Kernel::new(code).map_err(|problem| problem.to_string())?)))
    }
}

struct Simulated(Kernel);

impl PortableKernel for Simulated {
    fn run(
        &self,
        args: &[u64],
        scratch: u64,
        memory: &dyn Memory,
        begin: u64,
        end: u64,
    ) -> Result<(), String> {
        match self.0.run(&Call { words: args, scratch, begin, end }, memory) {
            Ok(_) | Err(Stopped::ByCaller) => Ok(()),
            Err(Stopped::Failed(problem)) => Err(problem.to_string()),
        }
    }
}
