//! What crosses the border: plain structs of C, and handles.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_void};
use tegula::{Diagnostics, HostTensor, Port};

/// The version of this interface: a later library of the same number runs programs made for an earlier one.
pub const TEGULA_ABI: u32 = 1;

/// A size that a tensor or port does not know before the run.
pub const TEGULA_OPEN: i64 = -1;

/// A compiled model that is ready to run.
pub struct TegulaSession {
    pub(crate) session: tegula::Session,
    pub(crate) inputs: Vec<PortText>,
    pub(crate) outputs: Vec<PortText>,
}

/// What a run gave. Its memory is used again by the next run that it is given to.
#[derive(Default)]
pub struct TegulaOutputs {
    pub(crate) tensors: Vec<HostTensor>,
    pub(crate) names: Vec<CString>,
    pub(crate) dims: Vec<Vec<i64>>,
    /// The last run ended well.
    pub(crate) is_filled: bool,
}

/// Why a request failed.
pub struct TegulaError {
    pub(crate) code: CString,
    pub(crate) text: CString,
}

/// A value for a named size of a model.
#[repr(C)]
pub struct TegulaDim {
    pub name: *const c_char,
    pub value: i64,
}

/// How to compile or load; all zeros but `size`, or NULL in its place, is the default.
#[repr(C)]
pub struct TegulaOptions {
    /// sizeof(TegulaOptions).
    pub size: usize,
    /// Who runs kernels: "cpu", "cuda" (the first NVIDIA GPU), "sim-ptx" (a simulated one) or "sim-x86" (a
    /// simulated processor); NULL: "cpu".
    pub target: *const c_char,
    /// A machine class or machine file to compile for; NULL: what the target is. Packages have one already.
    pub machine: *const c_char,
    /// Values of named sizes; the others stay open, and each run may have its own. Packages have theirs already.
    pub dims: *const TegulaDim,
    pub n_dims: usize,
    /// Threads that share a run; 0: one a core that the process may use, of one NUMA node.
    pub threads: u32,
    /// 1: kernels for any processor, run slowly, instead of machine code.
    pub portable: u32,
    /// "f32", or "bf16", which rounds factors of products where the machine multiplies such, and keeps sums; NULL: "f32".
    /// Streaming chips have "f16" and "f16x2" in its place.
    pub precision: *const c_char,
    /// A file of tiles that `tegula tune` measured for the machine, taken in place of those chosen without measuring;
    /// NULL: none. Those of contractions that the model has not count nothing. Packages have theirs already.
    pub tuning: *const c_char,
    /// 1: a run stops at an index outside of its axis, with the node, the index and the extent, instead of clamping it.
    /// Packages are compiled one way or the other.
    pub checked: u32,
}

/// An input or output of a model. Pointers live as long as the session.
#[repr(C)]
pub struct TegulaPort {
    pub name: *const c_char,
    /// A size each; TEGULA_OPEN where it is not a number.
    pub dims: *const i64,
    /// Each size as text: "3", "batch", "2 * width + 1".
    pub sizes: *const *const c_char,
    pub rank: u32,
    /// TEGULA_F32 and its like.
    pub dtype: i32,
}

/// A dense tensor in memory, row by row in this machine's byte order. An array with strides is copied by its owner.
#[repr(C)]
pub struct TegulaTensor {
    /// Of an input, or NULL in all of them where they stand in the model's order.
    pub name: *const c_char,
    /// May be NULL where `bytes` is 0. Memory that is aligned as elements are is read where it lies.
    pub data: *const c_void,
    /// The product of the dims, times the bytes of an element.
    pub bytes: usize,
    /// `rank` sizes; may be NULL where `rank` is 0.
    pub dims: *const i64,
    pub rank: u32,
    /// TEGULA_F32 and its like.
    pub dtype: i32,
}

/// A port's facts in C's form.
pub(crate) struct PortText {
    name: CString,
    dims: Vec<i64>,
    sizes: Vec<CString>,
    /// Into `sizes`.
    pointers: Vec<*const c_char>,
    dtype: i32,
}

// SAFETY: the pointers lead into `sizes`, which is owned and never changed.
unsafe impl Send for PortText {}
// SAFETY: as above.
unsafe impl Sync for PortText {}

/// Handles are shared and handed on between threads: the header's promise, checked here.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<TegulaSession>();
    is_shared::<TegulaOutputs>();
    is_shared::<TegulaError>();
};

impl PortText {
    pub(crate) fn all(ports: &[Port]) -> Vec<PortText> {
        ports.iter().map(PortText::new).collect()
    }

    fn new(port: &Port) -> PortText {
        let sizes: Vec<CString> = port.shape.iter().map(|dim| text(&dim.to_string())).collect();
        PortText {
            name: text(&port.name),
            dims: port.shape.iter().map(|dim| dim.as_const().unwrap_or(TEGULA_OPEN)).collect(),
            pointers: sizes.iter().map(|size| size.as_ptr()).collect(),
            sizes,
            dtype: crate::dtypes::number(port.dtype),
        }
    }

    pub(crate) fn as_port(&self) -> TegulaPort {
        TegulaPort {
            name: self.name.as_ptr(),
            dims: self.dims.as_ptr(),
            sizes: self.pointers.as_ptr(),
            rank: self.sizes.len() as u32,
            dtype: self.dtype,
        }
    }
}

impl TegulaOutputs {
    /// After a run: names and dims of its tensors, in the memory of an earlier one.
    pub(crate) fn describe(&mut self, ports: &[PortText]) {
        if !self.names.iter().eq(ports.iter().map(|port| &port.name)) {
            self.names = ports.iter().map(|port| port.name.clone()).collect();
        }
        self.dims.resize_with(self.tensors.len(), Vec::new);
        for (dims, tensor) in self.dims.iter_mut().zip(&self.tensors) {
            dims.clear();
            dims.extend(tensor.shape.iter().map(|extent| *extent as i64));
        }
        self.is_filled = true;
    }

    pub(crate) fn tensor(&self, index: usize) -> Option<TegulaTensor> {
        let (tensor, dims) = (self.tensors.get(index)?, self.dims.get(index).filter(|_| self.is_filled)?);
        Some(TegulaTensor {
            name: self.names.get(index)?.as_ptr(),
            data: tensor.bytes.as_ptr().cast(),
            bytes: tensor.bytes.len(),
            dims: dims.as_ptr(),
            rank: dims.len() as u32,
            dtype: crate::dtypes::number(tensor.dtype),
        })
    }
}

impl TegulaError {
    pub(crate) fn new(found: &Diagnostics) -> TegulaError {
        let code = found.0.first().map_or("internal", |diagnostic| diagnostic.code);
        TegulaError { code: text(code), text: text(&found.to_string()) }
    }
}

/// Text of C; a zero inside of a model's name is shown as such.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).unwrap_or_default()
}
