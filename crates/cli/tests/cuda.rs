//! `--target cuda` over a driver without a card: results, streams of sizes, and every way in which it can fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::expect;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tegula/models/double.onnx");

/// The fake driver, built beside these tests.
fn driver() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let folders = tests.ancestors().skip(1).take(2);
    let name = format!("{}tegula_fake_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let found = folders.map(|folder| folder.join(&name)).find(|file| file.exists());
    found.expect("cargo builds the fake driver, a dev-dependency")
}

/// A folder of its own for a test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn tegula(settings: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tegula"));
    command.env("TEGULA_CUDA_DRIVER", driver()).env("TEGULA_FAKE_CUDA", settings).args(args).output().unwrap()
}

fn done(settings: &str, args: &[&str]) -> String {
    let output = tegula(settings, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(settings: &str, args: &[&str]) -> String {
    let output = tegula(settings, args);
    format!("{}: {}", output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_model_runs_on_the_card() {
    let run = ["run", MODEL, "--target", "cuda", "--dim", "n=3"];
    let out = done("", &[&run[..], &["--input", "x=ones"]].concat());
    assert!(out.starts_with("y: f32[3]  [2, 2, 2]  min 2 max 2 mean 2\n"), "{out}");
    let json = done("", &[&run[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["launches"]["gpu"], &json["launches"]["emitted"]), (&1.into(), &0.into()));
}

#[test]
fn a_compiled_model_is_checked_on_the_card() {
    let out = done("", &["check", MODEL, "--target", "cuda", "--dim", "n=300"]);
    expect![[r#"
        output y: ok, max difference 0.000e0, 0.000e0 allowed
        1 launches compared, 0 wrong; the whole run gives the same bits
    "#]]
    .assert_eq(&out);
}

#[test]
fn runs_after_the_first_are_one_graph() {
    let log = folder("cuda-graph").join("log");
    let settings = format!("log={}", log.display());
    done(&settings, &["bench", MODEL, "--target", "cuda", "--dim", "n=100", "--runs", "4"]);
    let lines = std::fs::read_to_string(log).unwrap();
    let count = |what: &str| lines.lines().filter(|line| *line == what).count();
    assert_eq!((count("graph made 1"), count("graph launched 1")), (1, 4), "{lines}");
    assert_eq!(count("of them early 1"), 1, "{lines}");
}

#[test]
fn an_output_may_have_an_inputs_memory() {
    let run = ["run", MODEL, "--target", "cuda", "--dim", "n=3", "--input", "x=ones", "--alias"];
    let out = done("", &[&run[..], &["x=y"]].concat());
    assert!(out.starts_with("y: f32[3]  [2, 2, 2]"), "{out}");
    expect![[r#"
        1: error[alias]: the model has no input `z`
    "#]]
    .assert_eq(&refused("", &[&run[..], &["z=y"]].concat()));
    let line = refused("", &[&run[..], &["x"]].concat());
    assert!(line.contains("expected `INPUT=OUTPUT`"), "{line}");
}

#[test]
fn failures_of_the_driver_are_told() {
    let run = ["run", MODEL, "--target", "cuda", "--dim", "n=3000", "--input", "x=ones"];
    expect![[r#"
        1: error[out-of-memory]: the GPU's memory does not suffice
        note: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY
        note: a block of 12000 bytes on Simulated GPU
    "#]]
    .assert_eq(&refused("memory=4000", &run));
    expect![[r#"
        1: error[gpu-compile]: the GPU's driver cannot compile it
          --> kernel `map_0`
        note: the GPU's driver refuses cuModuleLoadData: CUDA_ERROR_INVALID_PTX, as the fake driver says
        note: ptxas fatal: line 3 is odd
    "#]]
    .assert_eq(&refused("jit=ptxas fatal: line 3 is odd", &run));
    expect![[r#"
        1: error[no-device]: Simulated GPU has compute capability 7.5, and kernels are made for 8.0 and later
    "#]]
    .assert_eq(&refused("sm=75", &run));
    let package = folder("cuda-fail").join("double.tgl");
    let package = package.to_str().unwrap();
    done("", &["compile", MODEL, "--machine", "h200", "-o", package]);
    let line = refused("sm=80", &["run", package, "--target", "cuda"]);
    assert!(
        line.contains("error[package-machine]: the package is for sm_90a (machine class h200)"),
        "{line}"
    );
    let line = refused("", &["run", package]);
    assert!(line.contains("error[no-device]: the package needs a GPU (machine class h200)"), "{line}");
}

#[test]
fn without_a_driver_an_error_and_a_remedy_say_so() {
    let missing = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tegula"));
        let output = command.env("TEGULA_CUDA_DRIVER", "/nowhere/libcuda.so.1").args(args).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, _, stderr) = missing(&["run", MODEL, "--target", "cuda"]);
    assert_eq!((code, stderr.lines().count()), (Some(1), 2), "{stderr}");
    assert!(stderr.contains("\nhelp: `--machine h200` compiles without a GPU"), "{stderr}");
    assert!(
        stderr.starts_with("error[no-device]: no NVIDIA driver is installed: /nowhere/libcuda.so.1"),
        "{stderr}"
    );
    let (code, stdout, _) = missing(&["targets"]);
    assert_eq!(code, Some(0));
    assert!(stdout.contains("cuda      none: no NVIDIA driver is installed"), "{stdout}");
}

#[test]
fn targets_are_listed() {
    let out = done("", &["targets"]);
    let cuda = out.lines().find(|line| line.starts_with("cuda")).unwrap();
    expect![
        "cuda:0    Simulated GPU, sm_90, 2 multiprocessors, 8.59 GB, driver for CUDA 13.0, machine class h200"
    ]
    .assert_eq(cuda);
}
