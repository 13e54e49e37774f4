//! Input tensors: from files, or made up. The same request gives the same numbers on every machine.

use crate::args::InputOptions;
use crate::failure::{Failure, io_failure};
use crate::output;
use std::collections::BTreeMap;
use std::path::Path;
use tegula_base::random::SplitMix64;
use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HostTensor, npy, small_float};
use tegula_package::Port;

/// Random integers are below this: small enough to be indices of most tables.
const INTEGERS: u64 = 10;

/// A tensor for each port, in order. Dims that no file and no `--dim` fixes are 1, with a note on stderr.
/// Errors: unknown names, files that are no tensors, dims that cannot be known; all of them.
pub fn inputs(
    ports: &[Port],
    options: &InputOptions,
    dims: &BTreeMap<String, i64>,
) -> Result<Vec<HostTensor>, Failure> {
    let mut found = Diagnostics::default();
    let mut sources: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, source) in &options.inputs {
        if !ports.iter().any(|port| port.name == *name) {
            let known: Vec<String> = ports.iter().map(|port| format!("`{}`", port.name)).collect();
            found.push(
                Diagnostic::error("unknown-input", format!("the model has no input `{name}`"))
                    .note(format!("its inputs are {}", known.join(", "))),
            );
        } else if sources.insert(name, source).is_some() {
            found.push(Diagnostic::error("unknown-input", format!("input `{name}` is given twice")));
        }
    }
    let mut tensors: Vec<Option<HostTensor>> = vec![None; ports.len()];
    let mut sizes = dims.clone();
    for (port, tensor) in ports.iter().zip(&mut tensors) {
        let source = sources.get(port.name.as_str()).copied().unwrap_or("random");
        if matches!(source, "random" | "zeros" | "ones") {
            continue;
        }
        match read(Path::new(source)) {
            Ok(read) => {
                for (dim, extent) in port.shape.iter().zip(&read.shape) {
                    if let Some(symbol) = dim.as_symbol() {
                        sizes.insert(symbol.to_string(), *extent as i64);
                    }
                }
                *tensor = Some(read);
            }
            Err(diagnostic) => found.push(diagnostic.at(format!("input `{}`", port.name))),
        }
    }
    // What can be made up may hang on what could not be read.
    std::mem::take(&mut found).into_result(())?;
    let mut result = Vec::with_capacity(ports.len());
    for (port, tensor) in ports.iter().zip(tensors) {
        let made =
            tensor.map_or_else(|| make(port, sources.get(port.name.as_str()).copied(), &mut sizes), Ok);
        match made {
            Ok(tensor) => result.push(tensor),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    Ok(found.into_result(result)?)
}

fn read(file: &Path) -> Result<HostTensor, Diagnostic> {
    let bytes = std::fs::read(file).map_err(|error| io_failure("read", file, &error))?;
    npy::decode(&bytes).map_err(|diagnostic| diagnostic.at(file.display().to_string()))
}

fn make(
    port: &Port,
    source: Option<&str>,
    sizes: &mut BTreeMap<String, i64>,
) -> Result<HostTensor, Diagnostic> {
    for dim in &port.shape {
        note_open_dims(dim, port, sizes);
    }
    let extents = port.shape.iter().map(|dim| {
        let n = dim.eval(&|name| sizes.get(name).copied());
        n.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| {
            Diagnostic::error("shape-mismatch", format!("dim `{dim}` of input `{}` has no size", port.name))
        })
    });
    let shape = extents.collect::<Result<Vec<usize>, Diagnostic>>()?;
    let count = shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
    let bytes = count.and_then(|count| count.checked_mul(port.dtype.size()));
    // Asked for once before it is filled, since a `Vec` that cannot grow ends the process.
    let has_room = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if !bytes.is_some_and(|bytes| bytes <= 1 << 40 && has_room(bytes)) {
        let message = format!(
            "input `{}` of shape {shape:?} is too large to make up: memory does not hold it",
            port.name
        );
        return Err(Diagnostic::error("shape-mismatch", message));
    }
    Ok(match source {
        Some("zeros") => HostTensor::zeros(port.dtype, &shape),
        Some("ones") => fill(port.dtype, shape, || 1.0),
        _ => random(port, shape),
    })
}

fn note_open_dims(dim: &Dim, port: &Port, sizes: &mut BTreeMap<String, i64>) {
    dim.for_each_symbol(&mut |name| {
        if !sizes.contains_key(&**name) {
            output::complain(&format!(
                "note: dim `{name}` of input `{}` is not given, 1 is taken (`--dim {name}=N`)\n",
                port.name
            ));
            sizes.insert(name.to_string(), 1);
        }
    });
}

/// Floats in [-1, 1), integers in [0, 10), by the input's name.
fn random(port: &Port, shape: Vec<usize>) -> HostTensor {
    // FNV-1a of the name.
    let seed = port
        .name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut numbers = SplitMix64::new(seed);
    let dtype = port.dtype;
    fill(dtype, shape, move || {
        let bits = numbers.next_u64() >> 11;
        match dtype {
            DType::Bool => (bits & 1) as f64,
            narrow if narrow.is_int() && narrow.bits() < 8 => (bits % (1 << (narrow.bits() - 1))) as f64,
            dtype if dtype.is_float() => bits as f64 / (1u64 << 52) as f64 - 1.0,
            _ => (bits % INTEGERS) as f64,
        }
    })
}

fn fill(dtype: DType, shape: Vec<usize>, mut value: impl FnMut() -> f64) -> HostTensor {
    let count: usize = shape.iter().product();
    let mut bytes = Vec::with_capacity(count * dtype.size());
    for _ in 0..count {
        let x = value();
        match dtype {
            DType::F64 => bytes.extend(x.to_le_bytes()),
            DType::F32 => bytes.extend((x as f32).to_le_bytes()),
            DType::F16 => bytes.extend(half::f16::from_f64(x).to_le_bytes()),
            DType::BF16 => bytes.extend(half::bf16::from_f64(x).to_le_bytes()),
            // The sign and 1; powers of two have no sign.
            dtype if dtype.small_float().is_some() => {
                let one = if x < 0.0 && dtype != DType::F8E8M0 { -1.0 } else { 1.0 };
                bytes.push(small_float::from_f64(dtype, one, true));
            }
            _ => bytes.extend(&(x as i64).to_le_bytes()[..dtype.size()]),
        }
    }
    HostTensor { dtype, shape, bytes }
}
