//! A point in a stream's work whose time is taken.

use super::api::Handle;
use super::device::Device;
use super::stream::Stream;
use std::sync::Arc;
use tegula_base::Diagnostic;

pub(crate) struct Event {
    device: Arc<Device>,
    handle: Handle,
}

impl Event {
    /// What is given to the stream later comes later.
    pub(crate) fn record(stream: &Stream) -> Result<Event, Diagnostic> {
        let api = &stream.device.api;
        let mut handle = Handle::NULL;
        // SAFETY: `handle` is where the driver writes; flags 0 are an event that takes the time.
        api.check("cuEventCreate", unsafe { (api.event_create)(&mut handle, 0) })?;
        let event = Event { device: Arc::clone(&stream.device), handle };
        // SAFETY: both are of this device.
        api.check("cuEventRecord", unsafe { (api.event_record)(handle, stream.handle) })?;
        Ok(event)
    }

    /// Nanoseconds from `earlier` to this; both are past (the stream was waited for).
    pub(crate) fn ns_since(&self, earlier: &Event) -> Result<u64, Diagnostic> {
        let mut ms = 0f32;
        // SAFETY: `ms` is where the driver writes; both events are of this device.
        let status = unsafe { (self.device.api.event_elapsed)(&mut ms, earlier.handle, self.handle) };
        self.device.api.check("cuEventElapsedTime", status)?;
        Ok((f64::from(ms) * 1e6).max(0.0) as u64)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `record`. What cannot be given back stays with the process.
        let _ = unsafe { (self.device.api.event_destroy)(self.handle) };
    }
}
