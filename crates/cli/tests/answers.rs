//! What the command answers: JSON where it is asked for, what it wrote, at which sizes it ran.

use crate::ask;

use ask::{MODEL, done, folder, refused, tegula};
use expect_test::expect;

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
        let message = finding["message"].as_str().unwrap();
        assert!(text.contains(message) && !message.contains('\n'), "{text}");
    }
}

#[test]
fn wrong_arguments_are_told_in_parts() {
    expect![[r#"
        1: error[bad-option]: unexpected argument '--no-such' found
        note: to pass '--no-such' as a value, use '-- --no-such'
        note: Usage: tegula bench [OPTIONS] <FILE>
        help: try '--help'
    "#]]
    .assert_eq(&refused(&["bench", "--no-such"]));
}

#[test]
fn a_pipe_named_as_a_file_has_the_text_alone() {
    let text = |args: &[&str]| done(&[&["compile", MODEL, "--emit", "host"], args].concat());
    assert_eq!(text(&["-o", "/dev/stdout"]), text(&[]));
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder("link");
    let (file, link) = (folder.join("file"), folder.join("link"));
    std::fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let text = done(&["compile", MODEL, "--emit", "host"]);
    assert_eq!(done(&["compile", MODEL, "--emit", "host", "-o", link.to_str().unwrap()]), "");
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
}

#[test]
fn dims_of_a_text_are_fixed() {
    let file = folder("fixed").join("double.mlir");
    let file = file.to_str().unwrap();
    done(&["compile", MODEL, "--emit", "mlir", "-o", file]);
    let fixed = |model| done(&["compile", model, "--emit", "tensor", "--dim", "n=3"]);
    assert!(fixed(file).contains("tensor<3xf32>") && !fixed(file).contains("\"n\""), "{}", fixed(file));
    assert!(done(&["run", file, "--dim", "n=2", "--input", "x=ones"]).starts_with("y: f32[2]  [2, 2]"));
    expect![[r#"
        1: error[unknown-dim]: no input has a dim `m`
          --> double.mlir
        note: the dims of its inputs are `n`
    "#]]
    .assert_eq(&refused(&["run", file, "--dim", "m=2"]));
}

#[test]
fn a_check_chooses_sizes() {
    let said = |args: &[&str]| String::from_utf8(tegula(args).stderr).unwrap();
    let note = |n: i64| format!("note: dim `n` of input `x` is not given; using {n} (`--dim n=N`)\n");
    assert!(said(&["check", MODEL]).starts_with(&note(2)));
    assert!(said(&["run", MODEL]).starts_with(&note(1)));
}

#[test]
fn dims_that_no_package_has_are_refused() {
    let package = folder("dims").join("double.tgl");
    let page = package.with_extension("html");
    let [package, page] = [&package, &page].map(|path| path.to_str().unwrap());
    done(&["compile", MODEL, "-o", package]);
    let refusal = "1: error[unknown-dim]: the package has no open dim `m`\nnote: its open dims are `n`\n";
    for args in [&["inspect", package, "--html", page][..], &["diff", package, package], &["run", package]] {
        assert_eq!(refused(&[args, &["--dim", "m=3"]].concat()), refusal);
    }
    // A dim that the package has open stays open in the model that is compared with it.
    assert!(done(&["diff", package, MODEL, "--dim", "n=5"]).starts_with("no difference"));
}

#[test]
fn the_last_pass_stands_behind_the_first() {
    let file = folder("order").join("double.mlir");
    let file = file.to_str().unwrap();
    done(&["compile", MODEL, "--emit", "mlir", "-o", file]);
    let text = refused(&["opt", file, "--start-from", "cse", "--stop-after", "canonicalise"]);
    let message =
        "1: error[bad-option]: the passes begin with `cse`, which stands behind `canonicalise`, the last\n";
    assert_eq!(text, message);
}

#[test]
fn a_time_that_hangs_on_dims_says_which() {
    let told = done(&["explain", MODEL]);
    assert!(told.contains("its time depends on `n` (`--dim` fixes those of inputs)"), "{told}");
    assert!(done(&["explain", MODEL, "--dim", "n=64"]).contains(" predicted, bound by "));
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
    assert!(text.contains("the targets are cpu, cuda, sim-ptx, sim-x86, sim-lpu (or gpu)"), "{text}");
    let other_name = refused(&["run", MODEL, "--target", "gpu", "--tier", "none"]);
    assert_eq!(other_name, refused(&["run", MODEL, "--target", "cuda", "--tier", "none"]));
}

#[test]
fn a_record_is_written_and_taken() {
    let folder = folder("tune");
    let [model, record, package] =
        ["product.mlir", "record.toml", "product.tgl"].map(|name| folder.join(name));
    let [model, record, package] = [&model, &record, &package].map(|path| path.to_str().unwrap());
    let text = r#""builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<64x256xf32>, %w: tensor<256x192xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<64x256xf32>, tensor<256x192xf32>) -> tensor<64x192xf32>
    "tgn.return"(%y) : (tensor<64x192xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"#;
    std::fs::write(model, text).unwrap();
    let told = done(&["tune", model, "-o", record, "--rounds", "2", "--threads", "1"]);
    assert!(told.contains("1 of 64 x 256 by 256 x 192, f32 by f32 in f32"), "{told}");
    let json = done(&["tune", model, "-o", record, "--rounds", "2", "--threads", "1", "--json"]);
    assert!(json.contains("\"tried\""), "{json}");
    // What is faster depends on the day: a tile by hand, and one of another model's contraction.
    let head = std::fs::read_to_string(record).unwrap();
    let head = head.split("[contractions").next().unwrap();
    let tile = "rows = 3\ncolumns = 32\nrow_tiles = 2\nshare = 0.9\n";
    let titles = ["1 of 64 x 256 by 256 x 192, f32 by f32 in f32", "1 of 7 x 7 by 7 x 7, f32 by f32 in f32"];
    let tiles = titles.map(|title| format!("[contractions.\"{title}\"]\n{tile}"));
    std::fs::write(record, format!("{head}{}", tiles.concat())).unwrap();
    let output = tegula(&["compile", model, "-o", package, "--tuning", record]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("note: 1 tiles of the tuning record"), "{said}");
    let options = done(&["inspect", package]);
    assert!(options.contains("tile.1 of 64") && options.contains("3 x 32, 2 a block"), "{options}");
    let twice = refused(&["run", package, "--tuning", record]);
    assert!(twice.starts_with("1:") && twice.contains("`--tuning`"), "{twice}");
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_perf_map_says_where_kernels_are() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_tegula"))
        .args(["bench", MODEL, "--dim", "n=9", "--perf-map", "--serve-rounds"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // There is a session.
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let file = format!("/tmp/perf-{}.map", child.id());
    let (text, maps) =
        (std::fs::read_to_string(&file), std::fs::read_to_string(format!("/proc/{}/maps", child.id())));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let (text, maps) = (text.unwrap(), maps.unwrap());
    std::fs::remove_file(file).unwrap();
    let mut words = text.split_whitespace();
    let mut number = || u64::from_str_radix(words.next().unwrap(), 16).unwrap();
    let (begin, bytes) = (number(), number());
    assert_eq!(words.next(), Some("map_0"), "{text}");
    let holds = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (low, high) = range.split_once('-')?;
        let [low, high] = [low, high].map(|end| u64::from_str_radix(end, 16).unwrap());
        Some(rest.starts_with("r-x") && low <= begin && begin + bytes <= high)
    };
    assert!(maps.lines().any(|line| holds(line) == Some(true)), "{text}{maps}");
}

#[test]
fn a_perf_map_needs_machine_code() {
    let said = refused(&["run", MODEL, "--dim", "n=9", "--portable", "--perf-map"]);
    assert!(said.contains("this process runs no machine code of kernels"), "{said}");
}

#[test]
fn machines_that_are_not_here_are_predicted_for() {
    let text = done(&[
        "predict",
        MODEL,
        "--dim",
        "n=64",
        "--machine",
        "zen5,h200",
        "--vary",
        "l2=0.5x,2x",
        "--json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let machines = json["machines"].as_array().unwrap();
    let models: Vec<&str> = machines.iter().map(|one| one["prediction"]["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["core", "roofline"]);
    for machine in machines {
        assert!(
            machine["predicted_ns"].as_f64().unwrap() > 0.0 && machine["bytes"].as_f64() == Some(512.0),
            "{text}"
        );
        assert_eq!(machine["varied"].as_array().unwrap().len(), 2);
    }
    let csv = done(&["predict", MODEL, "--dim", "n=64", "--machine", "zen5", "--csv"]);
    assert!(
        csv.starts_with("machine,model,facts,kernel,launches,predicted_ns,bytes,flops,bound,cycles,slope,binding\nzen5,core,,,1,"),
        "{csv}"
    );
}

#[test]
fn facts_that_cannot_change_are_refused_by_name() {
    let refusal =
        |vary: &str| refused(&["predict", MODEL, "--dim", "n=64", "--machine", "zen5", "--vary", vary]);
    let width = refusal("vector_bytes=32");
    assert!(width.contains("`vector_bytes` is 64 in code of tier `avx512` and cannot be 32"), "{width}");
    let unknown = refusal("l9=1");
    assert!(unknown.contains("error[unknown-fact]: machine `zen5` has no fact `l9`"), "{unknown}");
}

#[test]
fn the_file_of_a_class_is_shown_and_compiles() {
    let file = folder("shown").join("zen3.toml");
    std::fs::write(&file, done(&["machine", "show", "zen3"])).unwrap();
    let time = |machine| {
        let text = done(&["predict", MODEL, "--dim", "n=64", "--machine", machine, "--csv"]);
        text.lines().nth(1).unwrap().to_string()
    };
    assert_eq!(time(file.to_str().unwrap()), time("zen3"));
    let listed: serde_json::Value = serde_json::from_str(&done(&["machine", "list", "--json"])).unwrap();
    assert!(listed.as_array().unwrap().iter().all(|class| class["cores"].as_u64() > Some(0)));
}
