//! A run's launches and copies, captured once and repeated as one piece of work.

use super::api::Handle;
use super::stream::Stream;
use std::sync::Arc;
use tegula_base::Diagnostic;

/// An executable graph.
pub(crate) struct Graph {
    stream: Arc<Stream>,
    exec: Handle,
    /// Whether it was made by the last capture, not given new sizes.
    pub(crate) is_new: bool,
}

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: other threads go on with whatever they do.
const THREAD_LOCAL: u32 = 1;

impl Graph {
    /// Captures what `work` gives to the stream, which is not done now. With an earlier graph of the same steps, that
    /// one is given the new sizes where the driver can; else a new one is made.
    /// Errors: those of `work`, and what cannot be captured.
    pub(crate) fn capture(
        stream: &Arc<Stream>,
        earlier: Option<Graph>,
        work: impl FnOnce() -> Result<(), Diagnostic>,
    ) -> Result<Graph, Diagnostic> {
        let api = &stream.device.api;
        // SAFETY: a stream of this device.
        let status = unsafe { (api.capture_begin)(stream.handle, THREAD_LOCAL) };
        api.check("cuStreamBeginCapture", status)?;
        let mut capture = Capture { stream, is_open: true };
        let worked = work();
        let (ended, graph) = capture.end();
        let made = worked.and(ended).and_then(|()| Graph::from_captured(stream, graph, earlier));
        if graph != Handle::NULL {
            // SAFETY: made by the capture; an executable graph does not need it. What cannot be given back stays.
            let _ = unsafe { (api.graph_destroy)(graph) };
        }
        made
    }

    fn from_captured(
        stream: &Arc<Stream>,
        graph: Handle,
        earlier: Option<Graph>,
    ) -> Result<Graph, Diagnostic> {
        let api = &stream.device.api;
        if let Some(earlier) = earlier.filter(|earlier| Arc::ptr_eq(&earlier.stream, stream)) {
            // `CUgraphExecUpdateResultInfo`, which tells why; we only ask whether.
            let mut why = [0u64; 3];
            // SAFETY: both graphs are this device's; `why` is as large as what the driver writes.
            if unsafe { (api.graph_update)(earlier.exec, graph, &mut why) } == 0 {
                let mut updated = earlier;
                updated.is_new = false;
                return Ok(updated);
            }
        }
        let mut exec = Handle::NULL;
        // SAFETY: the graph was just captured; `exec` is where the driver writes.
        let status = unsafe { (api.graph_instantiate)(&mut exec, graph, 0) };
        api.check("cuGraphInstantiate", status)?;
        Ok(Graph { stream: Arc::clone(stream), exec, is_new: true })
    }

    pub(crate) fn launch(&self) -> Result<(), Diagnostic> {
        let api = &self.stream.device.api;
        // SAFETY: a graph and a stream of this device; the memory of its steps is the context's, which owns both.
        api.check("cuGraphLaunch", unsafe { (api.graph_launch)(self.exec, self.stream.handle) })
    }
}

/// A stream that is captured: ended even where the work panics.
struct Capture<'a> {
    stream: &'a Stream,
    is_open: bool,
}

impl Capture<'_> {
    fn end(&mut self) -> (Result<(), Diagnostic>, Handle) {
        self.is_open = false;
        let (api, mut graph) = (&self.stream.device.api, Handle::NULL);
        // SAFETY: capture has begun and was not ended; `graph` is where the driver writes.
        let status = unsafe { (api.capture_end)(self.stream.handle, &mut graph) };
        (api.check("cuStreamEndCapture", status), graph)
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if self.is_open {
            let (_, graph) = self.end();
            if graph != Handle::NULL {
                // SAFETY: made by the capture, and nobody else has it. What cannot be given back stays.
                let _ = unsafe { (self.stream.device.api.graph_destroy)(graph) };
            }
        }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: made by `from_captured`; the driver lets a launch in progress end. What cannot be given back stays.
        let _ = unsafe { (self.stream.device.api.graph_exec_destroy)(self.exec) };
    }
}
