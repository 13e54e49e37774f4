//! `tegula.compile`, `tegula.load` and `tegula.Session`.

use crate::arrays::{Input, output, without_interpreter};
use crate::dtypes;
use crate::error::{raise, refuse};
use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMemoryView, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tegula::device::machine_of;
use tegula::{Diagnostics, Options, Target, TensorView};

/// A compiled model that is ready to run. Any number of threads may run it at once.
#[pyclass(frozen, module = "tegula")]
pub struct Session {
    session: tegula::Session,
    inputs: Py<PyTuple>,
    outputs: Py<PyTuple>,
}

/// An input or output of a model: its name, element type and shape.
#[pyclass(frozen, module = "tegula", get_all)]
pub struct Port {
    name: String,
    /// As numpy or `ml_dtypes` call it: `float32`.
    dtype: &'static str,
    /// Numbers, and sizes that are open as text: `("batch", 3, "2 * width + 1")`.
    shape: Py<PyTuple>,
}

#[pymethods]
impl Port {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Port({:?}, {}, {})", self.name, self.dtype, self.shape.bind(py).repr()?))
    }
}

impl Port {
    fn all(py: Python<'_>, ports: &[tegula::Port]) -> PyResult<Py<PyTuple>> {
        let made = ports.iter().map(|port| {
            let extents = port.shape.iter().map(|dim| match dim.as_const() {
                Some(extent) => extent.into_pyobject(py).map(|extent| extent.into_any()).map_err(PyErr::from),
                None => dim.to_string().into_pyobject(py).map(|text| text.into_any()).map_err(PyErr::from),
            });
            let shape = PyTuple::new(py, extents.collect::<PyResult<Vec<_>>>()?)?.unbind();
            Py::new(py, Port { name: port.name.clone(), dtype: dtypes::name_of(port.dtype), shape })
        });
        Ok(PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?)?.unbind())
    }
}

/// Where a model or package is.
enum Source {
    Path(PathBuf),
    Bytes(Bytes),
}

impl Source {
    /// Bytes objects are shared, other buffers copied, since they may change. Errors: neither path nor bytes.
    fn new(given: &Bound<'_, PyAny>) -> PyResult<Source> {
        let is_bytes = given.is_instance_of::<PyBytes>() || given.is_instance_of::<PyByteArray>();
        if is_bytes {
            return Ok(Source::Bytes(Bytes::from_owner(given.extract::<PyBackedBytes>()?)));
        }
        if given.is_instance_of::<PyMemoryView>() {
            let copy = given.call_method0("tobytes")?;
            return Ok(Source::Bytes(Bytes::from_owner(copy.extract::<PyBackedBytes>()?)));
        }
        given.extract::<PathBuf>().map(Source::Path).map_err(|_| {
            let kind = given.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
            let message = format!("a model is given by its path or as bytes, not as Python's type `{kind}`");
            refuse(given.py(), "wrong-kind", message)
        })
    }
}

/// Compiles an ONNX model, given by its path or as bytes, and makes it ready to run.
///
/// target: who runs it: "cpu" (the default), "cuda", "sim-ptx" (a simulated GPU) or
/// "sim-x86" (a simulated processor).
/// machine: a machine class (`tegula machine list` shows them) or a machine file; default: what the target is.
/// dims: values for named sizes of the model; the others stay open, and each run may have its own.
/// threads: threads of a run; default: one a core that the process may use, of one NUMA node.
/// portable: kernels for any processor, run slowly, instead of machine code.
/// precision: "f32", or "bf16", which rounds factors of products where the machine multiplies such, and keeps sums.
/// Streaming chips have "f16" and "f16x2" in its place.
/// tuning: a file of tiles that `tegula tune` measured for the machine, taken in place of those chosen without measuring.
/// Those of contractions that the model has not count nothing.
/// checked: a run stops at an index outside of its axis, with the node, the index and the extent, instead of clamping it.
///
/// Raises tegula.Error with every reason why the model cannot be compiled.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
#[pyo3(signature = (model, *, target = None, machine = None, dims = None, threads = None, portable = false, precision = "f32", tuning = None, checked = false))]
pub fn compile(
    py: Python<'_>,
    model: &Bound<'_, PyAny>,
    target: Option<&str>,
    machine: Option<PathBuf>,
    dims: Option<BTreeMap<String, i64>>,
    threads: Option<usize>,
    portable: bool,
    precision: &str,
    tuning: Option<PathBuf>,
    checked: bool,
) -> PyResult<Session> {
    let source = Source::new(model)?;
    let threads = count(py, threads)?;
    let target = target_of(py, target)?;
    let session = without_interpreter(py, move || {
        let machine = machine.map(|name| machine_of(&name.to_string_lossy())).transpose()?;
        let precision = precision.parse()?;
        let options = Options {
            target,
            machine,
            portable,
            precision,
            tuning: tuning.map(tegula::read_tuning).transpose()?,
            dims: dims.unwrap_or_default(),
            checked,
            ..Options::default()
        };
        let compiled = match source {
            Source::Path(path) => tegula::compile(path, &options)?,
            Source::Bytes(bytes) => tegula::compile_bytes(bytes, &options)?,
        };
        compiled.session(threads)
    })?;
    Session::new(py, session)
}

/// Loads a package that `Session.save` or `tegula compile` wrote, given by its path or as bytes.
/// The file must not change while the session lives.
#[pyfunction]
#[pyo3(signature = (package, *, target = None, threads = None))]
pub fn load(
    py: Python<'_>,
    package: &Bound<'_, PyAny>,
    target: Option<&str>,
    threads: Option<usize>,
) -> PyResult<Session> {
    let source = Source::new(package)?;
    let threads = count(py, threads)?;
    let target = target_of(py, target)?;
    let session = without_interpreter(py, move || match source {
        Source::Path(path) => tegula::load(path, target, threads),
        Source::Bytes(bytes) => tegula::load_bytes(bytes, target, threads),
    })?;
    Session::new(py, session)
}

fn target_of(py: Python<'_>, name: Option<&str>) -> PyResult<Target> {
    match name {
        Some(name) => name.parse().map_err(|found: tegula::Diagnostic| raise(py, &found.into())),
        None => Ok(Target::default()),
    }
}

fn count(py: Python<'_>, threads: Option<usize>) -> PyResult<usize> {
    match threads {
        Some(0) => Err(refuse(py, "bad-option", "`threads` is a number, 1 or more")),
        Some(threads) => Ok(threads),
        None => Ok(tegula::default_threads()),
    }
}

impl Session {
    fn new(py: Python<'_>, session: tegula::Session) -> PyResult<Session> {
        let inputs = Port::all(py, session.inputs())?;
        let outputs = Port::all(py, session.outputs())?;
        Ok(Session { session, inputs, outputs })
    }
}

#[pymethods]
impl Session {
    /// The model's inputs in its order.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> Py<PyTuple> {
        self.inputs.clone_ref(py)
    }

    /// The model's outputs in its order.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Py<PyTuple> {
        self.outputs.clone_ref(py)
    }

    /// Threads that share a run.
    #[getter]
    fn threads(&self) -> usize {
        self.session.threads()
    }

    /// Runs the model on its inputs by name; gives its outputs by name, as arrays that own their memory.
    ///
    /// An input is a numpy array or what has DLPack, the buffer protocol or `__array__`; its memory is read where it
    /// lies, unless its elements do not lie row by row. Nothing else may write to it meanwhile.
    ///
    /// Raises tegula.Error where an input is missing, unknown, or of another element type or shape.
    fn run<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let mut named = Vec::with_capacity(inputs.len());
        for (name, value) in inputs.iter() {
            let Ok(name) = name.extract::<String>() else {
                let message = format!("inputs are given by name, and {} is none", name.repr()?);
                return Err(refuse(py, "unknown-input", message));
            };
            let input = Input::new(&name, &value)?;
            named.push((name, input));
        }
        let views = named.iter().map(|(name, input)| Ok((name.as_str(), input.view()?)));
        let views = views.collect::<PyResult<Vec<(&str, TensorView<'_>)>>>()?;
        let tensors = without_interpreter(py, || self.session.run_views(&views))?;
        let outputs = PyDict::new(py);
        for (port, tensor) in self.session.outputs().iter().zip(tensors) {
            outputs.set_item(&port.name, output(py, tensor)?)?;
        }
        Ok(outputs)
    }

    /// Writes the compiled model to a package file, which `tegula.load` and the command `tegula` read.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        without_interpreter(py, || tegula::save(&self.session, path).map_err(Diagnostics::from))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (inputs, outputs) = (self.inputs.bind(py).repr()?, self.outputs.bind(py).repr()?);
        Ok(format!("Session(inputs={inputs}, outputs={outputs}, threads={})", self.session.threads()))
    }
}
