//! Checks of indices, which a caller may ask for: by themselves gathers and scatters clamp an index to its axis.

use super::ProgramBuilder;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_ir::{ScalarOp, Value};

impl ProgramBuilder {
    /// Makes sure that indices are from `-extent` to `extent - 1`: by asserts at run time, which name the farthest one.
    /// Errors: a constant one is not.
    pub fn expect_inside(&mut self, indices: Value, extent: &Dim) -> Outcome<()> {
        let message = format!("an index is outside of an axis of extent {extent}");
        if let (Some(known), Some(n)) = (self.known_ints(indices), extent.as_const()) {
            return match known.iter().find(|index| !(-n..n).contains(*index)) {
                Some(index) => Err(Fault::invalid(format!("{message}: {index}"))),
                None => Ok(()),
            };
        }
        let axes: Vec<usize> = (0..self.rank(indices)).collect();
        let indices = self.cast(indices, DType::I64)?;
        let most = self.reduce(ScalarOp::Max, indices, &axes, false)?;
        let least = self.reduce(ScalarOp::Min, indices, &axes, false)?;
        let back = self.with_number(ScalarOp::Max, least, -SymbolInfo::MAX as f64)?;
        let back = self.unary(ScalarOp::Neg, back)?;
        let last = (extent.clone() - Dim::from(1)).maximum(&Dim::from(0));
        for (farthest, stem, limit) in [(most, "index", &last), (back, "index_from_the_end", extent)] {
            let size = self.with_number(ScalarOp::Max, farthest, 0.0)?;
            let size = self.with_number(ScalarOp::Min, size, SymbolInfo::MAX as f64)?;
            let size = self.size_or_bind(size, stem, Dim::from(SymbolInfo::MAX))?;
            self.assert_equal(&size, &size.minimum(limit), &message)?;
        }
        Ok(())
    }
}
