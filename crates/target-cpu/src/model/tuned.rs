//! Tiles of contractions from a record, and which are worth measuring for one.

use super::CpuTarget;
use super::tile::{MOST_ROW_TILES, REGISTERS, even_block, instructions};
use tegula_base::{DType, Diagnostic, Diagnostics};
use tegula_tiling::tuning::{TunedContract, TunedTile, Tuning};
use tegula_tiling::{Contract, Panels, TileMachine};

/// Shapes of tiles that are worth measuring, at most. Of 16 products and convolutions, each alone on a Zen 3 with up to 26
/// shapes, the fastest that saved 3 % was always among the first two.
const MOST_SHAPES: usize = 8;
/// The part of the sums that fit the registers, or that there are, which a tile has at least: a smaller one reads more for each
/// product than any that is taken.
const LEAST_SHARE: i64 = 2;

/// As [`TileMachine::other_tiles`]: other shapes with the blocks that they would have, then the own one in other blocks.
pub(super) fn others(target: &CpuTarget, contract: &Contract) -> Vec<TunedTile> {
    let own = target.own_tile(contract);
    let lanes = target.product_lanes(contract);
    let most = target.most_accumulators(contract);
    let columns = contract.n.as_const().map(|n| (n + lanes - 1) / lanes);
    let rows = contract.m.as_const();
    if rows.is_some_and(|m| m < 1) || columns.is_some_and(|n| n < 1) {
        return vec![];
    }
    let widths = 1..=columns.map_or(most, |columns| columns.min(most));
    let shapes = widths.flat_map(|vectors| {
        let highest = (most / vectors).max(1);
        (1..=rows.map_or(highest, |rows| rows.min(highest))).map(move |height| [height, vectors])
    });
    let largest = rows.unwrap_or(most).saturating_mul(columns.unwrap_or(most)).min(most);
    let is_other = |[height, vectors]: &[i64; 2]| {
        let is_own = [*height, vectors * lanes] == [own.rows, own.columns];
        !is_own && height * vectors * LEAST_SHARE >= largest
    };
    let mut shapes: Vec<[i64; 2]> = shapes.filter(is_other).collect();
    let cost = |[height, vectors]: [i64; 2]| {
        let padding = |size: Option<i64>, tile: i64| {
            size.map_or(1.0, |size| ((size + tile - 1) / tile * tile) as f64 / size as f64)
        };
        instructions(height, vectors) * padding(rows, height) * padding(columns, vectors)
    };
    shapes.sort_by(|a, b| cost(*a).total_cmp(&cost(*b)));
    shapes.truncate(MOST_SHAPES);
    let shapes = shapes.into_iter().map(|[rows, vectors]| TunedTile {
        rows,
        columns: vectors * lanes,
        row_tiles: target.row_tiles_of_block(contract, rows),
    });
    let most = 2 * MOST_ROW_TILES;
    let blocks = [own.row_tiles / 2, own.row_tiles * 2];
    let blocks = blocks.map(|block| even_block(contract, own.rows, block.clamp(1, most)));
    let blocks = blocks.into_iter().filter(|block| *block != own.row_tiles);
    shapes.chain(blocks.map(|row_tiles| TunedTile { row_tiles, ..own })).collect()
}

/// Why a contraction has a tile that is not the own one.
pub(super) fn reason(target: &CpuTarget, contract: &Contract) -> Option<String> {
    let found = target.tuning.tile(contract)?;
    let TunedContract { rows, columns, row_tiles, share } = *found;
    // The record says which panels it has; its own choice would have others.
    let panels = if contract.panels == Panels::None { Panels::None } else { Panels::OfTile };
    let own = target.own_tile(&Contract { panels, ..contract.clone() });
    Some(format!(
        "its tile of {rows} rows by {columns} columns, {row_tiles} a block, is the tuning record's: {share:.2} of the time of {} by {}, {} a block",
        own.rows, own.columns, own.row_tiles
    ))
}

/// Errors: `tuning-record`, of another machine or tier; tiles that no code is made for, all of them.
pub(super) fn check(target: &CpuTarget, tuning: &Tuning) -> Result<(), Diagnostics> {
    tuning.check_machine(&target.machine)?;
    let mut found = Diagnostics::default();
    for (title, tile) in &tuning.contractions {
        let is_share = tile.share.is_finite() && tile.share > 0.0;
        let share = if is_share { Ok(()) } else { Err(format!("takes {} of the time", tile.share)) };
        if let Err(why) = share.and_then(|()| check_tile(target, &tile.tile())) {
            found.push(Diagnostic::error("tuning-record", format!("the tile of `{title}` {why}")));
        }
    }
    found.into_result(())
}

fn check_tile(target: &CpuTarget, tile: &TunedTile) -> Result<(), String> {
    let TunedTile { rows, columns, row_tiles } = *tile;
    if rows < 1 || columns < 1 || row_tiles < 1 {
        return Err("has no rows, columns or row tiles".into());
    }
    // Of the widest sums, half registers.
    let lanes = target.lanes(DType::F64) / 2;
    if columns % lanes != 0 {
        return Err(format!("has {columns} columns, no multiple of {lanes}"));
    }
    let of_row = columns.unsigned_abs().div_ceil(target.lanes(DType::F32).unsigned_abs()) as i64;
    // Sums that leave no room for factors spill, and are as right.
    let (vectors, registers) = (rows.saturating_mul(of_row), super::of_tier(&REGISTERS, target.tier));
    if vectors > registers {
        return Err(format!("has {rows} x {columns} sums, more than {registers} registers hold"));
    }
    if row_tiles > i64::from(u16::MAX) {
        return Err(format!("is one of {row_tiles} a block, above {}", u16::MAX));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Form;
    use crate::model::tests::contract;
    use std::collections::BTreeMap;
    use tegula_base::Symbols;
    use tegula_machine::Machine;

    fn target(class: &str) -> CpuTarget {
        CpuTarget::new(Machine::class(class).expect("a class"), Form::Machine).expect("a tier")
    }

    /// Whatever is worth measuring is another tile, once, and one that a record may say.
    #[test]
    fn other_tiles_are_others_and_fit() {
        for class in ["avx2-generic", "zen4", "zen5"] {
            let target = target(class);
            for [m, n, k] in
                [["128", "384", "1536"], ["seq", "384", "384"], ["1", "1000", "2048"], ["3", "5", "7"]]
            {
                let contract = contract(m, n, k);
                let own = target.own_tile(&contract);
                let others = others(&target, &contract);
                assert!(!others.is_empty(), "{class} {m} {n} {k}");
                for (i, tile) in others.iter().enumerate() {
                    assert_ne!(*tile, own);
                    assert!(!others[..i].contains(tile), "{tile:?} twice");
                    check_tile(&target, tile).expect("a tile that fits");
                }
            }
            assert_eq!(others(&target, &contract("0", "384", "384")), vec![]);
        }
    }

    #[test]
    fn a_record_decides_its_contraction_alone() {
        let target = target("avx2-generic");
        let [own, other] = [contract("128", "384", "1536"), contract("128", "384", "384")];
        let before = [&own, &other].map(|contract| target.contract_tile(contract, &Symbols::default()));
        let tile = TunedTile { rows: 4, columns: 24, row_tiles: 5 };
        let contractions = BTreeMap::from([(own.title(), TunedContract::new(tile, 0.9))]);
        let tuning = Tuning { contractions, ..Tuning::of(target.machine()) };
        let tuned = target.with_tuning(tuning).expect("a record that fits");
        let after = [&own, &other].map(|contract| tuned.contract_tile(contract, &Symbols::default()));
        assert_eq!([after[0].m, after[0].n, after[0].m_block], [4, 24, 5]);
        assert_eq!(after[1], before[1]);
        // Where it is lowered, its panels are the record's already.
        let lowered = Contract { panels: Panels::Of(24), ..own.clone() };
        for asked in [&own, &lowered] {
            let why = reason(&tuned, asked).expect("a tile of the record");
            assert!(why.contains("0.90 of the time of 6 by 16"), "{why}");
        }
        assert_eq!(reason(&tuned, &other), None);
    }

    #[test]
    fn tiles_that_no_code_is_made_for_are_refused() {
        let target = target("avx2-generic");
        let tile = |rows, columns, row_tiles| TunedTile { rows, columns, row_tiles };
        for wrong in [
            tile(0, 16, 1),
            tile(4, 0, 1),
            tile(4, 16, 0),
            tile(4, 15, 1),
            tile(64, 64, 1),
            tile(i64::MAX, 16, 1),
            tile(1, 16, i64::MAX),
        ] {
            assert!(check_tile(&target, &wrong).is_err(), "{wrong:?}");
        }
        check_tile(&target, &tile(6, 16, 8)).expect("the usual tile");
    }
}
