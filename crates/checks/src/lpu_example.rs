//! `lpu-example [--bless]`: the worked example of `docs/lpu.md`, text to package to run by the command: 21 cycles, 32 bytes.
//! Then every single change of it (`changes.rs`), and of two programs of the verifier's tests: the verifier refuses it, or it
//! leaves result and cycles as they were. Those are listed with their reasons in `data/lpu_example_accepted.txt`.

mod changes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::{Tegula, first_error};
use tegula_automation::{golden, workspace};
use tegula_base::{DType, HostTensor};
use tegula_isa_lpu::{decode, encode, parse, verify};
use tegula_testkit::lpu::{Words, example};

use crate::npy::{read_npy, write_npy};
use changes::{Change, changes};

/// Cycles of the example.
const CYCLES: u64 = 21;
/// A pass of 16-bit floats over two planes, and two sets of weights in one plane.
const F16: &str = include_str!("../../isa-lpu/tests/verify/f16.txt");
const TILES: &str = include_str!("../../isa-lpu/tests/verify/tiles.txt");

/// Why a change of a kind does no harm: of a unit, or of all.
const REASONS: &[(&str, &str, &str)] = &[
    ("", "a pause before halt", "no word issues behind the pause"),
    ("", "stride of no address", "the word has no second address"),
    ("alu", "stride", "the word has no address"),
    ("rows", "stride", "the word has no address"),
    ("alu", "hold", "no word uses what is kept"),
    ("alu", "another queue", "any ALU with casts computes the same"),
    ("alu", "a word in another queue", "any ALU with casts computes the same"),
    ("mem", "mask of all lanes", "the machine's vector has one part"),
    ("mem", "one more", "the vector is read once more, and no word senses it"),
    ("sums", "row", "each row is set and emitted at once"),
    ("sums", "stride", "each row is set and emitted at once"),
    ("sums", "stream", "no word senses the sums"),
    ("weights", "a pause", "the weights are installed a cycle before the first multiply"),
    ("weights", "another cycle", "the weights are installed in a free cycle before the first multiply"),
];

/// What became of a program's changes.
#[derive(Default)]
struct Found {
    changes: usize,
    refused: usize,
    /// By place and kind.
    accepted: BTreeMap<String, (usize, &'static str)>,
    wrong: usize,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let example = example();
    let by_command = run_by_command(&example)?;
    let mut list = String::new();
    let (mut refused, mut accepted, mut wrong) = (0, 0, 0);
    let mut all = 0;
    let mut of_example = 0;
    for words in [example, of_text("f16", F16)?, of_text("tiles", TILES)?] {
        let found = judge(&words)?;
        if words.name == "example" {
            of_example = found.changes;
        }
        all += found.changes;
        refused += found.refused;
        wrong += found.wrong;
        for (change, (count, reason)) in &found.accepted {
            accepted += count;
            list.push_str(&format!("{}: {change}: {count}\t{reason}\n", words.name));
        }
    }
    let as_blessed = golden::is_as_blessed("lpu-example", "lpu_example_accepted.txt", &list, args)?;
    Ok(Outcome::pass_if(by_command && wrong == 0 && as_blessed)
        .with("cycles", CYCLES)
        .with("by_command", by_command)
        .with("changes", of_example)
        .with("all_changes", all)
        .with("refused", refused)
        .with("accepted", accepted)
        .with("wrong", wrong)
        .with("as_listed", as_blessed))
}

/// Compiles and runs the text with the command. Errors: what it can't do; a result of other bytes is told and is `false`.
fn run_by_command(example: &Words) -> Result<bool> {
    let image = decode(&encode(&example.image)).map_err(|error| anyhow!("{error}"))?;
    ensure!(image == example.image, "the image is another one after a trip through its bytes");
    let cycles = cycles(example, &image).context("the example is refused")?;
    ensure!(cycles == CYCLES, "the proof has {cycles} cycles");
    let outcome = example.run(image).map_err(|error| anyhow!("{error}"))?;
    ensure!(outcome.cycles == CYCLES as i64, "the run took {} cycles", outcome.cycles);
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("lpu-example");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let x = HostTensor { dtype: DType::I8, shape: vec![2, 16], bytes: example.inputs["x"].clone() };
    write_npy(&folder.join("x.npy"), &x)?;
    let words = workspace::data("lpu_example.lpu").display().to_string();
    for args in [
        &["compile", &words, "--machine", "lpu-mini", "-o", "example.tgl"][..],
        &["run", "example.tgl", "--target", "sim-lpu", "--input", "x=x.npy", "--output-dir", "."],
    ] {
        let finished = tegula.command().args(args).dir(&folder).finish(None)?;
        ensure!(finished.success(), "`tegula {}`: {}", args.join(" "), first_error(&finished.stderr));
    }
    let y = read_npy(&folder.join("y.npy"))?;
    let is_right = y.bytes == example.outputs["y"];
    if !is_right {
        println!("FAIL the command's result is {:?}", y.bytes);
    }
    Ok(is_right)
}

/// A program without inputs and results.
fn of_text(name: &'static str, text: &str) -> Result<Words> {
    let mut words = Words { name, inputs: BTreeMap::new(), outputs: BTreeMap::new(), ..example() };
    words.image = parse(text).map_err(|error| anyhow!("{name}: {error}"))?;
    words.image.machine = words.machine.hash().to_string();
    Ok(words)
}

/// The cycles that an image's proof says; none: it is refused.
fn cycles(words: &Words, image: &tegula_isa_lpu::Image) -> Option<u64> {
    verify(image, &words.machine).ok().map(|proof| proof.programs[0].cycles)
}

fn judge(words: &Words) -> Result<Found> {
    let lpu = words.machine.lpu().context("no streaming chip")?;
    let sound = cycles(words, &words.image).with_context(|| format!("{} is refused", words.name))?;
    let mut found = Found::default();
    let mut seen = BTreeSet::new();
    for Change { place, unit, kind, image } in changes(&words.image, lpu) {
        if image == words.image || !seen.insert(encode(&image)) {
            continue;
        }
        found.changes += 1;
        let Some(cycles) = cycles(words, &image) else {
            found.refused += 1;
            continue;
        };
        let reason = reason(unit, &kind);
        let problem = match words.run(image) {
            Err(trap) => Some(format!("traps: {trap}")),
            Ok(outcome) if outcome.outputs != words.outputs => Some("changes the result".to_string()),
            Ok(_) if cycles != sound => Some(format!("takes {cycles} cycles")),
            Ok(_) if reason.is_none() => Some("does no harm, for no reason that is known".to_string()),
            Ok(_) => None,
        };
        if let Some(problem) = problem {
            println!("FAIL {}: {place}: {kind}: it is accepted and {problem}", words.name);
            found.wrong += 1;
        }
        let row = found.accepted.entry(format!("{place}: {kind}")).or_default();
        row.0 += 1;
        row.1 = reason.unwrap_or_default();
    }
    Ok(found)
}

fn reason(unit: &str, kind: &str) -> Option<&'static str> {
    let row = REASONS.iter().find(|(of, known, _)| (of.is_empty() || *of == unit) && *known == kind);
    row.map(|(.., reason)| *reason)
}
