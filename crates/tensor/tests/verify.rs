//! Shape rules: `verify/*.txt`, each line an op on operand types with the result types or the broken constraint.

use crate::common;

use common::{lines, op, ty};
use std::collections::BTreeSet;
use tegula_ir::{Op, parse_program};
use tegula_tensor::{TensorOp, TensorProgram, TensorType, check_program, infer};

/// `op : types => types` or `=> error: message`.
#[test]
fn verify() {
    let mut wrong = String::new();
    for (place, line) in lines("verify") {
        let (case, expected) = line.split_once(" => ").unwrap_or_else(|| panic!("{place}: no `=>`"));
        let (kind, operands) = case.split_once(" :").unwrap_or((case, ""));
        let operands: Vec<TensorType> = operands.split_whitespace().map(ty).collect();
        let got = match infer(&op(kind.trim()), &operands.iter().collect::<Vec<_>>()) {
            Ok(types) => types.iter().map(TensorType::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => format!("error: {error}"),
        };
        if got != expected {
            wrong += &format!("{place}:\n  got      {got}\n  expected {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Every constraint that an op documents is broken by a case here or in `verify/control.mlir`.
#[test]
fn every_constraint_is_broken_once() {
    let control = include_str!("verify/control.mlir");
    let broken: BTreeSet<String> = lines("verify")
        .into_iter()
        .filter_map(|(_, line)| Some(line.split_once("error: ")?.1.split(':').next()?.to_owned()))
        .collect();
    let mut missing = Vec::new();
    for (name, doc) in TensorOp::reference() {
        for number in (1..9).filter(|n| doc.contains(&format!(" c{n}: "))) {
            let constraint = format!("{name}_c{number}");
            if !broken.contains(&constraint) && !control.contains(&constraint) {
                missing.push(constraint);
            }
        }
    }
    assert!(missing.is_empty(), "no case breaks {missing:?}");
}

/// Programs that open with `// error: ` and the first message of their check.
#[test]
fn control() {
    for (path, text) in common::files("verify", "mlir") {
        for case in text.split("// -----\n") {
            let expected = case.lines().next().and_then(|line| line.strip_prefix("// error: ")).unwrap();
            let program: TensorProgram =
                parse_program(case, None).unwrap_or_else(|e| panic!("{}: {expected}: {e}", path.display()));
            let errors = check_program(&program).expect_err(expected);
            assert_eq!(errors.0[0].message, expected, "{}", path.display());
        }
    }
}
