//! The NVIDIA driver, as this process's environment has it: `TEGULA_CUDA_DRIVER` names its library in place of the
//! system's.

use std::path::Path;
use tegula_base::Diagnostic;
use tegula_runtime::cuda::Cuda;

/// Errors: `no-device` says what is missing.
pub fn cuda() -> Result<Cuda, Diagnostic> {
    let named = std::env::var_os("TEGULA_CUDA_DRIVER").filter(|value| !value.is_empty());
    Cuda::open(named.as_deref().map(Path::new))
}
