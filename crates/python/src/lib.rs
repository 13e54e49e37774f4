//! The Python module `tegula`: compile, load and run, with numpy arrays in and out.
//!
//! ```text
//!   path or bytes ─► compile ─► Session ─► run: arrays ─► views of their memory ─► arrays over the results' memory
//! ```
//! In: Python's objects.  Out: Python's objects, or `tegula.Error` with the diagnostics' text.
//! May use: tegula.  Never knows: how anything is done; what is more than a binding belongs to `tegula`.
//! Start reading at `session.rs`, then `arrays.rs`.
//!
//! The Python side (`python/tegula`) has the types' stubs and the face in the manner of ONNX Runtime.

// A test executable has no interpreter behind it: as one, this crate is empty.
#[cfg(not(test))]
mod arrays;
#[cfg(not(test))]
mod dtypes;
#[cfg(not(test))]
mod error;
#[cfg(not(test))]
mod session;

#[cfg(not(test))]
use pyo3::prelude::*;

#[cfg(not(test))]
#[pymodule(name = "_tegula")]
fn tegula_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::Port>()?;
    module.add_function(wrap_pyfunction!(session::compile, module)?)?;
    module.add_function(wrap_pyfunction!(session::load, module)?)?;
    Ok(())
}
