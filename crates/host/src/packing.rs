//! How a constant is rearranged before it goes into a package: permutation, tiles and zero padding.
//!
//! A packing lists the dims of the packed tensor, outermost first. Each steps along one axis of the source; the
//! coordinate along an axis is the sum over its dims of index times step. `[{1,16,3}, {0,1,4}, {1,1,16}]` of a
//! `[4, 40]` matrix are three panels of 16 columns. Coordinates behind the source's extent hold zero.

use tegula_ir::struct_attr;

/// One dim of the packed tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackedDim {
    /// The source's axis.
    pub axis: usize,
    /// Source elements along the axis that one step of this dim moves.
    pub step: usize,
    pub extent: usize,
}
struct_attr!(PackedDim { axis, step, extent });

/// From a dense row-major tensor of `shape` to the dense tensor of `dims`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// Bytes of an element.
    pub element: usize,
    pub shape: Vec<usize>,
    pub dims: Vec<PackedDim>,
}
struct_attr!(Packing { element, shape, dims });

impl Packing {
    /// Errors: a dim names no axis, or a size overflows.
    pub fn check(&self) -> Result<(), String> {
        if self.dims.iter().any(|dim| dim.axis >= self.shape.len() || dim.step == 0) {
            return Err(format!("a packing of rank {} has a dim outside of it", self.shape.len()));
        }
        let product = |mut extents: Box<dyn Iterator<Item = usize> + '_>| {
            extents.try_fold(self.element, |product, extent| product.checked_mul(extent))
        };
        let sizes = [
            product(Box::new(self.shape.iter().copied())),
            product(Box::new(self.dims.iter().map(|dim| dim.extent))),
        ];
        match sizes.iter().all(|size| size.is_some_and(|bytes| bytes <= isize::MAX as usize)) {
            true => Ok(()),
            false => Err("a packing is larger than memory".into()),
        }
    }

    /// Bytes of the source.
    pub fn source_bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.element
    }

    /// Bytes of the packed tensor, padding included.
    pub fn bytes(&self) -> usize {
        self.dims.iter().map(|dim| dim.extent).product::<usize>() * self.element
    }

    /// Rearranges `source` into `out`, which is zero and [`Packing::bytes`] long.
    pub fn pack(&self, source: &[u8], out: &mut [u8]) {
        if out.is_empty() || source.is_empty() {
            return;
        }
        match self.element {
            1 => self.pack_elements::<1>(source, out),
            2 => self.pack_elements::<2>(source, out),
            4 => self.pack_elements::<4>(source, out),
            8 => self.pack_elements::<8>(source, out),
            size => unreachable!("invariant: no element has {size} bytes"),
        }
    }

    fn pack_elements<const E: usize>(&self, source: &[u8], out: &mut [u8]) {
        let mut strides = vec![1; self.shape.len()];
        for axis in (1..self.shape.len()).rev() {
            strides[axis - 1] = strides[axis] * self.shape[axis];
        }
        let walk = Walk { packing: self, strides: &strides, source: source.as_chunks::<E>().0 };
        walk.level(0, &mut vec![0; self.shape.len()], 0, out.as_chunks_mut::<E>().0);
    }
}

/// Elements of a row that products of bytes take together: the innermost dim of their weights. They are moved at once,
/// without a loop and a call each.
const GROUP: usize = 4;

struct Walk<'a, const E: usize> {
    packing: &'a Packing,
    strides: &'a [usize],
    source: &'a [[u8; E]],
}

impl<const E: usize> Walk<'_, E> {
    /// Fills the part of the packed tensor below dim `level`; `at` is the source coordinate, `from` its offset.
    fn level(&self, level: usize, at: &mut [usize], from: usize, out: &mut [[u8; E]]) {
        let Some(dim) = self.packing.dims.get(level) else {
            out[0] = self.source[from];
            return;
        };
        let (stride, inside) = self.steps(dim, at);
        match &self.packing.dims[level + 1..] {
            [] => return self.run(from, stride, &mut out[..inside]),
            [last] if last.axis != dim.axis => {
                // The two innermost levels without a call an element.
                let (step, run) = self.steps(last, at);
                if (run, last.extent) == (GROUP, GROUP) {
                    let groups = out.as_chunks_mut::<GROUP>().0;
                    return self.groups(from, stride, step, &mut groups[..inside]);
                }
                for (i, out) in out.chunks_exact_mut(last.extent).take(inside).enumerate() {
                    self.run(from + i * stride, step, &mut out[..run]);
                }
                return;
            }
            _ => {}
        }
        let start = at[dim.axis];
        let part = out.len() / dim.extent;
        for (i, out) in out.chunks_exact_mut(part).take(inside).enumerate() {
            at[dim.axis] = start + i * dim.step;
            self.level(level + 1, at, from + i * stride, out);
        }
        at[dim.axis] = start;
    }

    /// Whole groups, each `stride` behind the one before, their elements `step` apart.
    fn groups(&self, from: usize, stride: usize, step: usize, out: &mut [[[u8; E]; GROUP]]) {
        for (i, group) in out.iter_mut().enumerate() {
            let source = &self.source[from + i * stride..];
            match step {
                1 => group.copy_from_slice(&source[..GROUP]),
                _ => *group = std::array::from_fn(|k| source[k * step]),
            }
        }
    }

    /// The distance of a dim's steps in the source, and how many of them stay inside.
    fn steps(&self, dim: &PackedDim, at: &[usize]) -> (usize, usize) {
        let left = self.packing.shape[dim.axis] - at[dim.axis];
        (self.strides[dim.axis] * dim.step, left.div_ceil(dim.step).min(dim.extent))
    }

    fn run(&self, from: usize, stride: usize, out: &mut [[u8; E]]) {
        if stride == 1 {
            return out.copy_from_slice(&self.source[from..from + out.len()]);
        }
        if out.is_empty() {
            return;
        }
        for (element, source) in out.iter_mut().zip(self.source[from..].iter().step_by(stride)) {
            *element = *source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(axis: usize, step: usize, extent: usize) -> PackedDim {
        PackedDim { axis, step, extent }
    }

    /// The definition, element by element.
    fn reference(packing: &Packing, source: &[u8]) -> Vec<u8> {
        let mut out = vec![0; packing.bytes()];
        for (flat, byte) in out.iter_mut().enumerate() {
            let (mut rest, mut at) = (flat, vec![0; packing.shape.len()]);
            for dim in packing.dims.iter().rev() {
                at[dim.axis] += rest % dim.extent * dim.step;
                rest /= dim.extent;
            }
            if at.iter().zip(&packing.shape).all(|(i, n)| i < n) {
                let from = at.iter().zip(&packing.shape).fold(0, |from, (i, n)| from * n + i);
                *byte = source[from];
            }
        }
        out
    }

    #[test]
    fn packs_as_defined() {
        let cases = [
            (vec![3, 5], vec![dim(1, 1, 5), dim(0, 1, 3)]),
            (vec![4, 40], vec![dim(1, 16, 3), dim(0, 1, 4), dim(1, 1, 16)]),
            (vec![10, 20], vec![dim(1, 16, 2), dim(0, 4, 3), dim(1, 1, 16), dim(0, 1, 4)]),
            (vec![5, 12], vec![dim(0, 4, 2), dim(1, 4, 3), dim(0, 1, 4), dim(1, 1, 4)]),
            (vec![2, 3, 4], vec![dim(2, 1, 4), dim(0, 1, 2), dim(1, 2, 2), dim(1, 1, 2)]),
            (vec![], vec![]),
            (vec![0, 3], vec![dim(1, 1, 3), dim(0, 1, 0)]),
        ];
        for (shape, dims) in cases {
            let packing = Packing { element: 1, shape, dims };
            packing.check().unwrap();
            let source: Vec<u8> = (0..packing.source_bytes()).map(|i| i as u8 + 1).collect();
            let mut out = vec![0; packing.bytes()];
            packing.pack(&source, &mut out);
            assert_eq!(out, reference(&packing, &source), "{packing:?}");
        }
    }
}
