//! Addresses of tile elements: constant parts in displacements, what loops leave alone summed first.
//!
//! Terms are added in the order of the loops that change them, outermost first, so that hoisting takes all but
//! the last addition out of the innermost loop. Rows a run-time stride apart share bases in groups of three: the
//! stride itself, times 0, 1 or 2, is the index of the address.

use super::window::Window;
use super::{Lower, facts};
use crate::schedule::Builder;
use crate::schedule::builder::At;
use smallvec::SmallVec;
use tegula_base::Dim;
use tegula_ir::Value;
use tegula_tile::divisor::exact_quotient;

/// Rows that share a base: the index's scale reaches 1 and 2 strides further.
const ROWS_OF_BASE: i64 = 3;
/// Larger displacements do not fit an instruction together with what the emitter may add.
const MAX_DISP: i64 = 1 << 30;

/// Part of an address in bytes: `index * factor`, or that times a run-time stride.
struct Term {
    /// Loops around the index's definition.
    depth: u32,
    index: Option<Value>,
    factor: i64,
    /// Bytes, not known while compiling.
    stride: Option<Dim>,
}

impl Lower<'_> {
    /// The address of the element at a tile's coordinate; coordinates along `without`, an axis of the view,
    /// count as the start of the view.
    pub fn address(&mut self, b: &mut Builder, window: &Window, coord: &[i64], without: Option<usize>) -> At {
        let at = match window.shared.get().filter(|(region, _)| *region == b.open_region()) {
            Some((_, at)) if without.is_none() => at,
            _ => self.shared_address(b, window, coord, without),
        };
        let size = window.dtype.size() as i64;
        let axes = window.axes.iter().enumerate().filter(|(i, _)| Some(*i) != without);
        let moved = axes.filter_map(|(i, axis)| {
            Some((axis.start + window.along(i, coord) * axis.step) * axis.stride.as_const()? * size)
        });
        let disp = at.disp + moved.sum::<i64>();
        match disp.abs() > MAX_DISP {
            true => At { base: b.add_const(at.base, disp), disp: 0, ..at },
            false => at.disp(disp),
        }
    }

    /// The address without the constant parts of `coord`, which is the same for all elements of the window where its
    /// strides are known.
    fn shared_address(
        &mut self,
        b: &mut Builder,
        window: &Window,
        coord: &[i64],
        without: Option<usize>,
    ) -> At {
        let size = window.dtype.size() as i64;
        let (mut disp, mut terms) = (0i64, SmallVec::<[Term; 8]>::new());
        let mut index: Option<(Value, u32)> = None;
        let mut is_shared = without.is_none();
        for (i, axis) in window.axes.iter().enumerate().filter(|(i, _)| Some(*i) != without) {
            let sum = facts::sum_of(self.func, axis.offset);
            if let Some(stride) = axis.stride.as_const() {
                let bytes = stride * size;
                for (index, factor) in sum.terms.iter().filter(|_| bytes != 0) {
                    disp += self.known_terms(&mut terms, *index, factor * bytes);
                }
                disp += sum.constant * bytes;
                continue;
            }
            is_shared = false;
            for (index, factor) in sum.terms {
                let depth = facts::depth(self.func, index);
                terms.push(Term { depth, index: Some(index), factor, stride: Some(axis.stride.clone()) });
            }
            let walked = window.along(i, coord) * axis.step;
            let mut factor = sum.constant + axis.start + walked;
            let beyond = walked.rem_euclid(ROWS_OF_BASE);
            if index.is_none() && beyond != 0 {
                index = Some((self.byte_stride(b, &axis.stride, size), beyond as u32));
                factor -= beyond;
            }
            terms.push(Term { depth: 0, index: None, factor, stride: Some(axis.stride.clone()) });
        }
        merge(&mut terms);
        terms.sort_by_key(|term| term.depth);
        if index.is_none()
            && let Some(Term { index: Some(own), factor: 1 | 2 | 4 | 8, stride: None, .. }) = terms.last()
        {
            index = Some((self.index(*own), terms.pop().expect("invariant: just seen").factor as u32));
        }
        let (mut base, start) = self.origin(b, window.view);
        for term in &terms {
            let value = self.term(b, term, size);
            base = b.add(base, value);
        }
        let at = At::new(base).disp(disp + start);
        let at = index.map_or(at, |(index, scale)| at.indexed(index, scale));
        if is_shared {
            window.shared.set(Some((b.open_region(), at)));
        }
        at
    }

    /// Adds the terms of `index * factor` bytes; its constant part. What a loop over steps divides by the steps that lie
    /// together is the loop's own count times less.
    fn known_terms(&self, terms: &mut SmallVec<[Term; 8]>, index: Value, factor: i64) -> i64 {
        let Some((dividend, factor)) = exact_quotient(self.func, index, factor) else {
            let depth = facts::depth(self.func, index);
            terms.push(Term { depth, index: Some(index), factor, stride: None });
            return 0;
        };
        let sum = facts::sum_of(self.func, dividend);
        let rest = sum.terms.iter().map(|(index, times)| self.known_terms(terms, *index, times * factor));
        sum.constant * factor + rest.sum::<i64>()
    }

    fn term(&mut self, b: &mut Builder, term: &Term, size: i64) -> Value {
        let index = match term.index {
            Some(index) => {
                let index = self.index(index);
                b.mul_const(index, term.factor)
            }
            None => b.index(term.factor),
        };
        match &term.stride {
            Some(stride) => {
                let stride = self.byte_stride(b, stride, size);
                b.mul(index, stride)
            }
            None => index,
        }
    }

    /// A stride in bytes.
    pub fn byte_stride(&mut self, b: &mut Builder, stride: &Dim, size: i64) -> Value {
        let elements = self.size(b, stride);
        b.mul_const(elements, size)
    }

    /// An address as one value.
    pub fn flat_address(&mut self, b: &mut Builder, at: At) -> Value {
        let base = match at.index {
            Some(index) => {
                let scaled = b.mul_const(index, at.scale.into());
                b.add(at.base, scaled)
            }
            None => at.base,
        };
        b.add_const(base, at.disp)
    }
}

/// Joins terms of one index with constant factors.
fn merge(terms: &mut SmallVec<[Term; 8]>) {
    let mut i = 0;
    while i < terms.len() {
        let first = terms[..i].iter().position(|t| t.index == terms[i].index && t.stride == terms[i].stride);
        match first {
            Some(j) => {
                terms[j].factor += terms[i].factor;
                terms.remove(i);
            }
            None => i += 1,
        }
    }
    terms.retain(|term| term.factor != 0);
}
