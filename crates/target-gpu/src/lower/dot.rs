//! Matrix products by multiply-adds, where `mma.sync` has no form for them: each thread holds a part of the sums; rows of `a` and columns of `b` come from
//! shared memory where several threads want them.

use super::{Lower, Made};
use crate::coord::{Coord, Place};
use crate::scalar::apply;
use tegula_base::DType;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_isa_ptx::Operand;

impl Lower<'_> {
    /// The spread that a product wants for its sums; none where rows do as well as any.
    pub fn dot_places(&mut self, op: OpId) -> Option<Vec<Place>> {
        if let Some(plan) = self.product(op).cloned() {
            return Some(self.product_places(&plan));
        }
        let plan = self.mma_plan(op)?;
        Some(self.mma_places(&plan))
    }

    pub fn dot(&mut self, op: OpId) -> Made<()> {
        if self.product(op).is_some() {
            return self.multiply(op);
        }
        if let Some(plan) = self.mma_plan(op) {
            return self.mma(op, &plan);
        }
        let [acc, a, b] = *self.func.operands(op) else {
            unreachable!("invariant: a product has three operands")
        };
        let result = self.func.result(op);
        let spread = self.spread_of(result);
        let (dtype, _) = self.tile(acc);
        let (a_dtype, a_shape) = self.tile(a);
        let inner = a_shape[1];
        let mut sums = self.pieces(acc, &spread.places)?;
        let steps: Vec<i64> = (0..inner).collect();
        let left = |place: &Place, k: i64| -> Place { [place[0], Coord::uniform(k)].into_iter().collect() };
        let right = |place: &Place, k: i64| -> Place { [Coord::uniform(k), place[1]].into_iter().collect() };
        let places = |make: &dyn Fn(&Place, i64) -> Place| -> Vec<Place> {
            spread.places.iter().flat_map(|place| steps.iter().map(|k| make(place, *k))).collect()
        };
        let lefts = self.factors(a, &places(&left))?;
        let rights = self.factors(b, &places(&right))?;
        let widen = |cx: &mut Self, from: DType, factor: Operand| -> Made<Operand> {
            // Floats below 32 bits and bytes are held as their sums are.
            match from == dtype || from.bits() < 32 {
                true => Ok(factor),
                false => {
                    apply(&mut cx.code, ScalarOp::Cast { to: dtype, saturate: true }, &[from], &[factor])
                }
            }
        };
        for k in 0..inner as usize {
            for (i, sum) in sums.iter_mut().enumerate() {
                let x = widen(self, a_dtype, lefts[i * inner as usize + k])?;
                let y = widen(self, a_dtype, rights[i * inner as usize + k])?;
                *sum = multiply_add(self, dtype, x, y, *sum)?;
            }
        }
        self.anchor_at(result, spread, &sums);
        Ok(())
    }

    /// Elements of a factor: straight where each is wanted by one thread, else through shared memory.
    pub fn factors(&mut self, value: Value, places: &[Place]) -> Made<Vec<Operand>> {
        let (_, shape) = self.tile(value);
        let count: i64 = shape.iter().product();
        let mut distinct: Vec<&Place> = places.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let asked = (distinct.len() as i64) << self.thread_bits;
        if asked <= 2 * count.max(1 << self.thread_bits) {
            return self.pieces(value, places);
        }
        let owned: Vec<Place> = distinct.into_iter().cloned().collect();
        let found = self.staged(value, &owned)?;
        let find = |place: &Place| found[owned.binary_search(place).expect("invariant: all were asked for")];
        Ok(places.iter().map(find).collect())
    }
}

fn multiply_add(cx: &mut Lower, dtype: DType, x: Operand, y: Operand, sum: Operand) -> Made<Operand> {
    if dtype.is_float() {
        return apply(&mut cx.code, ScalarOp::Fma, &[dtype; 3], &[x, y, sum]);
    }
    let product = apply(&mut cx.code, ScalarOp::Mul, &[dtype; 2], &[x, y])?;
    apply(&mut cx.code, ScalarOp::Add, &[dtype; 2], &[product, sum])
}
