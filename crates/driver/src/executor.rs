//! Who runs kernels that are no machine code: the portable executor, and a simulator that stands for a GPU.

use std::sync::Arc;
use tegula_package::PortableExecutor;
use tegula_runtime::{Gpu, SessionOptions};

/// The executor of portable kernels, for sessions.
pub fn portable_executor() -> Arc<dyn PortableExecutor> {
    Arc::new(tegula_target_cpu::exec::Portable)
}

/// The interpreter of PTX as a GPU.
pub fn simulated_gpu() -> Gpu {
    Gpu::Simulated(Arc::new(tegula_sim_ptx::Simulator::default()))
}

/// Options of a session that runs packages of any form on this processor and that GPU.
pub fn session_options(threads: usize, gpu: Gpu) -> SessionOptions {
    SessionOptions { threads, executor: Some(portable_executor()), gpu, poison: false }
}
