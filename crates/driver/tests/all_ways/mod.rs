//! A product of an input and constant weights on both tiers, on the interpreter and as machine code where this
//! processor runs it: the numbers of the evaluator.

use crate::model;

use crate::program::program;
use model::model;
use tegula_base::{Dim, HostTensor, Shape, SymbolInfo};
use tegula_driver::{CompileOptions, Form, PassCx};
use tegula_ir::Value;
use tegula_machine::Machine;
use tegula_tensor::Builder;
use tegula_tensor::build::Built;

/// Checks what `product` makes of an input and constant weights. The input's `open` extents are not known before the run.
pub fn check(
    x: &HostTensor,
    open: &[usize],
    weights: HostTensor,
    product: impl Fn(&mut Builder, [Value; 2]) -> Built<Value>,
) {
    check_on(&["avx2-generic", "avx512-generic", "avx512-bf16-generic"], x, open, weights, product);
}

/// The same on these classes alone.
pub fn check_on(
    classes: &[&str],
    x: &HostTensor,
    open: &[usize],
    weights: HostTensor,
    product: impl Fn(&mut Builder, [Value; 2]) -> Built<Value>,
) {
    let weights_shape = weights.shape.clone();
    let mut program = program(|b| {
        let mut shape: Shape = x.shape.iter().map(|n| Dim::from(*n as i64)).collect();
        for axis in open {
            shape[*axis] = Dim::symbol(&format!("n{axis}"));
        }
        let x = b.arg(x.dtype, shape);
        let weights = b.literal(weights)?;
        Ok(vec![product(b, [x, weights])?])
    });
    for axis in open {
        program.symbols.insert(&format!("n{axis}"), SymbolInfo::input(0, *axis as u32));
    }
    let model = model(&program);
    for class in classes {
        let machine = Machine::class(class).unwrap();
        for form in [Form::Portable, Form::Machine] {
            let mut options = CompileOptions::new(machine.clone());
            options.form = form;
            let inputs = [x.clone()];
            let report = tegula_driver::check::check(
                &model,
                &options,
                &inputs,
                None,
                &tegula_driver::own_or_simulated_cpu(&machine),
                &mut PassCx::new(),
            )
            .unwrap();
            assert!(
                report.is_fine(),
                "{class}, {:?} by {weights_shape:?}, open {open:?}: {report:?}",
                x.shape
            );
        }
    }
}
