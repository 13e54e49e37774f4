//! The calls, by the names and types of the driver's header `cuda.h`. Handles are addresses of boxes; who made them gives
//! them back. Only what the runtime calls is here.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tegula_package::tensor_map::TensorMap;
use tegula_package::{MapElement, MapPromotion, MapSwizzle};

use crate::card::{self, Card};
use crate::code::{Function, Module};
use crate::settings::{log, settings};
use crate::work::{ILLEGAL_ADDRESS, Steps, Stream, Work, are_alike, launch};

const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_PTX: u32 = 218;
const NOT_FOUND: u32 = 500;
const CAPTURE_UNSUPPORTED: u32 = 900;
const UPDATE_FAILED: u32 = 910;

const DRIVER: c_int = 13_000;
const SMS: c_int = 2;

/// Writes a result. Errors: no place for it.
///
/// # Safety
/// `to` is null, or a place of this type that may be written.
unsafe fn put<T>(to: *mut T, value: T) -> u32 {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: promised by the caller.
    unsafe { to.write(value) };
    0
}

/// # Safety
/// `handle` came from `Box::into_raw` of a `T` that nobody has freed.
unsafe fn of<'a, T>(handle: *mut c_void) -> &'a T {
    // SAFETY: promised by the caller.
    unsafe { &*handle.cast::<T>() }
}

fn handle<T>(value: T) -> *mut c_void {
    Box::into_raw(Box::new(value)).cast()
}

/// # Safety
/// As for `of`; nobody uses the handle afterwards.
unsafe fn take<T>(handle: *mut c_void) -> T {
    // SAFETY: promised by the caller.
    *unsafe { Box::from_raw(handle.cast::<T>()) }
}

/// Declares exported functions; every one is `unsafe`, as its pointers must be what `cuda.h` says.
macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 $body
        )*
    };
}

exports! {
    fn cuInit(_flags: c_uint) {
        0
    }

    fn cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: the caller's place.
        unsafe { put(version, DRIVER) }
    }

    fn cuGetErrorName(status: u32, text: *mut *const c_char) {
        let name = match status {
            INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
            OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
            INVALID_PTX => c"CUDA_ERROR_INVALID_PTX",
            NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
            ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            CAPTURE_UNSUPPORTED => c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            _ => return INVALID_VALUE,
        };
        // SAFETY: the caller's place.
        unsafe { put(text, name.as_ptr()) }
    }

    fn cuGetErrorString(_status: u32, text: *mut *const c_char) {
        // SAFETY: the caller's place.
        unsafe { put(text, c"as the fake driver says".as_ptr()) }
    }

    fn cuDeviceGetCount(count: *mut c_int) {
        // SAFETY: the caller's place.
        unsafe { put(count, 1) }
    }

    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        // SAFETY: the caller's place.
        if ordinal == 0 { unsafe { put(device, 0) } } else { INVALID_VALUE }
    }

    fn cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) {
        let text = c"Simulated GPU";
        if (len as usize) < text.to_bytes_with_nul().len() {
            return INVALID_VALUE;
        }
        // SAFETY: the caller's place has `len` bytes, which are enough.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name, text.to_bytes_with_nul().len()) };
        0
    }

    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, _device: c_int) {
        let answer = match attribute {
            16 => SMS,
            75 => settings().capability / 10,
            76 => settings().capability % 10,
            97 => tegula_sim_ptx::MAX_SHARED as c_int,
            115 => 1,
            _ => return INVALID_VALUE,
        };
        // SAFETY: the caller's place.
        unsafe { put(value, answer) }
    }

    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        // SAFETY: the caller's place.
        unsafe { put(bytes, settings().memory as usize) }
    }

    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: c_int) {
        // SAFETY: the caller's place; a context has nothing that is looked at.
        unsafe { put(context, std::ptr::dangling_mut()) }
    }

    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) {
        0
    }

    fn cuCtxSetCurrent(_context: *mut c_void) {
        0
    }

    // --- code --------------------------------------------------------------------------------------------

    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        n: c_uint,
        options: *const c_uint,
        values: *const *mut c_void,
    ) {
        // SAFETY: text that ends with zero.
        let text = unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy();
        match Module::new(&text) {
            // SAFETY: the caller's place.
            Ok(made) => unsafe { put(module, handle(made)) },
            Err(words) => {
                // SAFETY: lists of `n` options, as the caller says.
                unsafe { write_log(&words, n, options, values) };
                INVALID_PTX
            }
        }
    }

    fn cuModuleUnload(module: *mut c_void) {
        // SAFETY: a module's handle, not used again.
        drop(unsafe { take::<Module>(module) });
        0
    }

    /// A function is a handle to its place in the module.
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        // SAFETY: a module's handle, and a string that ends with zero.
        let (module, name) = unsafe { (of::<Module>(module), CStr::from_ptr(name)) };
        let found = module.functions.iter().find(|function| function.name.as_bytes() == name.to_bytes());
        match found {
            // SAFETY: the caller's place.
            Some(found) => unsafe { put(function, std::ptr::from_ref(found).cast_mut().cast()) },
            None => NOT_FOUND,
        }
    }

    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, _function: *mut c_void) {
        // SAFETY: the caller's place. Registers are 32, memory of a thread none.
        unsafe { put(value, if attribute == 4 { 32 } else { 0 }) }
    }

    fn cuFuncSetAttribute(_function: *mut c_void, attribute: c_uint, value: c_int) {
        if attribute == 8 && value > tegula_sim_ptx::MAX_SHARED as c_int { INVALID_VALUE } else { 0 }
    }

    // --- memory ------------------------------------------------------------------------------------------

    fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: *mut c_void) {
        // SAFETY: a stream's handle.
        if unsafe { of::<Stream>(stream) }.is_capturing() {
            return CAPTURE_UNSUPPORTED;
        }
        match card::allocate(bytes) {
            // SAFETY: the caller's place.
            Some(at) => unsafe { put(address, at) },
            None => OUT_OF_MEMORY,
        }
    }

    fn cuMemFreeAsync(address: u64, _stream: *mut c_void) {
        if card::free(address) { 0 } else { INVALID_VALUE }
    }

    fn cuMemAllocHost_v2(at: *mut *mut c_void, bytes: usize) {
        // SAFETY: the caller's place. The length stands in front, for whoever frees it.
        let words = vec![0u64; bytes.div_ceil(8) + 1];
        let mut words = words.into_boxed_slice();
        words[0] = words.len() as u64;
        let raw = Box::into_raw(words).cast::<u64>();
        // SAFETY: one word behind the start is inside of the allocation; `at` is the caller's place.
        unsafe { put(at, raw.add(1).cast()) }
    }

    fn cuMemFreeHost(at: *mut c_void) {
        // SAFETY: `cuMemAllocHost` put the number of words in front of what it gave.
        unsafe {
            let raw = at.cast::<u64>().sub(1);
            drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(raw, *raw as usize)));
        }
        0
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: *mut c_void) {
        // SAFETY: a stream's handle.
        if unsafe { of::<Stream>(stream) }.is_capturing() {
            return CAPTURE_UNSUPPORTED;
        }
        if Card::new().check(to, bytes).is_err() {
            return INVALID_VALUE;
        }
        // SAFETY: the caller's bytes, and a range of a block.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes) };
        0
    }

    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) {
        // SAFETY: a stream's handle.
        if unsafe { of::<Stream>(stream) }.is_capturing() {
            return CAPTURE_UNSUPPORTED;
        }
        if Card::new().check(from, bytes).is_err() {
            return INVALID_VALUE;
        }
        // SAFETY: the caller's place, and a range of a block.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.cast::<u8>(), bytes) };
        0
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        // SAFETY: a stream's handle.
        unsafe { of::<Stream>(stream) }.give(&[Work::Copy { from, to, bytes }])
    }

    fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: *mut c_void) {
        // SAFETY: a stream's handle.
        unsafe { of::<Stream>(stream) }.give(&[Work::Fill { at, value, bytes }])
    }

    // --- streams, graphs, events ---------------------------------------------------------------------------

    fn cuStreamCreate(stream: *mut *mut c_void, _flags: c_uint) {
        // SAFETY: the caller's place.
        unsafe { put(stream, handle(Stream::default())) }
    }

    fn cuStreamDestroy_v2(stream: *mut c_void) {
        // SAFETY: a stream's handle, not used again.
        drop(unsafe { take::<Stream>(stream) });
        0
    }

    fn cuStreamSynchronize(stream: *mut c_void) {
        // SAFETY: a stream's handle.
        let stream = unsafe { of::<Stream>(stream) };
        if stream.is_capturing() { CAPTURE_UNSUPPORTED } else { stream.lost() }
    }

    fn cuStreamBeginCapture_v2(stream: *mut c_void, _mode: c_uint) {
        // SAFETY: a stream's handle.
        unsafe { of::<Stream>(stream) }.begin_capture();
        0
    }

    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) {
        // SAFETY: a stream's handle.
        match unsafe { of::<Stream>(stream) }.end_capture() {
            // SAFETY: the caller's place.
            Some(steps) => unsafe { put(graph, handle(steps)) },
            None => INVALID_VALUE,
        }
    }

    fn cuGraphInstantiateWithFlags(exec: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        // SAFETY: a graph's handle.
        let steps = unsafe { of::<Steps>(graph) }.clone();
        log(&format!("graph made {}", steps.len()));
        log(&format!("of them early {}", steps.iter().filter(|step| step.is_early()).count()));
        // SAFETY: the caller's place.
        unsafe { put(exec, handle(Mutex::new(steps))) }
    }

    fn cuGraphExecUpdate_v2(exec: *mut c_void, graph: *mut c_void, _why: *mut [u64; 3]) {
        // SAFETY: handles of an executable graph and a graph.
        let (exec, graph) = unsafe { (of::<Mutex<Steps>>(exec), of::<Steps>(graph)) };
        let mut steps = exec.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !are_alike(&steps, graph) {
            return UPDATE_FAILED;
        }
        steps.clone_from(graph);
        log(&format!("graph updated {}", steps.len()));
        0
    }

    fn cuGraphLaunch(exec: *mut c_void, stream: *mut c_void) {
        // SAFETY: handles of an executable graph and a stream.
        let (exec, stream) = unsafe { (of::<Mutex<Steps>>(exec), of::<Stream>(stream)) };
        let steps = exec.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        log(&format!("graph launched {}", steps.len()));
        stream.give(&steps)
    }

    fn cuGraphDestroy(graph: *mut c_void) {
        // SAFETY: a graph's handle, not used again.
        drop(unsafe { take::<Steps>(graph) });
        0
    }

    fn cuGraphExecDestroy(exec: *mut c_void) {
        // SAFETY: an executable graph's handle, not used again.
        drop(unsafe { take::<Mutex<Steps>>(exec) });
        0
    }

    fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) {
        // SAFETY: the caller's place.
        unsafe { put(event, handle(Mutex::new(Instant::now()))) }
    }

    fn cuEventRecord(event: *mut c_void, _stream: *mut c_void) {
        // SAFETY: an event's handle. Work is done when it is given, so now is when it is past.
        let event = unsafe { of::<Mutex<Instant>>(event) };
        *event.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Instant::now();
        0
    }

    fn cuEventElapsedTime(ms: *mut f32, start: *mut c_void, end: *mut c_void) {
        // SAFETY: events' handles.
        let [start, end] = [start, end].map(|event| {
            // SAFETY: as above.
            *unsafe { of::<Mutex<Instant>>(event) }.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        });
        // SAFETY: the caller's place.
        unsafe { put(ms, end.saturating_duration_since(start).as_secs_f32() * 1e3) }
    }

    fn cuEventDestroy_v2(event: *mut c_void) {
        // SAFETY: an event's handle, not used again.
        let _ = unsafe { take::<Mutex<Instant>>(event) };
        0
    }

    // --- launches --------------------------------------------------------------------------------------------

    fn cuTensorMapEncodeTiled(
        map: *mut [u64; 16],
        element: c_uint,
        rank: c_uint,
        address: u64,
        dims: *const u64,
        strides: *const u64,
        box_dims: *const c_uint,
        steps: *const c_uint,
        _interleave: c_uint,
        swizzle: c_uint,
        promotion: c_uint,
        _fill: c_uint,
    ) {
        // SAFETY: lists of the rank's length, strides of one less.
        let (dims, strides, box_dims, steps) = unsafe {
            (list(dims, rank), list(strides, rank.saturating_sub(1)), list(box_dims, rank), list(steps, rank))
        };
        let element = MapElement::ALL.into_iter().find(|known| *known as c_uint == element);
        let swizzle = MapSwizzle::ALL.into_iter().find(|known| *known as c_uint == swizzle);
        let promotion = MapPromotion::ALL.into_iter().find(|known| *known as c_uint == promotion);
        let (Some(element), Some(swizzle), Some(promotion)) = (element, swizzle, promotion) else {
            return INVALID_VALUE;
        };
        let encoded = TensorMap { element, address, dims, strides, box_dims, swizzle, promotion };
        if encoded.check().is_err() || steps.iter().any(|step| *step != 1) || map.align_offset(64) != 0 {
            return INVALID_VALUE;
        }
        // SAFETY: the caller's place.
        unsafe { put(map, encoded.to_words()) }
    }

    fn cuLaunchKernelEx(
        config: *const Config,
        function: *mut c_void,
        params: *const *const c_void,
        _extra: *const *const c_void,
    ) {
        // SAFETY: the caller's configuration; a function's handle, in its module; a stream's handle.
        let (config, function) = unsafe { (&*config, of::<Arc<Function>>(function)) };
        // SAFETY: as above.
        let stream = unsafe { of::<Stream>(config.stream) };
        let mut bytes = vec![0; function.kernel.param_bytes()];
        // SAFETY: as many parameters as the function has.
        let params = unsafe { list(params, function.params.len() as c_uint) };
        let places = function.kernel.param_offsets().iter().zip(&function.params);
        for (from, (offset, len)) in params.into_iter().zip(places) {
            // SAFETY: a parameter of that many bytes, as the function declares it.
            let param = unsafe { list(from.cast::<u8>(), *len as c_uint) };
            bytes[*offset as usize..][..*len].copy_from_slice(&param);
        }
        // SAFETY: as many attributes as the configuration says.
        let attributes = unsafe { list(config.attributes, config.n_attributes) };
        let early = attributes.iter().any(|attribute| attribute.id == START_EARLY && attribute.value[0] as u32 != 0);
        let launch = launch(config.grid, config.block, config.shared, bytes);
        stream.give(&[Work::Launch { function: Arc::clone(function), launch, early }])
    }
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: *mut c_void,
    attributes: *const Attribute,
    n_attributes: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    id: c_uint,
    padding: c_uint,
    value: [u64; 8],
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const START_EARLY: c_uint = 6;

/// # Safety
/// `at` is of `n` items; none where `n` is 0.
unsafe fn list<T: Copy>(at: *const T, n: c_uint) -> Vec<T> {
    match n {
        0 => Vec::new(),
        // SAFETY: promised by the caller.
        _ => unsafe { std::slice::from_raw_parts(at, n as usize) }.to_vec(),
    }
}

/// Writes to the error log of the options, if they have one.
///
/// # Safety
/// Options and values are lists of `n`; the log is as long as they say.
unsafe fn write_log(words: &str, n: c_uint, options: *const c_uint, values: *const *mut c_void) {
    // SAFETY: promised by the caller.
    let (options, values) = unsafe { (list(options, n), list(values, n)) };
    let value = |wanted| options.iter().position(|option| *option == wanted).map(|at| values[at]);
    if let (Some(log), Some(room)) = (value(5), value(6)) {
        let text: Vec<u8> = words.bytes().take((room as usize).saturating_sub(1)).chain([0]).collect();
        // SAFETY: the log has `room` bytes, and the text is not longer.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), log.cast::<u8>(), text.len()) };
    }
}
