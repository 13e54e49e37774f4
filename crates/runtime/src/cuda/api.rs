//! The driver's functions that we call, each loaded by its name.

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use tegula_base::Diagnostic;

/// `CUresult`: 0 is success.
pub(crate) type Status = c_uint;
/// `CUdeviceptr`.
pub(crate) type Address = u64;

pub(crate) const OUT_OF_MEMORY: Status = 2;

/// Something of the driver's: a context, module, function, stream, event or graph.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(pub(crate) *mut c_void);

impl Handle {
    pub(crate) const NULL: Handle = Handle(std::ptr::null_mut());
}

// SAFETY: the driver's objects may be used from any thread (CUDA Driver API, "Thread safety"); a handle is their name,
// never followed here.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct LaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared_bytes: c_uint,
    pub(crate) stream: Handle,
    pub(crate) attributes: *const LaunchAttribute,
    pub(crate) n_attributes: c_uint,
}

/// `CUlaunchAttribute`: a number, padding, and a value of 64 bytes.
#[repr(C)]
pub(crate) struct LaunchAttribute {
    pub(crate) id: c_uint,
    pub(crate) padding: c_uint,
    pub(crate) value: [u64; 8],
}

/// `CUtensorMap`.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct EncodedMap(pub(crate) [u64; 16]);

/// Declares the table: `field = "symbol"(argument types)`.
macro_rules! functions {
    ($($name:ident = $symbol:literal($($arg:ty),*);)*) => {
        /// The loaded library. Every function may be called from any thread; arguments are as the driver's
        /// documentation of the symbol says.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> Status,)*
            _library: Library,
        }

        /// What a user without a GPU can do.
const WITHOUT: &str = "`--machine h200` compiles without a GPU; `--target sim-ptx` simulates one";

impl Api {
            /// Errors: a symbol that the library lacks, by its name.
            fn from_library(library: Library) -> Result<Api, &'static str> {
                $(
                    // SAFETY: the symbol has this type in the driver's header `cuda.h`.
                    let $name = unsafe { library.get::<unsafe extern "C" fn($($arg),*) -> Status>($symbol.as_bytes()) }
                        .map(|symbol| *symbol)
                        .map_err(|_| $symbol)?;
                )*
                Ok(Api { $($name,)* _library: library })
            }
        }
    };
}

functions! {
    init = "cuInit"(c_uint);
    driver_version = "cuDriverGetVersion"(*mut c_int);
    error_name = "cuGetErrorName"(Status, *mut *const c_char);
    error_text = "cuGetErrorString"(Status, *mut *const c_char);
    device_count = "cuDeviceGetCount"(*mut c_int);
    device = "cuDeviceGet"(*mut c_int, c_int);
    device_name = "cuDeviceGetName"(*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute"(*mut c_int, c_uint, c_int);
    device_memory = "cuDeviceTotalMem_v2"(*mut usize, c_int);
    context_retain = "cuDevicePrimaryCtxRetain"(*mut Handle, c_int);
    context_release = "cuDevicePrimaryCtxRelease_v2"(c_int);
    context_enter = "cuCtxSetCurrent"(Handle);
    module_load = "cuModuleLoadDataEx"(*mut Handle, *const c_void, c_uint, *const c_uint, *const *mut c_void);
    module_unload = "cuModuleUnload"(Handle);
    module_function = "cuModuleGetFunction"(*mut Handle, Handle, *const c_char);
    function_get = "cuFuncGetAttribute"(*mut c_int, c_uint, Handle);
    function_set = "cuFuncSetAttribute"(Handle, c_uint, c_int);
    allocate = "cuMemAllocAsync"(*mut Address, usize, Handle);
    free = "cuMemFreeAsync"(Address, Handle);
    allocate_pinned = "cuMemAllocHost_v2"(*mut *mut c_void, usize);
    free_pinned = "cuMemFreeHost"(*mut c_void);
    upload = "cuMemcpyHtoDAsync_v2"(Address, *const c_void, usize, Handle);
    download = "cuMemcpyDtoHAsync_v2"(*mut c_void, Address, usize, Handle);
    copy = "cuMemcpyDtoDAsync_v2"(Address, Address, usize, Handle);
    fill = "cuMemsetD8Async"(Address, u8, usize, Handle);
    stream_create = "cuStreamCreate"(*mut Handle, c_uint);
    stream_destroy = "cuStreamDestroy_v2"(Handle);
    stream_finish = "cuStreamSynchronize"(Handle);
    capture_begin = "cuStreamBeginCapture_v2"(Handle, c_uint);
    capture_end = "cuStreamEndCapture"(Handle, *mut Handle);
    graph_instantiate = "cuGraphInstantiateWithFlags"(*mut Handle, Handle, u64);
    graph_update = "cuGraphExecUpdate_v2"(Handle, Handle, *mut [u64; 3]);
    graph_launch = "cuGraphLaunch"(Handle, Handle);
    graph_destroy = "cuGraphDestroy"(Handle);
    graph_exec_destroy = "cuGraphExecDestroy"(Handle);
    event_create = "cuEventCreate"(*mut Handle, c_uint);
    event_record = "cuEventRecord"(Handle, Handle);
    event_elapsed = "cuEventElapsedTime"(*mut f32, Handle, Handle);
    event_destroy = "cuEventDestroy_v2"(Handle);
    encode_map = "cuTensorMapEncodeTiled"(*mut EncodedMap, c_uint, c_uint, Address, *const u64, *const u64, *const c_uint, *const c_uint, c_uint, c_uint, c_uint, c_uint);
    launch = "cuLaunchKernelEx"(*const LaunchConfig, Handle, *const *const c_void, *const *const c_void);
}

/// The driver's library where the system's loader finds it.
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";
#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";

impl Api {
    /// Loads the library, from the system unless a path is given, and initialises it.
    /// Errors: `no-device` says in one line what is missing.
    pub(crate) fn open(path: Option<&Path>) -> Result<Api, Diagnostic> {
        let name = path.unwrap_or(Path::new(LIBRARY));
        let missing = |what: String| Diagnostic::error("no-device", what);
        // SAFETY: loading the driver runs its initialisers; that the file is a CUDA driver is what its name, or whoever
        // named it, promises.
        let library = unsafe { Library::new(name) }
            .map_err(|error| missing(format!("no NVIDIA driver is installed: {error}")).help(WITHOUT))?;
        let api = Api::from_library(library).map_err(|symbol| {
            missing(format!("the NVIDIA driver lacks `{symbol}`: CUDA 12.0 or later is needed"))
        })?;
        // SAFETY: the flags are 0, as the driver wants them.
        api.check("cuInit", unsafe { (api.init)(0) })
            .map_err(|error| missing("the NVIDIA driver finds no GPU".to_string()).note(error.message))?;
        Ok(api)
    }

    /// Errors: `out-of-memory`, `gpu-failed` with what the driver says of a call's status.
    pub(crate) fn check(&self, call: &str, status: Status) -> Result<(), Diagnostic> {
        if status == 0 {
            return Ok(());
        }
        let name = self.text(self.error_name, status);
        if status == OUT_OF_MEMORY {
            return Err(Diagnostic::error("out-of-memory", "the GPU's memory does not suffice")
                .note(format!("{call}: {name}")));
        }
        let text = self.text(self.error_text, status);
        Err(Diagnostic::error("gpu-failed", format!("the GPU's driver refuses {call}: {name}, {text}")))
    }

    fn text(&self, of: unsafe extern "C" fn(Status, *mut *const c_char) -> Status, status: Status) -> String {
        let mut text = std::ptr::null();
        // SAFETY: `text` is where the driver writes the address of a constant string, or leaves null.
        let found = unsafe { of(status, &mut text) };
        if found != 0 || text.is_null() {
            return format!("error {status}");
        }
        // SAFETY: a string that ends with zero and lives as long as the library.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
