//! Simulators in place of a processor or a GPU: their kernels run as portable ones do, on this process's memory.

use super::host::{Host, in_process, no_name, prepare_portable};
use super::{Device, DeviceCode, Loaded, Prepared};
use crate::cpu::lacking;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{MachineExecutor, PortableExecutor, PtxExecutor, isa};

pub(crate) struct SimulatedCpu {
    pub(crate) simulator: Arc<dyn MachineExecutor>,
    pub(crate) executor: Option<Arc<dyn PortableExecutor>>,
}

impl Device for SimulatedCpu {
    fn isa(&self) -> &str {
        self.simulator.isa()
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        in_process(code, |kernel, shared| {
            let name = kernel.name;
            if kernel.isa == isa::PORTABLE {
                return shared.get(kernel, |code| prepare_portable(self.executor.as_ref(), name, code));
            }
            if kernel.entry.range().is_none() {
                return Err(no_name(kernel));
            }
            shared.get(kernel, |code| {
                self.simulator.prepare(code).map_err(|reason| {
                    let message = format!("the machine code of kernel `{name}` cannot be simulated");
                    Diagnostic::error("not-simulated", message).note(reason)
                })
            })
        })
    }
}

/// This processor, or its simulator for code that may use instructions that it lacks.
pub(crate) struct OwnOrSimulatedCpu {
    pub(crate) own: Host,
    pub(crate) simulated: SimulatedCpu,
}

impl Device for OwnOrSimulatedCpu {
    fn isa(&self) -> &str {
        self.simulated.isa()
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        match lacking(&code.machine.features).is_empty() {
            true => self.own.load(code),
            false => self.simulated.load(code),
        }
    }
}

pub(crate) struct SimulatedGpu {
    pub(crate) simulator: Arc<dyn PtxExecutor>,
}

impl Device for SimulatedGpu {
    fn isa(&self) -> &str {
        isa::PTX
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        let loaded = in_process(code, |kernel, _| {
            let prepared = self.simulator.prepare(&kernel.ptx()?).map_err(|reason| {
                let message = format!("the PTX of kernel `{}` cannot be run", kernel.name);
                Diagnostic::error("package-invalid", message).note(reason)
            });
            Ok(Prepared::Interpreted(prepared?))
        })?;
        Ok(Loaded { align: super::GPU_ALIGN, ..loaded })
    }
}
