//! This processor: machine code is mapped, portable code goes to its executor; both run on the session's threads.

use super::{Device, DeviceCode, KernelImage, Loaded, Prepared};
use crate::cpu::{self, CodePages};
use crate::queue::HostQueue;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{ImageId, PortableExecutor, PortableKernel, isa};

pub(crate) struct Host {
    pub(crate) executor: Option<Arc<dyn PortableExecutor>>,
}

impl Device for Host {
    fn isa(&self) -> &str {
        cpu::HOST_ISA
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        let mut pages: Vec<(ImageId, CodePages)> = Vec::new();
        for kernel in code.kernels.iter().filter(|kernel| kernel.isa != isa::PORTABLE) {
            if pages.is_empty() {
                cpu::check_machine(code.machine)?;
            }
            if pages.iter().all(|(image, _)| *image != kernel.image) {
                pages.push((kernel.image, CodePages::new(kernel.bytes)?));
            }
        }
        let mut loaded = in_process(code, |kernel, shared| {
            let pages = pages.iter().find(|(image, _)| *image == kernel.image);
            match (pages, kernel.entry.range()) {
                (Some((_, pages)), Some((offset, _))) => Ok(Prepared::Machine(pages.entry(offset))),
                _ if kernel.isa == isa::PORTABLE => {
                    shared.get(kernel, |code| prepare_portable(self.executor.as_ref(), kernel.name, code))
                }
                _ => Err(no_name(kernel)),
            }
        })?;
        loaded.pages = pages.into_iter().map(|(_, pages)| pages).collect();
        Ok(loaded)
    }
}

/// Kernels that the session's threads run on this process's memory. Errors: all that `prepare` finds.
pub(super) fn in_process(
    code: &DeviceCode<'_>,
    mut prepare: impl FnMut(&KernelImage<'_>, &mut Shared) -> Result<Prepared, Diagnostic>,
) -> Result<Loaded, Diagnostics> {
    let (mut found, mut shared) = (Diagnostics::default(), Shared::default());
    let mut kernels = Vec::with_capacity(code.kernels.len());
    for kernel in &code.kernels {
        match prepare(kernel, &mut shared) {
            Ok(kernel) => kernels.push(kernel),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    let queues = Arc::new(HostQueue);
    found.into_result(Loaded { kernels, queues, align: 1, warnings: vec![], pages: vec![] })
}

/// Interpreted code by its bytes: what kernels share is read once.
#[derive(Default)]
pub(super) struct Shared(HashMap<Range<*const u8>, Arc<dyn PortableKernel>>);

impl Shared {
    pub(super) fn get(
        &mut self,
        kernel: &KernelImage<'_>,
        prepare: impl FnOnce(&[u8]) -> Result<Arc<dyn PortableKernel>, Diagnostic>,
    ) -> Result<Prepared, Diagnostic> {
        let code = kernel.code();
        if let Some(known) = self.0.get(&code.as_ptr_range()) {
            return Ok(Prepared::Interpreted(Arc::clone(known)));
        }
        let made = prepare(code)?;
        self.0.insert(code.as_ptr_range(), Arc::clone(&made));
        Ok(Prepared::Interpreted(made))
    }
}

/// Errors: there is no executor, or it cannot read the code.
pub(super) fn prepare_portable(
    executor: Option<&Arc<dyn PortableExecutor>>,
    name: &str,
    code: &[u8],
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

/// Machine code has no names.
pub(super) fn no_name(kernel: &KernelImage<'_>) -> Diagnostic {
    let message = format!("kernel `{}` is a name, and `{}` code has none", kernel.name, kernel.isa);
    Diagnostic::error("package-invalid", message)
}
