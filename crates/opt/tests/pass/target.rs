//! A target with small tiles that takes composites in pieces, looks up or not, and multiplies pairs of `bf16` or
//! words or not.

use tegula_backend::{
    Attention, AttentionTile, BytePairs, CompiledKernel, Contract, ContractTile, Edges, Prologue, Scores,
    TargetModel,
};
use tegula_base::{Bytes, DType, Diagnostic, Symbols};
use tegula_machine::Machine;
use tegula_tensor::KernelClass;
use tegula_tile::TileKernel;

pub struct Small {
    pub looks_up: bool,
    pub multiplies_pairs: bool,
    pub multiplies_words: bool,
}

impl TargetModel for Small {
    fn machine(&self) -> &Machine {
        unreachable!("passes ask for tiles, not for the machine")
    }
    fn claims(&self, class: KernelClass) -> bool {
        !matches!(class, KernelClass::Attention | KernelClass::Recurrent)
    }
    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile> {
        let v_dim = attention.v_dim;
        Some(AttentionTile { queries: 8, keys: 8, v_dim, scores: Scores::Turned { rows: 4, queries: 4 } })
    }
    fn lanes(&self, _: DType) -> i64 {
        4
    }
    fn turned_square(&self, widest: DType) -> Option<i64> {
        Some(self.lanes(widest))
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
    fn winograd_tile(&self, products: &Contract, symbols: &Symbols) -> Option<ContractTile> {
        let pays = products.k.as_const().is_some_and(|k| k > 1);
        pays.then(|| self.contract_tile(products, symbols))
    }
    fn sums_channels_from(&self) -> Option<i64> {
        Some(3)
    }
    fn rows_worth_packing(&self, contract: &Contract) -> Option<i64> {
        contract.n.as_const().is_some_and(|n| n > 16).then_some(6)
    }
    fn takes_prologue(&self, prologue: Prologue) -> bool {
        matches!(prologue, Prologue::Unpack { to: DType::BF16, .. })
    }
    fn wants_signed_bytes(&self) -> bool {
        true
    }
    fn widens(&self, dtype: DType) -> bool {
        dtype == DType::F16 || dtype == DType::BF16 && !self.multiplies_pairs
    }
    fn looks_up(&self) -> bool {
        self.looks_up
    }
    fn words_pay_from(&self) -> Option<usize> {
        self.multiplies_words.then_some(64)
    }
    fn byte_pairs(&self) -> Option<BytePairs> {
        Some(BytePairs { share: 0.7, copy: 18.0 })
    }
    fn steps_together(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        if (lhs, rhs) == (DType::U8, DType::I8) && k > 1 { 4 } else { 1 }
    }
    fn byte_products(&self) -> i64 {
        4
    }
    fn row_tile(&self, _: DType, _: i64) -> i64 {
        8
    }
    fn reduces_rows_first(&self) -> bool {
        true
    }
    fn resident_row(&self, _: DType) -> i64 {
        16
    }
    fn unit_bytes(&self) -> Bytes {
        Bytes(64)
    }
    fn compile(&self, _: &str, _: &TileKernel, _: &Symbols) -> Result<CompiledKernel, Diagnostic> {
        Err(Diagnostic::internal("nothing compiles here"))
    }
}
