//! Memory of a card, and memory of the host that its copies reach at once.

use super::api::Address;
use super::device::Device;
use super::stream::Stream;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// Memory of a card, allocated and freed in the order of its stream; the driver aligns it to 256 bytes.
pub(crate) struct DeviceBlock {
    stream: Arc<Stream>,
    address: Address,
}

impl DeviceBlock {
    /// Errors: `out-of-memory`.
    pub(crate) fn new(stream: &Arc<Stream>, bytes: usize) -> Result<DeviceBlock, Diagnostic> {
        let api = &stream.device.api;
        stream.device.enter()?;
        let mut address = 0;
        // SAFETY: `address` is where the driver writes.
        let status = unsafe { (api.allocate)(&mut address, bytes.max(1), stream.handle) };
        api.check("cuMemAllocAsync", status).map_err(|error| {
            let name = &stream.device.facts.name;
            error.note(format!("a block of {bytes} bytes on {name}"))
        })?;
        Ok(DeviceBlock { stream: Arc::clone(stream), address })
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }
}

impl Drop for DeviceBlock {
    fn drop(&mut self) {
        let device = &self.stream.device;
        if device.enter().is_ok() {
            // SAFETY: allocated in `new`; work that uses it was given to the same stream before. What cannot be freed
            // stays with the process.
            let _ = unsafe { (device.api.free)(self.address, self.stream.handle) };
        }
    }
}

/// Page-locked memory of the host.
pub(crate) struct Pinned {
    device: Arc<Device>,
    at: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory that this owns.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Errors: `out-of-memory`.
    pub(crate) fn new(device: &Arc<Device>, bytes: usize) -> Result<Pinned, Diagnostic> {
        device.enter()?;
        let mut at = std::ptr::null_mut();
        // SAFETY: `at` is where the driver writes.
        let status = unsafe { (device.api.allocate_pinned)(&mut at, bytes.max(1)) };
        device.api.check("cuMemAllocHost", status)?;
        let at = at.cast::<u8>();
        // SAFETY: the driver gave that many bytes; zeros make them a slice that may be read.
        unsafe { at.write_bytes(0, bytes.max(1)) };
        Ok(Pinned { device: Arc::clone(device), at, bytes })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: initialised memory of that length, lent as `self` is.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: allocated in `new`; its users waited for their copies. What cannot be freed stays.
            let _ = unsafe { (self.device.api.free_pinned)(self.at.cast()) };
        }
    }
}
