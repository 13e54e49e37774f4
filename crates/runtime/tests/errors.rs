//! What users are told, word for word.

use crate::common;
use common::*;
use expect_test::{Expect, expect};
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_package::*;
use tegula_runtime::{Session, SessionOptions};

fn check<T>(result: Result<T, Diagnostics>, expected: Expect) {
    expected.assert_eq(&result.err().expect("an error").to_string());
}

/// ids i64[batch,seq], mask f32[batch,seq,2*seq], table f32[3]; nothing is computed.
fn bert_like() -> Session {
    let mut s = Source::default();
    s.input_symbol("batch", 0, 0, 1, 64, 1);
    s.input_symbol("seq", 0, 1, 1, 512, 8);
    s.input("ids", DType::I64, &["batch", "seq"]);
    s.input("mask", DType::F32, &["batch", "seq", "2*seq"]);
    let table = s.input("table", DType::F32, &["3"]);
    s.output_of("out", DType::F32, &["3"], table);
    s.session(1)
}

fn zeros(dtype: DType, shape: &[usize]) -> HostTensor {
    HostTensor::zeros(dtype, shape)
}

#[test]
fn inputs_are_named() {
    let session = bert_like();
    let ids = zeros(DType::I64, &[1, 8]);
    check(
        session.run_named(&[("ids", &ids), ("masc", &ids), ("ids", &ids)]),
        expect![[r#"
            error[unknown-input]: the model has no input `masc`
            note: its inputs are `ids`, `mask`, `table`
            error[unknown-input]: input `ids` is given twice
            error[missing-input]: input `mask` is not given
            note: it is f32[batch,seq,2*seq]
            error[missing-input]: input `table` is not given
            note: it is f32[3]"#]],
    );
    check(
        session.run(&[ids]),
        expect![[r#"
            error[missing-input]: the model has 3 inputs, 1 are given
            note: its inputs are `ids`, `mask`, `table`"#]],
    );
}

#[test]
fn dtypes_and_shapes_are_checked_all_at_once() {
    let session = bert_like();
    check(
        session.run(&[
            zeros(DType::I32, &[1, 8]),
            zeros(DType::F32, &[1, 8]),
            HostTensor { bytes: vec![0; 5], ..zeros(DType::F32, &[3]) },
        ]),
        expect![[r#"
            error[dtype-mismatch]: input `ids` needs i64, got i32
            error[shape-mismatch]: input `mask` needs f32[batch,seq,2*seq], got shape [1, 8]
            error[shape-mismatch]: the tensor for input `table` has 5 bytes, which is not the size of f32[3]"#]],
    );
    check(
        session.run(&[zeros(DType::I64, &[2, 12]), zeros(DType::F32, &[3, 12, 23]), zeros(DType::F32, &[4])]),
        expect![[r#"
            error[shape-mismatch]: dim `seq` (dim 1 of input `ids`) is 12, the model takes multiples of 8
            error[shape-mismatch]: dim `batch` is 2 in input `ids` but 3 in input `mask`
            error[shape-mismatch]: dim 2 of input `mask` needs `2*seq` = 24, got 23
            note: the input is f32[batch,seq,2*seq]
            error[shape-mismatch]: dim 0 of input `table` needs 3, got 4
            note: the input is f32[3]"#]],
    );
    check(
        session.run(&[zeros(DType::I64, &[0, 8]), zeros(DType::F32, &[0, 8, 16]), zeros(DType::F32, &[3])]),
        expect!["error[shape-mismatch]: dim `batch` (dim 0 of input `ids`) is 0, the model takes 1 to 64"],
    );
}

#[test]
fn bools_are_zero_or_one() {
    let mut s = Source::default();
    let flag = s.input("flag", DType::Bool, &["2"]);
    s.output_of("out", DType::Bool, &["2"], flag);
    let tensor = HostTensor { dtype: DType::Bool, shape: vec![2], bytes: vec![1, 2] };
    check(
        s.session(1).run(&[tensor]),
        expect!["error[bad-value]: element 1 of input `flag` is the byte 2, which is no bool"],
    );
}

#[test]
fn assertions_show_their_sizes() {
    let mut s = Source::default();
    s.input_symbol("a", 0, 0, 0, 100, 1);
    s.input_symbol("b", 1, 0, 0, 100, 1);
    let x = s.input("x", DType::F32, &["a"]);
    s.input("y", DType::F32, &["b"]);
    s.output_of("out", DType::F32, &["a"], x);
    s.program.steps = vec![Step::Assert {
        cond: Cond { lhs: dim("2*a"), op: Relation::Eq, rhs: dim("b") },
        message: "node \"cat\": `x` twice must be as long as `y`".into(),
    }];
    let session = s.session(1);
    assert!(session.run(&[zeros(DType::F32, &[2]), zeros(DType::F32, &[4])]).is_ok());
    check(
        session.run(&[zeros(DType::F32, &[2]), zeros(DType::F32, &[5])]),
        expect![[r#"
            error[assertion]: node "cat": `x` twice must be as long as `y`
            note: `2*a` is 4
            note: `b` is 5"#]],
    );
}

#[test]
fn computed_sizes_are_checked() {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 0, 100, 1);
    let k = s.data_symbol("k", Some("n"));
    s.input("x", DType::F32, &["n"]);
    let count = s.input("count", DType::I64, &[]);
    let out = s.output("out", DType::F32, &["k - 1"]);
    s.program.steps =
        vec![Step::Bind { symbol: k, from: count }, Step::Fill { dst: out, value: 0, bytes: dim("4*k - 4") }];
    let session = s.session(1);
    let run = |k: i64| session.run(&[zeros(DType::F32, &[4]), HostTensor::scalar(k)]);
    assert_eq!(run(3).unwrap()[0], zeros(DType::F32, &[2]));
    check(
        run(5),
        expect![[r#"
            error[computed-size]: the computed size `k` is 5, above its bound 4
              --> value `count`"#]],
    );
    check(
        run(-1),
        expect![[r#"
            error[computed-size]: the computed size `k` is -1, outside of 0 to 2147483647
              --> value `count`"#]],
    );
    check(run(0), expect!["error[computed-size]: the size `4*k - 4` would be -4"]);
}

#[test]
fn a_native_kernel_may_refuse_its_data() {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 0, 100, 1);
    let x = s.input("x", DType::F32, &["n"]);
    let (values, indices) = (s.output("values", DType::F32, &["5"]), s.output("indices", DType::I64, &["5"]));
    let topk = s.native(
        "topk",
        &attrs(&[slot("f32", 1)], &[slot("f32", 1), slot("i64", 1)], r#"{"axis":0,"largest":true}"#),
    );
    let args = [buf(x), buf(values), buf(indices), size("n"), size("5"), size("5")];
    s.program.steps = vec![launch(topk, &args, "1")];
    check(
        s.session(1).run(&[zeros(DType::F32, &[3])]),
        expect![[r#"
            error[kernel-failed]: kernel `topk`: the 5 first of 3 elements are asked for
              --> node "model/topk""#]],
    );
}

#[test]
fn portable_code_stays_inside_its_buffers() {
    let mut s = Source::default();
    let (x, y) = (s.input("x", DType::I64, &["2"]), s.output("y", DType::I64, &["2"]));
    let code = s.package.add_portable(&[1]);
    let add = s.kernel("add", code);
    s.program.steps = vec![launch(add, &[buf(x), buf(y)], "3")];
    let error = s.session(1).run(&[zeros(DType::I64, &[2])]).expect_err("an error").to_string();
    assert!(error.starts_with("error[kernel-failed]: kernel `add`: access to 8 bytes at 0x"), "{error}");
}

#[test]
fn packages_for_other_machines_are_refused() {
    let mut s = add_kernel();
    s.features = vec!["avx2".into(), "warp9".into()];
    let bytes = s.finish().to_bytes();
    check(
        Session::from_bytes(bytes, SessionOptions::default()),
        expect![[r#"
            error[package-machine]: the package is compiled for machine class test-class; this processor lacks warp9
            help: compile the model for a class that this processor has, e.g. `--machine avx2-generic`; `--target sim-x86` runs the package all the same, slowly"#]],
    );
}

fn add_kernel() -> Source {
    let mut s = Source::default();
    let (x, y) = (s.input("x", DType::I64, &["2"]), s.output("y", DType::I64, &["2"]));
    let code = s.package.add_machine_code(INCREMENT);
    let add = s.kernel("add", code);
    s.program.steps = vec![launch(add, &[buf(x), buf(y)], "2")];
    s
}

#[test]
fn portable_code_needs_its_executor() {
    let mut s = Source::default();
    let code = s.package.add_portable(&[1]);
    s.kernel("add", code);
    check(
        Session::from_bytes(s.finish().to_bytes(), SessionOptions::default()),
        expect![
            "error[no-portable-executor]: kernel `add` is portable code, and this program was built without its executor"
        ],
    );
}

#[test]
fn files_are_named() {
    let path = std::env::temp_dir().join(format!("tegula-runtime-{}.tgl", std::process::id()));
    let draft = add_kernel().finish();
    std::fs::write(&path, draft.to_bytes()).expect("a writable temporary folder");
    assert!(Session::load(&path, SessionOptions::default()).is_ok());
    std::fs::write(&path, b"").expect("a writable temporary folder");
    let error = Session::load(&path, SessionOptions::default()).err().expect("an error").to_string();
    assert_eq!(
        error.replace(&path.display().to_string(), "FILE"),
        "error[package-truncated]: the package is empty\n  --> FILE"
    );
    std::fs::remove_file(&path).expect("the file is there");
    let error = Session::load(&path, SessionOptions::default()).err().expect("an error").to_string();
    assert!(error.contains("cannot be read"), "{error}");
}
