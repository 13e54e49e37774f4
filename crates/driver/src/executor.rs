//! Who runs kernels that are no machine code: the portable executor, and the interpreter of PTX.

use std::sync::Arc;
use tegula_package::{PortableExecutor, PortableKernel};

/// The executor of portable kernels, for sessions.
pub fn portable_executor() -> Arc<dyn PortableExecutor> {
    Arc::new(ByText)
}

/// A module of PTX begins with its version; nothing else does.
const PTX: &[u8] = b".version";

struct ByText;

impl PortableExecutor for ByText {
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String> {
        match code.starts_with(PTX) {
            true => tegula_sim_ptx::PtxExecutor.prepare(code),
            false => tegula_target_cpu::exec::Portable.prepare(code),
        }
    }
}
