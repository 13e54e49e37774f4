//! Code on a card: PTX that the driver compiles as one whole program, with what its compiler says on the way.
//!
//! Not by the driver's linker (`cuLinkAddData`), which compiles parts to be linked: `ptxas` then ignores `setmaxnreg` and
//! waits for each product of a warpgroup (its remarks C7504 and C7509), and attention took twice its time on an H200.
//! The driver itself keeps what it compiled, in the folder that `CUDA_CACHE_PATH` names (CUDA C++ Programming Guide,
//! "Just-in-Time Compilation").

use super::api::{Api, Handle, Status};
use super::device::Device;
use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;
use tegula_base::Diagnostic;

pub(super) struct Module {
    pub(super) device: Arc<Device>,
    pub(super) handle: Handle,
}

/// Numbers of `CUjit_option`.
const INFO_LOG: c_uint = 3;
const INFO_LOG_BYTES: c_uint = 4;
const ERROR_LOG: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;
const LOG_VERBOSE: c_uint = 12;
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

impl Module {
    /// Errors: `gpu-compile` with the compiler's log, `out-of-memory`.
    pub(super) fn load(device: &Arc<Device>, text: &str) -> Result<Module, Diagnostic> {
        device.enter()?;
        let text = c_string(text);
        let mut logs = Logs::new();
        let (options, values) = logs.options();
        let mut handle = Handle::NULL;
        // SAFETY: the text ends with zero; options and values are lists of that length, and the logs live through the call.
        let status = unsafe {
            (device.api.module_load)(
                &mut handle,
                text.as_ptr().cast(),
                options.len() as c_uint,
                options.as_ptr(),
                values.as_ptr(),
            )
        };
        logs.refuse(&device.api, "cuModuleLoadData", status)?;
        Ok(Module { device: Arc::clone(device), handle })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: loaded by `load`; its functions are gone. What cannot be given back stays with the process.
            let _ = unsafe { (self.device.api.module_unload)(self.handle) };
        }
    }
}

/// Texts and names are C strings.
pub(super) fn c_string(text: &str) -> Vec<c_char> {
    text.bytes().filter(|byte| *byte != 0).chain([0]).map(|byte| byte as c_char).collect()
}
