//! A stream: work of a card that is done in the order in which it is given.

use super::api::{Address, Handle};
use super::device::Device;
use std::sync::Arc;
use tegula_base::Diagnostic;

pub(crate) struct Stream {
    pub(crate) device: Arc<Device>,
    pub(super) handle: Handle,
}

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream.
const NON_BLOCKING: u32 = 1;

impl Stream {
    pub(super) fn new(device: &Arc<Device>) -> Result<Stream, Diagnostic> {
        device.enter()?;
        let mut handle = Handle::NULL;
        // SAFETY: `handle` is where the driver writes.
        let status = unsafe { (device.api.stream_create)(&mut handle, NON_BLOCKING) };
        device.api.check("cuStreamCreate", status)?;
        Ok(Stream { device: Arc::clone(device), handle })
    }

    /// Waits until all is done. Errors: what went wrong since the last wait.
    pub(crate) fn finish(&self) -> Result<(), Diagnostic> {
        // SAFETY: a stream of this device.
        let status = unsafe { (self.device.api.stream_finish)(self.handle) };
        self.device.api.check("cuStreamSynchronize", status)
    }

    /// Brings bytes to the card.
    ///
    /// # Safety
    /// `[to, to + bytes.len())` is live memory of the card; `bytes` stay as they are until the next [`Stream::finish`].
    pub(crate) unsafe fn upload(&self, to: Address, bytes: &[u8]) -> Result<(), Diagnostic> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: promised by the caller.
        let status = unsafe { (self.device.api.upload)(to, bytes.as_ptr().cast(), bytes.len(), self.handle) };
        self.device.api.check("cuMemcpyHtoDAsync", status)
    }

    /// Brings bytes from the card; they are there after the next [`Stream::finish`].
    ///
    /// # Safety
    /// `[from, from + into.len())` is live memory of the card; nobody touches `into` until then.
    pub(crate) unsafe fn download(&self, from: Address, into: &mut [u8]) -> Result<(), Diagnostic> {
        if into.is_empty() {
            return Ok(());
        }
        // SAFETY: promised by the caller.
        let status =
            unsafe { (self.device.api.download)(into.as_mut_ptr().cast(), from, into.len(), self.handle) };
        self.device.api.check("cuMemcpyDtoHAsync", status)
    }

    /// Copies on the card.
    ///
    /// # Safety
    /// Both ranges are live memory of the card and do not overlap.
    pub(crate) unsafe fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), Diagnostic> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: promised by the caller.
        let status = unsafe { (self.device.api.copy)(to, from, bytes, self.handle) };
        self.device.api.check("cuMemcpyDtoDAsync", status)
    }

    /// Sets bytes on the card.
    ///
    /// # Safety
    /// The range is live memory of the card.
    pub(crate) unsafe fn fill(&self, at: Address, value: u8, bytes: usize) -> Result<(), Diagnostic> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: promised by the caller.
        let status = unsafe { (self.device.api.fill)(at, value, bytes, self.handle) };
        self.device.api.check("cuMemsetD8Async", status)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: made by `new`; the driver lets work in progress end first. What cannot be given back stays with the
        // process.
        let _ = unsafe { (self.device.api.stream_destroy)(self.handle) };
    }
}
