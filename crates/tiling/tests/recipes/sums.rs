//! Sums of many rows are sums of sums.

use crate::support::{Case, check};
use tegula_base::DType::{F32, I32};
use tegula_base::{Dim, Shape};
use tegula_ir::ScalarOp;
use tegula_tensor::KernelClass;

#[test]
fn small_terms_are_kept() {
    // One after another, each of the small terms would be lost beside the first, and all of them are 1e-4 of the sum.
    let (many, some) = (Dim::from(4000), Dim::symbol("n"));
    for [rows, columns] in [[many, Dim::from(1)], [Dim::from(40), Dim::from(100)], [some, Dim::from(1)]] {
        let shape = Shape::from([rows, columns, Dim::from(3)]);
        let case = Case::new("small terms").class(KernelClass::Reduce).symbol("n", 4000);
        check(case.arg(F32, shape), |b, x| {
            let shape = b.shape(x[0]);
            let zero = b.splat(I32, shape.clone(), 0.0)?;
            let small = b.splat(F32, shape.clone(), 2f64.powi(-25))?;
            let mut terms = b.splat(F32, shape.clone(), 1.0)?;
            for axis in [0, 1] {
                let place = b.iota(I32, shape.clone(), axis)?;
                let is_first = b.elementwise(ScalarOp::Eq, &[place, zero])?;
                terms = b.select(is_first, terms, small)?;
            }
            let nothing = b.sub(x[0], x[0])?;
            let terms = b.add(terms, nothing)?;
            Ok(vec![b.reduce(ScalarOp::Add, terms, &[0, 1], true)?])
        });
    }
}
