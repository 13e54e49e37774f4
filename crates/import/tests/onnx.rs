//! Models as text: what is reported of a bad one (`tests/error`), what a good one computes (`tests/run`), what stops its
//! run (`tests/stop`). `BLESS=1` rewrites the reports.

use crate::support;

use prost::Message;
use std::path::Path;
use support::{Beside, Case, cases, options, read_case};
use tegula_base::HostTensor;
use tegula_import::onnx::{ImportOptions, import};

#[test]
fn reports_name_every_problem() {
    for (path, case) in cases("error") {
        let bytes = case.model.encode_to_vec();
        let report = match import(bytes.into(), &Beside, &options()) {
            Ok(_) => panic!("{} is imported without a complaint", path.display()),
            Err(report) => report.to_string(),
        };
        compare(&path, &case, &report);
    }
}

#[test]
fn runs_stop_in_the_words_of_the_model() {
    for (path, case) in cases("stop") {
        let program = import(case.model.encode_to_vec().into(), &Beside, &options())
            .unwrap_or_else(|report| panic!("{}: {report}", path.display()));
        let report = match tegula_tensor::evaluate(&program, &case.feeds) {
            Ok(_) => panic!("{} runs to its end", path.display()),
            Err(diagnostic) => diagnostic.to_string(),
        };
        compare(&path, &case, &report);
    }
}

/// Or rewrites the case.
fn compare(path: &Path, case: &Case, report: &str) {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, format!("{}\n---\n{report}\n", case.text)).unwrap();
        return;
    }
    assert_eq!(report, case.wanted, "{}; BLESS=1 rewrites it", path.display());
}

#[test]
fn models_compute_what_onnx_says() {
    for (path, case) in cases("run") {
        let bytes = case.model.encode_to_vec();
        let program = import(bytes.into(), &Beside, &options())
            .unwrap_or_else(|report| panic!("{}: {report}", path.display()));
        let outputs = tegula_tensor::evaluate(&program, &case.feeds)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(outputs.len(), case.expected.len(), "{}", path.display());
        for (output, expected) in outputs.iter().zip(&case.expected) {
            assert!(close(output, expected), "{}: got {output:?}, not {expected:?}", path.display());
        }
    }
}

/// The longest whole numbers; Python's integers say what their means are, truncated towards zero.
#[test]
fn means_of_the_longest_whole_numbers_are_exact() {
    let case = read_case(
        "ir 8\nopset 18\ninput x: i64[2, 3]\ninput axes: i64[1]\nconst inner: i64[1] = 1\n\
         rows = ReduceMean(x, inner) keepdims=0\nall = ReduceMean(x) keepdims=0\n\
         columns = ReduceMean(x, axes) keepdims=0\nsame = Mean(x, x, x)\npairs = AveragePool(wide) kernel_shape=[2]\n\
         wide = Unsqueeze(x, inner)\noutput rows\noutput all\noutput columns\noutput same\noutput pairs\n",
    );
    let program = import(case.model.encode_to_vec().into(), &Beside, &options())
        .unwrap_or_else(|report| panic!("{report}"));
    let (most, least) = (i64::MAX, i64::MIN);
    let x = HostTensor::from_elements(&[2, 3], &[most, most, most - 2, least, least, least + 1]);
    let axes = HostTensor::from_elements(&[1], &[0i64]);
    let means = tegula_tensor::evaluate(&program, &[x.clone(), axes]).unwrap();
    let elements = |i: usize| means[i].elements::<i64>().unwrap();
    assert_eq!(elements(0), [9223372036854775806, -9223372036854775807]);
    assert_eq!(elements(1), [0]);
    assert_eq!(elements(2), [0, 0, -1]);
    assert_eq!(Some(elements(3)), x.elements());
    assert_eq!(elements(4), [most, most - 1, least, least + 1]);
}

/// Notes are not read, so nothing can be wrong with them.
#[test]
fn a_note_may_hold_any_bytes() {
    let case = read_case("ir 8\nopset 17\ninput x: f32[2]\ny = Neg(x)\noutput y\n");
    let doc_string = [6 << 3 | 2, 2, 0xff, 0xfe];
    let bytes = [case.model.encode_to_vec(), doc_string.to_vec()].concat();
    let program = import(bytes.into(), &Beside, &options()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(program.entry().result_names, ["y"]);
}

#[test]
fn a_part_of_a_model_needs_only_what_it_uses() {
    let case = read_case(
        "ir 8\nopset 17\ninput x: f32[2]\ninput unused: f32[n]\nconst w: f32[2] = 3 4\n\
         early = Mul(x, w)\ncondition = NotYetMade(early)\ny = Sub(early, unused)\noutput y\n",
    );
    let part = |results: &[&str]| {
        let results = results.iter().map(|name| name.to_string()).collect();
        import(case.model.encode_to_vec().into(), &Beside, &ImportOptions { results, ..options() })
    };
    let program = part(&["early", "w"]).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(program.entry().arg_names, ["x"]);
    assert_eq!(program.entry().result_names, ["early", "w"]);
    let x = HostTensor::from_elements(&[2], &[1f32, 2.0]);
    let outputs = tegula_tensor::evaluate(&program, &[x]).unwrap();
    assert_eq!(outputs[0].elements::<f32>(), Some(vec![3.0, 8.0]));
    let report = part(&["earl", "z"]).err().unwrap().to_string();
    expect_test::expect![[r#"
        error[unknown-value]: the model has no value `earl`; names that hold it are `early`
          --> model.onnx
        error[unknown-value]: the model has no value `z`; its outputs are `y`
          --> model.onnx"#]]
    .assert_eq(&report);
}

/// Users are shown symbols: of a size that has no name, or one that is no identifier, it is one that the import made up.
/// Values are asked for by these as well, and which symbol is which size does not hang on the values that others have.
#[test]
fn sizes_are_fixed_by_the_names_that_are_shown() {
    let arguments = |inputs: &str, dims: &[(&str, i64)]| {
        let case = read_case(&format!(
            "ir 8\nopset 17\n{inputs}\nconst c: f32[1] = 1\nresult = Neg(c)\noutput result\n"
        ));
        let dims = dims.iter().map(|(name, size)| (name.to_string(), *size)).collect();
        let options = ImportOptions { dims, ..options() };
        let program = import(case.model.encode_to_vec().into(), &Beside, &options)
            .unwrap_or_else(|report| panic!("{report}"));
        let func = program.entry();
        let types: Vec<_> = func.args(func.body()).iter().map(|arg| func.ty(*arg).to_string()).collect();
        let symbols: Vec<String> = program.symbols.0.keys().map(|name| name.to_string()).collect();
        format!("{} of {}", types.join(" "), symbols.join(" "))
    };
    let made_up = |dims: &[(&str, i64)]| arguments("input x: f32[?, ?, a.b]\ninput text: string[a.b]", dims);
    assert_eq!(made_up(&[]), "f32[x_dim,x_dim_1,a_b] u8[a_b,text_bytes] of a_b text_bytes x_dim x_dim_1");
    assert_eq!(made_up(&[("x_dim_1", 5)]), "f32[x_dim,5,a_b] u8[a_b,text_bytes] of a_b text_bytes x_dim");
    assert_eq!(
        made_up(&[("x_dim", 2), ("a_b", 3)]),
        "f32[2,x_dim_1,3] u8[3,text_bytes] of text_bytes x_dim_1"
    );
    assert_eq!(made_up(&[("a.b", 3), ("text_bytes", 9)]), "f32[x_dim,x_dim_1,3] u8[3,9] of x_dim x_dim_1");
    // A name that is made up is none that another dim has.
    let alike = |dims: &[(&str, i64)]| arguments("input x: f32[a.b, ?]\ninput y: f32[a_b, x_dim]", dims);
    assert_eq!(alike(&[]), "f32[a_b_1,x_dim_1] f32[a_b,x_dim] of a_b a_b_1 x_dim x_dim_1");
    assert_eq!(alike(&[("a_b", 4), ("x_dim", 5)]), "f32[a_b_1,x_dim_1] f32[4,5] of a_b_1 x_dim_1");
    assert_eq!(alike(&[("a.b", 4), ("x_dim_1", 5)]), "f32[4,5] f32[a_b,x_dim] of a_b x_dim");
}

fn close(a: &HostTensor, b: &HostTensor) -> bool {
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-5 * (1.0 + b.abs());
    a.dtype == b.dtype && a.shape == b.shape && a.to_f64().iter().zip(&b.to_f64()).all(near)
}
