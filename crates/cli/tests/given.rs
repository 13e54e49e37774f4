//! What `--input` gives decides how a model is read: defaults, ranks; and whether indices are checked.

use crate::ask;

use ask::{MODEL, done, folder, refused, tegula_in};
use tegula_base::{HostTensor, npy};

/// The model of a report: `y = x + w`, where `w` is an input with the initializer 1 2.
const DEFAULT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/reports/07-initializer-as-input/default_input/model.onnx"
);

#[test]
fn an_initializer_is_given_by_name_or_left_out() {
    let first = |args: &[&str]| {
        let out = done(&[args, &["--dim", "n=1", "--input", "x=ones"]].concat());
        out.lines().next().map(|line| line.split("  min").next().unwrap_or_default().to_string())
    };
    let (folded, given) =
        (Some("y: f32[1, 2]  [2, 3]".to_string()), Some("y: f32[1, 2]  [6, 6]".to_string()));
    assert_eq!(first(&["run", DEFAULT]), folded);
    assert_eq!(first(&["run", DEFAULT, "--input", "w=5"]), given);
    assert_eq!(first(&["run", DEFAULT, "--evaluator", "--input", "w=5"]), given);
    let dir = folder("default");
    let package = |name: &str, more: &[&str]| {
        let file = dir.join(name).to_str().unwrap().to_string();
        done(&[&["compile", DEFAULT, "-o", &file], more].concat());
        file
    };
    let (closed, open) = (package("closed.tgl", &[]), package("open.tgl", &["--overridable", "w"]));
    assert_eq!((first(&["run", &closed]), first(&["run", &open])), (folded.clone(), folded));
    assert_eq!(first(&["run", &open, "--input", "w=5"]), given);
    let refusal = refused(&["run", &closed, "--dim", "n=1", "--input", "w=5"]);
    assert!(refusal.contains("error[unknown-input]: the model has no input `w`"), "{refusal}");
    let refusal = refused(&["run", DEFAULT, "--dim", "n=1", "--overridable", "x"]);
    assert!(refusal.contains("the model has no dim `x.given`"), "{refusal}");
}

#[test]
fn a_file_of_the_name_of_a_number_is_the_file() {
    let folder = folder("number");
    let run = |more: &[&str]| {
        let output = tegula_in(&folder, &[&["run", MODEL, "--input", "x=5"], more].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let out = run(&["--dim", "n=1"]);
    assert!(out.starts_with("y: f32[1]  [10]"), "{out}");
    std::fs::write(folder.join("5"), npy::encode(&HostTensor::from_elements(&[2], &[1.5f32, 2.0]))).unwrap();
    let out = run(&[]);
    assert!(out.starts_with("y: f32[2]  [3, 4]"), "{out}");
}

#[test]
fn indices_are_checked_where_that_is_asked_for() {
    let model = |case: &str| {
        format!("{}/../../data/reports/08-out-of-range-scatter/{case}/model.onnx", env!("CARGO_MANIFEST_DIR"))
    };
    let (gather, scatter) = (model("gather_oob"), model("scatternd_oob"));
    let elements = |index: &'static str| {
        vec!["run", &gather, "--dim", "a=2", "--dim", "b=2", "--input", "x=ones", "--input", index]
    };
    let places = |index: &'static str| {
        vec![
            "run", &scatter, "--dim", "a=3", "--dim", "n=1", "--input", "x=ones", "--input", "u=5",
            "--input", index,
        ]
    };
    // Clamped, and inside.
    done(&elements("i=7"));
    done(&[elements("i=-4"), vec!["--checked"]].concat());
    done(&[places("i=2"), vec!["--checked"]].concat());
    let beyond = refused(&[elements("i=7"), vec!["--checked"]].concat());
    assert!(beyond.contains("an index is outside of an axis of extent 4\nnote: `index` is 7"), "{beyond}");
    let before = refused(&[elements("i=-5"), vec!["--checked"]].concat());
    assert!(before.contains("extent 4\nnote: `index_from_the_end` is 5"), "{before}");
    let open = refused(&[places("i=3"), vec!["--checked"]].concat());
    assert!(open.contains("an index is outside of an axis of extent 3\nnote: `index` is 3"), "{open}");
}

#[test]
fn a_rank_is_that_of_the_file() {
    let dir = folder("rank");
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/reports/11-small-refusals/rank_unknown_in/model.onnx"
    );
    let file = dir.join("x.npy");
    let x = tegula_base::HostTensor::from_elements(&[1, 2], &[-1.0f32, 3.0]);
    std::fs::write(&file, tegula_base::npy::encode(&x)).unwrap();
    let out = done(&["run", model, "--input", &format!("x={}", file.display())]);
    assert!(out.starts_with("y: f32[1, 2]  [0, 3]"), "{out}");
    let out = done(&["run", model, "--dim", "x.rank=1", "--dim", "x_dim=2", "--input", "x=2"]);
    assert!(out.starts_with("y: f32[2]  [2, 2]"), "{out}");
    let refusal = refused(&["compile", model, "-o", "never.tgl"]);
    assert!(refusal.contains("give dim `x.rank`"), "{refusal}");
}
