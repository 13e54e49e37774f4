//! Kernels that only count: their single result is one i64.

use super::{RuntimeKernel, RuntimeKernelArgs, View, write_i64};

/// Wraps a counting function as a kernel.
pub(super) struct Count<F>(pub(super) F);

impl<F: Fn(&View<'_>) -> Result<usize, String> + Send + Sync> RuntimeKernel for Count<F> {
    fn run(&self, mut args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let count = (self.0)(&args.operands[0])?;
        write_i64(args.results[0].bytes, 0, count as i64);
        Ok(())
    }
}
