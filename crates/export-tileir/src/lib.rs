//! Writes tile kernels as CUDA Tile IR bytecode, NVIDIA's own input format.      tile ─► [export-tileir] ─► tileiras
//! In: a verified `TileKernel`.  Out: a module of one entry as bytecode and as text, with the sizes of its parameters; or one `Diagnostic` that names the tile that cannot be written.
//! May use: tile, tiling, ir, base.  Never knows: PTX, targets, machines, files, the assembler.
//! Start reading at `lower.rs`, then `lower/memory.rs`.
//!
//! Tile IR has tiles whose extents are powers of two. A tile of other extents is written padded to the next ones; what
//! its padding holds is never stored, and ops that mix elements mask it. What that leaves out is refused.
//! An entry's parameters are the views' addresses, in order, then a 64-bit word a size. Its grid is linear: one tile
//! block a work unit, row-major over the kernel's grid.

mod facts;
mod lower;
mod scalar;
mod writer;

use cutile_ir::bytecode::{BytecodeVersion, write_bytecode_version};
use cutile_ir::ir::Module;
use tegula_base::{Diagnostic, Dim, Symbols};
use tegula_tile::TileKernel;

/// The version of the bytecode: the first with saturating conversions and programmatic launches.
pub const VERSION: &str = "13.4";

/// A kernel in Tile IR.
pub struct Exported {
    module: Module,
    /// The entry's parameters after the views' addresses: 64-bit integers.
    pub sizes: Vec<Dim>,
}

impl Exported {
    /// What `tileiras` reads.
    /// Errors: internal; the writer's words.
    pub fn bytecode(&self) -> Result<Vec<u8>, Diagnostic> {
        write_bytecode_version(&self.module, BytecodeVersion::V13_4)
            .map_err(|error| Diagnostic::internal(format!("Tile IR: {error}")))
    }

    /// The module as the dialect's text.
    pub fn text(&self) -> String {
        self.module.to_mlir_text()
    }
}

/// The bytecode that `bytes` hold, as a listing of its sections.
/// Errors: what the reader of the format finds.
pub fn listing(bytes: &[u8]) -> Result<String, Diagnostic> {
    cutile_ir::decode_bytecode(bytes).map_err(|error| Diagnostic::error("bad-tileir", error.to_string()))
}

/// Writes a kernel. `symbols` tell what sizes are multiples of.
/// Errors: `unsupported` names the tile, or the scalar operation and its dtype, that Tile IR cannot express.
pub fn export(name: &str, kernel: &TileKernel, symbols: &Symbols) -> Result<Exported, Diagnostic> {
    let lowered = lower::lower(name, kernel, symbols).map_err(|refused| {
        Diagnostic::error("unsupported", format!("{} is not expressed in CUDA Tile IR", refused.0))
            .at(format!("kernel {name}"))
    })?;
    lowered
        .module
        .verify_dominance()
        .map_err(|error| Diagnostic::internal(format!("Tile IR of kernel `{name}`: {error}")))?;
    Ok(Exported { module: lowered.module, sizes: lowered.sizes })
}
