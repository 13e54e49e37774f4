//! The caller's tensors: matched to the program's inputs by name or position, checked in the user's words.

use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HostTensor};
use tegula_package::{HostProgram, Package, Port};

/// A borrowed dense tensor, row-major, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct TensorView<'a> {
    pub dtype: DType,
    pub shape: &'a [usize],
    pub bytes: &'a [u8],
}

impl TensorView<'_> {
    /// A tensor of its own.
    pub fn to_host(self) -> HostTensor {
        HostTensor { dtype: self.dtype, shape: self.shape.to_vec(), bytes: self.bytes.to_vec() }
    }
}

impl<'a> From<&'a HostTensor> for TensorView<'a> {
    fn from(tensor: &'a HostTensor) -> TensorView<'a> {
        TensorView { dtype: tensor.dtype, shape: &tensor.shape, bytes: &tensor.bytes }
    }
}

/// What an input is where the caller does not give it.
pub(crate) fn default_of<'a>(package: &'a Package, port: &'a Port) -> Option<TensorView<'a>> {
    let default = port.default.as_ref()?;
    let bytes = package.constants().get(default.offset as usize..)?.get(..default.bytes as usize)?;
    Some(TensorView { dtype: port.dtype, shape: &default.shape, bytes })
}

/// Brings named tensors into the order of the inputs; those that are missing are their defaults.
/// Errors: unknown, doubled and missing names, all of them.
pub(crate) fn order_by_name<'a>(
    package: &'a Package,
    named: &[(&str, TensorView<'a>)],
) -> Result<Vec<TensorView<'a>>, Diagnostics> {
    let program = &package.program;
    let mut found = Diagnostics::default();
    for (i, (name, _)) in named.iter().enumerate() {
        if !program.inputs.iter().any(|port| port.name == *name) {
            let known: Vec<String> = program.inputs.iter().map(|port| format!("`{}`", port.name)).collect();
            found.push(
                Diagnostic::error("unknown-input", format!("the model has no input `{name}`"))
                    .note(format!("its inputs are {}", known.join(", "))),
            );
        } else if named[..i].iter().any(|(earlier, _)| earlier == name) {
            found.push(Diagnostic::error("unknown-input", format!("input `{name}` is given twice")));
        }
    }
    let mut ordered = Vec::with_capacity(program.inputs.len());
    for port in &program.inputs {
        match named.iter().find(|(name, _)| *name == port.name) {
            Some((_, tensor)) => ordered.push(*tensor),
            None if port.default.is_some() => ordered.extend(default_of(package, port)),
            None => found.push(
                Diagnostic::error("missing-input", format!("input `{}` is not given", port.name))
                    .note(format!("it is {}", describe(port))),
            ),
        }
    }
    found.into_result(ordered)
}

/// Checks all that concerns one tensor at a time: number, dtype, rank, bytes. Allocates nothing when all is well.
/// `keeps_shared`: inputs that outputs share their memory with have no bytes.
pub(crate) fn check_tensors(
    program: &HostProgram,
    inputs: &[TensorView<'_>],
    keeps_shared: bool,
) -> Result<(), Diagnostics> {
    check_number(program, inputs.len())?;
    let mut found = Diagnostics::default();
    for (index, (port, tensor)) in program.inputs.iter().zip(inputs).enumerate() {
        if keeps_shared && program.output_in(index).is_some() {
            continue;
        }
        if let Err(diagnostic) = check_tensor(port, tensor) {
            found.push(diagnostic);
        }
    }
    found.into_result(())
}

/// Checks number and ranks of shapes that have no elements yet.
pub(crate) fn check_shapes(program: &HostProgram, shapes: &[&[usize]]) -> Result<(), Diagnostics> {
    check_number(program, shapes.len())?;
    let mut found = Diagnostics::default();
    for (port, shape) in program.inputs.iter().zip(shapes) {
        found.0.extend(check_rank(port, shape).err());
    }
    found.into_result(())
}

fn check_number(program: &HostProgram, given: usize) -> Result<(), Diagnostic> {
    if given == program.inputs.len() {
        return Ok(());
    }
    let wanted: Vec<String> = program.inputs.iter().map(|port| format!("`{}`", port.name)).collect();
    let message = format!("the model has {} inputs, {given} are given", program.inputs.len());
    Err(Diagnostic::error("missing-input", message).note(format!("its inputs are {}", wanted.join(", "))))
}

/// Errors: the shape has more or fewer dims than the port.
pub fn check_rank(port: &Port, shape: &[usize]) -> Result<(), Diagnostic> {
    if shape.len() == port.shape.len() {
        return Ok(());
    }
    let message = format!("input `{}` needs {}, got shape {shape:?}", port.name, describe(port));
    Err(Diagnostic::error("shape-mismatch", message))
}

fn check_tensor(port: &Port, tensor: &TensorView<'_>) -> Result<(), Diagnostic> {
    let name = &port.name;
    if tensor.dtype != port.dtype {
        let message = format!("input `{name}` needs {}, got {}", port.dtype, tensor.dtype);
        return Err(Diagnostic::error("dtype-mismatch", message));
    }
    check_rank(port, tensor.shape)?;
    let bytes = tensor
        .shape
        .iter()
        .try_fold(port.dtype.size(), |product, extent| product.checked_mul(*extent))
        .filter(|bytes| i64::try_from(*bytes).is_ok());
    if bytes != Some(tensor.bytes.len()) {
        let message = format!(
            "the tensor for input `{name}` has {} bytes, which is not the size of {}{:?}",
            tensor.bytes.len(),
            tensor.dtype,
            tensor.shape
        );
        return Err(Diagnostic::error("shape-mismatch", message));
    }
    check_values(port, tensor)
}

/// Kernels rely on the storage of narrow types: a byte each, in range.
fn check_values(port: &Port, tensor: &TensorView<'_>) -> Result<(), Diagnostic> {
    let dtype = port.dtype;
    let [first, span] = dtype.bytes();
    // A maximum of all, where a search would end early: the bytes are right, and this goes by whole vectors.
    let furthest =
        || tensor.bytes.iter().fold(0, |furthest: u8, byte| furthest.max(byte.wrapping_sub(first)));
    if dtype.size() > 1 || span == u8::MAX || furthest() <= span {
        return Ok(());
    }
    match tensor.bytes.iter().position(|byte| !dtype.holds_byte(*byte)) {
        None => Ok(()),
        Some(index) => Err(Diagnostic::error(
            "bad-value",
            format!(
                "element {index} of input `{}` is the byte {}, which is no {}",
                port.name, tensor.bytes[index], port.dtype
            ),
        )),
    }
}

/// Checks the dims of tensors that passed [`check_tensors`]. Afterwards each symbol of an input has one value, in
/// its range, and every dim agrees with its port.
pub(crate) fn check_dims(program: &HostProgram, inputs: &[TensorView<'_>]) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    // The value of each symbol and the input that gave it.
    let mut values: Vec<Option<(i64, &str)>> = vec![None; program.symbols.len()];
    let index_of = |name: &str| program.symbols.iter().position(|symbol| symbol.name == name);
    for (port, axis, dim, extent) in dims(program, inputs) {
        let Some(symbol) = dim.as_symbol().and_then(index_of) else { continue };
        match values[symbol] {
            None => {
                values[symbol] = Some((extent, &port.name));
                found.0.extend(check_range(program, symbol, extent, axis, &port.name));
            }
            Some((earlier, _)) if earlier == extent => {}
            Some((earlier, input)) => found.push(Diagnostic::error(
                "shape-mismatch",
                format!("dim `{dim}` is {earlier} in input `{input}` but {extent} in input `{}`", port.name),
            )),
        }
    }
    let lookup = |name: &str| values[index_of(name)?].map(|(value, _)| value);
    for (port, axis, dim, extent) in dims(program, inputs) {
        let needed = dim.eval(&lookup);
        if dim.as_symbol().is_some() || needed == Some(extent) {
            continue;
        }
        let shown = match (dim.as_const(), needed) {
            (Some(n), _) => n.to_string(),
            (None, Some(n)) => format!("`{dim}` = {n}"),
            (None, None) => format!("`{dim}`"),
        };
        let message = format!("dim {axis} of input `{}` needs {shown}, got {extent}", port.name);
        found.push(
            Diagnostic::error("shape-mismatch", message).note(format!("the input is {}", describe(port))),
        );
    }
    found.into_result(())
}

/// Port, axis, dim and extent of every dim of every input.
fn dims<'a>(
    program: &'a HostProgram,
    inputs: &'a [TensorView<'_>],
) -> impl Iterator<Item = (&'a Port, usize, &'a Dim, i64)> {
    program.inputs.iter().zip(inputs).flat_map(|(port, tensor)| {
        let dims = port.shape.iter().zip(tensor.shape).enumerate();
        dims.map(move |(axis, (dim, extent))| (port, axis, dim, *extent as i64))
    })
}

fn check_range(
    program: &HostProgram,
    symbol: usize,
    extent: i64,
    axis: usize,
    input: &str,
) -> Option<Diagnostic> {
    let facts = &program.symbols[symbol];
    let is = format!("dim `{}` (dim {axis} of input `{input}`) is {extent}", facts.name);
    let message = if extent < facts.min || extent > facts.max {
        format!("{is}, the model takes {} to {}", facts.min, facts.max)
    } else if extent % facts.divisor != 0 {
        format!("{is}, the model takes multiples of {}", facts.divisor)
    } else {
        return None;
    };
    Some(Diagnostic::error("shape-mismatch", message))
}

/// `f32[batch,3,224,224]`.
fn describe(port: &Port) -> String {
    let dims: Vec<String> = port.shape.iter().map(Dim::to_string).collect();
    format!("{}[{}]", port.dtype, dims.join(","))
}
