//! Programs as text: `text/*.mlir` print as blessed, `error/*.mlir` are refused as blessed, `verify/*.mlir` parse but
//! break the rules named.

use crate::common;

use common::{DemoOp, check, commented};
use tegula_base::HostTensor;
use tegula_ir::{PrintOptions, Program, parse_program, print_program, verify_program};

#[test]
fn text() {
    check("text", |input| match parse_program::<DemoOp>(input, None) {
        Ok(program) => {
            verify_program(&program).unwrap_or_else(|found| panic!("{found}"));
            let printed = print_program(&program, &PrintOptions::default());
            let again =
                parse_program::<DemoOp>(&printed, None).unwrap_or_else(|found| panic!("{found}\n{printed}"));
            assert_eq!(print_program(&again, &PrintOptions::default()), printed);
            printed
        }
        Err(found) => format!("// unexpected error\n{}", commented(&found)),
    });
}

#[test]
fn error() {
    check("error", |input| match parse_program::<DemoOp>(input, None) {
        Ok(_) => "// unexpected success\n".into(),
        Err(found) => commented(&found),
    });
}

#[test]
fn verify() {
    check("verify", |input| match parse_program::<DemoOp>(input, None) {
        Ok(program) => match verify_program(&program) {
            Ok(()) => "// unexpected success\n".into(),
            Err(found) => commented(&found),
        },
        Err(found) => format!("// does not parse\n{}", commented(&found)),
    });
}

/// A program whose constant has 64 bytes.
fn with_constant() -> Program<DemoOp> {
    let mut program = parse_program::<DemoOp>(
        r#""demo.func"() <{sym_name = "main", arg_names = [], result_names = ["y"]}> ({
             %0 = "demo.const"() <{value = dense_resource<w> : tensor<2xf32>}> : () -> tensor<2xf32>
             "demo.return"(%0) : (tensor<2xf32>) -> ()
           }) : () -> ()
           {-# dialect_resources: { builtin: { w: "0x400000000000803F00000040" } } #-}"#,
        None,
    )
    .unwrap_or_else(|found| panic!("{found}"));
    let weights: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let func = program.entry_mut();
    let (body, const_op) = (func.body(), func.walk()[0]);
    let id = program.consts.push(HostTensor::from_elements(&[4, 4], &weights));
    let func = program.entry_mut();
    let ty = common::DemoType { dtype: tegula_base::DType::F32, shape: [4, 4].into() };
    let load = func.push_op(body, DemoOp::Const { value: id }, &[], [ty], None);
    func.set_ops(body, vec![load, const_op, func.ops_in(body)[1]]);
    program
}

#[test]
fn small_constants_are_whole_and_large_ones_are_elided() {
    let program = with_constant();
    let text = print_program(&program, &PrintOptions { inline_bytes: 8 });
    assert!(text.contains("const0: \"0x400000000000803F00000040\""), "{text}");
    assert!(text.contains("demo.elided = {const1 = "), "{text}");

    let refused = parse_program::<DemoOp>(&text, None).unwrap_err().to_string();
    assert!(refused.contains("constant `const1` is elided here"), "{refused}");

    let bytes = program.consts.iter().nth(1).unwrap().1.data.clone();
    let asked = std::cell::RefCell::new(String::new());
    let sidecar = |hash: &str| {
        *asked.borrow_mut() = hash.to_owned();
        Some(bytes.clone())
    };
    let again = parse_program::<DemoOp>(&text, Some(&sidecar)).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(again.consts.len(), 2);
    assert!(text.contains(asked.borrow().as_str()));
    // Now numbered in textual order.
    assert_eq!(again.consts.iter().next().unwrap().1.shape, [4, 4]);

    let whole = print_program(&program, &PrintOptions::WHOLE);
    assert!(!whole.contains("elided"));
    parse_program::<DemoOp>(&whole, None).unwrap_or_else(|found| panic!("{found}"));
}

/// Random edits of good texts: refused or accepted, never a panic, and what is accepted prints to what reads back.
#[test]
fn hostile_text_is_refused_plainly() {
    let sources: Vec<String> = ["text", "verify", "pass", "error"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(format!("tests/{folder}")).unwrap())
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .map(|text| text.split(common::RULE).next().unwrap().to_owned())
        .collect();
    let words: Vec<&str> =
        sources.iter().flat_map(|text| text.split_inclusive([' ', ',', '(', '<', '\n'])).collect();
    let mut accepted = 0;
    for seed in 1..=4000u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % bound as u64) as usize
        };
        let mut text: Vec<&str> =
            sources[below(sources.len())].split_inclusive([' ', ',', '(', '<', '\n']).collect();
        for _ in 0..1 + below(3) {
            let at = below(text.len());
            match below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, words[below(words.len())]),
                _ => text[at] = words[below(words.len())],
            }
        }
        let Ok(program) = parse_program::<DemoOp>(&text.concat(), None) else { continue };
        let _ = verify_program(&program);
        let printed = print_program(&program, &PrintOptions::default());
        let again =
            parse_program::<DemoOp>(&printed, None).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
        assert_eq!(print_program(&again, &PrintOptions::default()), printed, "seed {seed}");
        accepted += 1;
    }
    assert!(accepted > 200, "only {accepted} of 4000 edits were accepted");
}
