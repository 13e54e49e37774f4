//! The NVIDIA driver, as this process's environment has it.
//! `TEGULA_CUDA_DRIVER` names its library in place of the system's; compiled kernels are kept in `TEGULA_CACHE`, else in
//! the user's cache folder.

use std::path::PathBuf;
use tegula_base::Diagnostic;
use tegula_runtime::cuda::{Cuda, CudaOptions};

/// Errors: `no-device` says what is missing.
pub fn cuda() -> Result<Cuda, Diagnostic> {
    Cuda::open(&options())
}

fn options() -> CudaOptions {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let users = || {
        let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")))?;
        Some(cache.join("tegula"))
    };
    CudaOptions {
        driver: named("TEGULA_CUDA_DRIVER"),
        cache: named("TEGULA_CACHE").or_else(users).map(|folder| folder.join("kernels")),
    }
}
