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
        let size = window.dtype.size() as i64;
        let (mut disp, mut terms) = (0i64, SmallVec::<[Term; 8]>::new());
        let mut index: Option<(Value, u32)> = None;
        for (i, axis) in window.axes.iter().enumerate().filter(|(i, _)| Some(*i) != without) {
            let sum = facts::sum_of(self.func, axis.offset);
            let start = sum.constant + axis.start;
            let walked = window.along(i, coord) * axis.step;
            let bytes = axis.stride.as_const().map(|n| n * size);
            if bytes == Some(0) {
                continue;
            }
            for (index, factor) in sum.terms {
                match bytes {
                    Some(bytes) => disp += self.known_terms(&mut terms, index, factor * bytes),
                    None => {
                        let depth = facts::depth(self.func, index);
                        terms.push(Term {
                            depth,
                            index: Some(index),
                            factor,
                            stride: Some(axis.stride.clone()),
                        });
                    }
                }
            }
            match bytes {
                Some(bytes) => disp += (start + walked) * bytes,
                None => {
                    let mut factor = start + walked;
                    let beyond = walked.rem_euclid(ROWS_OF_BASE);
                    if index.is_none() && beyond != 0 {
                        index = Some((self.byte_stride(b, &axis.stride, size), beyond as u32));
                        factor -= beyond;
                    }
                    let stride = Some(axis.stride.clone());
                    terms.push(Term { depth: 0, index: None, factor, stride });
                }
            }
        }
        merge(&mut terms);
        terms.sort_by_key(|term| term.depth);
        if index.is_none()
            && let Some(Term { index: Some(own), factor: 1 | 2 | 4 | 8, stride: None, .. }) = terms.last()
        {
            index = Some((self.index(*own), terms.pop().expect("invariant: just seen").factor as u32));
        }
        let (mut base, start) = self.origin(b, window.view);
        disp += start;
        for term in terms {
            let value = self.term(b, term, size);
            base = b.add(base, value);
        }
        if disp.abs() > MAX_DISP {
            base = b.add_const(base, disp);
            disp = 0;
        }
        let at = At::new(base).disp(disp);
        match index {
            Some((index, scale)) => at.indexed(index, scale),
            None => at,
        }
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

    fn term(&mut self, b: &mut Builder, term: Term, size: i64) -> Value {
        let index = match term.index {
            Some(index) => {
                let index = self.index(index);
                b.mul_const(index, term.factor)
            }
            None => b.index(term.factor),
        };
        match term.stride {
            Some(stride) => {
                let stride = self.byte_stride(b, &stride, size);
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
