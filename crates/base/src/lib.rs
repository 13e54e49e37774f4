//! Words that every crate shares: ids, dtypes, symbolic sizes, units, diagnostics.
//! In: nothing.  Out: plain data types.
//! May use: nothing.  Never knows: any IR, files, the clock, the environment.
//! Start reading at `dim.rs` (symbolic sizes), then `diagnostic.rs`.

pub mod diagnostic;
pub mod dim;
pub mod dtype;
pub mod entity;
pub mod face;
pub mod feature;
pub mod hash;
pub mod host_tensor;
pub mod npy;
pub mod random;
pub mod shape;
pub mod small_float;
pub mod symbol;
pub mod units;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Severity};
pub use dim::{Dim, DimReader};
pub use dtype::DType;
pub use entity::{Arena, EntityId};
pub use hash::{HashMap, HashSet, fingerprint};
pub use host_tensor::HostTensor;
pub use shape::Shape;
pub use symbol::{Origin, SymbolInfo, Symbols};
pub use units::{Bytes, Flops, Nanoseconds};
