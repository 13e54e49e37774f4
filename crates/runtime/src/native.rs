//! Runtime kernels: named Rust functions for rare operations whose control flow depends on data.
//!
//! In: operands and results as byte slices with dtype and shape (`docs/abi.md`, "Runtime kernels").
//! All code here is safe; the interpreter makes the slices and makes sure that results overlap nothing.
//! A new kernel is one row in `REGISTRY` and one file.

mod count;
mod det;
mod nms;
mod nonzero;
mod order;
mod topk;
mod unique;

use crate::stop::Running;
use serde::Deserialize;
use serde_json::Value;
use tegula_base::{DType, Diagnostic};

/// A dense row-major tensor; `bytes.len()` is the product of `shape` and the element's size.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: &'a [u8],
}

#[derive(Debug)]
pub struct ViewMut<'a> {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: &'a mut [u8],
}

/// What a launch gives to a runtime kernel.
#[derive(Debug)]
pub struct RuntimeKernelArgs<'a> {
    pub operands: Vec<View<'a>>,
    pub results: Vec<ViewMut<'a>>,
    /// The size arguments behind the dims.
    pub scalars: Vec<i64>,
    /// Work that grows faster than memory ends early when the run was stopped; its results are then not looked at.
    pub running: Running<'a>,
}

/// A prepared runtime kernel.
pub trait RuntimeKernel: Send + Sync {
    /// Errors: what is wrong with the data, in the user's words.
    fn run(&self, args: RuntimeKernelArgs<'_>) -> Result<(), String>;
}

/// Dtype and rank of one operand or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub dtype: DType,
    pub rank: usize,
}

/// The shape of a call, from the kernel's `attrs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub operands: Vec<Slot>,
    pub results: Vec<Slot>,
}

/// Checks the signature and parameters of one kernel. Errors: what does not fit.
type Prepare = fn(&Signature, &Params) -> Result<Box<dyn RuntimeKernel>, String>;

/// All runtime kernels by name; the names are part of the package format, so rows are never renamed.
const REGISTRY: &[(&str, Prepare)] = &[
    ("det", det::prepare),
    ("non_max_suppression", nms::prepare),
    ("nonzero", nonzero::prepare),
    ("nonzero_count", nonzero::prepare_count),
    ("topk", topk::prepare),
    ("unique", unique::prepare),
    ("unique_count", unique::prepare_count),
];

/// The names of all runtime kernels, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().map(|(name, _)| *name)
}

/// A runtime kernel and how to call it.
pub struct Native {
    pub name: &'static str,
    pub signature: Signature,
    pub kernel: Box<dyn RuntimeKernel>,
}

/// Finds and configures a kernel. Errors: no such kernel (a newer package), or attributes that do not fit it.
pub fn prepare(name: &str, attrs: &str) -> Result<Native, Diagnostic> {
    let Some((name, prepare)) = REGISTRY.iter().find(|(known, _)| *known == name) else {
        return Err(Diagnostic::error("package-newer", format!("there is no runtime kernel `{name}`"))
            .help("update Tegula, or compile the model again with this version"));
    };
    let misfit = |reason: String| {
        Diagnostic::error("package-invalid", format!("the attributes of runtime kernel `{name}` do not fit"))
            .note(reason)
    };
    let attrs: Attrs = serde_json::from_str(attrs).map_err(|error| misfit(error.to_string()))?;
    let slots = |list: Vec<SlotAttrs>| -> Result<Vec<Slot>, String> {
        list.into_iter().map(|slot| Ok(Slot { dtype: slot.dtype.parse()?, rank: slot.rank })).collect()
    };
    let signature = Signature {
        operands: slots(attrs.operands).map_err(misfit)?,
        results: slots(attrs.results).map_err(misfit)?,
    };
    let kernel = prepare(&signature, &Params(attrs.params)).map_err(misfit)?;
    Ok(Native { name, signature, kernel })
}

#[derive(Deserialize)]
struct Attrs {
    operands: Vec<SlotAttrs>,
    results: Vec<SlotAttrs>,
    #[serde(default)]
    params: Value,
}

#[derive(Deserialize)]
struct SlotAttrs {
    dtype: String,
    rank: usize,
}

/// The `params` object of a kernel's attributes.
pub struct Params(Value);

impl Params {
    fn int(&self, name: &str) -> Result<i64, String> {
        self.0.get(name).and_then(Value::as_i64).ok_or_else(|| format!("`{name}` must be an integer"))
    }

    fn bool(&self, name: &str) -> Result<bool, String> {
        self.0.get(name).and_then(Value::as_bool).ok_or_else(|| format!("`{name}` must be a bool"))
    }

    /// An axis in `[0, rank)`; `None` when absent or null.
    fn axis(&self, rank: usize) -> Result<Option<usize>, String> {
        match self.0.get("axis") {
            None | Some(Value::Null) => Ok(None),
            Some(_) => {
                let axis = self.int("axis")?;
                let index = usize::try_from(axis).ok().filter(|axis| *axis < rank);
                index.map(Some).ok_or_else(|| format!("axis {axis} is outside of rank {rank}"))
            }
        }
    }
}

/// Compares a slot list with what the kernel takes; `None` stands for any dtype or rank.
fn expect_slots(
    what: &str,
    slots: &[Slot],
    expected: &[(Option<DType>, Option<usize>)],
) -> Result<(), String> {
    if slots.len() != expected.len() {
        return Err(format!("{} {what} are needed, got {}", expected.len(), slots.len()));
    }
    for (i, (slot, (dtype, rank))) in slots.iter().zip(expected).enumerate() {
        if dtype.is_some_and(|dtype| dtype != slot.dtype) || rank.is_some_and(|rank| rank != slot.rank) {
            return Err(format!("{what} {i} cannot be {} of rank {}", slot.dtype, slot.rank));
        }
    }
    Ok(())
}

/// Element `index` of an i64 slice of bytes.
fn read_i64(bytes: &[u8], index: usize) -> i64 {
    i64::from_le_bytes(bytes[8 * index..8 * index + 8].try_into().expect("invariant: eight bytes"))
}

fn write_i64(bytes: &mut [u8], index: usize, value: i64) {
    bytes[8 * index..8 * index + 8].copy_from_slice(&value.to_le_bytes());
}

/// The bytes of a dense tensor. `None` when they, or the extents that are not 0 alone, are more than memory has: no
/// product of some extents of a tensor that passed overflows.
pub(crate) fn checked_bytes(dtype: DType, shape: &[usize]) -> Option<usize> {
    let mut extents = shape.iter().filter(|extent| **extent > 0);
    let bytes = extents.try_fold(dtype.size(), |product, extent| product.checked_mul(*extent))?;
    let bytes = Some(bytes).filter(|bytes| *bytes <= isize::MAX as usize)?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}

/// An empty vector with room for some items. Errors: there is no memory for them.
fn room<T>(items: usize) -> Result<Vec<T>, String> {
    let mut list = Vec::new();
    list.try_reserve_exact(items).map_err(|_| format!("no memory for {items} elements"))?;
    Ok(list)
}

/// The items in a vector. Errors: there is no memory for them.
fn gather<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, String> {
    let mut list = room(items.len())?;
    list.extend(items);
    Ok(list)
}

/// Elements before, along and behind an axis.
fn split_at_axis(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

#[cfg(test)]
mod tests;
