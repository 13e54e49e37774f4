//! Imports damaged models and names those that panic or take long: `mutate DIR ROUNDS [SEED]`.
//! DIR holds models or folders with a `model.onnx`. Damage: single bytes, and extreme numbers in attributes,
//! dims and small initializers of the decoded model.

use prost::Message;
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tegula_base::face::Files;
use tegula_import::onnx::proto::{GraphProto, ModelProto, tensor_shape_proto, type_proto};
use tegula_import::onnx::{ImportOptions, import};

const EXTREMES: [i64; 12] =
    [i64::MIN, i64::MAX, -1, 0, 1, 2, -2, 1 << 31, -(1 << 31), (1 << 62) + 1, 7, i64::MAX - 1];
/// Longer than this for one model is a hang.
const LIMIT: Duration = Duration::from_secs(2);

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("there are no files here".into())
    }
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    fn extreme(&mut self) -> i64 {
        EXTREMES[self.below(EXTREMES.len())]
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rounds, rest @ ..] = arguments.as_slice() else {
        return Err("usage: mutate DIR ROUNDS [SEED]".into());
    };
    let rounds: u64 = rounds.parse().map_err(|_| "ROUNDS is a number")?;
    let seed: u64 = rest.first().map_or(Ok(1), |seed| seed.parse()).map_err(|_| "SEED is a number")?;
    let mut models: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| format!("{folder}: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .map(|path| if path.is_dir() { path.join("model.onnx") } else { path })
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx") && path.exists())
        .collect();
    models.sort();
    let (mut tried, mut bad) = (0u64, 0u64);
    for path in models {
        let Ok(whole) = std::fs::read(&path) else { continue };
        if whole.len() > 1 << 20 {
            continue;
        }
        for round in 0..rounds {
            let mut random = Random((seed * 7919 + round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let bytes = if round % 3 == 0 {
                damage_bytes(&whole, &mut random)
            } else {
                damage_numbers(&whole, &mut random)
            };
            tried += 1;
            let start = Instant::now();
            let options = ImportOptions { name: "model".into(), ..ImportOptions::default() };
            let outcome = catch_unwind(|| drop(import(bytes.into(), &NoFiles, &options)));
            if outcome.is_err() || start.elapsed() > LIMIT {
                bad += 1;
                println!("{} round {round}: {:?}", path.display(), start.elapsed());
            }
        }
    }
    println!("{tried} damaged models, {bad} bad");
    if bad == 0 { Ok(()) } else { Err("some panicked or hung".into()) }
}

fn damage_bytes(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        bytes[at] = random.below(256) as u8;
    }
    bytes
}

fn damage_numbers(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let Ok(mut model) = ModelProto::decode(whole) else { return whole.to_vec() };
    if let Some(graph) = &mut model.graph {
        for _ in 0..1 + random.below(3) {
            damage_graph(graph, random);
        }
    }
    model.encode_to_vec()
}

fn damage_graph(graph: &mut GraphProto, random: &mut Random) {
    match random.below(6) {
        0 | 1 => {
            let n = graph.input.len();
            let Some(input) = graph.input.get_mut(random.below(n)) else { return };
            let Some(type_proto::Value::TensorType(tensor)) =
                input.r#type.as_mut().and_then(|ty| ty.value.as_mut())
            else {
                return;
            };
            let Some(shape) = &mut tensor.shape else { return };
            let n = shape.dim.len();
            match random.below(4) {
                0 => shape.dim.push(tensor_shape_proto::Dimension::default()),
                1 => drop(shape.dim.pop()),
                _ => {
                    if let Some(dim) = shape.dim.get_mut(random.below(n)) {
                        let value = tensor_shape_proto::dimension::Value::DimValue(random.extreme());
                        dim.value = if random.below(2) == 0 { None } else { Some(value) };
                    }
                }
            }
        }
        2 => {
            let n = graph.initializer.len();
            let Some(tensor) = graph.initializer.get_mut(random.below(n)) else { return };
            match random.below(2) {
                0 => tensor.dims.push(random.extreme()),
                _ => {
                    if let Some(raw) = &tensor.raw_data
                        && raw.len() >= 8
                    {
                        let mut raw = raw.to_vec();
                        let at = random.below(raw.len() / 8) * 8;
                        raw[at..at + 8].copy_from_slice(&random.extreme().to_le_bytes());
                        tensor.raw_data = Some(raw.into());
                    }
                }
            }
        }
        _ => {
            let n = graph.node.len();
            let Some(node) = graph.node.get_mut(random.below(n)) else { return };
            let n = node.attribute.len();
            if random.below(5) == 0 {
                node.input.pop();
                return;
            }
            let Some(attribute) = node.attribute.get_mut(random.below(n)) else { return };
            if let Some(inner) = &mut attribute.g {
                return damage_graph(inner, random);
            }
            let n = attribute.ints.len();
            if n > 0 {
                attribute.ints[random.below(n)] = random.extreme();
                if random.below(4) == 0 {
                    attribute.ints.push(1);
                }
            }
            attribute.i = attribute.i.map(|_| random.extreme());
            attribute.f = attribute.f.map(|_| [f32::NAN, f32::INFINITY, -1.0, 0.0][random.below(4)]);
            if let Some(tensor) = &mut attribute.t
                && let Some(raw) = &tensor.raw_data
                && raw.len() >= 8
            {
                let mut raw = raw.to_vec();
                raw[..8].copy_from_slice(&random.extreme().to_le_bytes());
                tensor.raw_data = Some(raw.into());
            }
        }
    }
}
