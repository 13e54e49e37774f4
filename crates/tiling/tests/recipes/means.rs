//! Means over pixels of open sizes: their count is computed in the kernel.

use super::support::{Case, check, loads};
use tegula_base::DType::F32;
use tegula_base::Dim;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Builder, KernelClass, Layout};

#[test]
fn channels_lie_in_lanes() {
    let case = || {
        let shape = [Dim::from(2), Dim::from(32), Dim::symbol("h"), Dim::symbol("w")];
        let case = Case::new("mean over pixels").symbol("h", 3).symbol("w", 5).class(KernelClass::Reduce);
        case.arg(F32, shape).layout(Layout::permuted(&[0, 2, 3, 1]))
    };
    let mean = |b: &mut Builder, x: &[Value]| {
        let shape = b.shape(x[0]);
        let sum = b.reduce(ScalarOp::Add, x[0], &[2, 3], true)?;
        let count = b.sizes(&[shape[2].clone() * shape[3].clone()])?;
        let count = b.reshape(count, [1, 1, 1, 1])?;
        let count = b.cast(count, F32)?;
        Ok(vec![b.div(sum, count)?])
    };
    check(case(), mean);
    for shape in loads(case(), mean) {
        assert!(shape.last().is_some_and(|columns| *columns > 1), "{shape:?}");
    }
}
