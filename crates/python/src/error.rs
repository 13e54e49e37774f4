//! Diagnostics as a Python exception.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tegula::{Diagnostic, Diagnostics};

create_exception!(
    tegula,
    Error,
    PyException,
    "What is wrong with a model, an input or a request. `str` gives the report; `code` the first error's code, `codes` all of them."
);

/// The exception of a report: its text, and the codes of what was found.
pub fn raise(py: Python<'_>, found: &Diagnostics) -> PyErr {
    let error = Error::new_err(found.to_string());
    let codes: Vec<&str> = found.0.iter().map(|diagnostic| diagnostic.code).collect();
    let instance = error.value(py);
    let attributes = instance
        .setattr("code", codes.first().copied().unwrap_or("internal"))
        .and_then(|()| instance.setattr("codes", codes));
    attributes.err().unwrap_or(error)
}

/// One finding as an exception.
pub fn refuse(py: Python<'_>, code: &'static str, message: impl Into<String>) -> PyErr {
    raise(py, &Diagnostic::error(code, message).into())
}
