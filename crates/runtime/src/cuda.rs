//! NVIDIA GPUs, through the driver's own library: found when it is asked for, an error where it is not there.
//!
//! ```text
//!   Cuda (the library) ─► Device (a card's context) ─► Module, Function (code)
//!                                                   ─► Stream (work in order) ─► DeviceBlock, Graph, Event
//!   Card (a session's device) ─► Program (a package's functions) ─► CardQueue (a run's stream)
//! ```
//! Every call's status is looked at; what the driver says becomes a `Diagnostic`. All that is made is given back when it
//! is dropped. Source of names, numbers and rules: CUDA Driver API, 12.0 and later.

mod api;
mod device;
mod event;
mod function;
mod graph;
mod header;
mod memory;
mod module;
mod program;
mod queue;
mod stream;

pub use device::{Cuda, Device, DeviceFacts};
pub(crate) use program::Card;
