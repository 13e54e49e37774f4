//! Running combinations: each thread walks whole lines, in order (`docs/numerics.md`: a scan is not reassociated).

use super::{Lower, Made};
use crate::coord::{Coord, Place};
use crate::scalar::apply;
use crate::spread::Spread;
use tegula_ir::{OpId, ScalarOp};

impl Lower<'_> {
    pub fn scan(&mut self, op: OpId, f: ScalarOp, axis: usize, reverse: bool) -> Made<()> {
        let operand = self.func.operand(op, 0);
        let (dtype, shape) = self.tile(operand);
        let mut lines = shape.clone();
        lines[axis] = 1;
        let lines = Spread::rows(&mut self.maps, &lines, dtype, self.thread_bits).places;
        let (mut places, mut registers) = (Vec::new(), Vec::new());
        for line in lines {
            let mut running = None;
            for step in 0..shape[axis] {
                let mut place: Place = line.clone();
                place[axis] = Coord::uniform(if reverse { shape[axis] - 1 - step } else { step });
                let element = self.pieces(operand, std::slice::from_ref(&place))?[0];
                let next = match running {
                    None => element,
                    Some(before) => apply(&mut self.code, f, &[dtype; 2], &[before, element])?,
                };
                running = Some(next);
                places.push(place);
                registers.push(next);
            }
        }
        self.anchor_at(self.func.result(op), Spread { places }, &registers);
        Ok(())
    }
}
