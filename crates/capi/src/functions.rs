//! The functions of the header. Their comments stand there: they are written for callers in C.

#![allow(unsafe_code)]
// What each pointer must be is said once, at the header's top and in the structs.
#![allow(clippy::missing_safety_doc)]

use crate::border::{Input, answer, bad, changed, given_options, inputs, options, put, shared, slice, text};
use crate::types::{
    PortText, TEGULA_ABI, TEGULA_OPEN, TegulaError, TegulaOptions, TegulaOutputs, TegulaPort, TegulaSession,
    TegulaTensor,
};
use bytes::Bytes;
use std::ffi::{c_char, c_void};
use std::ptr;
use tegula::{Diagnostics, TensorView};

/// TEGULA_ABI of the library that is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn tegula_abi() -> u32 {
    TEGULA_ABI
}

/// The library's version, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tegula_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The first error's code, such as "shape-mismatch"; it lives as long as the error. NULL of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_error_code(error: *const TegulaError) -> *const c_char {
    // SAFETY: a handle of ours, or null.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.code.as_ptr())
}

/// The whole report; it lives as long as the error. NULL of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_error_text(error: *const TegulaError) -> *const c_char {
    // SAFETY: a handle of ours, or null.
    unsafe { error.as_ref() }.map_or(ptr::null(), |error| error.text.as_ptr())
}

/// NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_error_free(error: *mut TegulaError) {
    if !error.is_null() {
        // SAFETY: a handle that `answer` made.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// Compiles a model file and makes it ready to run. Free the session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_compile(
    path: *const c_char,
    options: *const TegulaOptions,
    session: *mut *mut TegulaSession,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: text or null.
        let path = unsafe { text(path, "path") }?;
        // SAFETY: options or null.
        let given = unsafe { given_options(options) }?;
        // SAFETY: its pointers are the caller's.
        let (options, threads) = unsafe { self::options(&given) }?;
        // SAFETY: room for a pointer, or null.
        unsafe { ready(session, || tegula::compile(path, &options)?.session(threads)) }
    })
}

/// As tegula_compile, of a model in memory. Data beside its file is not found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_compile_bytes(
    model: *const c_void,
    bytes: usize,
    options: *const TegulaOptions,
    session: *mut *mut TegulaSession,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: as many bytes, or null.
        let model = unsafe { slice(model.cast::<u8>(), bytes, "model") }?;
        // SAFETY: options or null.
        let given = unsafe { given_options(options) }?;
        // SAFETY: its pointers are the caller's.
        let (options, threads) = unsafe { self::options(&given) }?;
        let compile = || tegula::compile_bytes(Bytes::copy_from_slice(model), &options)?.session(threads);
        // SAFETY: room for a pointer, or null.
        unsafe { ready(session, compile) }
    })
}

/// Loads a package file, which must not change while the session lives. Of the options `target` and `threads` count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_load(
    path: *const c_char,
    options: *const TegulaOptions,
    session: *mut *mut TegulaSession,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: text or null.
        let path = unsafe { text(path, "path") }?;
        // SAFETY: options or null.
        let (options, threads) = unsafe { loading(options) }?;
        // SAFETY: room for a pointer, or null.
        unsafe { ready(session, || tegula::load(path, options.target, threads)) }
    })
}

/// As tegula_load, of a package in memory, which is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_load_bytes(
    package: *const c_void,
    bytes: usize,
    options: *const TegulaOptions,
    session: *mut *mut TegulaSession,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: as many bytes, or null.
        let package = unsafe { slice(package.cast::<u8>(), bytes, "package") }?;
        // SAFETY: options or null.
        let (options, threads) = unsafe { loading(options) }?;
        let load = || tegula::load_bytes(Bytes::copy_from_slice(package), options.target, threads);
        // SAFETY: room for a pointer, or null.
        unsafe { ready(session, load) }
    })
}

/// Options without those that only compiling has. Errors: one of these is given.
///
/// # Safety
/// As of [`options`].
unsafe fn loading(given: *const TegulaOptions) -> Result<(tegula::Options, usize), Diagnostics> {
    // SAFETY: the caller's.
    let given = unsafe { given_options(given) }?;
    let is_tuned = !given.tuning.is_null();
    // SAFETY: the caller's. No record is read: it would be none for the package.
    let (options, threads) = unsafe { options(&TegulaOptions { tuning: ptr::null(), ..given }) }?;
    let is_changed = options.portable || options.checked || options.precision != tegula::Precision::default();
    if options.machine.is_some() || is_tuned || !options.dims.is_empty() || is_changed {
        let message = "a package is compiled already: it takes no machine, dims, `portable`, `checked`, precision or tuning";
        return Err(tegula::Diagnostic::error("bad-option", message).into());
    }
    Ok((options, threads))
}

/// Makes a session and puts it where the caller wants it.
///
/// # Safety
/// The pointer is null or leads to room for a pointer.
unsafe fn ready(
    slot: *mut *mut TegulaSession,
    make: impl FnOnce() -> Result<tegula::Session, Diagnostics>,
) -> Result<(), Diagnostics> {
    if slot.is_null() {
        return Err(bad("`session` is NULL").into());
    }
    let session = make()?;
    let (inputs, outputs) = (PortText::all(session.inputs()), PortText::all(session.outputs()));
    let handle = Box::into_raw(Box::new(TegulaSession { session, inputs, outputs }));
    // SAFETY: the caller's, and not null.
    Ok(unsafe { put(slot, handle, "session") }?)
}

/// No thread may run it any more. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_free(session: *mut TegulaSession) {
    if !session.is_null() {
        // SAFETY: a handle that `ready` made.
        drop(unsafe { Box::from_raw(session) });
    }
}

/// Writes the compiled model to a package file: whole, or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_save(
    session: *const TegulaSession,
    path: *const c_char,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let session = unsafe { shared(session, "session") }?;
        // SAFETY: text or null.
        let path = unsafe { text(path, "path") }?;
        Ok(tegula::save(&session.session, path)?)
    })
}

/// How many inputs the model has; 0 of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_inputs(session: *const TegulaSession) -> usize {
    // SAFETY: a handle of ours, or null.
    unsafe { session.as_ref() }.map_or(0, |session| session.inputs.len())
}

/// How many outputs the model has; 0 of NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_outputs(session: *const TegulaSession) -> usize {
    // SAFETY: a handle of ours, or null.
    unsafe { session.as_ref() }.map_or(0, |session| session.outputs.len())
}

/// Name, element type and sizes of an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_input(
    session: *const TegulaSession,
    index: usize,
    port: *mut TegulaPort,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let session = unsafe { shared(session, "session") }?;
        let found = session.inputs.get(index);
        let found = found.ok_or_else(|| bad(format!("there is no input {index}")))?;
        // SAFETY: room for a port, or null.
        Ok(unsafe { put(port, found.as_port(), "port") }?)
    })
}

/// Name, element type and sizes of an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_output(
    session: *const TegulaSession,
    index: usize,
    port: *mut TegulaPort,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let session = unsafe { shared(session, "session") }?;
        let found = session.outputs.get(index);
        let found = found.ok_or_else(|| bad(format!("there is no output {index}")))?;
        // SAFETY: room for a port, or null.
        Ok(unsafe { put(port, found.as_port(), "port") }?)
    })
}

/// The sizes of an output for inputs of these shapes, whose data is not looked at: `rank` sizes of that output's port
/// into `dims`, TEGULA_OPEN where a size depends on the inputs' elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_output_dims(
    session: *const TegulaSession,
    inputs: *const TegulaTensor,
    n_inputs: usize,
    output: usize,
    dims: *mut i64,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let session = &unsafe { shared(session, "session") }?.session;
        // SAFETY: as many tensors, or null.
        let given = unsafe { self::inputs(inputs, n_inputs, false) }?;
        let views = in_order(session, &given)?;
        let shapes: Vec<&[usize]> = views.iter().map(|view| view.shape).collect();
        let found = session.output_shapes(&shapes)?;
        let found = found.get(output).ok_or_else(|| bad(format!("there is no output {output}")))?;
        for (axis, extent) in found.iter().enumerate() {
            let extent = extent.map_or(TEGULA_OPEN, |extent| extent as i64);
            // SAFETY: room for the port's rank, or null.
            let place = if dims.is_null() { dims } else { unsafe { dims.add(axis) } };
            // SAFETY: as above.
            unsafe { put(place, extent, "dims") }?;
        }
        Ok(())
    })
}

/// An empty place for what runs give. Free it.
#[unsafe(no_mangle)]
pub extern "C" fn tegula_outputs_new() -> *mut TegulaOutputs {
    Box::into_raw(Box::default())
}

/// NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_outputs_free(outputs: *mut TegulaOutputs) {
    if !outputs.is_null() {
        // SAFETY: a handle that `tegula_outputs_new` made.
        drop(unsafe { Box::from_raw(outputs) });
    }
}

/// An output of the last run; its pointers live until the next run with these outputs, or until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_outputs_get(
    outputs: *const TegulaOutputs,
    index: usize,
    tensor: *mut TegulaTensor,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let outputs = unsafe { shared(outputs, "outputs") }?;
        let found = outputs.tensor(index).ok_or_else(|| bad(format!("there is no output {index}")))?;
        // SAFETY: room for a tensor, or null.
        Ok(unsafe { put(tensor, found, "tensor") }?)
    })
}

/// Runs the model. What the outputs held is gone; where it is large enough its memory is used again, so that a run of
/// shapes that were run before needs no more. After an error they hold none. No input may lie in these outputs' memory:
/// what one run gives to the next is kept in outputs of its own, two of them in turn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_run(
    session: *const TegulaSession,
    inputs: *const TegulaTensor,
    n_inputs: usize,
    outputs: *mut TegulaOutputs,
) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        let session = unsafe { shared(session, "session") }?;
        // SAFETY: a handle of ours that no other thread uses, or null.
        let outputs = unsafe { changed(outputs, "outputs") }?;
        // Until the run is done there are none to be got.
        outputs.is_filled = false;
        // SAFETY: as many tensors, or null.
        let given = unsafe { self::inputs(inputs, n_inputs, true) }?;
        let views = in_order(&session.session, &given)?;
        let shares = |bytes: &[u8], memory: &Vec<u8>| {
            let (start, room) = (memory.as_ptr().addr(), memory.capacity());
            let (first, length) = (bytes.as_ptr().addr(), bytes.len());
            first < start + room && start < first + length
        };
        let overlaps =
            |view: &TensorView| outputs.tensors.iter().any(|output| shares(view.bytes, &output.bytes));
        if let Some(index) = views.iter().position(overlaps) {
            return Err(bad(format!(
                "input {index} lies in the memory of the outputs that the run fills: give it other outputs"
            ))
            .into());
        }
        session.session.run_into(&views, &mut outputs.tensors)?;
        outputs.describe(&session.outputs);
        Ok(())
    })
}

/// Ends the runs in progress with an error of code "run-stopped".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tegula_session_stop(session: *const TegulaSession) -> *mut TegulaError {
    answer(|| {
        // SAFETY: a handle of ours, or null.
        unsafe { shared(session, "session") }?.session.stop();
        Ok(())
    })
}

/// Tensors in the model's order, by their names where they have some.
fn in_order<'a>(
    session: &'a tegula::Session,
    given: &'a [Input<'a>],
) -> Result<Vec<TensorView<'a>>, Diagnostics> {
    let named: Option<Vec<(&str, TensorView<'_>)>> =
        given.iter().map(|input| Some((input.name?, input.view()))).collect();
    match named {
        Some(named) => session.in_order(&named),
        None => Ok(given.iter().map(Input::view).collect()),
    }
}
