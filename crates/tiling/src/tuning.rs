//! Tiles that were measured to be faster than a target's own, as a file: `tegula tune` writes it, `--tuning` reads it.
//!
//! A package depends on the record as it does on the machine file: what was measured once is chosen again, on any host.

use crate::Contract;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_machine::Machine;

/// Extents of a contraction's tile that a record may say; what else a [`crate::ContractTile`] has follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunedTile {
    /// [`crate::ContractTile::m`].
    pub rows: i64,
    /// [`crate::ContractTile::n`].
    pub columns: i64,
    /// [`crate::ContractTile::m_block`].
    pub row_tiles: i64,
}

/// A tile, [`TunedTile`], with what speaks for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedContract {
    pub rows: i64,
    pub columns: i64,
    pub row_tiles: i64,
    /// Of the time that the target's own tile takes.
    pub share: f64,
}

impl TunedContract {
    pub fn new(tile: TunedTile, share: f64) -> TunedContract {
        let TunedTile { rows, columns, row_tiles } = tile;
        TunedContract { rows, columns, row_tiles, share }
    }

    pub fn tile(&self) -> TunedTile {
        let TunedContract { rows, columns, row_tiles, .. } = *self;
        TunedTile { rows, columns, row_tiles }
    }
}

/// A record of tiles by contraction, for one machine class and tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    pub machine: String,
    pub tier: String,
    /// By [`Contract::title`].
    #[serde(default)]
    pub contractions: BTreeMap<String, TunedContract>,
}

impl Tuning {
    /// Without any tile.
    pub fn of(machine: &Machine) -> Tuning {
        Tuning { machine: machine.name.clone(), tier: machine.tier.clone(), contractions: BTreeMap::new() }
    }

    /// Reads a record; `origin` names it in messages.
    /// Errors: `tuning-record`.
    pub fn parse(text: &str, origin: &str) -> Result<Tuning, Diagnostics> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let place = line.map_or(origin.to_string(), |line| format!("{origin}: line {line}"));
            Diagnostic::error("tuning-record", error.message().to_string()).at(place).into()
        })
    }

    /// As [`Tuning::parse`] reads it.
    pub fn print(&self) -> String {
        let record = toml::to_string(self).expect("invariant: strings, numbers and tables are TOML");
        format!(
            "# Tiles of contractions, measured by `tegula tune`; `--tuning` takes them. `share`: of the time of the tile\n# that is taken without.\n{record}"
        )
    }

    /// Errors: `tuning-record`, it is of another machine class or tier.
    pub fn check_machine(&self, machine: &Machine) -> Result<(), Diagnostic> {
        if (&self.machine, &self.tier) == (&machine.name, &machine.tier) {
            return Ok(());
        }
        let message = format!(
            "the tuning record was measured for machine `{}` at tier `{}`, not for `{}` at `{}`",
            self.machine, self.tier, machine.name, machine.tier
        );
        Err(Diagnostic::error("tuning-record", message)
            .help("`tegula tune` measures one for the machine that you compile for"))
    }

    /// The tile of a contraction, if it has one here.
    pub fn tile(&self, contract: &Contract) -> Option<&TunedContract> {
        if self.contractions.is_empty() { None } else { self.contractions.get(&contract.title()) }
    }
}

impl Contract {
    /// What a record knows it by: contractions of one title have one tile, `1 of 128 x 384 by 384 x 1536, f32 by f32 in f32`.
    pub fn title(&self) -> String {
        let Contract { batch, m, n, k, lhs, rhs, acc, .. } = self;
        let windows = if self.windowed { ", windows" } else { "" };
        let pairs = if self.pair_sums { ", sums of pairs" } else { "" };
        format!("{batch} of {m} x {k} by {k} x {n}, {lhs} by {rhs} in {acc}{windows}{pairs}")
    }
}
