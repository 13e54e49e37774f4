//! `bad-input [--bless]`: bad models, inputs, packages and outputs.  Each gives status 1 and a diagnostic, leaves no
//! file behind, and says the same as `data/bad_input.txt`, which `--bless` rewrites.  Then small files, truncated at
//! every length and with single bits flipped: never a panic, a signal or an internal error.
//! The bad models come from `tegula_tools.bad_models`.

pub mod requests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Finished, Shell};
use tegula_automation::tegula_cli::{Tegula, first_error};
use tegula_automation::{golden, python, workspace};

const LIMIT: Duration = Duration::from_secs(20);
const FLIPS: usize = 300;
/// Well formed, with a tile of more sums than there are registers.
const TUNING_RECORD: &str = r#"machine = "zen4"
tier = "avx512"
[contractions."1 of 128 x 384 by 384 x 384, f32 by f32 in f32"]
rows = 64
columns = 64
row_tiles = 1
share = 0.5
"#;

/// One bad request: what is wrong, and the arguments of `tegula`, run in the folder of the bad files.
struct Case {
    what: &'static str,
    args: &'static [&'static str],
    disk: Disk,
}

/// Where the process writes.
#[derive(Clone, Copy, PartialEq)]
enum Disk {
    Sound,
    /// Fills up: no file may grow beyond 512 bytes.
    Full,
    /// What it prints goes to a full device.
    FullStdout,
}

const fn case(what: &'static str, args: &'static [&'static str]) -> Case {
    Case { what, args, disk: Disk::Sound }
}

const fn on(disk: Disk, what: &'static str, args: &'static [&'static str]) -> Case {
    Case { what, args, disk }
}

const CASES: &[Case] = &[
    case("no such file", &["run", "absent.onnx"]),
    case("an empty file", &["run", "empty.onnx"]),
    case("a file that is no model", &["run", "text.onnx"]),
    case("a model cut off in the middle", &["run", "cut.onnx"]),
    case("an op that is not known", &["run", "unknown_op.onnx"]),
    case("several ops that are not known, in one report", &["run", "unknown_ops.onnx"]),
    case("many problems, by their causes", &["run", "many_causes.onnx"]),
    case("an op of an unknown domain", &["run", "unknown_domain.onnx"]),
    case("opset 5", &["run", "opset_5.onnx"]),
    case("opset 99", &["run", "opset_99.onnx"]),
    case("nodes in a cycle", &["run", "cycle.onnx"]),
    case("a value that nothing defines", &["run", "undefined_value.onnx"]),
    case("a value defined twice", &["run", "defined_twice.onnx"]),
    case("shapes that do not fit", &["run", "shape_mismatch.onnx"]),
    case("element types that do not fit", &["run", "type_mismatch.onnx"]),
    case("an attribute of the wrong type", &["run", "attribute_type.onnx"]),
    case("a constant with too few bytes", &["run", "short_constant.onnx"]),
    case("external data that is missing", &["run", "external_missing.onnx"]),
    case("external data outside the model's folder", &["run", "external_parent.onnx"]),
    case("external data at an absolute path", &["run", "external_absolute.onnx"]),
    case("external data behind a link that leads outside", &["run", "external_link.onnx"]),
    case("external data beyond the file's end", &["run", "external_range.onnx"]),
    case("external data that is a pipe", &["run", "external_pipe.onnx"]),
    case("a pipe in a model's place", &["run", "pipe.onnx"]),
    case("an input of the wrong element type", &["run", "good.onnx", "--input", "x=f64.npy"]),
    case("an input of the wrong shape", &["run", "good.onnx", "--input", "x=wide.npy"]),
    case("an input of the wrong rank", &["run", "good.onnx", "--input", "x=flat.npy"]),
    case("an input that the model does not have", &["run", "good.onnx", "--input", "z=x.npy"]),
    case("an input file that is no .npy file", &["run", "good.onnx", "--input", "x=text.onnx"]),
    case("an input file that is missing", &["run", "good.onnx", "--input", "x=absent.npy"]),
    case("an input without an end", &["run", "good.onnx", "--input", "x=/dev/zero"]),
    case("a dim that the model does not have", &["run", "good.onnx", "--dim", "length=3"]),
    case("a dim that is no number", &["run", "good.onnx", "--dim", "batch=many"]),
    case("a model that no sizes fit", &["check", "never_fits.onnx"]),
    case("a loop without an end", &["check", "endless.onnx"]),
    case("an unknown machine class", &["compile", "good.onnx", "-o", "out.tgl", "--machine", "pdp11"]),
    case(
        "a machine file with half a byte",
        &["compile", "good.onnx", "-o", "out.tgl", "--machine", "half_a_byte.toml"],
    ),
    case(
        "a simulated GPU that is a CPU",
        &["check", "good.onnx", "--target", "sim-ptx", "--machine", "zen5"],
    ),
    case(
        "a simulated CPU that is a GPU",
        &["check", "good.onnx", "--target", "sim-x86", "--machine", "h200"],
    ),
    case(
        "portable kernels of a GPU",
        &["compile", "good.onnx", "-o", "out.tgl", "--portable", "--machine", "h200"],
    ),
    case(
        "a tuning record of another machine",
        &["compile", "good.onnx", "-o", "out.tgl", "--machine", "zen5", "--tuning", "zen4_record.toml"],
    ),
    case(
        "a tuning record with a tile that no registers hold",
        &["compile", "good.onnx", "-o", "out.tgl", "--machine", "zen4", "--tuning", "zen4_record.toml"],
    ),
    case(
        "a tuning record that is none",
        &["compile", "good.onnx", "-o", "out.tgl", "--tuning", "half_a_byte.toml"],
    ),
    case("tuning for a GPU", &["tune", "good.onnx", "-o", "record.toml", "--machine", "h200"]),
    case("tuning of a package", &["tune", "good.tgl", "-o", "record.toml"]),
    case("a GPU where none is driven", &["run", "good.onnx", "--machine", "h200"]),
    case("an output folder that is missing", &["compile", "good.onnx", "-o", "absent/out.tgl"]),
    case("an output that is a folder", &["compile", "good.onnx", "-o", "folder"]),
    case("a read-only place", &["compile", "good.onnx", "-o", "/proc/out.tgl"]),
    case("a read-only place for outputs", &["run", "good.onnx", "--output-dir", "/proc/out"]),
    case("an output whose name no file can have", &["run", "long_name.onnx", "--output-dir", "folder"]),
    case("a full device", &["compile", "good.onnx", "-o", "/dev/full"]),
    on(Disk::Full, "a full disk", &["compile", "good.onnx", "-o", "out.tgl"]),
    on(
        Disk::Full,
        "a full disk for outputs",
        &["run", "good.onnx", "--dim", "batch=512", "--output-dir", "folder"],
    ),
    on(Disk::FullStdout, "a full device behind stdout", &["run", "good.onnx", "--dim", "batch=1"]),
    case("a package that is an empty file", &["run", "empty.tgl"]),
    case("a package that is something else", &["run", "text.tgl"]),
    case("a package cut off in its header", &["run", "cut_header.tgl"]),
    case("a package cut off in its sections", &["run", "cut_half.tgl"]),
    case("a package with a damaged header", &["run", "flipped_header.tgl"]),
    case("a package with damaged weights", &["verify", "flipped_end.tgl"]),
];

/// Requests that look odd and are right: status 0.
const FINE: &[Case] = &[
    case("a dim of size 0", &["run", "good.onnx", "--dim", "batch=0"]),
    case("a dim of size 1", &["run", "good.onnx", "--dim", "batch=1"]),
    case("a sound package", &["verify", "good.tgl"]),
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let tegula = Tegula::build()?;
    let dir = workspace::target().join("bad-input/files");
    let package_bytes = prepare(&tegula, &dir)?;
    // A package's size hangs on the processor's machine class.
    let cut = format!("{} of {package_bytes} bytes", package_bytes / 2);
    let mut failed = 0;
    let mut transcript = String::new();
    for case in CASES {
        let before = names_in(&dir)?;
        let finished = run_case(&tegula, &dir, case)?;
        let problems = problems(&finished, &before, &names_in(&dir)?);
        for problem in &problems {
            println!("FAIL {}: {problem}", case.what);
        }
        failed += usize::from(!problems.is_empty());
        let said =
            finished.stderr.replace(&dir.display().to_string(), "DIR").replace(&cut, "HALF of ALL bytes");
        transcript.push_str(&format!(
            "## {}\n$ tegula {}\n{}\n\n",
            case.what,
            case.args.join(" "),
            said.trim_end()
        ));
    }
    for case in FINE {
        let finished = run_case(&tegula, &dir, case)?;
        if !finished.success() {
            println!("FAIL {}: {}", case.what, first_error(&finished.stderr));
            failed += 1;
        }
    }
    let as_blessed = golden::is_as_blessed("bad-input", "bad_input.txt", &transcript, args)?;
    let (mutants, broken) = mutate(&tegula, &dir)?;
    Ok(Outcome::pass_if(failed == 0 && broken == 0 && as_blessed)
        .with("cases", CASES.len() + FINE.len())
        .with("failed", failed)
        .with("as_blessed", as_blessed)
        .with("mutants", mutants)
        .with("broken", broken))
}

/// Writes the bad files: models by the script, a machine file and packages by damaging good ones. Gives the good
/// package's size.
fn prepare(tegula: &Tegula, dir: &Path) -> Result<usize> {
    // Files of an earlier run must not stand in for those of this one.
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir.join("folder"))?;
    let python = python::with_pins(&Catalog::load()?)?;
    python::script(python, "bad_models").arg(dir).run()?;
    let machine = fs::read_to_string(workspace::root().join("crates/machine/machines/zen4.toml"))?;
    let (head, datapath) = machine.split_once("core_datapath").context("zen4 has no `core_datapath`")?;
    let datapath = datapath.replacen("value = 32", "value = 0.5", 1);
    fs::write(dir.join("half_a_byte.toml"), format!("{head}core_datapath{datapath}"))?;
    fs::write(dir.join("zen4_record.toml"), TUNING_RECORD)?;
    tegula.compile(&dir.join("good.onnx"), &dir.join("good.tgl"))?;
    let good = fs::read(dir.join("good.tgl"))?;
    ensure!(good.len() > 256, "a package of {} bytes", good.len());
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    fs::write(dir.join("empty.tgl"), [])?;
    fs::copy(dir.join("text.onnx"), dir.join("text.tgl"))?;
    fs::write(dir.join("cut_header.tgl"), &good[..16])?;
    fs::write(dir.join("cut_half.tgl"), &good[..good.len() / 2])?;
    fs::write(dir.join("flipped_header.tgl"), flipped(12))?;
    // The last bytes of a file may be padding; the last that is not zero belongs to a section.
    let last = good.iter().rposition(|byte| *byte != 0).context("the package is all zeros")?;
    fs::write(dir.join("flipped_end.tgl"), flipped(last))?;
    Ok(good.len())
}

fn run_case(tegula: &Tegula, dir: &Path, case: &Case) -> Result<Finished> {
    let script = match case.disk {
        Disk::Sound => return tegula.command().args(case.args).dir(dir).finish(Some(LIMIT)),
        // With the signal ignored, writing beyond the limit gives an error, as a full disk does.
        Disk::Full => "trap '' XFSZ; ulimit -f 1; exec \"$@\"",
        Disk::FullStdout => "exec \"$@\" > /dev/full",
    };
    let limited = Shell::new("bash").args(["-c", script, "bash"]).arg(workspace::tegula_binary());
    limited.args(case.args).dir(dir).finish(Some(LIMIT))
}

fn problems(finished: &Finished, before: &BTreeSet<PathBuf>, after: &BTreeSet<PathBuf>) -> Vec<String> {
    let mut problems = Vec::new();
    if finished.code() != Some(1) {
        problems.push(format!("status {:?}, expected 1: {}", finished.code(), first_error(&finished.stderr)));
    }
    // The second form is that of wrong arguments.
    let is_diagnostic = |line: &str| line.starts_with("error[") || line.starts_with("error: ");
    if !finished.stderr.lines().any(is_diagnostic) {
        problems.push(format!("no diagnostic: {}", first_error(&finished.stderr)));
    }
    for left in after.difference(before) {
        problems.push(format!("left {} behind", left.display()));
    }
    problems
}

fn names_in(dir: &Path) -> Result<BTreeSet<PathBuf>> {
    Ok(workspace::files_under(dir)?.into_iter().collect())
}

/// Damages a small model and a small package in many places; counts the mutants and those that break the program.
fn mutate(tegula: &Tegula, dir: &Path) -> Result<(usize, usize)> {
    let mut broken = 0;
    let mut n_mutants = 0;
    for (file, verb) in [("good.onnx", "run"), ("good.tgl", "run"), ("good.tgl", "verify")] {
        let good = fs::read(dir.join(file))?;
        let mutant_file = dir.join(format!("mutant.{}", file.rsplit('.').next().unwrap_or("bin")));
        for (what, mutant) in mutants(&good) {
            fs::write(&mutant_file, mutant)?;
            let finished = tegula.command().arg(verb).arg(&mutant_file).dir(dir).finish(Some(LIMIT))?;
            n_mutants += 1;
            let survived = matches!(finished.code(), Some(0 | 1));
            // A cut package is always noticed, and `verify` notices every cut and flip.
            let noticed = finished.code() == Some(1)
                || file.ends_with(".onnx")
                || (verb == "run" && what.contains("bit"));
            if !survived || !noticed {
                println!(
                    "FAIL {verb} {file} with {what}: status {:?}: {}",
                    finished.code(),
                    first_error(&finished.stderr)
                );
                broken += 1;
            }
        }
        fs::remove_file(&mutant_file)?;
    }
    Ok((n_mutants, broken))
}

/// Cuts at up to `FLIPS` lengths and flips of as many bits, spread over the file by a fixed sequence.
fn mutants(good: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut mutants = Vec::new();
    let step = good.len().div_ceil(FLIPS).max(1);
    for length in (0..good.len()).step_by(step) {
        mutants.push((format!("the end cut at {length}"), good[..length].to_vec()));
    }
    // Knuth's MMIX constants.
    let mut state = 1u64;
    for _ in 0..FLIPS {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bit = (state >> 16) as usize % (good.len() * 8);
        let mut bytes = good.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        mutants.push((format!("bit {bit} flipped"), bytes));
    }
    mutants
}
