//! Models as text: what is reported of a bad one (`tests/error`), what a good one computes (`tests/run`), what stops its
//! run (`tests/stop`), and that no bytes and no attribute (`tests/attributes.txt`) make the importer panic. `BLESS=1` rewrites the reports.

mod support;

use prost::Message;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use support::{Case, read_case};
use tegula_base::HostTensor;
use tegula_base::face::Files;
use tegula_import::onnx::proto::{AttributeProto, ModelProto};
use tegula_import::onnx::{ImportOptions, import, supported};

/// The one file beside every model: `w.bin`, two floats 1 and 2 and three bytes more.
struct Beside;

impl Files for Beside {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        match relative {
            "w.bin" => Ok([&1f32.to_le_bytes()[..], &2f32.to_le_bytes(), &[0; 3]].concat()),
            _ => Err("there is no such file".into()),
        }
    }
}

fn options() -> ImportOptions {
    ImportOptions { name: "model.onnx".into(), ..ImportOptions::default() }
}

fn cases(folder: &str) -> Vec<(PathBuf, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no cases");
    files.into_iter().map(|path| (path.clone(), read_case(&std::fs::read_to_string(path).unwrap()))).collect()
}

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

fn close(a: &HostTensor, b: &HostTensor) -> bool {
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-5 * (1.0 + b.abs());
    a.dtype == b.dtype && a.shape == b.shape && a.to_f64().iter().zip(&b.to_f64()).all(near)
}

/// xorshift64.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn damaged_models_are_refused_or_read_but_never_panic() {
    for (path, case) in cases("run").into_iter().chain(cases("error")) {
        let whole = case.model.encode_to_vec();
        for seed in 1..400u64 {
            let mut state = seed * 0x9e37_79b9;
            let mut bytes = whole.clone();
            for _ in 0..1 + next(&mut state) % 3 {
                let at = (next(&mut state) as usize) % bytes.len();
                match next(&mut state) % 4 {
                    0 => bytes[at] ^= 1 << (next(&mut state) % 8),
                    1 => bytes[at] = next(&mut state) as u8,
                    2 => bytes.truncate(at.max(1)),
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    bytes.push(0);
                }
            }
            let outcome = std::panic::catch_unwind(|| import(bytes.into(), &Beside, &options()).is_ok());
            assert!(outcome.is_ok(), "{} panics with seed {seed}", path.display());
        }
    }
}

/// What stands in for each whole number of each attribute.
const NUMBERS: [i64; 4] = [0, -1, i64::MIN, i64::MAX];

/// Far more than any import takes.
const LIMIT: Duration = Duration::from_secs(20);

/// Supported ops without whole numbers among the attributes that they read.
const WITHOUT_NUMBERS: &str = include_str!("ops_without_numbers.txt");

fn attribute_models() -> Vec<ModelProto> {
    let text = include_str!("attributes.txt");
    let paragraphs = text.split("\n\n").filter(|text| text.lines().any(|line| line.contains('=')));
    let model = |text: &str| {
        let is_versioned =
            text.lines().any(|line| matches!(line.split_once(' '), Some(("opset", n)) if !n.contains(' ')));
        let opset = if is_versioned { "" } else { "opset 22\n" };
        read_case(&format!("ir 10\n{opset}{text}")).model
    };
    paragraphs.map(model).collect()
}

/// The attribute with each of its whole numbers replaced, and with lists of other lengths.
fn variants(attribute: &AttributeProto) -> Vec<AttributeProto> {
    let with_list = |ints: Vec<i64>| AttributeProto { ints, ..attribute.clone() };
    let mut all = Vec::new();
    for number in NUMBERS {
        if attribute.i.is_some() {
            all.push(AttributeProto { i: Some(number), ..attribute.clone() });
        }
        for at in 0..attribute.ints.len() {
            let mut ints = attribute.ints.clone();
            ints[at] = number;
            all.push(with_list(ints));
        }
    }
    if let [.., last] = attribute.ints[..] {
        all.push(with_list(attribute.ints[1..].to_vec()));
        all.push(with_list([&attribute.ints[..], &[last]].concat()));
    }
    all
}

#[test]
fn attributes_of_any_value_are_refused_or_read() {
    let (send, receive) = channel();
    let all = std::thread::spawn(move || {
        for model in attribute_models() {
            let graph = model.graph.clone().unwrap();
            for (at, node) in graph.node.iter().enumerate() {
                for (number, attribute) in node.attribute.iter().enumerate() {
                    for variant in variants(attribute) {
                        let said = format!(
                            "{} {} {:?} {:?}",
                            node.op_type(),
                            variant.name(),
                            variant.i,
                            variant.ints
                        );
                        let mut model = model.clone();
                        model.graph.as_mut().unwrap().node[at].attribute[number] = variant;
                        // The receiver is gone only where it has failed.
                        let _ = send.send(said);
                        if let Ok(program) = import(model.encode_to_vec().into(), &Beside, &options()) {
                            tegula_tensor::check_program(&program).unwrap();
                        }
                    }
                }
            }
        }
    });
    let mut last = String::new();
    loop {
        match receive.recv_timeout(LIMIT) {
            Ok(said) => last = said,
            Err(RecvTimeoutError::Timeout) => panic!("{last} takes longer than {LIMIT:?}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(all.join().is_ok(), "{last} panics");
}

#[test]
fn every_op_with_numbers_is_among_the_attribute_models() {
    let mut seen = BTreeSet::new();
    for model in attribute_models() {
        if let Err(report) = import(model.encode_to_vec().into(), &Beside, &options()) {
            panic!("a model of attributes.txt is refused: {report}");
        }
        for node in &model.graph.unwrap().node {
            seen.insert(if node.domain().is_empty() {
                node.op_type().into()
            } else {
                format!("{}::{}", node.domain(), node.op_type())
            });
        }
    }
    let supported: BTreeSet<String> = supported()
        .into_iter()
        .map(|(domain, name, ..)| if domain.is_empty() { name.into() } else { format!("{domain}::{name}") })
        .collect();
    let without: BTreeSet<String> = WITHOUT_NUMBERS.split_whitespace().map(str::to_string).collect();
    let rest: Vec<&String> = supported.iter().filter(|op| !seen.contains(*op)).collect();
    assert_eq!(
        rest,
        without.iter().collect::<Vec<_>>(),
        "each op is in attributes.txt or in ops_without_numbers.txt"
    );
}
