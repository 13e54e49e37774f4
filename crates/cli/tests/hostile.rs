//! Paths that would block, never end or hold no file: refused before anything waits for them.

use crate::ask;

use ask::{MODEL, done, folder, refused};
use expect_test::expect;

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_regular_file_is_refused() {
    let folder = folder("pipes");
    let pipe = folder.join("pipe.onnx");
    let pipe = pipe.to_str().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for args in [
        &["run", pipe][..],
        &["run", MODEL, "--dim", "n=1", "--input", &format!("x={pipe}")],
        &["run", MODEL, "--dim", "n=1", "--input", "x=/dev/zero"],
        &["run", MODEL, "--machine", pipe],
        &["run", MODEL, "--tuning", pipe],
    ] {
        let text = refused(args);
        assert!(text.starts_with("1: error[io]: ") && text.contains("it is no regular file"), "{text}");
    }
}

#[test]
fn an_output_whose_name_no_file_can_have_is_told_before_the_run() {
    let folder = folder("long");
    let (file, out) = (folder.join("long.mlir"), folder.join("out"));
    let text =
        done(&["compile", MODEL, "--emit", "mlir"]).replace("\"y\"", &format!("\"{}\"", "y".repeat(300)));
    std::fs::write(&file, text).unwrap();
    for more in [&[][..], &["--evaluator"]] {
        let args = ["run", file.to_str().unwrap(), "--output-dir", out.to_str().unwrap()];
        expect![[r#"
            1: error[io]: output `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...` has no file: its name would have 304 bytes, at most 255 can be
            help: without `--output-dir` outputs are shown, and not written
        "#]]
        .assert_eq(&refused(&[&args[..], more].concat()));
    }
    assert!(!out.exists());
}
