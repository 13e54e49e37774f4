//! The driver as a whole, and one card with its context.

use super::api::{Api, Handle};
use super::event::Event;
use super::memory::DeviceBlock;
use super::stream::Stream;
use std::ffi::{c_char, c_int, c_uint};
use std::path::Path;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// The driver.
#[derive(Clone)]
pub struct Cuda {
    pub(super) api: Arc<Api>,
}

/// What is known of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    pub ordinal: u32,
    pub name: String,
    /// Compute capability, 9.0 as (9, 0).
    pub capability: (u32, u32),
    pub memory_bytes: u64,
    /// Multiprocessors.
    pub sms: u32,
    /// Shared memory of a CTA at most, bytes.
    pub shared_bytes: u32,
    /// The CUDA version of its driver, 12.8 as 12080.
    pub driver: u32,
}

/// A card with its primary context, which is held as long as this lives.
pub struct Device {
    pub(crate) api: Arc<Api>,
    context: Handle,
    number: c_int,
    pub(crate) facts: DeviceFacts,
}

/// Numbers of `CUdevice_attribute`.
const MULTIPROCESSORS: c_uint = 16;
const CAPABILITY_MAJOR: c_uint = 75;
const CAPABILITY_MINOR: c_uint = 76;
const SHARED_OPTIN: c_uint = 97;
const MEMORY_POOLS: c_uint = 115;
/// Copies of which [`Device::copy_rate`] is the median.
const COPIES: usize = 21;

impl Cuda {
    /// From the driver's library, or the system's where none is named. Errors: `no-device` says what is missing.
    pub fn open(library: Option<&Path>) -> Result<Cuda, Diagnostic> {
        Ok(Cuda { api: Arc::new(Api::open(library)?) })
    }

    /// The cards.
    pub fn devices(&self) -> Result<Vec<DeviceFacts>, Diagnostic> {
        let mut count = 0;
        // SAFETY: `count` is where the driver writes.
        self.api.check("cuDeviceGetCount", unsafe { (self.api.device_count)(&mut count) })?;
        (0..count).map(|ordinal| Ok(self.facts(ordinal)?.1)).collect()
    }

    /// Opens a card. Errors: `no-device`, and what the driver says.
    pub fn device(&self, ordinal: u32) -> Result<Arc<Device>, Diagnostic> {
        let found = self.devices()?.len();
        if ordinal as usize >= found {
            let message = format!("there is no GPU {ordinal}: the NVIDIA driver finds {found}");
            return Err(Diagnostic::error("no-device", message));
        }
        let (number, facts) = self.facts(ordinal as c_int)?;
        if self.attribute(MEMORY_POOLS, number)? == 0 {
            let message =
                format!("GPU {ordinal} ({}) allocates no memory in the order of a stream", facts.name);
            return Err(Diagnostic::error("no-device", message));
        }
        let mut context = Handle::NULL;
        // SAFETY: `context` is where the driver writes; the number is one of its own.
        let status = unsafe { (self.api.context_retain)(&mut context, number) };
        self.api.check("cuDevicePrimaryCtxRetain", status)?;
        Ok(Arc::new(Device { api: Arc::clone(&self.api), context, number, facts }))
    }

    fn facts(&self, ordinal: c_int) -> Result<(c_int, DeviceFacts), Diagnostic> {
        let api = &self.api;
        let (mut number, mut driver, mut memory) = (0, 0, 0usize);
        let mut name = [0u8; 256];
        // SAFETY: all pointers are of places of the type that the driver writes; the name's length is given.
        unsafe {
            api.check("cuDeviceGet", (api.device)(&mut number, ordinal))?;
            api.check("cuDriverGetVersion", (api.driver_version)(&mut driver))?;
            api.check("cuDeviceTotalMem", (api.device_memory)(&mut memory, number))?;
            let status = (api.device_name)(name.as_mut_ptr().cast::<c_char>(), name.len() as c_int, number);
            api.check("cuDeviceGetName", status)?;
        }
        let len = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let attribute = |id| self.attribute(id, number).map(|value| value as u32);
        let facts = DeviceFacts {
            ordinal: ordinal as u32,
            name: String::from_utf8_lossy(&name[..len]).into_owned(),
            capability: (attribute(CAPABILITY_MAJOR)?, attribute(CAPABILITY_MINOR)?),
            memory_bytes: memory as u64,
            sms: attribute(MULTIPROCESSORS)?,
            shared_bytes: attribute(SHARED_OPTIN)?,
            driver: driver as u32,
        };
        Ok((number, facts))
    }

    fn attribute(&self, id: c_uint, number: c_int) -> Result<c_int, Diagnostic> {
        let mut value = 0;
        // SAFETY: `value` is where the driver writes.
        let status = unsafe { (self.api.device_attribute)(&mut value, id, number) };
        self.api.check("cuDeviceGetAttribute", status)?;
        Ok(value)
    }
}

impl Device {
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Makes the card's context that of this thread, as most calls want it.
    pub(crate) fn enter(&self) -> Result<(), Diagnostic> {
        // SAFETY: the context lives as long as `self`.
        self.api.check("cuCtxSetCurrent", unsafe { (self.api.context_enter)(self.context) })
    }

    /// Whether it still answers: after a kernel that failed, nothing else runs in this process.
    pub fn works(self: &Arc<Self>) -> bool {
        self.stream().and_then(|stream| stream.finish()).is_ok()
    }

    /// Bytes a second, read and written, of copies of so many bytes on the card: the median of some.
    /// Errors: `out-of-memory`, and what the driver says.
    pub fn copy_rate(self: &Arc<Self>, bytes: usize) -> Result<f64, Diagnostic> {
        let stream = self.stream()?;
        let blocks = [DeviceBlock::new(&stream, bytes)?, DeviceBlock::new(&stream, bytes)?];
        let mut events = vec![Event::record(&stream)?];
        for turn in 0..COPIES {
            let [from, to] = [turn % 2, 1 - turn % 2].map(|at| blocks[at].address());
            // SAFETY: two blocks of that length, which live until the stream was waited for.
            unsafe { stream.copy(from, to, bytes)? };
            events.push(Event::record(&stream)?);
        }
        stream.finish()?;
        let times = events.windows(2).map(|pair| pair[1].ns_since(&pair[0]));
        let mut times = times.collect::<Result<Vec<u64>, Diagnostic>>()?;
        times.sort_unstable();
        Ok(2e9 * bytes as f64 / times[COPIES / 2].max(1) as f64)
    }

    pub(crate) fn stream(self: &Arc<Self>) -> Result<Arc<Stream>, Diagnostic> {
        Stream::new(self).map(Arc::new)
    }

    /// Whether code for `target` runs here: `sm_90a` on that very version, `sm_80` on later ones too, for which the
    /// driver compiles it.
    pub(crate) fn runs(&self, target: &str) -> bool {
        let number = target.strip_prefix("sm_").unwrap_or_default();
        let exact = number.ends_with('a');
        let Ok(number) = number.trim_end_matches('a').parse::<u32>() else { return false };
        let own = 10 * self.facts.capability.0 + self.facts.capability.1;
        if exact { own == number } else { own >= number }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: retained once, in `Cuda::device`; everything made in it holds an `Arc` of `self` and is gone.
        // A refusal changes nothing: the process keeps the context.
        let _ = unsafe { (self.api.context_release)(self.number) };
    }
}
