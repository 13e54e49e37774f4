//! A product of an input and constant weights on both tiers, on the portable executor and as machine code where this
//! processor runs it: the numbers of the evaluator.

use tegula_base::{Dim, HostTensor, Shape, SymbolInfo};
use tegula_driver::{CompileOptions, Form, Model, PassCx};
use tegula_ir::Value;
use tegula_machine::{Kind, Machine};
use tegula_runtime::Gpu;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

struct NoFiles;

impl tegula_base::face::Files for NoFiles {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        Err(format!("`{relative}` is not there"))
    }
}

/// Checks what `product` makes of an input and constant weights. The input's `open` extents are not known before the run.
pub fn check(
    x: &HostTensor,
    open: &[usize],
    weights: HostTensor,
    product: impl Fn(&mut Builder, [Value; 2]) -> Built<Value>,
) {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut shape: Shape = x.shape.iter().map(|n| Dim::from(*n as i64)).collect();
    for axis in open {
        let name = format!("n{axis}");
        shape[*axis] = Dim::symbol(&name);
        program.symbols.insert(&name, SymbolInfo::input(0, *axis as u32));
    }
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let image = b.arg(x.dtype, shape);
    let weights_shape = weights.shape.clone();
    let weights = b.literal(weights).unwrap();
    let y = product(&mut b, [image, weights]).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    program.entry_mut().arg_names = vec!["x".into()];
    program.entry_mut().result_names = vec!["y".into()];
    let text = tegula_ir::print_program(&program, &tegula_ir::PrintOptions::WHOLE);
    for class in ["avx2-generic", "avx512-generic", "avx512-bf16-generic"] {
        let machine = Machine::class(class).unwrap();
        let Kind::Cpu(cpu) = &machine.kind else { unreachable!("both are classes of CPUs") };
        let runs_here = tegula_runtime::lacking(&cpu.features).is_empty();
        for form in [Form::Portable, Form::Machine] {
            if form == Form::Machine && !runs_here {
                continue;
            }
            let mut options = CompileOptions::new(machine.clone());
            options.form = form;
            let bytes_of_text = text.clone().into();
            let model =
                Model { name: "product.mlir".into(), bytes: bytes_of_text, results: vec![], files: &NoFiles };
            let inputs = [x.clone()];
            let report =
                tegula_driver::check::check(&model, &options, &inputs, None, &Gpu::None, &mut PassCx::new())
                    .unwrap();
            assert!(
                report.is_fine(),
                "{class}, {:?} by {weights_shape:?}, open {open:?}: {report:?}",
                x.shape
            );
        }
    }
}
