//! A package's kernels, ready to run: code mapped, portable code prepared, native kernels found.

use crate::cpu::{self, CodePages, Entry};
use crate::native::{self, Native};
use crate::session::{Gpu, SessionOptions};
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{Kernel, KernelCode, Package, PortableKernel};

/// Alignment of buffers that kernels for GPUs may count on, bytes (`docs/abi.md`).
const GPU_ALIGN: u64 = 64;

pub(crate) struct Kernels {
    /// In the order of the program's kernels.
    pub(crate) list: Vec<Prepared>,
    /// Alignment that kernels expect of inputs and outputs beyond that of their elements, bytes.
    pub(crate) align: u64,
    /// Keeps the code mapped.
    _pages: Option<CodePages>,
}

pub(crate) enum Prepared {
    Machine(Entry),
    Portable(Arc<dyn PortableKernel>),
    Native(Native),
}

impl Kernels {
    /// Errors: machine code for another machine, portable code without an executor, kernels for a GPU without one,
    /// unknown natives; all of them.
    pub(crate) fn new(package: &Package, options: &SessionOptions) -> Result<Kernels, Diagnostics> {
        let kernels = &package.program.kernels;
        let has_machine_code = kernels.iter().any(|k| matches!(k.code, KernelCode::Machine { .. }));
        let pages = if has_machine_code {
            cpu::check_machine(&package.manifest.about.machine)?;
            Some(CodePages::new(package.code())?)
        } else {
            None
        };
        let has_ptx = kernels.iter().any(|k| matches!(k.code, KernelCode::Ptx { .. }));
        if has_ptx && matches!(options.gpu, Gpu::None) {
            return Err(no_gpu(package).into());
        }
        let mut found = Diagnostics::default();
        let mut list = Vec::with_capacity(kernels.len());
        // Code that kernels share is read once.
        let mut portable: HashMap<(u64, u64), Arc<dyn PortableKernel>> = HashMap::new();
        for kernel in kernels {
            let prepared = match &kernel.code {
                KernelCode::Machine { offset, .. } => {
                    let pages = pages.as_ref().expect("invariant: there is machine code");
                    Ok(Prepared::Machine(pages.entry(*offset)))
                }
                KernelCode::Portable { offset, len } => match portable.get(&(*offset, *len)) {
                    Some(kernel) => Ok(Prepared::Portable(Arc::clone(kernel))),
                    None => {
                        let code = &package.portable()[*offset as usize..(*offset + *len) as usize];
                        prepare_portable(&kernel.name, code, options).map(|kernel| {
                            portable.insert((*offset, *len), Arc::clone(&kernel));
                            Prepared::Portable(kernel)
                        })
                    }
                },
                KernelCode::Ptx { .. } => prepare_ptx(package, kernel, options).map(Prepared::Portable),
                KernelCode::Native { name, attrs } => native::prepare(name, attrs).map(Prepared::Native),
            };
            match prepared {
                Ok(prepared) => list.push(prepared),
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        let align = if has_ptx { GPU_ALIGN } else { 1 };
        found.into_result(Kernels { list, align, _pages: pages })
    }
}

fn prepare_portable(
    name: &str,
    code: &[u8],
    options: &SessionOptions,
) -> Result<Arc<dyn PortableKernel>, Diagnostic> {
    let Some(executor) = &options.executor else {
        return Err(Diagnostic::error(
            "no-portable-executor",
            format!("kernel `{name}` is portable code, and this program was built without its executor"),
        ));
    };
    executor.prepare(code).map_err(|reason| {
        Diagnostic::error("package-invalid", format!("the portable code of kernel `{name}` cannot be read"))
            .note(reason)
    })
}

fn prepare_ptx(
    package: &Package,
    kernel: &Kernel,
    options: &SessionOptions,
) -> Result<Arc<dyn PortableKernel>, Diagnostic> {
    match (&options.gpu, package.ptx_kernel(&kernel.code)) {
        (Gpu::Simulated(executor), Some(ptx)) => executor.prepare(&ptx).map_err(|reason| {
            let message = format!("the PTX of kernel `{}` cannot be run", kernel.name);
            Diagnostic::error("package-invalid", message).note(reason)
        }),
        _ => Err(no_gpu(package)),
    }
}

/// One error for all of the package's kernels.
fn no_gpu(package: &Package) -> Diagnostic {
    let class = &package.manifest.about.machine.class;
    Diagnostic::error(
        "no-device",
        format!("the package is for a GPU (machine class {class}), and none is given"),
    )
    .help("`--target sim-ptx` interprets its kernels")
}
