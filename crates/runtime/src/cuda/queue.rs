//! A stream as the queue of a run: tensors travel through page-locked memory that stays, launches and copies can be
//! captured as a graph, and marks are events.

use super::event::Event;
use super::graph::Graph;
use super::memory::{DeviceBlock, Pinned};
use super::program::Program;
use super::stream::Stream;
use crate::memory::{EMPTY, Range};
use crate::queue::{Call, Mark, Memory, Queue, Recorder};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tegula_base::Diagnostic;

/// Distance of tensors in page-locked memory, bytes: a cache line.
const ALIGN: usize = 64;

pub(super) struct CardQueue {
    stream: Arc<Stream>,
    program: Arc<Program>,
    state: Mutex<State>,
}

/// What belongs to the one run at a time that a queue serves.
#[derive(Default)]
struct State {
    sent: Option<Pinned>,
    /// The stream may still read what was sent.
    is_sending: bool,
    received: Option<Pinned>,
    graph: Option<Graph>,
    events: Vec<Event>,
}

impl CardQueue {
    pub(super) fn new(stream: Arc<Stream>, program: Arc<Program>) -> CardQueue {
        CardQueue { stream, program, state: Mutex::default() }
    }

    /// A poisoned lock is fine: what it guards is only ever replaced whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Page-locked memory of at least `bytes`.
fn grown<'a>(
    pinned: &'a mut Option<Pinned>,
    stream: &Stream,
    bytes: usize,
) -> Result<&'a mut [u8], Diagnostic> {
    if pinned.as_ref().is_none_or(|pinned| pinned.len() < bytes) {
        *pinned = None;
        *pinned = Some(Pinned::new(&stream.device, bytes)?);
    }
    Ok(pinned.as_mut().map(Pinned::bytes_mut).unwrap_or_default())
}

/// Places of tensors of these lengths in page-locked memory, and the end of the last.
fn places(lengths: impl Iterator<Item = usize>) -> (Vec<std::ops::Range<usize>>, usize) {
    let mut end = 0;
    let places = lengths.map(|length| {
        let start = end;
        end += length.next_multiple_of(ALIGN);
        start..start + length
    });
    (places.collect(), end)
}

impl Queue for CardQueue {
    fn is_local(&self) -> bool {
        false
    }

    fn enter(&self) -> Result<(), Diagnostic> {
        self.stream.device.enter()
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, Diagnostic> {
        let block = DeviceBlock::new(&self.stream, bytes)?;
        let address = if bytes == 0 { EMPTY } else { block.address() };
        Ok(Memory { address, bytes, owner: Box::new(block) })
    }

    unsafe fn copy(&self, src: Range, dst: Range) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        unsafe { self.stream.copy(src.address, dst.address, src.bytes) }
    }

    unsafe fn fill(&self, dst: Range, value: u8) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller.
        unsafe { self.stream.fill(dst.address, value, dst.bytes) }
    }

    unsafe fn read(&self, src: Range, into: &mut [u8]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller; the wait below ends the copy before `into` is used.
        unsafe { self.stream.download(src.address, into)? };
        self.finish()
    }

    unsafe fn write(&self, dst: Range, bytes: &[u8]) -> Result<(), Diagnostic> {
        // SAFETY: promised by the caller; the wait below ends the copy before `bytes` may change.
        unsafe { self.stream.upload(dst.address, bytes)? };
        self.finish()
    }

    unsafe fn send(&self, parts: &[(Range, &[u8])]) -> Result<(), Diagnostic> {
        if self.state().is_sending {
            self.finish()?;
        }
        let mut state = self.state();
        let (places, total) = places(parts.iter().map(|(_, bytes)| bytes.len()));
        state.is_sending = true;
        let sent = grown(&mut state.sent, &self.stream, total)?;
        for ((range, bytes), place) in parts.iter().zip(places) {
            let part = &mut sent[place];
            part.copy_from_slice(bytes);
            // SAFETY: the range is promised by the caller; what is sent is written again, or given back, after the stream was
            // waited for.
            unsafe { self.stream.upload(range.address, part)? };
        }
        Ok(())
    }

    unsafe fn receive(&self, parts: &mut [(Range, &mut [u8])]) -> Result<(), Diagnostic> {
        let mut state = self.state();
        let (places, total) = places(parts.iter().map(|(_, into)| into.len()));
        let received = grown(&mut state.received, &self.stream, total)?;
        for ((range, _), place) in parts.iter().zip(&places) {
            // SAFETY: the range is promised by the caller; the wait below ends the copy.
            unsafe { self.stream.download(range.address, &mut received[place.clone()])? };
        }
        self.stream.finish()?;
        state.is_sending = false;
        let received = state.received.as_mut().map(Pinned::bytes_mut).unwrap_or_default();
        for ((_, into), place) in parts.iter_mut().zip(places) {
            into.copy_from_slice(&received[place]);
        }
        Ok(())
    }

    unsafe fn launch(&self, call: &Call<'_>) -> Result<(), Diagnostic> {
        let function = self.program.functions.get(call.kernel);
        let function = function.ok_or_else(|| Diagnostic::internal("a card has not the kernel"))?;
        // SAFETY: promised by the caller.
        unsafe { function.launch(&self.stream, call.words, call.units) }
    }

    fn finish(&self) -> Result<(), Diagnostic> {
        self.stream.finish()?;
        self.state().is_sending = false;
        Ok(())
    }

    fn recorder(&self) -> Option<&dyn Recorder> {
        Some(self)
    }
}

impl Recorder for CardQueue {
    fn record(&self, work: &mut dyn FnMut() -> Result<(), Diagnostic>) -> Result<bool, Diagnostic> {
        let earlier = self.state().graph.take();
        let graph = Graph::capture(&self.stream, earlier, work)?;
        let is_new = graph.is_new;
        self.state().graph = Some(graph);
        Ok(is_new)
    }

    fn replay(&self) -> Result<(), Diagnostic> {
        match &self.state().graph {
            Some(graph) => graph.launch(),
            None => Err(Diagnostic::internal("a run is repeated that was not recorded")),
        }
    }

    fn twin(&self) -> Arc<dyn Queue> {
        Arc::new(CardQueue::new(Arc::clone(&self.stream), Arc::clone(&self.program)))
    }

    fn mark(&self) -> Result<Mark, Diagnostic> {
        let event = Event::record(&self.stream)?;
        let events = &mut self.state().events;
        events.push(event);
        Ok(events.len() - 1)
    }

    fn ns_between(&self, earlier: Mark, later: Mark) -> Result<u64, Diagnostic> {
        let state = self.state();
        match (state.events.get(earlier), state.events.get(later)) {
            (Some(earlier), Some(later)) => later.ns_since(earlier),
            _ => Err(Diagnostic::internal("a time is asked for between marks that are not there")),
        }
    }

    fn forget_marks(&self) {
        self.state().events.clear();
    }
}
