//! Each op on small values: `eval/*.txt`. Every case is also printed and read back, verified, and, where the op is
//! a composite, decomposed in place and run again. `eval/*.mlir` are whole programs with their inputs and outputs.

use crate::common;

use common::{assert_equal, files, lines, op, tensors};
use std::collections::BTreeSet;
use tegula_ir::{Op, PrintOptions, parse_program, print_program, verify_program};
use tegula_tensor::decompose::{decompose, is_composite};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, TensorType, evaluate, evaluate_op};

/// `op : operands => results` or `=> error: message`.
#[test]
fn eval() {
    for (place, line) in lines("eval") {
        let (case, expected) = line.split_once(" => ").unwrap_or_else(|| panic!("{place}: no `=>`"));
        let (kind, operands) = case.split_once(" :").unwrap_or((case, ""));
        let (kind, operands) = (op(kind.trim()), tensors(operands));
        let borrowed: Vec<_> = operands.iter().collect();
        let result = evaluate_op(&kind, &borrowed);
        if let Some(message) = expected.strip_prefix("error: ") {
            assert_eq!(result.unwrap_err(), message, "{place}");
            continue;
        }
        let expected = tensors(expected);
        assert_equal(&place, &result.unwrap_or_else(|e| panic!("{place}: {e}")), &expected);
        let mut program = program_of(&kind, &operands.iter().map(TensorType::of).collect::<Vec<_>>());
        let text = print_program(&program, &PrintOptions::WHOLE);
        let read: TensorProgram =
            parse_program(&text, None).unwrap_or_else(|e| panic!("{place}: {e}\n{text}"));
        assert_eq!(print_program(&read, &PrintOptions::WHOLE), text, "{place}");
        verify_program(&read).unwrap_or_else(|e| panic!("{place}: {e}"));
        if is_composite(&kind) {
            decompose_in_place(&mut program);
            verify_program(&program).unwrap_or_else(|e| panic!("{place}: decomposed: {e}"));
        }
        assert_equal(&place, &evaluate(&program, &operands).unwrap(), &expected);
    }
}

/// A program that is just this op.
fn program_of(kind: &TensorOp, args: &[TensorType]) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut b = Builder::new(&mut program.funcs[0], &mut program.consts);
    let args: Vec<_> = args.iter().map(|ty| b.func.add_arg(b.region, ty.clone())).collect();
    let results = b.emit_all(kind.clone(), &args).unwrap();
    b.ret(&results).unwrap();
    program
}

/// Replaces the first op.
fn decompose_in_place(program: &mut TensorProgram) {
    let func = &mut program.funcs[0];
    let op = func.ops_in(func.body())[0];
    let values = decompose(func, op, &mut program.consts).unwrap();
    let results = func.results(op).to_vec();
    for (from, to) in results.into_iter().zip(values) {
        func.replace_uses(from, to);
    }
    func.erase(op);
}

/// Lines `// run: inputs => outputs` or `=> error: ...` above a program.
#[test]
fn programs() {
    for (path, text) in files("eval", "mlir") {
        let program: TensorProgram =
            parse_program(&text, None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        verify_program(&program).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let runs: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("// run:")).collect();
        assert!(!runs.is_empty(), "{} runs nothing", path.display());
        for run in runs {
            let place = format!("{}: {run}", path.display());
            let (inputs, expected) = run.split_once("=>").unwrap_or_else(|| panic!("{place}: no `=>`"));
            let result = evaluate(&program, &tensors(inputs));
            match expected.trim().strip_prefix("error: ") {
                Some(message) => assert_eq!(result.unwrap_err().message, message, "{place}"),
                None => {
                    let result = result.unwrap_or_else(|e| panic!("{place}: {e}"));
                    assert_equal(&place, &result, &tensors(expected));
                }
            }
        }
    }
}

/// Every op is evaluated by a case or stands in a program.
#[test]
fn every_op_has_a_case() {
    let mut seen: BTreeSet<String> = lines("eval")
        .into_iter()
        .map(|(_, line)| line.split([' ', ':']).next().unwrap_or_default().to_owned())
        .collect();
    for (_, text) in files("eval", "mlir") {
        seen.extend(
            text.split("\"tgn.").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned),
        );
    }
    let missing: Vec<_> =
        TensorOp::reference().into_iter().filter(|(name, _)| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "no case evaluates {missing:?}");
}
