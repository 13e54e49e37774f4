//! A card as a device of a session: a package's kernels compiled by the driver, and queues that launch them.

use super::device::Device as CardContext;
use super::function::Function;
use super::queue::CardQueue;
use super::stream::Stream;
use crate::device::{Device, DeviceCode, GPU_ALIGN, KernelImage, Loaded, Prepared};
use crate::queue::{Queue, Queues};
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::isa;

/// A card that sessions run packages on.
pub(crate) struct Card(pub(crate) Arc<CardContext>);

/// A package's kernels on a card.
pub(super) struct Program {
    card: Arc<CardContext>,
    pub(super) functions: Vec<Function>,
}

impl Device for Card {
    fn isa(&self) -> &str {
        isa::PTX
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        self.check_target(code)?;
        let functions = self.functions(code)?;
        let warnings =
            code.kernels.iter().zip(&functions).filter_map(|(kernel, function)| spills(kernel, function));
        Ok(Loaded {
            kernels: (0..functions.len()).map(Prepared::Queued).collect(),
            warnings: warnings.collect(),
            queues: Arc::new(Program { card: Arc::clone(&self.0), functions }),
            align: GPU_ALIGN,
            pages: vec![],
        })
    }
}

impl Card {
    /// Errors: code for another card.
    fn check_target(&self, code: &DeviceCode<'_>) -> Result<(), Diagnostic> {
        let machine = code.machine;
        let Some(target) = machine.features.iter().find(|target| !self.0.runs(target)) else { return Ok(()) };
        let facts = self.0.facts();
        let (major, minor) = facts.capability;
        let message = format!("the package is for {target} (machine class {})", machine.class);
        Err(Diagnostic::error("package-machine", message)
            .note(format!("{} has compute capability {major}.{minor}", facts.name)))
    }

    /// The kernels, compiled by the threads that loading may use. Errors: all that the card's compiler refuses.
    fn functions(&self, code: &DeviceCode<'_>) -> Result<Vec<Function>, Diagnostics> {
        let load = |kernel: &KernelImage<'_>| {
            let function = kernel.ptx().and_then(|ptx| Function::load(&self.0, &ptx));
            function.map_err(|error| error.at(format!("kernel `{}`", kernel.name)))
        };
        let share = code.kernels.len().div_ceil(code.threads.max(1)).max(1);
        let results: Vec<Result<Function, Diagnostic>> = std::thread::scope(|scope| {
            let workers: Vec<_> = code
                .kernels
                .chunks(share)
                .map(|part| scope.spawn(|| part.iter().map(load).collect::<Vec<_>>()))
                .collect();
            let lost = |_| vec![Err(Diagnostic::internal("a thread that loads kernels panicked"))];
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(lost)).collect()
        });
        let (mut found, mut functions) = (Diagnostics::default(), Vec::with_capacity(results.len()));
        for result in results {
            match result {
                Ok(function) => functions.push(function),
                Err(error) => found.push(error),
            }
        }
        found.into_result(functions)
    }
}

/// A warning for a kernel whose values do not all have registers.
fn spills(kernel: &KernelImage<'_>, function: &Function) -> Option<Diagnostic> {
    if function.local_bytes == 0 {
        return None;
    }
    let message = format!(
        "kernel `{}` keeps {} bytes a thread in memory beside its {} registers",
        kernel.name, function.local_bytes, function.registers
    );
    Some(Diagnostic::warning("gpu-spills", message))
}

impl Queues for Program {
    fn is_local(&self) -> bool {
        false
    }

    fn queue(self: Arc<Self>) -> Result<Arc<dyn Queue>, Diagnostic> {
        let stream = Stream::new(&self.card).map(Arc::new)?;
        Ok(Arc::new(CardQueue::new(stream, self)))
    }
}
