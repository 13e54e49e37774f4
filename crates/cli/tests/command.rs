//! The command as a user meets it: what it prints, what it refuses, how it exits.

use crate::ask;

use ask::{MODEL, done, folder, refused, tegula};
use expect_test::expect;
use std::path::Path;
use std::process::Command;

#[test]
fn a_model_runs() {
    let out = done(&["run", MODEL, "--dim", "n=3", "--input", "x=ones"]);
    assert!(out.starts_with("y: f32[3]  [2, 2, 2]  min 2 max 2 mean 2\n"), "{out}");
}

#[test]
fn a_package_runs_as_its_model_does() {
    let dir = folder("package");
    let package = dir.join("double.tgl");
    let package = package.to_str().unwrap();
    done(&["compile", MODEL, "-o", package]);
    done(&["verify", package]);
    let out = dir.join("out");
    done(&["run", package, "--dim", "n=2", "--input", "x=ones", "--output-dir", out.to_str().unwrap()]);
    let bytes = std::fs::read(out.join("y.npy")).unwrap();
    assert_eq!(tegula_base::npy::decode(&bytes).unwrap().elements::<f32>(), Some(vec![2.0, 2.0]));
    let json: serde_json::Value = serde_json::from_str(&done(&["inspect", package, "--json"])).unwrap();
    assert_eq!(json["launches"], 1);
}

#[test]
fn compiling_twice_gives_the_same_bytes() {
    let dir = folder("identity");
    let package = |name: &str, threads: &str| {
        let file = dir.join(name);
        done(&["compile", MODEL, "-o", file.to_str().unwrap(), "--compile-threads", threads]);
        std::fs::read(file).unwrap()
    };
    let one = package("a.tgl", "1");
    assert_eq!(one, package("b.tgl", "2"));
    // No more threads are started than there are kernels.
    assert_eq!(one, package("c.tgl", "18446744073709551615"));
}

#[test]
fn evaluator_and_check_agree() {
    let out = done(&["run", MODEL, "--dim", "n=3", "--input", "x=ones", "--evaluator"]);
    assert!(out.starts_with("y: f32[3]  [2, 2, 2]"), "{out}");
    let out = done(&["check", MODEL, "--dim", "n=100"]);
    assert!(out.contains("1 launches compared, 0 wrong"), "{out}");
}

#[test]
fn every_level_prints() {
    for level in ["tensor", "kernels", "tile", "host", "schedule", "asm", "mlir"] {
        assert!(!done(&["compile", MODEL, "--emit", level]).is_empty(), "{level}");
    }
    let dir = folder("levels");
    let text = dir.join("double.mlir");
    done(&["compile", MODEL, "--emit", "mlir", "-o", text.to_str().unwrap()]);
    let out = done(&["run", text.to_str().unwrap(), "--input", "x=ones"]);
    assert!(out.starts_with("y: f32[1]  [2]"), "{out}");
    done(&["opt", text.to_str().unwrap(), "--pass", "canonicalise"]);
}

#[test]
fn a_trace_file_holds_passes_and_launches() {
    let file = folder("trace").join("trace.json");
    done(&["run", MODEL, "--trace-file", file.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    for category in ["compile", "run"] {
        assert!(events.iter().any(|event| event["cat"] == category), "{category}");
    }
}

#[test]
fn wrong_requests_are_refused_plainly() {
    expect![[r#"
        1: error[unknown-input]: the model has no input `z`
        note: its inputs are `x`
    "#]]
    .assert_eq(&refused(&["run", MODEL, "--input", "z=ones"]));
    expect![[r#"
        1: error[io]: `missing.onnx` cannot be read
        note: No such file or directory (os error 2)
    "#]]
    .assert_eq(&refused(&["run", "missing.onnx"]));
    expect![[r#"
        1: error[unknown-machine]: there is no machine class or file `z80`
        note: the classes are a100, avx2-generic, avx2-vnni-generic, avx512-bf16-generic, avx512-generic, h100, h200, ice-lake-server, lpu-mini, lpx, sapphire-rapids, skylake-x, tsp1, zen3, zen4, zen5
    "#]]
    .assert_eq(&refused(&["compile", MODEL, "--machine", "z80", "-o", "x.tgl"]));
    expect![[r#"
        1: error[unknown-level]: there is no level `wasm`
        note: what can be is tensor, kernels, tile, host, schedule, asm, tileir, mlir
    "#]]
    .assert_eq(&refused(&["compile", MODEL, "--emit", "wasm"]));
    expect![[r#"
        1: error[unknown-node]: there is no node or kernel named `nope`
        help: `tegula explain MODEL` lists all nodes by kernel
    "#]]
    .assert_eq(&refused(&["explain", MODEL, "--node", "nope"]));
    expect![[r#"
        1: error[unknown-pass]: `--trace` names no pass `tensor:nope`
        note: the pipelines and their passes are PASSES
        error[unknown-pass]: `--trace` names no pipeline `cse`
        note: the pipelines and their passes are PASSES
    "#]]
    .assert_eq(&without_passes(&refused(&["run", MODEL, "--trace", "pass,tensor:nope=ir,cse=ir"])));
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let text = refused(&["run", readme]);
    assert!(text.starts_with("1: error[not-onnx]: the file is not an ONNX model: "), "{text}");
    assert!(
        text.contains(
            "supported files are ONNX models (`.onnx`), tensor programs as text (`.mlir`) and packages"
        ),
        "{text}"
    );
    assert!(refused(&["run"]).starts_with("1: error[bad-option]: the following required arguments"));
    assert!(
        refused(&["compile", MODEL, "--stop-after", "nope", "-o", "x.tgl"])
            .contains("there is no pass `nope`")
    );
}

/// Lists of passes change more often than what is tested with them.
fn without_passes(text: &str) -> String {
    let line = |line: &str| match line.split_once("passes are ") {
        Some((before, list)) if list.contains("tensor:canonicalise, ") => {
            format!("{before}passes are PASSES\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn a_package_takes_no_options_of_compilation() {
    let package = folder("compiled").join("double.tgl");
    let package = package.to_str().unwrap();
    done(&["compile", MODEL, "-o", package]);
    let options = ["--tier", "avx2", "--portable", "--compile-threads", "9", "--verify-passes"];
    expect![[r#"
        1: error[bad-option]: a package is compiled already: `--tier`, `--portable`, `--compile-threads`, `--verify-passes` cannot change it
    "#]]
    .assert_eq(&refused(&[&["run", package][..], &options].concat()));
}

#[test]
fn a_pass_to_stop_after_prints_what_it_leaves() {
    assert!(done(&["compile", MODEL, "--stop-after", "cse"]).contains("\"tgn.func\""));
    assert!(done(&["compile", MODEL, "--stop-after", "plan_memory"]).contains("\"tgh.func\""));
    let package = folder("stopped").join("double.tgl");
    let text = refused(&["compile", MODEL, "--stop-after", "cse", "-o", package.to_str().unwrap()]);
    assert!(text.starts_with("1: error[stopped]: `--stop-after` ends before there is a package"), "{text}");
}

/// A switch is honoured or refused, never passed over.
#[test]
fn switches_that_serve_nothing_are_refused() {
    let text = refused(&["run", MODEL, "--evaluator", "--portable", "--tier", "avx2"]);
    expect![[r#"
        1: error[bad-option]: the evaluator runs a model as it was imported: `--tier`, `--portable` cannot change it
    "#]]
    .assert_eq(&text);
    let text =
        refused(&["compile", MODEL, "--emit", "tensor", "--stop-after", "cse", "--trace-file", "t.json"]);
    expect![[r#"
        1: error[bad-option]: `--emit tensor` shows the model as it was imported: `--stop-after`, `--trace-file` cannot change it
    "#]]
    .assert_eq(&text);
    let unknown: [&[&str]; 8] = [
        &["run", "--stop-after", "cse"],
        &["bench", "--stop-after", "cse"],
        &["check", "--stop-after", "cse"],
        &["check", "--trace-file", "t.json"],
        &["explain", "--trace-file", "t.json"],
        &["opt", "--trace-file", "t.json"],
        &["opt", "--compile-threads", "2"],
        &["opt", "--verify-passes"],
    ];
    for args in unknown {
        let text = refused(&[&args[..1], &[MODEL], &args[1..]].concat());
        assert!(text.starts_with("1: error[bad-option]: unexpected argument"), "{args:?}: {text}");
    }
    let at_odds: [&[&str]; 10] = [
        &["run", "--evaluator", "--threads", "1"],
        &["run", "--evaluator", "--trace-file", "t.json"],
        &["compile", "--emit", "host", "--json"],
        &["compile", "--emit", "host", "--debug-plan"],
        &["compile", "--debug-plan", "--json", "-o", "x.tgl"],
        &["bench", "--serve-rounds", "--runs", "3"],
        &["bench", "--serve-rounds", "--json"],
        &["opt", "--pass", "cse", "--stop-after", "cse"],
        &["opt", "--list", "--start-from", "cse"],
        &["opt", "--list", "--trace"],
    ];
    for args in at_odds {
        let text = refused(&[&args[..1], &[MODEL], &args[1..]].concat());
        assert!(text.contains("cannot be used with"), "{args:?}: {text}");
    }
    let text = refused(&["compile", MODEL, "--stop-after", "cse", "--json"]);
    assert!(text.contains("required arguments were not provided"), "{text}");
}

#[test]
fn a_level_can_be_traced() {
    let dir = folder("level_trace");
    for (name, args) in [("stop", ["--stop-after", "cse"]), ("emit", ["--emit", "host"])] {
        let file = dir.join(name);
        done(&["compile", MODEL, args[0], args[1], "--trace-file", file.to_str().unwrap()]);
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert!(!json["traceEvents"].as_array().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn nothing_half_written_is_left() {
    let dir = folder("unwritable");
    let target = dir.join("missing").join("double.tgl");
    let text = refused(&["compile", MODEL, "-o", target.to_str().unwrap()]);
    assert!(text.starts_with("1: error[io]: "), "{text}");
    let folder_as_file = refused(&["compile", MODEL, "-o", dir.to_str().unwrap()]);
    assert!(folder_as_file.contains("is a folder"), "{folder_as_file}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

/// A full disk is an error, and devices stay devices.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    use std::os::unix::fs::FileTypeExt;
    let text = refused(&["compile", MODEL, "-o", "/dev/full"]);
    assert!(text.contains("`/dev/full` cannot be written"), "{text}");
    assert!(std::fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

/// Whoever reads stderr may leave at any time; what is done and how it ends does not depend on it.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_stderr_changes_nothing() {
    let requests: [(&[&str], i32); 4] = [
        (&["run", MODEL, "--trace=remark"], 0),
        (&["run", MODEL, "--dim", "m=1"], 1),
        (&["nosuch"], 1),
        (&[], 1),
    ];
    for (args, code) in requests {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        for stderr in [std::process::Stdio::from(writer), full.into()] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tegula"));
            let output = command.args(args).stderr(stderr).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}");
        }
    }
}

/// By its own name, another spelling of it, a symbolic link and a hard link.
#[cfg(unix)]
#[test]
fn an_output_never_replaces_its_input() {
    let dir = folder("in_place");
    let file = |name: &str| dir.join(name).to_str().unwrap().to_string();
    let model = file("model.onnx");
    std::fs::copy(MODEL, &model).unwrap();
    std::os::unix::fs::symlink("model.onnx", file("symbolic")).unwrap();
    std::fs::hard_link(&model, file("hard")).unwrap();
    for output in [model.clone(), file("../in_place/model.onnx"), file("symbolic"), file("hard")] {
        let requests: [&[&str]; 6] = [
            &["compile", &model, "-o", &output],
            &["compile", &model, "--emit", "mlir", "-o", &output],
            &["compile", &model, "--debug-plan", "--trace-file", &output],
            &["opt", &model, "-o", &output],
            &["run", &model, "--trace-file", &output],
            &["bench", &model, "--trace-file", &output],
        ];
        for args in requests {
            let text = refused(args);
            assert!(text.contains("is the input: it would be replaced"), "{args:?}: {text}");
        }
    }
    assert_eq!(std::fs::read(&model).unwrap(), std::fs::read(MODEL).unwrap());
}

#[test]
fn counts_of_nothing_are_refused() {
    for (command, switch) in [("run", "--threads"), ("bench", "--runs"), ("explain", "--compile-threads")] {
        let text = refused(&[command, MODEL, switch, "0"]);
        assert!(text.contains("expected a number of at least 1"), "{switch}: {text}");
    }
}

#[test]
fn a_file_of_the_other_kind_is_named() {
    let dir = folder("kinds");
    let package = dir.join("double.tgl");
    let package = package.to_str().unwrap();
    done(&["compile", MODEL, "-o", package]);
    for command in ["check", "explain", "compile", "opt"] {
        let text = refused(&[command, package]);
        let expected = format!(
            "1: error[wrong-kind]: this is a package; `{command}` needs the model\n  --> {package}\n"
        );
        assert_eq!(text, expected);
    }
    for command in ["inspect", "verify"] {
        let text = refused(&[command, MODEL]);
        assert!(text.starts_with("1: error[wrong-kind]: this is a model; "), "{text}");
    }
    for command in ["run", "bench", "check", "explain", "compile", "opt", "inspect", "verify"] {
        let text = refused(&[command, "missing.onnx"]);
        assert!(text.starts_with("1: error[io]: `missing.onnx` cannot be read\n"), "{text}");
    }
}

#[test]
fn names_are_taken_as_they_are_printed() {
    for pass in done(&["opt", "--list"]).lines() {
        let short = pass.split_once(':').unwrap().1;
        let stopped = |pass| done(&["compile", MODEL, "--stop-after", pass]);
        assert_eq!(stopped(pass), stopped(short), "{pass}");
    }
    assert_eq!(done(&["opt", MODEL, "--pass", "tensor:cse"]), done(&["opt", MODEL, "--pass", "cse"]));
    assert!(refused(&["opt", MODEL, "--pass", "host:cse"]).contains("there is no pass `host:cse`"));
    let json: serde_json::Value = serde_json::from_str(&done(&["explain", MODEL, "--json"])).unwrap();
    let kernel = json["kernels"][0]["kernel"].as_str().unwrap();
    assert!(done(&["explain", MODEL, "--node", kernel]).starts_with(&format!("{kernel}: ")));
}

#[test]
fn asking_for_nothing_shows_what_there_is() {
    for args in [&[][..], &["machine"]] {
        let text = refused(args);
        assert!(text.starts_with("1: ") && text.contains("Usage: tegula"), "{text}");
        assert!(!text.contains("error["), "{text}");
    }
}

/// Outputs of other inputs differ; that is no fault of the model's.
#[test]
fn made_up_inputs_are_told_where_outputs_are_given() {
    let dir = folder("against");
    let dir = dir.to_str().unwrap();
    done(&["run", MODEL, "--input", "x=ones", "--output-dir", dir]);
    let out = done(&["check", MODEL, "--input", "x=ones", "--against", dir]);
    assert!(!out.contains("made up"), "{out}");
    let output = tegula(&["check", MODEL, "--against", dir]);
    assert_eq!(output.status.code(), Some(1));
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.starts_with("note: random, because no `--input` gives them: `x`; "), "{out}");
    // Once.
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(!noted.contains("random numbers are taken"), "{noted}");
    // Numbers of chance that were asked for are no surprise, in neither place.
    let asked = tegula(&["check", MODEL, "--input", "x=random", "--against", dir]).stdout;
    assert!(!String::from_utf8(asked).unwrap().contains("made up"));
}

#[test]
fn inputs_are_files_numbers_or_random_with_a_note() {
    let dir = folder("inputs");
    let out = done(&["run", MODEL, "--dim", "n=2", "--input", "x=1.5"]);
    assert!(out.starts_with("y: f32[2]  [3, 3]  "), "{out}");
    let noted = String::from_utf8(tegula(&["run", MODEL, "--dim", "n=2"]).stderr).unwrap();
    assert_eq!(
        noted,
        "note: using random numbers for `x` (`--input NAME=FILE.npy|random|zeros|ones|NUMBER`)\n"
    );
    assert!(tegula(&["run", MODEL, "--dim", "n=2", "--input", "x=random"]).stderr.is_empty());
    // What `--dim` says of a package's input is what its file has.
    let (package, file) = (dir.join("double.tgl"), dir.join("x.npy"));
    let (package, file) = (package.to_str().unwrap(), file.to_str().unwrap());
    done(&["compile", MODEL, "-o", package]);
    let three = tegula_base::HostTensor::from_elements(&[3], &[1.0f32, 2.0, 3.0]);
    std::fs::write(file, tegula_base::npy::encode(&three)).unwrap();
    let input = format!("x={file}");
    done(&["run", package, "--dim", "n=3", "--input", &input]);
    let refusal = refused(&["run", package, "--dim", "n=2", "--input", &input]);
    expect![[r#"
        1: error[shape-mismatch]: dim `n` is 3 in the file, and `--dim n=2` is given
          --> input `x`
    "#]]
    .assert_eq(&refusal);
    // A file of another rank has no dim `n`.
    let square = tegula_base::HostTensor::from_elements(&[2, 2], &[1.0f32; 4]);
    std::fs::write(file, tegula_base::npy::encode(&square)).unwrap();
    expect![[r#"
        1: error[shape-mismatch]: input `x` needs f32[n], got shape [2, 2]
    "#]]
    .assert_eq(&refused(&["run", package, "--dim", "n=3", "--input", &input]));
}

/// A program that gives back its inputs, each of them a type in the text form; `n` is the first one's first dim.
fn echo(dir: &Path, types: &[&str]) -> String {
    let values = |prefix: &str| (0..types.len()).map(|i| format!("{prefix}{i}")).collect::<Vec<String>>();
    let (inputs, outputs) = (values("in"), values("out"));
    let arguments: Vec<String> = (0..types.len()).map(|i| format!("%{i}: {}", types[i])).collect();
    let text = format!(
        r#""builtin.module"() ({{
  "tgn.func"() <{{sym_name = "main", arg_names = {inputs:?}, result_names = {outputs:?}}}> ({{
  ^bb0({}):
    "tgn.return"({}) : ({}) -> ()
  }}) : () -> ()
}}) {{tgn.symbols = {{n = {{input = 0, axis = 0}}}}}} : () -> ()
"#,
        arguments.join(", "),
        values("%").join(", "),
        types.join(", ")
    );
    let file = dir.join("echo.mlir");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn a_number_is_the_inputs_or_refused() {
    let dir = folder("numbers");
    let model = echo(&dir, &["tensor<2xi64>", "tensor<2xui64>", "tensor<2xf8E5M2>"]);
    let out = dir.join("out");
    let numbers = ["in0=9007199254740993", "in1=18446744073709551615", "in2=inf"];
    let mut args = vec!["run", &model, "--output-dir", out.to_str().unwrap()];
    args.extend(numbers.iter().flat_map(|number| ["--input", number]));
    let shown = done(&args);
    assert!(shown.contains("out2: f8e5m2[2]  [inf, inf]"), "{shown}");
    let read = |name: &str| {
        tegula_base::npy::decode(&std::fs::read(out.join(format!("{name}.npy"))).unwrap()).unwrap()
    };
    assert_eq!(read("out0").elements::<i64>(), Some(vec![9_007_199_254_740_993; 2]));
    assert_eq!(read("out1").elements::<u64>(), Some(vec![u64::MAX; 2]));
    let model = echo(&dir, &["tensor<2xf4E2M1FN>", "tensor<2xf8E8M0FNU>", "tensor<2xf8E8M0FNU>"]);
    let refusal =
        refused(&["run", &model, "--input", "in0=nan", "--input", "in1=zeros", "--input", "in2=-1"]);
    expect![[r#"
        1: error[dtype-mismatch]: input `in0` has type f4e2m1, which cannot hold NaN
        error[dtype-mismatch]: input `in1` has type f8e8m0, which cannot hold 0
        error[dtype-mismatch]: input `in2` has type f8e8m0, which cannot hold -1
    "#]]
    .assert_eq(&refusal);
}

#[test]
fn a_dim_has_one_size_in_all_files() {
    let dir = folder("files");
    let n = "tensor<?xf32, {dims = [\"n\"]}>";
    let model = echo(&dir, &[n, n, "tensor<?x?xf32, {dims = [\"n\", \"n\"]}>"]);
    let input = |port: &str, shape: &[usize]| {
        let tensor = tegula_base::HostTensor::zeros(tegula_base::DType::F32, shape);
        let file = dir.join(format!("{port}.npy"));
        std::fs::write(&file, tegula_base::npy::encode(&tensor)).unwrap();
        format!("{port}={}", file.display())
    };
    let (three, four, oblong) = (input("in0", &[3]), input("in1", &[4]), input("in2", &[3, 5]));
    expect![[r#"
        1: error[shape-mismatch]: dim `n` is 4 in the file, and 3 in that of `in0`
          --> input `in1`
        error[shape-mismatch]: dim `n` is 5 in the file, and 3 in that of `in0`
          --> input `in2`
    "#]]
    .assert_eq(&refused(&["run", &model, "--input", &three, "--input", &four, "--input", &oblong]));
    expect![[r#"
        1: error[shape-mismatch]: dim `n` is 5 in the file, and 3 in that of `in2`
          --> input `in2`
    "#]]
    .assert_eq(&refused(&["run", &model, "--input", &oblong]));
}

#[test]
fn a_part_of_a_model_is_asked_for_by_name() {
    let out = done(&["run", MODEL, "--dim", "n=3", "--input", "x=ones", "--result", "x"]);
    assert!(out.starts_with("x: f32[3]  [1, 1, 1]"), "{out}");
    let report = refused(&["run", MODEL, "--dim", "n=3", "--result", "z"]);
    assert!(report.contains("error[unknown-value]: the model has no value `z`"), "{report}");
}

/// The command that finds the fault is the shell's.
#[cfg(unix)]
#[test]
fn a_model_is_reduced_to_what_a_command_fails_on() {
    let dir = folder("reduce");
    let (model, small) = (dir.join("model.mlir"), dir.join("small.mlir"));
    let text = r#""builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<4x6xf32>):
    %1 = "tgn.elementwise"(%0) <{f = "exp"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "tgn.transpose"(%1) <{perm = [1, 0]}> : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %3 = "tgn.elementwise"(%2) <{f = "tanh"}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %4 = "tgn.elementwise"(%3) <{f = "neg"}> : (tensor<6x4xf32>) -> tensor<6x4xf32>
    "tgn.return"(%1, %4) : (tensor<4x6xf32>, tensor<6x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"#;
    std::fs::write(&model, text).unwrap();
    let (model, small) = (model.to_str().unwrap(), small.to_str().unwrap());
    done(&["reduce", model, "--check", "! grep -q tanh {}", "-o", small]);
    expect![[r#"
        "builtin.module"() ({
          "tgn.func"() <{sym_name = "main", arg_names = ["cut2"], result_names = ["y0"]}> ({
          ^bb0(%0: tensor<1x1xf32>):
            %1 = "tgn.elementwise"(%0) <{f = "tanh"}> : (tensor<1x1xf32>) -> tensor<1x1xf32>
            "tgn.return"(%1) : (tensor<1x1xf32>) -> ()
          }) : () -> ()
        }) : () -> ()
    "#]]
    .assert_eq(&std::fs::read_to_string(small).unwrap());
    expect![[r#"
        1: error[no-fault]: the command does not fail on `model.mlir`, so there is nothing to reduce
        help: it must fail on the model's tensor program, which `tegula compile MODEL --emit tensor` shows
    "#]]
    .assert_eq(&refused(&["reduce", model, "--check", "grep -q tanh"]));
    assert!(refused(&["reduce", model, "--check", "no-such-command"]).contains("cannot run"));
    let other = refused(&["reduce", model, "--check", "exit 3 #", "--says", "WRONG"]);
    assert!(other.starts_with("1: error[no-fault]"), "{other}");
}

#[test]
fn two_models_differ_by_what_changed() {
    let dir = folder("diff");
    let program = |scale: &str, fused: bool| {
        let middle = if fused {
            ""
        } else {
            "\n    %4 = \"tgn.reduce\"(%3) <{f = \"add\", axes = [0]}> : (tensor<64x64xf32>) -> tensor<1x64xf32> loc(\"total\")"
        };
        let last = if fused { ("%3", "64x64") } else { ("%4", "1x64") };
        format!(
            r#""builtin.module"() ({{
  "tgn.func"() <{{sym_name = "main", arg_names = ["x"], result_names = ["y"]}}> ({{
  ^bb0(%0: tensor<64x64xf32>):
    %1 = "tgn.dot"(%0, %0) <{{dims = {{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}}, out = "f32"}}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("product")
    %2 = "tgn.elementwise"(%1) <{{f = "{scale}"}}> : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("shape")
    %3 = "tgn.elementwise"(%2) <{{f = "neg"}}> : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("sign"){middle}
    "tgn.return"({}) : (tensor<{}xf32>) -> ()
  }}) : () -> ()
}}) {{tgn.symbols = {{n = {{input = 0, axis = 0}}}}}} : () -> ()
"#,
            last.0, last.1
        )
    };
    let file = |name: &str, text: String| {
        let file = dir.join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_string()
    };
    let a = file("a.mlir", program("abs", true));
    let b = file("b.mlir", program("sqrt", true));
    let c = file("c.mlir", program("abs", false));
    let machine = ["--machine", "zen5", "--tier", "avx2"];
    let differ = |left: &str, right: &str| done(&[&["diff", left, right][..], &machine].concat());
    expect![[r#"
        no difference: 1 launches, the same code
    "#]]
    .assert_eq(&differ(&a, &a));
    expect![[r#"
        left        right        launches   traffic  what
        4.4 us      4.5 us         1 -> 1    +0.0 %  other code: product, shape, sign
        times by the core model of one core of zen5: its file describes the cores
        4.4 us      4.5 us         1 -> 1    +0.0 %  all; 0 of 1 groups are the same
    "#]]
    .assert_eq(&differ(&a, &b));
    expect![[r#"
        output y: f32[64, 64] -> f32[1, 64]
        bytes of code: 680 -> 870
        bytes of the arena: 0 -> 16384
        left        right        launches   traffic  what
        -           519 ns         0 -> 1         -  new: total
        times by the core model of one core of zen5: its file describes the cores
        4.4 us      5.0 us         1 -> 2   +50.8 %  all; 1 of 2 groups are the same
    "#]]
    .assert_eq(&differ(&a, &c));
    let package = dir.join("a.tgl");
    let package = package.to_str().unwrap();
    done(&[&["compile", &a, "-o", package][..], &machine].concat());
    assert_eq!(differ(package, &a), differ(&a, &a));
    let refusal = refused(&["diff", package, package, "--portable"]);
    assert!(refusal.starts_with("1: error[bad-option]: both sides are compiled already"), "{refusal}");
}
