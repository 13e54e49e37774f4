//! Arrays in and out without a copy where memory allows: an input's bytes are read where they lie, an output's array
//! owns the memory that the run wrote.
//!
//! While a run goes on the interpreter is free for other threads; one that writes to an input then gives the run a
//! mixture of old and new values, as with numpy's own functions.

use crate::error::refuse;
use crate::{dtypes, error};
use numpy::{
    PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use pyo3::{IntoPyObjectExt, intern};
use tegula::{DType, Diagnostics, HostTensor, TensorView};

/// An input's bytes, held for reading.
pub struct Input<'py> {
    dtype: DType,
    shape: Vec<usize>,
    bytes: PyReadonlyArray1<'py, u8>,
}

impl<'py> Input<'py> {
    /// Takes an array, or what gives one without a copy: DLPack, the buffer protocol, `__array__`. Elements that do not
    /// lie row by row in this machine's byte order are copied.
    /// Errors: it gives no array, or one of another kind than tensors are.
    pub fn new(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        let py = value.py();
        let array = array(name, value)?;
        let descr = array.dtype();
        let Some(dtype) = dtypes::of(&descr) else {
            let message = format!("input `{name}` is an array of {}, which no tensor is", descr.str()?);
            return Err(refuse(py, "dtype-mismatch", message));
        };
        let is_native = descr.is_native_byteorder().unwrap_or(true);
        let dense = if dtypes::is_masked(dtype) {
            array.call_method1(intern!(py, "astype"), ("int8", "C"))?
        } else if array.is_c_contiguous() && is_native {
            array.clone().into_any()
        } else {
            let native = descr.call_method1(intern!(py, "newbyteorder"), ("=",))?;
            array.call_method1(intern!(py, "astype"), (native, "C"))?
        };
        let flat = dense.call_method1(intern!(py, "reshape"), (-1,))?;
        let bytes = flat.call_method1(intern!(py, "view"), (u8_type(py)?,))?.cast_into::<PyArray1<u8>>()?;
        Ok(Input { dtype, shape: array.shape().to_vec(), bytes: bytes.try_readonly()? })
    }

    /// The memory as the runtime takes it.
    pub fn view(&self) -> PyResult<TensorView<'_>> {
        Ok(TensorView { dtype: self.dtype, shape: &self.shape, bytes: self.bytes.as_slice()? })
    }
}

/// The value as an array.
fn array<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = value.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    let has = |name: &str| value.hasattr(name);
    let made = if has("__dlpack__")? {
        numpy.call_method1(intern!(py, "from_dlpack"), (value,))
    } else if is_buffer(value)? || has("__array__")? || has("__array_interface__")? {
        numpy.call_method1(intern!(py, "asarray"), (value,))
    } else {
        let kind = value.get_type().name()?;
        let message = format!(
            "input `{name}` is of Python's type `{kind}`: it must be a numpy array, or have DLPack or the buffer protocol"
        );
        return Err(refuse(py, "wrong-kind", message));
    };
    let made = made.map_err(|error| {
        refuse(py, "wrong-kind", format!("input `{name}` gives no array in this machine's memory: {error}"))
    })?;
    Ok(made.cast_into::<PyUntypedArray>()?)
}

fn is_buffer(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let made = py.import(intern!(py, "builtins"))?.call_method1(intern!(py, "memoryview"), (value,));
    Ok(made.is_ok())
}

/// An array that owns the tensor's memory. Errors: `missing-package` where numpy alone has no such array.
pub fn output(py: Python<'_>, tensor: HostTensor) -> PyResult<Bound<'_, PyAny>> {
    let descr = dtypes::to_numpy(py, tensor.dtype)?;
    let bytes = PyArray1::from_vec(py, tensor.bytes);
    let elements = if dtypes::is_masked(tensor.dtype) {
        let signed = bytes.call_method1(intern!(py, "view"), ("int8",))?;
        signed.call_method1(intern!(py, "astype"), (descr,))?
    } else {
        bytes.call_method1(intern!(py, "view"), (descr,))?
    };
    elements.call_method1(intern!(py, "reshape"), (PyTuple::new(py, tensor.shape)?,))
}

/// `numpy.uint8`, looked up once.
fn u8_type(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static TYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let found = TYPE.get_or_try_init(py, || numpy::dtype::<u8>(py).into_py_any(py))?;
    Ok(found.bind(py))
}

/// Runs what needs no interpreter; a report becomes an exception.
pub fn without_interpreter<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Diagnostics> + Send,
) -> PyResult<T> {
    py.detach(|| tegula::guard::guard(work)).map_err(|found| error::raise(py, &found))
}
