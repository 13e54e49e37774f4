//! A wrong rule among right ones is found, with the op that it breaks.

use tegula_driver::bisect::guilty_pass;
use tegula_driver::{PassCx, reduce::op_count};
use tegula_ir::pass::Changed;
use tegula_ir::rewrite::{Rewrite, dce, rewrite_ops};
use tegula_ir::{Pipeline, ScalarOp, parse_program};
use tegula_opt::passes::Precision;
use tegula_tensor::{TensorOp, TensorProgram};

const PROGRAM: &str = r#""builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3xf32>):
    %1 = "tgn.elementwise"(%0) <{f = "abs"}> : (tensor<3xf32>) -> tensor<3xf32> loc("first")
    %2 = "tgn.elementwise"(%1) <{f = "abs"}> : (tensor<3xf32>) -> tensor<3xf32> loc("second")
    %3 = "tgn.elementwise"(%2) <{f = "neg"}> : (tensor<3xf32>) -> tensor<3xf32> loc("third")
    %4 = "tgn.elementwise"(%3) <{f = "abs"}> : (tensor<3xf32>) -> tensor<3xf32> loc("fourth")
    %5 = "tgn.elementwise"(%4) <{f = "exp"}> : (tensor<3xf32>) -> tensor<3xf32> loc("fifth")
    %6 = "tgn.elementwise"(%3) <{f = "abs"}> : (tensor<3xf32>) -> tensor<3xf32> loc("unused")
    "tgn.return"(%5) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"#;

/// `abs` of anything that is not `neg`'s is dropped; with `wrong`, of anything at all.
fn drop_abs(program: &mut TensorProgram, wrong: bool) -> Changed {
    rewrite_ops(program.entry_mut(), &mut |func, _, op| {
        let is = |op, wanted| matches!(func.kind(op), TensorOp::Elementwise { f } if *f == wanted);
        if !is(op, ScalarOp::Abs) {
            return Ok(Rewrite::Keep);
        }
        let operand = func.operand(op, 0);
        let before = func.def_op(operand);
        let applies = before.is_some_and(|before| wrong || is(before, ScalarOp::Abs));
        Ok(if applies { Rewrite::Replace(vec![operand]) } else { Rewrite::Keep })
    })
    .unwrap()
}

fn pipeline(wrong: bool) -> Pipeline<'static, TensorProgram> {
    Pipeline::new("tensor")
        .pass("dce", |program: &mut TensorProgram, _| Ok(program.for_each_func(dce)))
        .pass("drop_abs", move |program, _| Ok(drop_abs(program, wrong)))
        .pass("dce_again", |program, _| Ok(program.for_each_func(dce)))
}

#[test]
fn the_wrong_rewrite_of_the_wrong_pass_is_named() {
    let program = parse_program::<TensorOp>(PROGRAM, None).unwrap();
    let inputs = [tegula_base::HostTensor::from_elements(&[3], &[1f32, -2.0, 0.5])];
    let find =
        |wrong| guilty_pass(&program, &pipeline(wrong), Precision::F32, &inputs, &mut PassCx::new()).unwrap();
    assert!(find(false).is_none());
    let found = find(true).expect("a pass is wrong");
    assert_eq!(found.pass, "tensor:drop_abs");
    let rewrite = found.rewrite.expect("it is made of rewrites");
    assert_eq!((rewrite.number, rewrite.of, rewrite.op), (2, 2, "elementwise"));
    assert_eq!(rewrite.node.as_deref(), Some("fourth"));
    assert_eq!(found.fault.unwrap().name, "y");
    // What comes out is a program again: the one that the pass was given.
    assert_eq!(op_count(&parse_program::<TensorOp>(&found.before, None).unwrap()), 5);
}
