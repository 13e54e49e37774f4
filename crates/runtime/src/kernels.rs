//! A package's kernels, ready to run: code mapped, portable code prepared, native kernels found.

use crate::cpu::{self, CodePages, Entry};
use crate::native::{self, Native};
use std::collections::HashMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{KernelCode, Package, PortableExecutor, PortableKernel};

pub(crate) struct Kernels {
    /// In the order of the program's kernels.
    pub(crate) list: Vec<Prepared>,
    /// Keeps the code mapped.
    _pages: Option<CodePages>,
}

pub(crate) enum Prepared {
    Machine(Entry),
    Portable(Arc<dyn PortableKernel>),
    Native(Native),
}

impl Kernels {
    /// Errors: machine code for another machine, portable code without an executor, unknown natives; all of them.
    pub(crate) fn new(
        package: &Package,
        executor: Option<&dyn PortableExecutor>,
    ) -> Result<Kernels, Diagnostics> {
        let kernels = &package.program.kernels;
        let has_machine_code = kernels.iter().any(|k| matches!(k.code, KernelCode::Machine { .. }));
        let pages = if has_machine_code {
            cpu::check_machine(&package.manifest.about.machine)?;
            Some(CodePages::new(package.code())?)
        } else {
            None
        };
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
                        prepare_portable(&kernel.name, code, executor).map(|kernel| {
                            portable.insert((*offset, *len), Arc::clone(&kernel));
                            Prepared::Portable(kernel)
                        })
                    }
                },
                KernelCode::Native { name, attrs } => native::prepare(name, attrs).map(Prepared::Native),
            };
            match prepared {
                Ok(prepared) => list.push(prepared),
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        found.into_result(Kernels { list, _pages: pages })
    }
}

fn prepare_portable(
    name: &str,
    code: &[u8],
    executor: Option<&dyn PortableExecutor>,
) -> Result<Arc<dyn PortableKernel>, Diagnostic> {
    let Some(executor) = executor else {
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
