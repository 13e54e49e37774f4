//! A target with small tiles that takes decompositions of composites. It may read lookup tables, and multiply pairs of
//! `bf16` or `i16`.

use tegula_backend::{BytePairs, CompiledKernel};
use tegula_base::{Bytes, DType, Diagnostic, Symbols};
use tegula_machine::Machine;
use tegula_tile::TileKernel;
use tegula_tiling::tuning::TunedTile;
use tegula_tiling::{
    Attention, AttentionFacts, AttentionSplits, AttentionTile, ByteProductFacts, Contract, ContractForm,
    ContractTile, ContractionFacts, Edges, Facts, RowFacts, Scores, TileMachine, Tiled,
};

/// What a test's target differs by.
#[derive(Clone, Copy, Default)]
pub struct Can {
    pub lookup_tables: bool,
    pub multiply_pairs: bool,
    pub multiply_i16: bool,
}

pub struct Small {
    facts: Facts,
}

pub fn small(can: Can) -> Tiled<Small> {
    let widened = if can.multiply_pairs { vec![DType::F16] } else { vec![DType::F16, DType::BF16] };
    let facts = Facts {
        contractions: ContractionFacts {
            widened,
            unpacks_to: vec![DType::BF16],
            fewest_summed_channels: Some(3),
            ..ContractionFacts::default()
        },
        byte_products: ByteProductFacts {
            rate: 4,
            signed_weights: true,
            pairs: Some(BytePairs { share: 0.7, copy: 18.0 }),
            fewest_i16_products: can.multiply_i16.then_some(64),
        },
        rows: RowFacts {
            transposes: true,
            lookup_tables: can.lookup_tables,
            two_step_extremes: true,
            unit_bytes: Bytes(64),
            ..RowFacts::default()
        },
        attention: AttentionFacts { has_recipe: false },
    };
    Tiled::new(Small { facts })
}

impl TileMachine for Small {
    fn machine(&self) -> &Machine {
        unreachable!("passes ask for tiles, not for the machine")
    }
    fn isa(&self) -> &str {
        "none"
    }
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn lanes(&self, _: DType) -> i64 {
        4
    }
    fn contract_tile(&self, _: &Contract, _: &Symbols) -> ContractTile {
        ContractTile {
            m: 4,
            n: 8,
            k: 2,
            m_block: 2,
            n_slabs: 1,
            busy_rows: 2,
            converts_for: None,
            edges: Edges::Cut,
            swapped: false,
            splits: 1,
        }
    }
    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
        ContractForm::only(self.contract_tile(contract, symbols))
    }
    fn other_tiles(&self, _: &Contract, _: &Symbols) -> Vec<TunedTile> {
        vec![]
    }
    fn tile_reason(&self, _: &Contract) -> Option<String> {
        None
    }
    fn rows_worth_packing(&self, contract: &Contract) -> Option<i64> {
        contract.n.as_const().is_some_and(|n| n > 16).then_some(6)
    }
    fn k_group(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        if (lhs, rhs) == (DType::U8, DType::I8) && k > 1 { 4 } else { 1 }
    }
    fn lines_of_panel(&self, _: Bytes, _: Bytes) -> i64 {
        1
    }
    fn winograd_tile(&self, products: &Contract, symbols: &Symbols) -> Option<ContractTile> {
        let pays = products.k.as_const().is_some_and(|k| k > 1);
        pays.then(|| self.contract_tile(products, symbols))
    }
    fn prefetches_rows(&self, _: &Contract) -> bool {
        false
    }
    fn row_tile(&self, _: DType, _: i64) -> i64 {
        8
    }
    fn long_row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        self.row_tile(widest, live_rows)
    }
    fn resident_row(&self, _: DType) -> i64 {
        16
    }
    fn columns_together(&self, widest: DType) -> i64 {
        self.lanes(widest)
    }
    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile> {
        let v_dim = attention.v_dim;
        Some(AttentionTile { queries: 8, keys: 8, v_dim, scores: Scores::Transposed { rows: 4, queries: 4 } })
    }
    fn attention_splits(&self, _: &Attention, _: &AttentionTile, _: &Symbols) -> Option<AttentionSplits> {
        None
    }
    fn compile(&self, _: &str, _: &TileKernel, _: &Symbols) -> Result<CompiledKernel, Diagnostic> {
        Err(Diagnostic::internal("nothing compiles here"))
    }
}
