//! No bytes, no attribute (`tests/attributes.txt`) and no operand make the importer panic or take long: a model is
//! refused, or read to a program that its checks accept.

use crate::support;

use prost::Message;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Beside, cases, options, read_case};
use tegula_import::onnx::proto::{AttributeProto, ModelProto};
use tegula_import::onnx::{ONNX, import, supported};
use tegula_testkit::turn::in_turn;

/// xorshift64.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn damaged_models_are_refused_or_read() {
    refused_or_read(|try_bytes| {
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
                try_bytes(format!("{} with seed {seed}", path.display()), bytes);
            }
        }
    });
}

#[test]
fn of_nested_messages_the_outermost_and_the_innermost_are_named() {
    let field = |number: u32, inside: &[u8]| {
        let mut bytes = vec![];
        prost::encoding::bytes::encode(number, &inside.to_vec(), &mut bytes);
        bytes
    };
    // A node's start, and no more.
    let mut graph = vec![0x0a, 5];
    for _ in 0..10 {
        // A graph as an attribute of a node of a graph.
        graph = field(1, &field(5, &field(6, &graph)));
    }
    let found = import(field(7, &graph).into(), &Beside, &options()).unwrap_err().to_string();
    let message = "Protobuf message: GraphProto.node: ...: ModelProto.graph: buffer underflow";
    assert!(found.contains(message), "{found}");
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

/// Imports the bytes of each model that `make` hands out with what is said of it. Panics where one panics, takes long or
/// gives a program that its checks refuse.
fn refused_or_read(make: impl FnOnce(&mut dyn FnMut(String, Vec<u8>)) + Send + 'static) {
    // The model that is being read, and since when.
    let now = Arc::new(Mutex::new((String::new(), Instant::now())));
    let shown = now.clone();
    let all = std::thread::spawn(move || {
        make(&mut |said, bytes| {
            *shown.lock().unwrap() = (said, Instant::now());
            if let Ok(program) = import(bytes.into(), &Beside, &options()) {
                tegula_tensor::check_program(&program).unwrap();
            }
        });
    });
    while !all.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let (said, since) = &*now.lock().unwrap();
        assert!(since.elapsed() < LIMIT, "{said} takes longer than {LIMIT:?}");
    }
    let last = now.lock().unwrap().0.clone();
    assert!(all.join().is_ok(), "{last} panics");
}

#[test]
fn attributes_of_any_value_are_refused_or_read() {
    refused_or_read(|try_model| {
        for model in attribute_models() {
            let graph = model.graph.clone().unwrap();
            for (at, node) in graph.node.iter().enumerate() {
                for (number, attribute) in node.attribute.iter().enumerate() {
                    for variant in variants(attribute) {
                        let name = variant.name();
                        let said = format!("{} {name} {:?} {:?}", node.op_type(), variant.i, variant.ints);
                        let mut model = model.clone();
                        model.graph.as_mut().unwrap().node[at].attribute[number] = variant;
                        try_model(said, model.encode_to_vec());
                    }
                }
            }
        }
    });
}

/// What stands in for each operand: no rank, no elements, symbols, more axes than any op asks for; values that an op
/// may read while it is imported. An empty line is an operand that is not given.
const OPERANDS: [&str; 19] = [
    "",
    "input z: f32[]",
    "input z: f32[1]",
    "input z: f32[0]",
    "input z: f32[n]",
    "input z: f32[2, 3]",
    "input z: f32[n, 0, m]",
    "input z: f32[1, 3, 5, 5]",
    "input z: f32[1, 2, 3, 4, 5, 6]",
    "input z: f4e2m1[2, 3]",
    "input z: u2[n]",
    "input z: i64[]",
    "input z: i64[2]",
    "input z: u8[]",
    "input z: bool[2, 3]",
    "input z: string[n]",
    "const z: i64[] = -1",
    "const z: i64[3] = 0 -1 9223372036854775807",
    "const z: f32[2] = 0 -1",
];

/// The model with operand `operand` of node `node` replaced.
fn with_operand(model: &ModelProto, node: usize, operand: usize, line: &str) -> ModelProto {
    let mut model = model.clone();
    let graph = model.graph.as_mut().expect("a model of the tests");
    let given = read_case(line).model.graph.expect("a model of the tests");
    graph.node[node].input[operand] = if line.is_empty() { String::new() } else { "z".into() };
    graph.input.extend(given.input);
    graph.initializer.extend(given.initializer);
    model
}

#[test]
fn operands_of_any_type_are_refused_or_read() {
    refused_or_read(|try_model| {
        for model in
            attribute_models().into_iter().chain(cases("run").into_iter().map(|(_, case)| case.model))
        {
            for (at, node) in model.graph.clone().unwrap().node.iter().enumerate() {
                for operand in 0..node.input.len() {
                    for line in OPERANDS {
                        let said = format!("{} with operand {operand} `{line}`", node.op_type());
                        try_model(said, with_operand(&model, at, operand, line).encode_to_vec());
                    }
                }
            }
        }
    });
}

/// A model of one op; `lines` are its operands.
fn alone(op: &str, lines: &[&str]) -> ModelProto {
    let mut text = String::from(
        "ir 10\nopset 27\nopset com.microsoft 1\nopset ai.onnx.ml 5\nopset ai.onnx.preview 1\n\
         opset ai.onnx.preview.training 1\n",
    );
    let mut names = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        text += &line.replace(" z", &format!(" z{at}"));
        text += "\n";
        names.push(if line.is_empty() { "_".into() } else { format!("z{at}") });
    }
    text += &format!("y = {op}({})\noutput y\n", names.join(", "));
    read_case(&text).model
}

/// Three operands in every combination, and longer lists drawn from a seed.
#[test]
fn ops_alone_with_any_operands_are_refused_or_read() {
    ops_alone(0);
}

/// A test of its own: cores that would be idle take one each.
#[test]
fn other_ops_alone_with_any_operands_are_refused_or_read() {
    ops_alone(1);
}

/// Every other op, from the one of that number on.
fn ops_alone(from: usize) {
    const LONGER_LISTS: usize = 500;
    refused_or_read(move |try_model| {
        let mut state = 0x9e37_79b9;
        for (domain, name, ..) in in_turn(supported()).skip(from).step_by(2) {
            let op = if domain == ONNX { name.into() } else { format!("{domain}::{name}") };
            let mut try_operands = |lines: Vec<&str>| {
                try_model(format!("{op} of {lines:?}"), alone(&op, &lines).encode_to_vec());
            };
            for number in 0..OPERANDS.len().pow(3) {
                let digit = |place: u32| OPERANDS[number / OPERANDS.len().pow(place) % OPERANDS.len()];
                try_operands(vec![digit(0), digit(1), digit(2)]);
            }
            for _ in 0..LONGER_LISTS {
                let length = 4 + next(&mut state) % 6;
                let one = |_| OPERANDS[next(&mut state) as usize % OPERANDS.len()];
                try_operands((0..length).map(one).collect());
            }
        }
    });
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
        .map(|(domain, name, ..)| if domain == ONNX { name.into() } else { format!("{domain}::{name}") })
        .collect();
    let without: BTreeSet<String> = WITHOUT_NUMBERS.split_whitespace().map(str::to_string).collect();
    let rest: Vec<&String> = supported.iter().filter(|op| !seen.contains(*op)).collect();
    assert_eq!(
        rest,
        without.iter().collect::<Vec<_>>(),
        "each op is in attributes.txt or in ops_without_numbers.txt"
    );
}
