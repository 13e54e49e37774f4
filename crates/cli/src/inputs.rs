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

/// Where an input's elements come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Random,
    /// All elements are this number.
    Number(f64),
    File(&'a Path),
}

impl Source<'_> {
    /// What stands behind `NAME=`. A file of the name of a number is the file.
    fn of(text: &str) -> Source<'_> {
        match text {
            "random" => Source::Random,
            "zeros" => Source::Number(0.0),
            "ones" => Source::Number(1.0),
            text => match text.parse() {
                Ok(number) if !Path::new(text).exists() => Source::Number(number),
                _ => Source::File(Path::new(text)),
            },
        }
    }
}

/// A tensor for each port, in order. Dims that no file and no `--dim` fixes are 1, and inputs that nothing gives are random,
/// with a note on stderr.
/// Errors: unknown names, files that are no tensors, numbers that are not the input's, dims that cannot be known or are
/// given twice; all of them.
pub fn inputs(
    ports: &[Port],
    options: &InputOptions,
    dims: &BTreeMap<String, i64>,
) -> Result<Vec<HostTensor>, Failure> {
    let mut found = Diagnostics::default();
    let mut sources: BTreeMap<&str, Source> = BTreeMap::new();
    for (name, source) in &options.inputs {
        if !ports.iter().any(|port| port.name == *name) {
            let known: Vec<String> = ports.iter().map(|port| format!("`{}`", port.name)).collect();
            found.push(
                Diagnostic::error("unknown-input", format!("the model has no input `{name}`"))
                    .note(format!("its inputs are {}", known.join(", "))),
            );
        } else if sources.insert(name, Source::of(source)).is_some() {
            found.push(Diagnostic::error("unknown-input", format!("input `{name}` is given twice")));
        }
    }
    let mut tensors: Vec<Option<HostTensor>> = vec![None; ports.len()];
    let mut sizes = dims.clone();
    for (port, tensor) in ports.iter().zip(&mut tensors) {
        let Some(Source::File(file)) = sources.get(port.name.as_str()) else { continue };
        match read(file) {
            Ok(read) => {
                for (dim, extent) in port.shape.iter().zip(&read.shape) {
                    let Some(symbol) = dim.as_symbol() else { continue };
                    let extent = *extent as i64;
                    if let Some(given) = dims.get(symbol).filter(|given| **given != extent) {
                        let message = format!(
                            "dim `{dim}` is {extent} in the file, and `--dim {dim}={given}` is given"
                        );
                        found.push(
                            Diagnostic::error("shape-mismatch", message).at(format!("input `{}`", port.name)),
                        );
                    }
                    sizes.insert(symbol.to_string(), extent);
                }
                *tensor = Some(read);
            }
            Err(diagnostic) => found.push(diagnostic.at(format!("input `{}`", port.name))),
        }
    }
    // What can be made up may hang on what could not be read.
    std::mem::take(&mut found).into_result(())?;
    let missing: Vec<String> = ports
        .iter()
        .filter(|port| !sources.contains_key(port.name.as_str()))
        .map(|port| format!("`{}`", port.name))
        .collect();
    if !missing.is_empty() {
        output::complain(&format!(
            "note: random numbers are taken for {} (`--input NAME=FILE.npy|random|zeros|ones|NUMBER`)\n",
            missing.join(", ")
        ));
    }
    let mut result = Vec::with_capacity(ports.len());
    for (port, tensor) in ports.iter().zip(tensors) {
        let source = sources.get(port.name.as_str()).copied().unwrap_or(Source::Random);
        let made = tensor.map_or_else(|| make(port, source, &mut sizes), Ok);
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

fn make(port: &Port, source: Source, sizes: &mut BTreeMap<String, i64>) -> Result<HostTensor, Diagnostic> {
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
    match source {
        Source::Number(number) if !holds(port.dtype, number) => {
            let message = format!("{number} is no {} (input `{}`)", port.dtype, port.name);
            Err(Diagnostic::error("dtype-mismatch", message))
        }
        // Of every type; `-0` is another number.
        Source::Number(number) if number.to_bits() == 0 => Ok(HostTensor::zeros(port.dtype, &shape)),
        Source::Number(number) => Ok(fill(port.dtype, shape, || number)),
        Source::Random | Source::File(_) => Ok(random(port, shape)),
    }
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
            // The sign and 1; powers of two have no sign.
            dtype if dtype.small_float().is_some() => {
                if bits >> 52 == 0 && dtype != DType::F8E8M0 {
                    -1.0
                } else {
                    1.0
                }
            }
            dtype if dtype.is_float() => bits as f64 / (1u64 << 52) as f64 - 1.0,
            _ => (bits % INTEGERS) as f64,
        }
    })
}

/// Whether a number is one of a type's, floats rounded.
fn holds(dtype: DType, number: f64) -> bool {
    dtype
        .int_range()
        .is_none_or(|(least, largest)| number.fract() == 0.0 && (least..=largest).contains(&(number as i128)))
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
            dtype if dtype.small_float().is_some() => bytes.push(small_float::from_f64(dtype, x, true)),
            _ => bytes.extend(&(x as i128).to_le_bytes()[..dtype.size()]),
        }
    }
    HostTensor { dtype, shape, bytes }
}
