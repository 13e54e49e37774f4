//! Loops, branches, and the order of memory accesses that they hand on.

use super::Lower;
use crate::scalar::Made;
use crate::writer::tile;
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{ComparisonPredicate, ScalarType, Type, Value as Written};
use tegula_ir::{OpId, RegionId};
use tegula_tile::TileOp;

impl Lower<'_> {
    /// Gives a first token to each buffer whose accesses have an order.
    pub(super) fn order_buffers(&mut self) {
        for buffer in 0..self.buffers.len() {
            let accesses: Vec<OpId> =
                self.func.walk().into_iter().filter(|op| self.buffer_of(*op) == Some(buffer)).collect();
            let writes = accesses.iter().filter(|op| self.writes(**op)).count();
            let scatters = accesses.iter().any(|op| matches!(self.func.kind(*op), TileOp::Scatter {}));
            if writes > 0 && (accesses.len() > 1 || scatters) {
                self.tokens[buffer] = Some(self.w.plain(Opcode::MakeToken, &[], Type::Token));
            }
        }
    }

    fn writes(&self, op: OpId) -> bool {
        matches!(self.func.kind(op), TileOp::Store { .. } | TileOp::Scatter {})
    }

    /// Buffers with an order that the regions of an op access.
    fn ordered_in(&self, op: OpId) -> Vec<usize> {
        let mut regions: Vec<RegionId> = self.func.regions_of(op).to_vec();
        let mut found = Vec::new();
        while let Some(region) = regions.pop() {
            for &inner in self.func.ops_in(region) {
                regions.extend(self.func.regions_of(inner));
                found.extend(self.buffer_of(inner).filter(|buffer| self.tokens[*buffer].is_some()));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Takes the tokens of these buffers as what a region starts with or a loop gives.
    fn take_tokens(&mut self, buffers: &[usize], tokens: &[Written]) {
        for (buffer, token) in buffers.iter().zip(tokens) {
            self.tokens[*buffer] = Some(*token);
        }
    }

    fn tokens_of(&self, buffers: &[usize]) -> Vec<Written> {
        buffers.iter().filter_map(|buffer| self.tokens[*buffer]).collect()
    }

    pub(super) fn for_loop(&mut self, op: OpId, step: i64) -> Made<Vec<Written>> {
        let region = self.func.regions_of(op)[0];
        let ordered = self.ordered_in(op);
        let step = self.w.index(step);
        let inits = &self.func.operands(op)[2..];
        let mut types = Vec::new();
        for init in inits {
            types.push(self.ty(*init));
        }
        types.extend(ordered.iter().map(|_| Type::Token));
        let mut operands = vec![self.operand(op, 0), self.operand(op, 1), step];
        operands.extend(inits.iter().map(|init| self.value(*init)));
        operands.extend(self.tokens_of(&ordered));
        let args: Vec<Type> = [tile(ScalarType::I64, &[])].into_iter().chain(types.iter().cloned()).collect();
        let (body, outer, args) = self.w.begin_region(&args);
        let (own, tokens) = args.split_at(1 + inits.len());
        for (arg, written) in self.func.args(region).iter().zip(own) {
            self.values.insert(*arg, *written);
        }
        self.take_tokens(&ordered, tokens);
        let mut next = self.region(region)?;
        next.extend(self.tokens_of(&ordered));
        self.w.op(Opcode::Continue, &next, &[], &[], &[]);
        self.w.block = outer;
        let results = self.w.op(Opcode::For, &operands, &types, &[], &[body]);
        let (own, tokens) = results.split_at(inits.len());
        self.take_tokens(&ordered, tokens);
        Ok(own.to_vec())
    }

    pub(super) fn branch(&mut self, op: OpId) -> Made<Vec<Written>> {
        let ordered = self.ordered_in(op);
        let mut types = Vec::new();
        for result in self.func.results(op) {
            types.push(self.ty(*result));
        }
        types.extend(ordered.iter().map(|_| Type::Token));
        let (condition, zero) = (self.operand(op, 0), self.w.index(0));
        let condition = self.w.compare(ComparisonPredicate::NotEqual, condition, zero, true);
        let before = self.tokens_of(&ordered);
        let mut regions = Vec::new();
        for &region in self.func.regions_of(op) {
            self.take_tokens(&ordered, &before);
            let (written, outer, _) = self.w.begin_region(&[]);
            let mut yielded = self.region(region)?;
            yielded.extend(self.tokens_of(&ordered));
            self.w.op(Opcode::Yield, &yielded, &[], &[], &[]);
            self.w.block = outer;
            regions.push(written);
        }
        let results = self.w.op(Opcode::If, &[condition], &types, &[], &regions);
        let (own, tokens) = results.split_at(self.func.results(op).len());
        self.take_tokens(&ordered, tokens);
        Ok(own.to_vec())
    }
}
