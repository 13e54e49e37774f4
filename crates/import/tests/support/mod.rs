//! ONNX models as text, for tests: one line a thing, graphs inside nodes by braces.
//!
//! ```text
//! ir 8
//! opset 17                        or: opset com.microsoft 1
//! input x: f32[batch, 3]
//! const w: f32[2, 3] = 1 2 3 4 5 6
//! external w: f32[2] location=w.bin offset=0 length=8
//! input s: seq f32[2]             or: optional f32[2]
//! function my::Twice(a) -> b {
//!   b = Add(a, a)
//! }
//! y = my::Twice(x) axis=1 perm=[1, 0] mode="linear" name="node"
//! y = my::Once(x) weights=[0.5, 2.] modes=["a", "b"] table={f32 1 2 3}
//! y = If(c)
//! .then_branch {
//!   ...
//! }
//! output y
//! ```

use std::path::{Path, PathBuf};
use tegula_base::face::Files;
use tegula_base::{DType, HostTensor, small_float};
use tegula_import::onnx::ImportOptions;
use tegula_import::onnx::proto::*;

/// The one file beside every model: `w.bin`, two floats 1 and 2 and three bytes more.
pub struct Beside;

impl Files for Beside {
    fn read(&self, relative: &str) -> Result<Vec<u8>, String> {
        match relative {
            "w.bin" => Ok([&1f32.to_le_bytes()[..], &2f32.to_le_bytes(), &[0; 3]].concat()),
            _ => Err("there is no such file".into()),
        }
    }
}

pub fn options() -> ImportOptions {
    ImportOptions { name: "model.onnx".into(), ..ImportOptions::default() }
}

/// The cases of `tests/<folder>`.
pub fn cases(folder: &str) -> Vec<(PathBuf, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no cases");
    files.into_iter().map(|path| (path.clone(), read_case(&std::fs::read_to_string(path).unwrap()))).collect()
}

/// What the lines before `---` say, and the text after it.
pub struct Case {
    pub model: ModelProto,
    pub feeds: Vec<HostTensor>,
    pub expected: Vec<HostTensor>,
    pub text: String,
    pub wanted: String,
}

pub fn read_case(text: &str) -> Case {
    let (text, wanted) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut model = ModelProto { graph: Some(GraphProto::default()), ..ModelProto::default() };
    let (mut feeds, mut expected) = (vec![], vec![]);
    let mut graph = GraphProto::default();
    while let Some(line) = lines.next() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ir" => model.ir_version = Some(rest.parse().unwrap()),
            "opset" => {
                let (domain, version) = rest.rsplit_once(' ').unwrap_or(("", rest));
                model.opset_import.push(OperatorSetIdProto {
                    domain: Some(domain.into()),
                    version: Some(version.parse().unwrap()),
                });
            }
            "feed" => feeds.push(tensor(rest).1),
            "expect" => expected.push(tensor(rest).1),
            "function" => model.functions.push(function(rest, &mut lines)),
            _ => graph_line(line, &mut lines, &mut graph),
        }
    }
    model.graph = Some(graph);
    Case { model, feeds, expected, text: text.into(), wanted: wanted.trim_end().into() }
}

fn graph_line<'a>(line: &str, lines: &mut impl Iterator<Item = &'a str>, graph: &mut GraphProto) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "input" => graph.input.push(value_info(rest)),
        "output" if rest.contains(':') => graph.output.push(value_info(rest)),
        "output" => {
            graph.output.push(ValueInfoProto { name: Some(rest.into()), ..ValueInfoProto::default() });
        }
        "value" => graph.value_info.push(value_info(rest)),
        "const" => {
            let (name, tensor) = tensor(rest);
            graph.initializer.push(tensor_proto(name, &tensor));
        }
        "external" => graph.initializer.push(external(rest)),
        _ if line.starts_with('.') => {
            let name = line[1..].trim_end_matches(['{', ' ']).to_string();
            let mut inner = GraphProto::default();
            while let Some(line) = lines.next().filter(|line| *line != "}") {
                graph_line(line, lines, &mut inner);
            }
            let attribute =
                AttributeProto { name: Some(name), g: Some(Box::new(inner)), ..AttributeProto::default() };
            graph.node.last_mut().expect("a graph belongs to the node before it").attribute.push(attribute);
        }
        _ => graph.node.push(node(line)),
    }
}

fn function<'a>(head: &str, lines: &mut impl Iterator<Item = &'a str>) -> FunctionProto {
    let (call, results) = head.trim_end_matches(['{', ' ']).split_once("->").unwrap();
    let (name, inputs) = call.trim().trim_end_matches(')').split_once('(').unwrap();
    let (domain, name) = name.split_once("::").unwrap();
    let mut body = GraphProto::default();
    while let Some(line) = lines.next().filter(|line| *line != "}") {
        graph_line(line, lines, &mut body);
    }
    let names = |list: &str| list.split(',').map(|name| name.trim().to_string()).collect::<Vec<_>>();
    FunctionProto {
        name: Some(name.into()),
        domain: Some(domain.into()),
        input: names(inputs),
        output: names(results),
        node: body.node,
        opset_import: vec![OperatorSetIdProto { domain: Some(String::new()), version: Some(17) }],
        ..FunctionProto::default()
    }
}

/// `y, z = Op(x, _, w) axis=1`.
fn node(line: &str) -> NodeProto {
    let (results, call) = line.split_once('=').unwrap_or_else(|| panic!("no node: {line}"));
    let (op, rest) = call.split_once('(').unwrap();
    let (operands, attributes) = rest.split_once(')').unwrap();
    let names = |list: &str| -> Vec<String> {
        if list.trim().is_empty() {
            return Vec::new();
        }
        let name = |name: &str| {
            assert!(!name.is_empty(), "`_` is an operand that is not given: {line}");
            if name == "_" { String::new() } else { name.to_string() }
        };
        list.split(',').map(str::trim).map(name).collect()
    };
    let (domain, op) = op.trim().split_once("::").unwrap_or(("", op.trim()));
    let mut node = NodeProto {
        domain: Some(domain.into()),
        op_type: Some(op.into()),
        input: names(operands),
        output: names(results),
        ..NodeProto::default()
    };
    let mut rest = attributes.trim();
    while let Some((name, value)) = rest.split_once('=') {
        let end = match value.as_bytes().first() {
            Some(b'[') => value.find(']').unwrap() + 1,
            Some(b'{') => value.find('}').unwrap() + 1,
            _ => value.find(' ').unwrap_or(value.len()),
        };
        let (value, after) = value.split_at(end);
        rest = after.trim();
        let text = value.trim_matches('"');
        if name == "name" {
            node.name = Some(text.into());
            continue;
        }
        let mut attribute = AttributeProto { name: Some(name.into()), ..AttributeProto::default() };
        if value.starts_with('"') {
            attribute.s = Some(text.as_bytes().to_vec());
        } else if let Some(list) = value.strip_prefix('[') {
            set_list(&mut attribute, list.trim_end_matches(']'));
        } else if let Some(values) = value.strip_prefix('{') {
            let (dtype, values) =
                values.trim_end_matches('}').split_once(' ').unwrap_or((&value[1..value.len() - 1], ""));
            let count = values.split_whitespace().count();
            let (_, tensor) = tensor(&format!("t: {dtype}[{count}] = {values}"));
            attribute.t = Some(Box::new(tensor_proto("", &tensor)));
        } else if let Some(reference) = value.strip_prefix('@') {
            attribute.ref_attr_name = Some(reference.into());
        } else if value.contains('.') {
            attribute.f = Some(value.parse().unwrap());
        } else {
            attribute.i = Some(value.parse().unwrap());
        }
        node.attribute.push(attribute);
    }
    node
}

/// Whole numbers, floats where one has a point, strings in quotes.
fn set_list(attribute: &mut AttributeProto, list: &str) {
    let items: Vec<&str> = split(list).collect();
    if items.iter().any(|item| item.starts_with('"')) {
        attribute.strings = items.iter().map(|item| item.trim_matches('"').as_bytes().to_vec()).collect();
    } else if items.iter().any(|item| item.contains('.')) {
        attribute.floats = items.iter().map(|item| item.parse().unwrap()).collect();
    } else {
        attribute.ints = items.iter().map(|item| item.parse().unwrap()).collect();
    }
}

/// `x: f32[batch, 3, ?]`; no brackets leave the shape out. `x: seq f32[2]`, `x: optional f32[2]`.
fn value_info(text: &str) -> ValueInfoProto {
    let (name, ty) = text.split_once(':').unwrap();
    let value = Some(value_type(ty.trim()));
    ValueInfoProto { name: Some(name.trim().into()), r#type: Some(TypeProto { value }) }
}

fn value_type(ty: &str) -> type_proto::Value {
    let inner = |ty| Some(Box::new(TypeProto { value: Some(value_type(ty)) }));
    if let Some(element) = ty.strip_prefix("seq ") {
        return type_proto::Value::SequenceType(Box::new(type_proto::Sequence { elem_type: inner(element) }));
    }
    if let Some(held) = ty.strip_prefix("optional ") {
        return type_proto::Value::OptionalType(Box::new(type_proto::Optional { elem_type: inner(held) }));
    }
    let (dtype, dims) = match ty.trim().split_once('[') {
        Some((dtype, dims)) => (dtype, Some(dims.trim_end_matches(']'))),
        None => (ty.trim(), None),
    };
    let shape = dims.map(|dims| TensorShapeProto { dim: split(dims).map(dimension).collect() });
    type_proto::Value::TensorType(type_proto::Tensor { elem_type: Some(number_of(dtype)), shape })
}

fn dimension(text: &str) -> tensor_shape_proto::Dimension {
    use tensor_shape_proto::dimension::Value;
    let value = match text.parse() {
        Ok(n) => Value::DimValue(n),
        Err(_) => Value::DimParam(text.into()),
    };
    tensor_shape_proto::Dimension { value: Some(value) }
}

fn split(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// ONNX's number of an element type; strings are there to be refused.
fn number_of(name: &str) -> i32 {
    match name {
        "f32" => 1,
        "u8" => 2,
        "i8" => 3,
        "i32" => 6,
        "i64" => 7,
        "string" => 8,
        "bool" => 9,
        "f16" => 10,
        "f64" => 11,
        "complex64" => 14,
        "f8e4m3fnuz" => 18,
        "f8e5m2fnuz" => 20,
        "u4" => 21,
        "i4" => 22,
        "f4e2m1" => 23,
        "f8e8m0" => 24,
        "u2" => 25,
        "i2" => 26,
        "f6e2m3" => 27,
        "f6e3m2" => 28,
        other => panic!("`{other}` has no number here"),
    }
}

/// `w: f32[2, 2] = 1 2 3 4`.
fn tensor(text: &str) -> (&str, HostTensor) {
    let (head, values) = text.split_once('=').unwrap();
    let (name, ty) = head.split_once(':').unwrap();
    let (dtype, dims) = ty.trim().split_once('[').unwrap_or((ty.trim(), "]"));
    let shape: Vec<usize> = split(dims.trim_end_matches(']')).map(|n| n.parse().unwrap()).collect();
    let numbers: Vec<f64> = values.split_whitespace().map(|value| value.parse().unwrap()).collect();
    let mut bytes = Vec::new();
    let dtype: DType = dtype.trim().parse().unwrap();
    for x in numbers {
        match dtype {
            DType::F32 => bytes.extend((x as f32).to_le_bytes()),
            DType::F64 => bytes.extend(x.to_le_bytes()),
            DType::I64 => bytes.extend((x as i64).to_le_bytes()),
            DType::I32 => bytes.extend((x as i32).to_le_bytes()),
            DType::I8 => bytes.extend((x as i8).to_le_bytes()),
            DType::U8 => bytes.push(x as u8),
            DType::Bool => bytes.push(u8::from(x != 0.0)),
            DType::I2 | DType::I4 => bytes.push(x as i8 as u8),
            DType::U2 | DType::U4 => bytes.push(x as u8),
            small if small.small_float().is_some() => bytes.push(small_float::from_f64(small, x, false)),
            other => panic!("{other} is not written here"),
        }
    }
    (name.trim(), HostTensor { dtype, shape, bytes })
}

fn tensor_proto(name: &str, tensor: &HostTensor) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        dims: tensor.shape.iter().map(|n| *n as i64).collect(),
        data_type: Some(number_of(tensor.dtype.name())),
        raw_data: Some(packed(tensor).into()),
        ..TensorProto::default()
    }
}

/// Elements of less than 8 bits follow each other without a gap, from the lowest bit of the first byte on.
fn packed(tensor: &HostTensor) -> Vec<u8> {
    let bits = tensor.dtype.bits() as usize;
    if bits >= 8 {
        return tensor.bytes.clone();
    }
    let mut bytes = vec![0u8; (tensor.bytes.len() * bits).div_ceil(8)];
    for at in 0..tensor.bytes.len() * bits {
        let bit = tensor.bytes[at / bits] >> (at % bits) & 1;
        bytes[at / 8] |= bit << (at % 8);
    }
    bytes
}

fn external(text: &str) -> TensorProto {
    let (head, entries) = text.split_once(']').unwrap();
    let (name, ty) = head.split_once(':').unwrap();
    let (dtype, dims) = ty.trim().split_once('[').unwrap();
    let external_data = entries
        .split_whitespace()
        .map(|entry| {
            let (key, value) = entry.split_once('=').unwrap();
            StringStringEntryProto { key: Some(key.into()), value: Some(value.into()) }
        })
        .collect();
    TensorProto {
        name: Some(name.trim().into()),
        dims: split(dims).map(|n| n.parse().unwrap()).collect(),
        data_type: Some(number_of(dtype)),
        data_location: Some(1),
        external_data,
        ..TensorProto::default()
    }
}
