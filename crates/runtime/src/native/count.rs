//! Kernels that only count: their single result is one i64.

use super::{NativeArgs, NativeKernel, View, write_i64};

/// Wraps a counting function as a kernel.
pub(super) struct Count<F>(pub(super) F);

impl<F: Fn(&View<'_>) -> Result<usize, String> + Send + Sync> NativeKernel for Count<F> {
    fn run(&self, mut args: NativeArgs<'_>) -> Result<(), String> {
        let count = (self.0)(&args.operands[0])?;
        write_i64(args.results[0].bytes, 0, count as i64);
        Ok(())
    }
}
