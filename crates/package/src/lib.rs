//! The compiled file: writer, reader, checks, and the planner of its arena.
//!
//! ```text
//!   HostProgram + images + constants ─► writer ─► bytes ─► reader ─► check ─► Package ─► runtime
//!                                                 lifetimes ─► plan ─► arena offsets
//! ```
//! In: images, constants and a host program as plain data.  Out: bytes; and back, verified.
//! May use: base.  Never knows: IR, machines, how to run anything, files.
//! Start reading at `host.rs` (the program), then `image.rs` (code), `device.rs`, `format.rs` (the bytes) and `plan.rs` (the arena).

pub mod check;
mod device;
pub mod format;
pub mod functions;
mod hash;
pub mod host;
mod image;
pub mod lifetime;
pub mod manifest;
pub mod plan;
pub mod portable;
pub mod ptx;
pub mod reader;
pub mod size;
pub mod tensor_map;
pub mod writer;

pub use device::{DeviceId, PackageDevice};
pub use functions::Function;
pub use host::{
    Arg, Buffer, BufferId, Cond, CostRecord, HostProgram, Kernel, Origin, Place, Port, PortDefault, Relation,
    SizeExpr, Step, Symbol,
};
pub use image::{CodeKind, Entry, Image, ImageId, KernelCode, isa};
pub use manifest::{About, MachineId, Manifest};
pub use portable::{MachineExecutor, Memory, OutOfBounds, PortableExecutor, PortableKernel};
pub use ptx::{PtxExecutor, PtxKernel, PtxLaunch};
pub use reader::Package;
pub use tensor_map::{MAP_WORDS, MapElement, MapPromotion, MapSize, MapSwizzle, MapTemplate, TensorMap};
pub use writer::{ConstantData, Draft, PackageBuilder};
