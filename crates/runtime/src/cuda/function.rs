//! A kernel on a card, and its launch.

use super::api::{EncodedMap, Handle, LaunchAttribute, LaunchConfig};
use super::device::Device;
use super::header::Header;
use super::module::{Module, c_string};
use super::stream::Stream;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;
use tegula_base::Diagnostic;
use tegula_package::{MapTemplate, PtxKernel, PtxLaunch};

pub(crate) struct Function {
    module: Module,
    handle: Handle,
    header: Header,
    launch: PtxLaunch,
    begins_early: bool,
    /// Registers of a thread, as the driver's compiler gave them out.
    pub(crate) registers: u32,
    /// Bytes of memory of a thread: what found no register.
    pub(crate) local_bytes: u32,
}

/// Numbers of `CUfunction_attribute`.
const LOCAL_BYTES: c_uint = 3;
const REGISTERS: c_uint = 4;
const DYNAMIC_SHARED: c_uint = 8;
const LARGE_CLUSTERS: c_uint = 14;
/// CTAs of a cluster that every card with clusters has.
const PORTABLE_CLUSTER: u32 = 8;
/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: may start before the kernel ahead of it ends.
const START_EARLY: c_uint = 6;
/// What starts kernels early, in graphs too (CUDA C++ Programming Guide, "Programmatic Dependent Launch", for the
/// card; CUDA 12.3's release notes, "edge data of graphs", for the driver).
const OVERLAPPING_CAPABILITY: (u32, u32) = (9, 0);
const OVERLAPPING_DRIVER: u32 = 12030;
/// Clusters along x of one launch at most, in CTAs (CUDA programming guide, "Technical Specifications").
const MAX_GRID: u64 = i32::MAX as u64;
/// Units of a kernel: their numbers are split into coordinates in 32 bits (`docs/abi.md`).
const MAX_UNITS: u64 = u32::MAX as u64;

impl Function {
    /// Errors: `gpu-compile`, `package-invalid`, more shared memory than the card has.
    pub(crate) fn load(device: &Arc<Device>, kernel: &PtxKernel) -> Result<Function, Diagnostic> {
        let header = Header::read(&kernel.text).map_err(|what| Diagnostic::error("package-invalid", what))?;
        let given = (1 + usize::from(kernel.launch.persistent.is_some()), kernel.launch.maps.len());
        if (header.units, header.maps) != given {
            let message = "a kernel's parameters are not those that its launch gives";
            return Err(Diagnostic::error("package-invalid", message));
        }
        if kernel.launch.early && !header.waits_for_previous {
            let message = "a kernel that may begin early does not wait for the launches before it";
            return Err(Diagnostic::error("package-invalid", message));
        }
        let module = Module::load(device, &kernel.text)?;
        let api = &device.api;
        let (name, mut handle) = (c_string(&header.entry), Handle::NULL);
        // SAFETY: the name ends with zero; `handle` is where the driver writes.
        let status = unsafe { (api.module_function)(&mut handle, module.handle, name.as_ptr()) };
        api.check("cuModuleGetFunction", status)?;
        let set = |what, value: c_int| {
            // SAFETY: a function of a module that is loaded.
            api.check("cuFuncSetAttribute", unsafe { (api.function_set)(handle, what, value) })
        };
        let launch = kernel.launch.clone();
        if launch.dynamic_shared > 0 {
            set(DYNAMIC_SHARED, launch.dynamic_shared as c_int).map_err(|error| {
                let has = device.facts.shared_bytes;
                error.note(format!(
                    "it wants {} bytes of shared memory, the card has {has}",
                    launch.dynamic_shared
                ))
            })?;
        }
        if header.cluster > PORTABLE_CLUSTER {
            set(LARGE_CLUSTERS, 1)?;
        }
        let get = |what| {
            let mut value = 0;
            // SAFETY: `value` is where the driver writes.
            api.check("cuFuncGetAttribute", unsafe { (api.function_get)(&mut value, what, handle) })?;
            Ok::<u32, Diagnostic>(value as u32)
        };
        let (registers, local_bytes) = (get(REGISTERS)?, get(LOCAL_BYTES)?);
        let facts = &device.facts;
        let begins_early =
            launch.early && facts.capability >= OVERLAPPING_CAPABILITY && facts.driver >= OVERLAPPING_DRIVER;
        Ok(Function { module, handle, header, launch, begins_early, registers, local_bytes })
    }

    /// Gives the units `[0, units)` to a stream.
    /// Errors: words that make no tensor map, and what the driver refuses.
    ///
    /// # Safety
    /// The code obeys `docs/abi.md` for this argument block, whose buffers are live memory of the card until the launch
    /// is done.
    pub(crate) unsafe fn launch(&self, stream: &Stream, words: &[u64], units: u64) -> Result<(), Diagnostic> {
        let block = words.get(..self.header.words).ok_or_else(|| {
            Diagnostic::error("package-invalid", "a launch has fewer arguments than its kernel takes")
        })?;
        if units > MAX_UNITS {
            let message =
                format!("a launch of {units} units is more than the {MAX_UNITS} of a kernel for GPUs");
            return Err(Diagnostic::error("kernel-failed", message));
        }
        let maps = self.launch.maps.iter().enumerate();
        let maps =
            maps.map(|(number, map)| self.encode(number, map, words)).collect::<Result<Vec<_>, _>>()?;
        let cluster = u64::from(self.header.cluster);
        let most = MAX_GRID / cluster;
        let mut begin = 0;
        while begin < units {
            let end = units.min(begin + most);
            let clusters = match self.launch.persistent {
                None => end - begin,
                Some(ctas) => {
                    let resident = u64::from(ctas) * u64::from(self.module.device.facts.sms) / cluster;
                    resident.clamp(1, most).min(end - begin)
                }
            };
            let mut params: Vec<*const c_void> = vec![block.as_ptr().cast(), (&raw const begin).cast()];
            if self.launch.persistent.is_some() {
                params.push((&raw const end).cast());
            }
            params.extend(maps.iter().map(|map| (&raw const *map).cast::<c_void>()));
            self.give(stream, (clusters * cluster) as c_uint, &params)?;
            begin = end;
        }
        Ok(())
    }

    /// One launch; `params` are the entry's, of the sizes that its text says.
    fn give(&self, stream: &Stream, ctas: c_uint, params: &[*const c_void]) -> Result<(), Diagnostic> {
        let early = LaunchAttribute { id: START_EARLY, padding: 0, value: [1, 0, 0, 0, 0, 0, 0, 0] };
        let config = LaunchConfig {
            grid: [ctas, 1, 1],
            block: self.header.threads,
            shared_bytes: self.launch.dynamic_shared,
            stream: stream.handle,
            attributes: &early,
            n_attributes: c_uint::from(self.begins_early),
        };
        let api = &stream.device.api;
        // SAFETY: the configuration and all parameters outlive the call, which copies them; block, unit numbers and maps
        // are as many and as long as the entry's parameters (`load` has compared them).
        let status = unsafe { (api.launch)(&config, self.handle, params.as_ptr(), std::ptr::null()) };
        api.check("cuLaunchKernelEx", status)
    }

    fn encode(&self, number: usize, map: &MapTemplate, words: &[u64]) -> Result<EncodedMap, Diagnostic> {
        let bound = map.bind(words).map_err(|rule| {
            let message = format!("tensor map {number} breaks a rule at these shapes: {rule}");
            Diagnostic::error("kernel-failed", message)
        })?;
        let steps = vec![1; bound.rank()];
        let mut encoded = EncodedMap([0; 16]);
        // SAFETY: all lists have the rank's length (one less for strides, as `bind` checked); the map is aligned as the
        // driver wants it.
        let status = unsafe {
            (self.module.device.api.encode_map)(
                &mut encoded,
                bound.element as c_uint,
                bound.rank() as c_uint,
                bound.address,
                bound.dims.as_ptr(),
                bound.strides.as_ptr(),
                bound.box_dims.as_ptr(),
                steps.as_ptr(),
                0,
                bound.swizzle as c_uint,
                bound.promotion as c_uint,
                0,
            )
        };
        self.module.device.api.check("cuTensorMapEncodeTiled", status)?;
        Ok(encoded)
    }
}
