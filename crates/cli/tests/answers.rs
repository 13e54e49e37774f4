//! What the command answers: JSON where it is asked for, what it wrote, at which sizes it ran.

mod ask;

use ask::{MODEL, done, folder, refused, tegula};

#[test]
fn who_asks_for_json_is_answered_in_json_when_refused_too() {
    for (args, code) in
        [(["run", "no.onnx", "--json"], "io"), (["bench", "--no-such-switch", "--json"], "bad-option")]
    {
        let output = tegula(&args);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let finding = &json["findings"][0];
        assert_eq!((finding["code"].as_str(), finding["severity"].as_str()), (Some(code), Some("error")));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(finding["message"].as_str().unwrap()), "{text}");
    }
}

#[test]
fn a_file_that_was_written_is_named() {
    let file = folder("written").join("double.mlir");
    let out = done(&["compile", MODEL, "--emit", "mlir", "-o", file.to_str().unwrap()]);
    assert!(out.starts_with(&format!("wrote {}", file.display())), "{out}");
}

#[test]
fn open_dims_of_timed_runs_are_told() {
    let open = folder("open").join("double.tgl");
    let open = open.to_str().unwrap();
    done(&["compile", MODEL, "-o", open]);
    let timed = |file| done(&["bench", file, "--runs", "1", "--dim", "n=3"]);
    assert!(timed(open).contains("code for open dims, run at n=3\n"));
    // Of a model the dim is fixed.
    assert!(!timed(MODEL).contains("open dims"));
}

#[test]
fn targets_are_named_where_none_is() {
    let text = refused(&["run", MODEL, "--target", "gpux"]);
    assert!(text.starts_with("1: error[bad-option]: "), "{text}");
    assert!(text.contains("the targets are cpu, cuda, sim-ptx (or gpu)"), "{text}");
    let other_name = refused(&["run", MODEL, "--target", "gpu", "--tier", "none"]);
    assert_eq!(other_name, refused(&["run", MODEL, "--target", "cuda", "--tier", "none"]));
}
