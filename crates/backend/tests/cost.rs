//! What a kernel is said to move and to compute, against what can be counted by hand.

use tegula_backend::cost::record;
use tegula_ir::{parse_program, verify_program};
use tegula_machine::Machine;
use tegula_package::CostRecord;
use tegula_tensor::{KernelClass, TensorOp};

/// The record of a kernel of two operands, arguments of `f32[4,4]`, that is this op on both.
fn cost(class: KernelClass, operands: &str, op: &str) -> CostRecord {
    let of_two = "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>";
    let text = format!(
        r#""tgn.func"() <{{sym_name = "main", arg_names = ["x", "y"], result_names = ["r"]}}> ({{
        ^bb0(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>):
          %r = "tgn.kernel"({operands}) <{{class = "{}"}}> ({{
          ^bb1(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>):
            %c = {op} : {of_two}
            "tgn.yield"(%c) : (tensor<4x4xf32>) -> ()
          }}) : {of_two}
          "tgn.return"(%r) : (tensor<4x4xf32>) -> ()
        }}) : () -> ()"#,
        class.name()
    );
    let program = parse_program::<TensorOp>(&text, None).unwrap_or_else(|found| panic!("{found}"));
    verify_program(&program).unwrap_or_else(|found| panic!("{found}"));
    let func = program.entry();
    record(func, func.ops_in(func.body())[0], class, &Machine::class("zen5").expect("a class"))
}

#[test]
fn each_buffer_counts_once() {
    let sum = |operands| cost(KernelClass::Map, operands, r#""tgn.elementwise"(%a, %b) <{f = "add"}>"#);
    let [two, one] = ["%x, %y", "%x, %x"].map(sum);
    assert_eq!((two.bytes.as_const(), two.flops.as_const()), (Some(3 * 64), Some(16)));
    assert_eq!((one.bytes.as_const(), one.flops.as_const()), (Some(2 * 64), Some(16)));
}

#[test]
fn a_multiply_add_counts_two() {
    let dims = "lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]";
    let op = format!(r#""tgn.dot"(%a, %b) <{{dims = {{{dims}}}, out = "f32"}}>"#);
    let product = cost(KernelClass::Dot, "%x, %y", &op);
    assert_eq!((product.bytes.as_const(), product.flops.as_const()), (Some(3 * 64), Some(2 * 64)));
}
