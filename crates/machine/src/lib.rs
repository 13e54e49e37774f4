//! Machine descriptions as data: memories, units, rates; every number with unit and source.
//! In: a machine file (TOML).  Out: `Machine`, or `Diagnostics`.
//! May use: base.  Never knows: kernels, IR, which machine this process runs on (the caller probes).
//! Start reading at `lib.rs` (`Machine`), then `machines/*.toml`.

/// placeholder until machine lands
#[derive(Clone, Debug)]
pub struct Machine {
    pub name: String,
}
