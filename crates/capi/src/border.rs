//! From a caller's pointers to Rust's slices and text, and from errors and panics to handles.
//!
//! Each function checks for null, and its safety rests on the header: what a pointer that is not null leads to is there,
//! as long and of the type that the header says, and nobody writes to it during the call.

#![allow(unsafe_code)]

use crate::dtypes::dtype;
use crate::types::{TegulaDim, TegulaError, TegulaOptions, TegulaTensor};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::mem::offset_of;
use tegula::device::machine_of;
use tegula::{Diagnostic, Diagnostics, Options, Precision, Target, TensorView};

/// Ranks beyond this are a mistake: no model has them.
const MOST_DIMS: u32 = 64;

/// Does the work; what goes wrong becomes a handle.
pub fn answer(work: impl FnOnce() -> Result<(), Diagnostics>) -> *mut TegulaError {
    match tegula::guard::guard(work) {
        Ok(()) => std::ptr::null_mut(),
        Err(found) => Box::into_raw(Box::new(TegulaError::new(&found))),
    }
}

pub fn bad(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("bad-argument", message)
}

/// What a pointer leads to. Errors: `bad-argument`, it is null.
///
/// # Safety
/// It is null or leads to a `T` that nobody writes to during the call.
pub unsafe fn shared<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Diagnostic> {
    // SAFETY: the caller's.
    unsafe { pointer.as_ref() }.ok_or_else(|| bad(format!("`{what}` is NULL")))
}

/// As [`shared`], to be changed.
///
/// # Safety
/// It is null or leads to a `T` that nobody else uses during the call.
pub unsafe fn changed<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Diagnostic> {
    // SAFETY: the caller's.
    unsafe { pointer.as_mut() }.ok_or_else(|| bad(format!("`{what}` is NULL")))
}

/// Puts a value where a pointer leads, without reading what is there.
///
/// # Safety
/// It is null or leads to room for a `T`.
pub unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Diagnostic> {
    if pointer.is_null() {
        return Err(bad(format!("`{what}` is NULL")));
    }
    // SAFETY: the caller's.
    unsafe { pointer.write(value) };
    Ok(())
}

/// `len` elements. Errors: `bad-argument`, there are some and the pointer is null, or more than memory has.
///
/// # Safety
/// It is null or leads to as many that nobody writes to while the slice lives.
pub unsafe fn slice<'a, T>(pointer: *const T, len: usize, what: &str) -> Result<&'a [T], Diagnostic> {
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(bad(format!("`{what}` is NULL")));
    }
    if !pointer.is_aligned()
        || len.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize)
    {
        return Err(bad(format!("`{what}` is no array of {len} elements")));
    }
    // SAFETY: the caller's; the length is in bounds.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// Errors: `bad-argument`, null or no UTF-8.
///
/// # Safety
/// It is null or leads to text that ends with a zero.
pub unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Diagnostic> {
    // SAFETY: the caller's.
    let text = unsafe { text_or_null(pointer, what) }?;
    text.ok_or_else(|| bad(format!("`{what}` is NULL")))
}

/// As [`text`]; `None` where it is null.
///
/// # Safety
/// As of [`text`].
pub unsafe fn text_or_null<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>, Diagnostic> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's.
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map(Some).map_err(|_| bad(format!("`{what}` is no UTF-8")))
}

/// Lengths of the options of earlier versions, and of this one: each added to the end.
const OPTIONS_SIZES: [usize; 4] = [
    offset_of!(TegulaOptions, precision),
    offset_of!(TegulaOptions, tuning),
    offset_of!(TegulaOptions, checked),
    size_of::<TegulaOptions>(),
];

/// The options as far as the caller's version has them, what it has not being zero; none: the defaults.
/// Errors: `bad-argument`, no version's size.
///
/// # Safety
/// It is null or leads to options as the header says.
pub unsafe fn given_options(given: *const TegulaOptions) -> Result<TegulaOptions, Diagnostic> {
    // SAFETY: null pointers and zeros are options.
    let mut own: TegulaOptions = unsafe { std::mem::zeroed() };
    if given.is_null() {
        return Ok(own);
    }
    // SAFETY: the first field is there in every version.
    let size = unsafe { given.cast::<usize>().read() };
    let Some(known) = OPTIONS_SIZES.into_iter().rev().find(|known| *known <= size) else {
        return Err(bad(format!("`options.size` is {size}, not sizeof(TegulaOptions)")));
    };
    // SAFETY: so many bytes are there, as the caller says, and here; they are whole fields.
    unsafe { std::ptr::copy_nonoverlapping(given.cast::<u8>(), (&raw mut own).cast::<u8>(), known) };
    Ok(own)
}

/// Options, and the threads of runs. Errors: `bad-argument`; of targets, machines and tuning records.
///
/// # Safety
/// What its pointers lead to is there as the header says.
pub unsafe fn options(given: &TegulaOptions) -> Result<(Options, usize), Diagnostics> {
    // SAFETY: the caller's.
    let target = unsafe { text_or_null(given.target, "options.target") }?;
    // SAFETY: the caller's.
    let machine = unsafe { text_or_null(given.machine, "options.machine") }?;
    // SAFETY: the caller's.
    let precision = unsafe { text_or_null(given.precision, "options.precision") }?;
    // SAFETY: the caller's.
    let tuning = unsafe { text_or_null(given.tuning, "options.tuning") }?;
    // SAFETY: the caller's.
    let dims = unsafe { named_dims(given.dims, given.n_dims) }?;
    if given.portable > 1 {
        return Err(bad(format!("`options.portable` is {}, not 0 or 1", given.portable)).into());
    }
    if given.checked > 1 {
        return Err(bad(format!("`options.checked` is {}, not 0 or 1", given.checked)).into());
    }
    let options = Options {
        target: target.map_or(Ok(Target::default()), str::parse)?,
        machine: machine.map(machine_of).transpose()?,
        portable: given.portable == 1,
        precision: precision.map_or(Ok(Precision::default()), str::parse)?,
        tuning: tuning.map(tegula::read_tuning).transpose()?,
        dims,
        checked: given.checked == 1,
        ..Options::default()
    };
    let threads = if given.threads == 0 { tegula::default_threads() } else { given.threads as usize };
    Ok((options, threads))
}

/// # Safety
/// As of [`slice`], and each name as of [`text`].
unsafe fn named_dims(dims: *const TegulaDim, n_dims: usize) -> Result<BTreeMap<String, i64>, Diagnostic> {
    let mut named = BTreeMap::new();
    // SAFETY: the caller's.
    for dim in unsafe { slice(dims, n_dims, "options.dims") }? {
        // SAFETY: the caller's.
        let name = unsafe { text(dim.name, "options.dims[].name") }?;
        if named.insert(name.to_string(), dim.value).is_some() {
            return Err(Diagnostic::error("bad-option", format!("dim `{name}` is given twice")));
        }
    }
    Ok(named)
}

/// A caller's tensor, checked as far as it can be without the model.
pub struct Input<'a> {
    pub name: Option<&'a str>,
    dtype: tegula::DType,
    pub shape: Vec<usize>,
    bytes: &'a [u8],
}

impl Input<'_> {
    pub fn view(&self) -> TensorView<'_> {
        TensorView { dtype: self.dtype, shape: &self.shape, bytes: self.bytes }
    }
}

/// A caller's tensors. `with_data`: the elements count, too.
/// Errors: `bad-argument`, all of them; tensors of which some have names and others none.
///
/// # Safety
/// The pointer leads to as many tensors as the header says.
pub unsafe fn inputs<'a>(
    tensors: *const TegulaTensor,
    n_tensors: usize,
    with_data: bool,
) -> Result<Vec<Input<'a>>, Diagnostics> {
    // SAFETY: the caller's.
    let tensors = unsafe { slice(tensors, n_tensors, "inputs") }?;
    let mut found = Diagnostics::default();
    let mut inputs = Vec::with_capacity(tensors.len());
    for (index, tensor) in tensors.iter().enumerate() {
        // SAFETY: the caller's.
        match unsafe { input(tensor, with_data) } {
            Ok(input) => inputs.push(input),
            Err(diagnostic) => found.push(diagnostic.at(format!("inputs[{index}]"))),
        }
    }
    let n_named = inputs.iter().filter(|input| input.name.is_some()).count();
    if n_named != 0 && n_named != inputs.len() {
        found.push(bad("some inputs have names and others none"));
    }
    found.into_result(inputs)
}

/// # Safety
/// The tensor's pointers are as the header says.
unsafe fn input<'a>(tensor: &'a TegulaTensor, with_data: bool) -> Result<Input<'a>, Diagnostic> {
    if tensor.rank > MOST_DIMS {
        return Err(bad(format!("`rank` is {}, at most {MOST_DIMS} is expected", tensor.rank)));
    }
    // SAFETY: the caller's.
    let name = unsafe { text_or_null(tensor.name, "name") }?;
    // SAFETY: the caller's.
    let dims = unsafe { slice(tensor.dims, tensor.rank as usize, "dims") }?;
    let extent = |dim: &i64| usize::try_from(*dim).map_err(|_| bad(format!("a dim is {dim}")));
    let shape = dims.iter().map(extent).collect::<Result<Vec<usize>, Diagnostic>>()?;
    let len = if with_data { tensor.bytes } else { 0 };
    // SAFETY: the caller's.
    let bytes = unsafe { slice(tensor.data.cast::<u8>(), len, "data") }?;
    Ok(Input { name, dtype: dtype(tensor.dtype)?, shape, bytes })
}
