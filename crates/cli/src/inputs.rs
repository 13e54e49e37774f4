//! Input tensors: from files, or made up. The same request gives the same numbers on every machine.

mod number;

use crate::args::InputOptions;
use crate::failure::{Failure, io_failure};
use crate::output;
use number::{Number, float_bits};
use std::collections::BTreeMap;
use std::path::Path;
use tegula::files::{open_regular, read_regular};
use tegula_base::random::SplitMix64;
use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HostTensor, npy};
use tegula_package::Port;
use tegula_runtime::check_rank;

/// Random integers are below this: small enough to be indices of most tables.
const INTEGERS: u64 = 10;

/// Sizes by the names of dims.
type Extents = BTreeMap<String, i64>;

/// Where an input's elements come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Random,
    /// All elements are this number.
    Number(Number),
    File(&'a Path),
}

impl Source<'_> {
    /// What stands behind `NAME=`. A file of the name of a number is the file.
    fn of(text: &str) -> Source<'_> {
        match text {
            "random" => Source::Random,
            "zeros" => Source::Number(Number::Integer(0)),
            "ones" => Source::Number(Number::Integer(1)),
            text => match Number::of(text) {
                Some(number) if !Path::new(text).exists() => Source::Number(number),
                _ => Source::File(Path::new(text)),
            },
        }
    }
}

/// A tensor for each port, in order.
pub struct Inputs {
    pub tensors: Vec<HostTensor>,
    /// The names of those that no `--input` gives.
    pub made_up: Vec<String>,
    /// Dims that nothing gives, with the size taken.
    pub sizes: Extents,
}

impl Inputs {
    /// Says on stderr which tensors are made up.
    pub fn note(&self) {
        if !self.made_up.is_empty() {
            output::complain(&format!(
                "note: using random numbers for {} (`--input NAME=FILE.npy|random|zeros|ones|NUMBER`)\n",
                quoted(&self.made_up)
            ));
        }
    }

    /// What a run found wrong, with what was made up for it: often the cause.
    pub fn explain(sizes: &Extents, made_up: &[String], mut found: Diagnostics) -> Diagnostics {
        let values: Vec<&String> = made_up.iter().collect();
        let mut causes: Vec<String> = Vec::new();
        if !sizes.is_empty() {
            let taken: Vec<String> = sizes.iter().map(|(name, size)| format!("{name} = {size}")).collect();
            causes.push(format!("{} (`--dim NAME=N` gives other sizes)", taken.join(", ")));
        }
        if !values.is_empty() {
            causes.push(format!("random numbers for {} (`--input NAME=FILE`)", quoted(values)));
        }
        if let (Some(first), false) = (found.0.iter_mut().find(|one| one.help.is_none()), causes.is_empty()) {
            first.help = Some(format!("these were not given, and made up: {}", causes.join("; ")));
        }
        found
    }

    /// The tensors alone, those that are made up noted.
    pub fn noted(self) -> Vec<HostTensor> {
        self.note();
        self.tensors
    }
}

/// `` `a`, `b` ``.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Dims that no file and no `--dim` fixes are 1, and inputs that nothing gives are random.
/// Errors: unknown names, files that are no tensors, numbers that are not the input's, dims that cannot be known or are
/// given twice; all of them.
pub fn inputs(ports: &[Port], options: &InputOptions, dims: &Extents) -> Result<Inputs, Failure> {
    inputs_or_defaults(ports, options, dims, &|_| None)
}

/// As [`inputs`], but dims that nothing fixes have the sizes that `choose` gives beside those that are known.
/// Errors: also those of `choose`.
pub fn inputs_of_sizes(
    ports: &[Port],
    options: &InputOptions,
    dims: &Extents,
    choose: &dyn Fn(&Extents) -> Result<Extents, Diagnostic>,
) -> Result<Inputs, Failure> {
    gather(ports, options, dims, &|_| None, choose)
}

/// The names that options give, with the ranks of their tensors; 0 where they are no files. What cannot be read is reported
/// where it is used.
pub fn ranks(options: &InputOptions) -> Vec<(String, usize)> {
    let rank = |source: &str| match Source::of(source) {
        Source::File(file) => head(file).ok().and_then(|head| npy::rank(&head)).unwrap_or(0),
        Source::Random | Source::Number(_) => 0,
    };
    options.inputs.iter().map(|(name, source)| (name.clone(), rank(source))).collect()
}

/// The start of a file, with the header of an array of any rank.
fn head(file: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut head = Vec::new();
    open_regular(file)?.take(1 << 17).read_to_end(&mut head)?;
    Ok(head)
}

/// As [`inputs`], of ports some of which have a tensor where nothing gives them.
pub fn inputs_or_defaults(
    ports: &[Port],
    options: &InputOptions,
    dims: &Extents,
    default: &dyn Fn(&Port) -> Option<HostTensor>,
) -> Result<Inputs, Failure> {
    gather(ports, options, dims, default, &|_| Ok(BTreeMap::new()))
}

/// `choose` gives sizes of dims beside those that are known; others are 1.
fn gather(
    ports: &[Port],
    options: &InputOptions,
    dims: &Extents,
    default: &dyn Fn(&Port) -> Option<HostTensor>,
    choose: &dyn Fn(&Extents) -> Result<Extents, Diagnostic>,
) -> Result<Inputs, Failure> {
    let mut found = Diagnostics::default();
    let mut sources: BTreeMap<&str, Source> = BTreeMap::new();
    for (name, source) in &options.inputs {
        if !ports.iter().any(|port| port.name == *name) {
            let known: Vec<String> = ports.iter().map(|port| port.name.clone()).collect();
            found.push(
                Diagnostic::error("unknown-input", format!("the model has no input `{name}`"))
                    .note(format!("its inputs are {}", quoted(&known))),
            );
        } else if sources.insert(name, Source::of(source)).is_some() {
            found.push(Diagnostic::error("unknown-input", format!("input `{name}` is given twice")));
        }
    }
    let mut tensors: Vec<Option<HostTensor>> = vec![None; ports.len()];
    let mut sizes = Sizes::of(dims);
    for (port, tensor) in ports.iter().zip(&mut tensors) {
        let Some(Source::File(file)) = sources.get(port.name.as_str()) else { continue };
        match read(file, port.dtype) {
            Ok(read) => {
                sizes.take(port, &read.shape, &mut found);
                *tensor = Some(read);
            }
            Err(diagnostic) => found.push(diagnostic.at(format!("input `{}`", port.name))),
        }
    }
    // What can be made up may hang on what could not be read.
    std::mem::take(&mut found).into_result(())?;
    let chosen = choose(&sizes.known)?;
    let known = sizes.known.clone();
    let mut result = Vec::with_capacity(ports.len());
    for (port, tensor) in ports.iter().zip(tensors) {
        let source = sources.get(port.name.as_str()).copied().unwrap_or(Source::Random);
        let is_given = sources.contains_key(port.name.as_str());
        let tensor = tensor.or_else(|| if is_given { None } else { default(port) });
        let made = tensor.map_or_else(|| make(port, source, &mut sizes.known, &chosen), Ok);
        match made {
            Ok(tensor) => result.push(tensor),
            Err(diagnostic) => found.push(diagnostic),
        }
    }
    let given = |port: &&Port| sources.contains_key(port.name.as_str()) || port.default.is_some();
    let made_up = ports.iter().filter(|port| !given(port)).map(|port| port.name.clone()).collect();
    let sizes = sizes.known.into_iter().filter(|(name, _)| !known.contains_key(name)).collect();
    Ok(found.into_result(Inputs { tensors: result, made_up, sizes })?)
}

/// The sizes of named dims, and of those that a file fixed the input that it is of.
struct Sizes<'a> {
    known: Extents,
    from: BTreeMap<String, &'a str>,
}

impl<'a> Sizes<'a> {
    fn of(dims: &Extents) -> Sizes<'a> {
        Sizes { known: dims.clone(), from: BTreeMap::new() }
    }

    /// Takes the sizes of a port's file. Problems: a file of another rank, and one that contradicts what is known.
    fn take(&mut self, port: &'a Port, shape: &[usize], found: &mut Diagnostics) {
        if let Err(other_rank) = check_rank(port, shape) {
            return found.push(other_rank);
        }
        let mut problem = |message: String| {
            found.push(Diagnostic::error("shape-mismatch", message).at(format!("input `{}`", port.name)));
        };
        for (dim, extent) in port.shape.iter().zip(shape) {
            let Some(symbol) = dim.as_symbol() else { continue };
            let extent = *extent as i64;
            match (self.known.get(symbol), self.from.get(symbol)) {
                (Some(known), _) if *known == extent => {}
                (Some(known), Some(other)) => {
                    problem(format!("dim `{dim}` is {extent} in the file, and {known} in that of `{other}`"));
                }
                (Some(known), None) => {
                    problem(format!(
                        "dim `{dim}` is {extent} in the file, and `--dim {dim}={known}` is given"
                    ));
                }
                (None, _) => {
                    self.known.insert(symbol.to_string(), extent);
                    self.from.insert(symbol.to_string(), &port.name);
                }
            }
        }
    }
}

/// A file of elements of a type that NumPy lacks may not name it: it is the input's.
fn read(file: &Path, dtype: DType) -> Result<HostTensor, Diagnostic> {
    let bytes = read_regular(file).map_err(|error| {
        io_failure("read", file, &error)
            .help("an input is a `.npy` file, `random`, `zeros`, `ones` or a number: `--input NAME=...`")
    })?;
    npy::decode_as(&bytes, Some(dtype)).map_err(|diagnostic| diagnostic.at(file.display().to_string()))
}

fn make(
    port: &Port,
    source: Source,
    sizes: &mut Extents,
    chosen: &Extents,
) -> Result<HostTensor, Diagnostic> {
    for dim in &port.shape {
        note_open_dims(dim, port, sizes, chosen);
    }
    let extents = port.shape.iter().map(|dim| {
        let n = dim.eval(&|name| sizes.get(name).copied());
        n.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| {
            Diagnostic::error(
                "shape-mismatch",
                format!("dim `{dim}` of input `{}` has no valid size", port.name),
            )
        })
    });
    let shape = extents.collect::<Result<Vec<usize>, Diagnostic>>()?;
    let count = shape.iter().try_fold(1usize, |count, extent| count.checked_mul(*extent));
    let bytes = count.and_then(|count| count.checked_mul(port.dtype.size()));
    // Asked for once before it is filled, since a `Vec` that cannot grow ends the process.
    let has_room = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if !bytes.is_some_and(|bytes| bytes <= 1 << 40 && has_room(bytes)) {
        let message = format!("input `{}` of shape {shape:?} does not fit into memory", port.name);
        return Err(Diagnostic::error("shape-mismatch", message));
    }
    match source {
        Source::Number(number) => {
            let no_such =
                format!("input `{}` has type {}, which cannot hold {number}", port.name, port.dtype);
            let bits = number.bits(port.dtype).ok_or_else(|| Diagnostic::error("dtype-mismatch", no_such))?;
            // Memory of zeros costs nothing until it is touched.
            Ok(match bits {
                0 => HostTensor::zeros(port.dtype, &shape),
                bits => fill(port.dtype, shape, || bits),
            })
        }
        Source::Random | Source::File(_) => Ok(random(port, shape)),
    }
}

fn note_open_dims(dim: &Dim, port: &Port, sizes: &mut Extents, chosen: &Extents) {
    dim.for_each_symbol(&mut |name| {
        if !sizes.contains_key(&**name) {
            let size = chosen.get(&**name).copied().unwrap_or(1);
            output::complain(&format!(
                "note: dim `{name}` of input `{}` is not given; using {size} (`--dim {name}=N`)\n",
                port.name
            ));
            sizes.insert(name.to_string(), size);
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
        let float = match dtype {
            DType::Bool => return bits & 1,
            narrow if narrow.is_int() && narrow.bits() < 8 => return bits % (1 << (narrow.bits() - 1)),
            dtype if dtype.is_int() => return bits % INTEGERS,
            // The sign and 1; powers of two have no sign.
            dtype if dtype.small_float().is_some() => {
                if bits >> 52 == 0 && dtype != DType::F8E8M0 {
                    -1.0
                } else {
                    1.0
                }
            }
            _ => bits as f64 / (1u64 << 52) as f64 - 1.0,
        };
        float_bits(dtype, float)
    })
}

/// Elements of which the lowest bytes of each word are one.
fn fill(dtype: DType, shape: Vec<usize>, mut word: impl FnMut() -> u64) -> HostTensor {
    let count: usize = shape.iter().product();
    let mut bytes = Vec::with_capacity(count * dtype.size());
    for _ in 0..count {
        bytes.extend(&word().to_le_bytes()[..dtype.size()]);
    }
    HostTensor { dtype, shape, bytes }
}
