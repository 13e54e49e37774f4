//! Which processor a thread is on, and how it leaves one to another thread.
//!
//! After a sleep Linux may wake a worker on the processor that its caller keeps busy, and leave both there for
//! hundreds of milliseconds while another is idle. Pinning threads for good would cure that and make two sessions
//! share processors; a thread that only steps aside is free to be moved again. So it is with NUMA nodes: a worker is
//! woken on that of who wakes it, and not moved while it runs.

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
