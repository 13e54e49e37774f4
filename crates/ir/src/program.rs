//! The functions of one level with what they share: symbols, constants, source names.

use crate::{ConstStore, Func, Op};
use tegula_base::Symbols;

/// `funcs[0]` is the entry.
#[derive(Clone, Debug)]
pub struct Program<O: Op> {
    pub symbols: Symbols,
    pub consts: ConstStore,
    pub funcs: Vec<Func<O>>,
}

impl<O: Op> Program<O> {
    pub fn new(entry: Func<O>) -> Program<O> {
        Program { symbols: Symbols::default(), consts: ConstStore::default(), funcs: vec![entry] }
    }

    pub fn entry(&self) -> &Func<O> {
        &self.funcs[0]
    }

    pub fn entry_mut(&mut self) -> &mut Func<O> {
        &mut self.funcs[0]
    }

    pub fn func(&self, name: &str) -> Option<&Func<O>> {
        self.funcs.iter().find(|func| func.name == name)
    }
}
