//! Streaming chips as a user meets them: models beside a processor, and words written by hand.

use crate::ask;

use ask::{MODEL, done, folder, refused};

/// A chip whose host has the instructions of most processors.
const CHIP: &str = "lpu-mini";
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/lpu_example.lpu");

#[test]
fn a_model_runs_beside_a_chip() {
    let dir = folder("chip");
    let package = dir.join("double.tgl");
    let package = package.to_str().unwrap();
    done(&["compile", MODEL, "--machine", CHIP, "--portable", "-o", package]);
    let result = "y: f32[3]  [2, 2, 2]  min 2 max 2 mean 2\n";
    let given = ["--dim", "n=3", "--input", "x=ones"];
    let out = done(&[&["run", package, "--target", "sim-lpu"], &given[..]].concat());
    assert!(out.starts_with(result), "{out}");
    // A chip that is not here is simulated, and its host's instructions are where this processor lacks them.
    for machine in [CHIP, "tsp1"] {
        let out = done(&[&["run", MODEL, "--machine", machine], &given[..]].concat());
        assert!(out.starts_with(result), "{out}");
    }
    let out = done(&["check", MODEL, "--machine", CHIP, "--portable", "--dim", "n=100"]);
    assert!(out.contains("1 launches compared, 0 wrong"), "{out}");
    let out = done(&["bench", package, "--target", "sim-lpu", "--runs", "1", "--dim", "n=3"]);
    assert!(out.contains("of avx2-generic beside lpu-mini: "), "{out}");
    let json: serde_json::Value = serde_json::from_str(&done(&["inspect", package, "--json"])).unwrap();
    assert_eq!(json["launches"], 1);
    let text = refused(&["run", package]);
    assert!(text.starts_with("1: error[no-device]: the package holds `lpu` code"), "{text}");
    assert!(text.contains("help: `--target sim-lpu` simulates a streaming chip\n"), "{text}");
}

#[test]
fn what_a_chip_leaves_to_its_host_is_explained() {
    let out = done(&["explain", MODEL, "--machine", "tsp1"]);
    assert!(out.contains(" is computed on the host: its sizes are open"), "{out}");
    let out = done(&["predict", MODEL, "--machine", "tsp1", "--dim", "n=3"]);
    assert!(out.contains("avx512-generic beside tsp1, one core"), "{out}");
}

#[test]
fn another_target_runs_no_chip() {
    let text = refused(&["run", MODEL, "--machine", CHIP, "--target", "cpu"]);
    let expected = "1: error[no-device]: `lpu-mini` is a streaming chip, and no device is chosen for it";
    assert!(text.starts_with(expected) && text.contains("target `sim-lpu` simulates one"), "{text}");
}

#[test]
fn a_precision_is_of_its_machines() {
    let text = refused(&["compile", MODEL, "--machine", "zen5", "--precision", "f16", "--emit", "kernels"]);
    let expected = "1: error[bad-option]: `--precision f16` is for streaming chips, and `zen5` is none";
    assert!(text.starts_with(expected), "{text}");
    done(&["compile", MODEL, "--machine", "tsp1", "--precision", "f16", "--emit", "kernels"]);
}

#[test]
fn a_timed_run_of_words_tells_their_cycles() {
    let package = folder("words").join("example.tgl");
    let package = package.to_str().unwrap();
    done(&["compile", EXAMPLE, "--machine", CHIP, "-o", package]);
    let out = done(&["bench", package, "--target", "sim-lpu", "--runs", "1"]);
    assert!(out.contains("21 cycles of the chip, "), "{out}");
    let json = done(&["bench", package, "--target", "sim-lpu", "--runs", "1", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["cycles"], 21);
}
