//! Reductions: in each thread over its registers, across the lanes of a warp by shuffles, across warps through shared
//! memory. All threads along the axis end with the same bits: the order is the same for each of them.

use super::{Lower, Made};
use crate::coord::{Coord, MapId, Place, ThreadMap};
use crate::scalar::{apply, held_class, hold, select};
use crate::spread::Spread;
use tegula_base::DType;
use tegula_ir::scalar::eval::identity;
use tegula_ir::{OpId, ScalarOp};
use tegula_isa_ptx::modifiers::{ShuffleMode, StateSpace};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::MemoryType;
use tegula_isa_ptx::{Operand, Predicate, Reg, RegClass};

/// Lanes of a warp, as a power of two.
const LANE_BITS: u8 = 5;
/// Sums of a thread that do not wait for one another, from so many elements on.
const CHAINS: usize = 4;
const CHAINED: usize = 16;
const ALL_LANES: Operand = Operand::Imm(0xffff_ffff);

impl Lower<'_> {
    pub fn reduce(&mut self, op: OpId, f: ScalarOp, axis: usize) -> Made<()> {
        let operand = self.func.operand(op, 0);
        let (dtype, shape) = self.tile(operand);
        let spread = self.spread_of(operand);
        let pieces = self.pieces(operand, &spread.places)?;
        let kept = spread.reduced(axis);
        // Instructions that wait for one another take longer than their units need: a slot's elements go round.
        let chains = if spread.places.len() >= CHAINED * kept.len() { CHAINS } else { 1 };
        let mut turn = vec![0; kept.len()];
        let mut parts: Vec<Vec<Operand>> = vec![Vec::new(); kept.len()];
        for (place, piece) in spread.places.iter().zip(pieces) {
            let piece = self.or_identity(f, dtype, shape[axis], place[axis], piece);
            let mut own = place.clone();
            own[axis] = Coord::uniform(0);
            let slot = kept.iter().position(|k| *k == own).expect("invariant: reduced from the same places");
            match parts[slot].get_mut(turn[slot]) {
                None => parts[slot].push(piece),
                Some(sum) => *sum = apply(&mut self.code, f, &[dtype; 2], &[*sum, piece])?,
            }
            turn[slot] = (turn[slot] + 1) % chains;
        }
        let mut sums = Vec::new();
        for parts in parts {
            let join = |sum, part| apply(&mut self.code, f, &[dtype; 2], &[sum, part]);
            sums.push(parts[1..].iter().copied().try_fold(parts[0], join)?);
        }
        let map = spread.places[0][axis].map;
        let bits: Vec<u8> = self.maps.get(map).iter().map(|(bit, _)| *bit).collect();
        for bit in bits.iter().filter(|bit| **bit < LANE_BITS) {
            for sum in &mut sums {
                let other = self.shuffled(dtype, *sum, 1 << bit);
                *sum = apply(&mut self.code, f, &[dtype; 2], &[*sum, other])?;
            }
        }
        if bits.iter().any(|bit| *bit >= LANE_BITS) {
            self.within_cta(operand)?;
            let mut own = shape.clone();
            own[axis] = 1;
            sums = self.across_warps((f, dtype), &own, map, &kept, &sums)?;
        }
        self.anchor_at(self.func.result(op), Spread { places: kept }, &sums);
        Ok(())
    }

    /// The element, or what changes nothing where threads leave the axis.
    fn or_identity(
        &mut self,
        f: ScalarOp,
        dtype: DType,
        extent: i64,
        coord: Coord,
        piece: Operand,
    ) -> Operand {
        let place: Place = [coord].into_iter().collect();
        let Some(inside) = self.in_tile(&[extent], &place) else { return piece };
        let neutral = hold(dtype, identity(f, dtype).expect("invariant: reductions have an identity"));
        select(&mut self.code, dtype, inside.reg.into(), piece, neutral)
    }

    /// The element of the lane whose number differs in `mask`.
    fn shuffled(&mut self, dtype: DType, piece: Operand, mask: u32) -> Operand {
        let word = self.word(dtype, piece);
        let shuffle = |code: &mut crate::code::Code, a: Reg| {
            let d = code.b32();
            let (b, clamp) = (Operand::u32(mask), Operand::u32(31));
            code.emit(Shfl { mode: ShuffleMode::Bfly, d, p: None, a: a.into(), b, clamp, mask: ALL_LANES });
            d
        };
        if word.class() == RegClass::B32 {
            let other = shuffle(&mut self.code, word);
            return self.of_word(dtype, other);
        }
        let halves = [self.code.b32(), self.code.b32()];
        self.code.emit(UnpackWords { parts: halves.into_iter().collect(), a: word });
        let others = halves.map(|half| shuffle(&mut self.code, half));
        let d = self.code.b64();
        self.code.emit(PackWords { d, parts: others.into_iter().collect() });
        d.into()
    }

    /// Each warp's part of the sums goes to shared memory; every thread adds them all, in the order of the warps.
    fn across_warps(
        &mut self,
        (f, dtype): (ScalarOp, DType),
        shape: &[i64],
        along: MapId,
        kept: &[Place],
        sums: &[Operand],
    ) -> Made<Vec<Operand>> {
        let bits = self.maps.get(along).clone();
        let warps: Vec<u8> = bits.iter().map(|(bit, _)| *bit).filter(|bit| *bit >= LANE_BITS).collect();
        let parts = 1i64 << warps.len();
        let number: ThreadMap = warps.iter().enumerate().map(|(i, bit)| (*bit, 1 << i)).collect();
        let number = self.maps.intern(number);
        let size = if dtype.bits() == 64 { 8 } else { 4 };
        let mut own = shape.to_vec();
        own.push(parts);
        let area = self.reserve(own.iter().product::<i64>() as u32 * size);
        let (ty, class) = match held_class(dtype) {
            RegClass::B64 => (MemoryType::B64, RegClass::B64),
            _ => (MemoryType::B32, RegClass::B32),
        };
        self.sync();
        for (place, sum) in kept.iter().zip(sums) {
            let mut part = place.clone();
            part.push(Coord { map: number, at: 0 });
            let guard: Option<Predicate> = self.owner(&own, &part);
            let word = self.word(dtype, *sum);
            let address = self.shared_address(area, &own, size, &part);
            let a = [word].into_iter().collect();
            self.code.emit_if(guard, St { space: StateSpace::Shared, ty, address, a, ..Default::default() });
        }
        self.sync();
        let mut results = Vec::new();
        for place in kept {
            let mut total: Option<Operand> = None;
            let inside = self.in_tile(shape, place);
            for i in 0..parts {
                let mut part = place.clone();
                part.push(Coord::uniform(i));
                let word = self.code.fresh(class);
                if inside.is_some() {
                    self.code.copy_to(word, Operand::Imm(0));
                }
                let address = self.shared_address(area, &own, size, &part);
                let d = [word].into_iter().collect();
                self.code
                    .emit_if(inside, Ld { space: StateSpace::Shared, ty, d, address, ..Default::default() });
                let element = self.of_word(dtype, word);
                total = Some(match total {
                    None => element,
                    Some(before) => apply(&mut self.code, f, &[dtype; 2], &[before, element])?,
                });
            }
            results.push(total.expect("invariant: there is a warp"));
        }
        Ok(results)
    }
}
