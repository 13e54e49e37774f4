//! The driver's own compiler: PTX to a cubin, with what it says on the way.

use super::api::{Api, Handle, Status};
use super::device::Device;
use std::ffi::{c_char, c_uint, c_void};
use tegula_base::Diagnostic;

/// Numbers of `CUjit_option`.
const INFO_LOG: c_uint = 3;
const INFO_LOG_BYTES: c_uint = 4;
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;
const LOG_VERBOSE: c_uint = 12;
/// `CU_JIT_INPUT_PTX`.
const INPUT_PTX: c_uint = 1;
/// Bytes of a log at most; the compiler cuts what is longer.
const LOG_BYTES: usize = 16 << 10;

/// Where the compiler writes what it has to say.
struct Logs {
    info: Vec<u8>,
    error: Vec<u8>,
}

impl Logs {
    fn new() -> Logs {
        Logs { info: vec![0; LOG_BYTES], error: vec![0; LOG_BYTES] }
    }

    /// Options and their values: numbers stand for themselves. The values point into `self`.
    fn options(&mut self) -> ([c_uint; 5], [*mut c_void; 5]) {
        let bytes = std::ptr::without_provenance_mut::<c_void>(LOG_BYTES);
        let one = std::ptr::without_provenance_mut::<c_void>(1);
        (
            [INFO_LOG, INFO_LOG_BYTES, ERROR_LOG, ERROR_LOG_BYTES, LOG_VERBOSE],
            [self.info.as_mut_ptr().cast(), bytes, self.error.as_mut_ptr().cast(), bytes, one],
        )
    }

    /// The lines of both logs, errors first.
    fn lines(&self) -> Vec<String> {
        let text = |log: &[u8]| {
            let len = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            String::from_utf8_lossy(&log[..len]).into_owned()
        };
        let all = format!("{}\n{}", text(&self.error), text(&self.info));
        all.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_string).collect()
    }

    fn refuse(&self, api: &Api, call: &str, status: Status) -> Result<(), Diagnostic> {
        api.check(call, status).map_err(|error| {
            if error.code == "out-of-memory" {
                return error;
            }
            let found = Diagnostic::error("gpu-compile", "the GPU's driver cannot compile it");
            let noted = found.note(error.message);
            self.lines().into_iter().fold(noted, Diagnostic::note)
        })
    }
}

/// Compiles PTX for the device of the current context. Errors: `gpu-compile` with the compiler's log.
pub(super) fn compile(device: &Device, text: &str) -> Result<Vec<u8>, Diagnostic> {
    let api = &device.api;
    let text = terminated(text);
    let mut logs = Logs::new();
    let (options, values) = logs.options();
    let mut linker = Handle::NULL;
    // SAFETY: options and values are lists of that length; the logs they name live until the linker is destroyed.
    let status =
        unsafe { (api.link_create)(options.len() as c_uint, options.as_ptr(), values.as_ptr(), &mut linker) };
    logs.refuse(api, "cuLinkCreate", status)?;
    let linker = Linker { api, handle: linker };
    // SAFETY: `text` has that length and ends with zero; the driver copies it.
    let status = unsafe {
        (api.link_add)(
            linker.handle,
            INPUT_PTX,
            text.as_ptr().cast(),
            text.len(),
            c"kernel".as_ptr(),
            0,
            std::ptr::null(),
            std::ptr::null(),
        )
    };
    logs.refuse(api, "cuLinkAddData", status)?;
    let (mut cubin, mut bytes) = (std::ptr::null(), 0);
    // SAFETY: both are where the driver writes.
    logs.refuse(api, "cuLinkComplete", unsafe {
        (api.link_complete)(linker.handle, &mut cubin, &mut bytes)
    })?;
    // SAFETY: the linker owns that many bytes there until it is destroyed, below.
    Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec())
}

/// Loads a cubin, or PTX that ends with zero. Errors: `gpu-compile` with the compiler's log.
pub(super) fn load(device: &Device, image: &[u8]) -> Result<Handle, Diagnostic> {
    let mut logs = Logs::new();
    let (options, values) = logs.options();
    let mut module = Handle::NULL;
    // SAFETY: the image is whole, as its callers promise by its type (what the linker made, or text with its zero);
    // options and values are lists of that length, and the logs live through the call.
    let status = unsafe {
        (device.api.module_load)(
            &mut module,
            image.as_ptr().cast(),
            options.len() as c_uint,
            options.as_ptr(),
            values.as_ptr(),
        )
    };
    logs.refuse(&device.api, "cuModuleLoadData", status)?;
    Ok(module)
}

/// The text as the driver wants it.
pub(super) fn terminated(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

struct Linker<'a> {
    api: &'a Api,
    handle: Handle,
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `compile`. What cannot be given back stays with the process.
        let _ = unsafe { (self.api.link_destroy)(self.handle) };
    }
}

/// Names are C strings.
pub(super) fn c_name(name: &str) -> Vec<c_char> {
    name.bytes().filter(|byte| *byte != 0).chain([0]).map(|byte| byte as c_char).collect()
}
