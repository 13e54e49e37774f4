//! Boxes of views: addresses of elements, tests whether they are inside, and which of them one access moves.

use super::{Lower, Made};
use crate::coord::{Coord, MapId, Place, UNIFORM};
use crate::spread::vector_elements;
use tegula_base::DType;
use tegula_ir::{OpId, Value};
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::types::CompareType;
use tegula_isa_ptx::{Address, Operand, Predicate, Reg};
use tegula_tile::TileOp;

/// What a load or store names.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub op: OpId,
    pub view: usize,
    pub dtype: DType,
    pub shape: Vec<i64>,
    pub offsets: Vec<Value>,
    pub steps: Vec<i64>,
    pub bounded: Vec<bool>,
}

impl Lower<'_> {
    pub fn access(&self, op: OpId) -> Access {
        let operands = self.func.operands(op);
        let (first, shape, steps, bounded) = match self.func.kind(op) {
            TileOp::Load { shape, steps, bounded, .. } => (1, shape.clone(), steps, bounded),
            TileOp::Store { steps, bounded } => (2, self.tile(operands[1]).1, steps, bounded),
            _ => unreachable!("invariant: a load or a store"),
        };
        let view = self.view_of(op);
        Access {
            op,
            view,
            dtype: self.kernel.views[view].ty.dtype,
            shape,
            offsets: operands[first..].to_vec(),
            steps: steps.clone(),
            bounded: bounded.clone(),
        }
    }

    /// The address of a place, made in the region that is written to.
    pub fn address(&mut self, access: &Access, place: &Place) -> Made<Address> {
        let ty = self.kernel.views[access.view].ty.clone();
        let size = access.dtype.size() as i64;
        let mut key = Vec::new();
        let (mut bytes, mut map) = (0i64, UNIFORM);
        for (axis, coord) in place.iter().enumerate() {
            match ty.strides[axis].as_const() {
                Some(stride) => {
                    let unit = access.steps[axis].wrapping_mul(stride).wrapping_mul(size);
                    bytes = bytes.wrapping_add(coord.at.wrapping_mul(unit));
                    let scaled = self.maps.scale(coord.map, unit);
                    map = self.maps.add(map, scaled);
                    key.push((UNIFORM, 0));
                }
                None => key.push((coord.map, coord.at)),
            }
        }
        key.push((map, 0));
        // What no immediate takes goes into the register.
        let offset = i32::try_from(bytes).ok().filter(|bytes| bytes.unsigned_abs() < 1 << 30);
        if offset.is_none() {
            key.push((UNIFORM, bytes));
        }
        let level = self.code.level();
        let known = self.scopes[level].addresses.get(&(access.op, key.clone())).copied();
        let base = match known {
            Some(base) => base,
            None => {
                let mut sum: Operand = self.pointer(access.view).into();
                for (axis, coord) in place.iter().enumerate() {
                    let stride = self.size(&ty.strides[axis]);
                    let stride = self.code.mul64(stride, Operand::i64(size));
                    let start = self.index(access.offsets[axis])?;
                    let mut start = self.code.mul64(start, stride);
                    if ty.strides[axis].as_const().is_none() {
                        let step = self.code.mul64(stride, Operand::i64(access.steps[axis]));
                        let fixed = self.code.mul64(Operand::i64(coord.at), step);
                        start = self.code.add64(start, fixed);
                        let thread = self.thread(coord.map);
                        let thread = self.code.widen(thread);
                        let thread = self.code.mul64(thread, step);
                        start = self.code.add64(start, thread);
                    }
                    sum = self.code.add64(sum, start);
                }
                let thread = self.wide_thread(map);
                sum = self.code.add64(sum, thread);
                if offset.is_none() {
                    sum = self.code.add64(sum, Operand::i64(bytes));
                }
                let base = self.code.in_reg(tegula_isa_ptx::RegClass::B64, sum);
                self.scopes[level].addresses.insert((access.op, key), base);
                base
            }
        };
        Ok(Address::from(base).plus(offset.unwrap_or(0)))
    }

    /// A sum over the thread's bits that may need 64 bits, or be negative.
    fn wide_thread(&mut self, map: MapId) -> Operand {
        let bits = self.maps.get(map);
        let fits = bits.iter().all(|(_, weight)| *weight > 0) && self.maps.most(map) <= i64::from(u32::MAX);
        if fits {
            let thread = self.thread(map);
            return self.code.widen(thread);
        }
        let bits = bits.clone();
        let mut sum = Operand::i64(0);
        for (bit, weight) in bits {
            let one = self.maps.intern([(bit, 1)].into_iter().collect());
            let thread = self.thread(one);
            let thread = self.code.widen(thread);
            let part = self.code.mul64(thread, Operand::i64(weight));
            sum = self.code.add64(sum, part);
        }
        sum
    }

    /// Whether the element is one of the tile and of the view; none where it surely is.
    /// With `count` > 1 the answer is for so many neighbours along `axis`, who are all inside or all outside.
    pub fn inside(&mut self, access: &Access, place: &Place) -> Made<Option<Predicate>> {
        let key: Vec<(MapId, i64)> = place.iter().map(|coord| (coord.map, coord.at)).collect();
        let level = self.code.level();
        if let Some(known) = self.scopes[level].insides.get(&(access.op, key.clone())) {
            return Ok(*known);
        }
        let mut all = self.in_tile(&access.shape, place);
        for axis in 0..place.len() {
            if access.bounded[axis] {
                all = self.in_view(access, axis, place[axis], all)?;
            }
        }
        self.scopes[level].insides.insert((access.op, key), all);
        Ok(all)
    }

    /// Whether a place is inside of a tile, along the axes where threads may leave it.
    pub fn in_tile(&mut self, shape: &[i64], place: &Place) -> Option<Predicate> {
        let mut all = None;
        for (extent, coord) in shape.iter().zip(place) {
            if coord.at >= 0 && coord.at + self.maps.most(coord.map) < *extent {
                continue;
            }
            let thread = self.thread(coord.map);
            let position = self.code.add32(thread, Operand::i32(coord.at as i32));
            let extent = Operand::u32(*extent as u32);
            all = Some(self.code.compare_and(Compare::Lt, CompareType::U32, position, extent, all));
        }
        all
    }

    fn in_view(
        &mut self,
        access: &Access,
        axis: usize,
        coord: Coord,
        all: Option<Predicate>,
    ) -> Made<Option<Predicate>> {
        let extent = self.kernel.views[access.view].ty.shape[axis].clone();
        let start = self.index(access.offsets[axis])?;
        let step = access.steps[axis];
        let reach = self.maps.most(coord.map) * step;
        if let (Operand::Imm(start), Some(extent)) = (start, extent.as_const()) {
            let first = start as i64 + coord.at * step;
            if first >= 0 && first + reach < extent && step > 0 {
                return Ok(all);
            }
        }
        let scaled = self.maps.scale(coord.map, step);
        let thread = self.wide_thread(scaled);
        let position = self.code.add64(start, thread);
        let position = self.code.add64(position, Operand::i64(coord.at * step));
        let extent = self.size(&extent);
        // As unsigned numbers negative positions are beyond every extent.
        Ok(Some(self.code.compare_and(Compare::Lt, CompareType::U64, position, extent, all)))
    }

    /// How many neighbours along the last axis one access may move, where the address allows it.
    fn vector_of(&self, access: &Access) -> i64 {
        let Some(last) = access.shape.len().checked_sub(1) else { return 1 };
        let ty = &self.kernel.views[access.view].ty;
        if !ty.strides[last].is_const(1) || access.steps[last] != 1 {
            return 1;
        }
        let mut vector = vector_elements(access.dtype);
        let divides = |vector: i64| {
            let rows = (0..last).all(|axis| {
                self.symbols.divides(vector, &ty.strides[axis])
                    || self.divisor(access.offsets[axis]) % vector == 0
                        && (access.shape[axis] == 1 || access.steps[axis] % vector == 0)
            });
            rows && self.divisor(access.offsets[last]) % vector == 0
                && access.shape[last] % vector == 0
                && (!access.bounded[last] || self.symbols.divides(vector, &ty.shape[last]))
        };
        while vector > 1 && !divides(vector) {
            vector /= 2;
        }
        vector
    }

    /// Cuts places into runs of neighbours along the last axis, each of a power of two. Gives numbers of places.
    pub fn vectors(&self, access: &Access, places: &[Place]) -> Vec<Vec<usize>> {
        self.runs(places, self.vector_of(access))
    }

    /// As [`Self::vectors`], of at most `most` neighbours that begin at multiples of their count.
    pub fn runs(&self, places: &[Place], most: i64) -> Vec<Vec<usize>> {
        let Some(last) = places.first().and_then(|place| place.len().checked_sub(1)) else {
            return (0..places.len()).map(|i| vec![i]).collect();
        };
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| places[*a].cmp(&places[*b]));
        let mut runs = Vec::new();
        let mut i = 0;
        while i < order.len() {
            let first = &places[order[i]];
            let follows = |n: usize| {
                order.get(i + n).is_some_and(|next| {
                    let next = &places[*next];
                    next[..last] == first[..last] && next[last] == first[last].plus(n as i64)
                })
            };
            let mut count = most as usize;
            let fits = |count: usize| {
                first[last].at.rem_euclid(count as i64) == 0
                    && self.maps.is_multiple(first[last].map, count as i64)
                    && (1..count).all(follows)
            };
            while count > 1 && !fits(count) {
                count /= 2;
            }
            runs.push(order[i..i + count].to_vec());
            i += count;
        }
        runs
    }

    pub fn raw_reg(&mut self, dtype: DType) -> Reg {
        self.code.fresh(crate::scalar::raw_type(dtype).class)
    }
}
