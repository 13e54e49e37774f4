//! Who runs kernels in place of hardware: the interpreter, and simulators of a processor, a GPU and a streaming chip.

use crate::lpu::SimulatedLpu;
use std::sync::Arc;
use tegula_machine::Machine;
use tegula_package::PortableExecutor;
use tegula_runtime::{Hardware, SessionOptions};

/// The executor of portable kernels, for sessions.
pub fn portable_executor() -> Arc<dyn PortableExecutor> {
    Arc::new(tegula_target_cpu::exec::Portable)
}

/// The interpreter of PTX as a GPU.
pub fn simulated_gpu() -> Hardware {
    Hardware::SimulatedGpu(Arc::new(tegula_sim_ptx::Simulator::default()))
}

/// The simulator of x86-64 code, of every tier, in place of this processor.
pub fn simulated_cpu() -> Hardware {
    Hardware::SimulatedCpu(Arc::new(tegula_sim_x86::Simulator))
}

/// The simulator of streaming chips, beside this processor or, where it lacks instructions, its simulator.
pub fn simulated_lpu() -> Hardware {
    Hardware::Beside(Arc::new(SimulatedLpu), Arc::new(tegula_sim_x86::Simulator))
}

/// What runs code for a machine: this processor, or the simulator where it lacks an instruction that the code may use.
pub fn own_or_simulated_cpu(machine: &Machine) -> Hardware {
    match machine.cpu() {
        Some(cpu) if !tegula_runtime::lacking(&cpu.features).is_empty() => simulated_cpu(),
        _ => Hardware::Own,
    }
}

/// Options of a session that runs packages of any form on that hardware.
pub fn session_options(threads: usize, hardware: Hardware) -> SessionOptions {
    SessionOptions { threads, executor: Some(portable_executor()), hardware, ..SessionOptions::default() }
}
