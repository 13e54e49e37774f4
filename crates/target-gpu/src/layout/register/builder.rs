//! Builds a register layout as a product of steps: each step lets the next digit of a part count along a dim.
//! What is a power of two goes into the atom, as long as no other count came before on that part or that dim.

use smallvec::SmallVec;

use super::super::atom::{Atom, Part};
use super::{LANES, RegisterLayout, Repeat};

/// The steps of a layout, innermost first.
#[derive(Clone, Debug, Default)]
pub struct LayoutBuilder {
    steps: Vec<Repeat>,
}

impl LayoutBuilder {
    pub fn new() -> LayoutBuilder {
        LayoutBuilder::default()
    }

    /// The part's next digit, of `count` values, counts along the dim above what the dim has by now.
    pub fn take(mut self, part: Part, dim: usize, count: u32) -> LayoutBuilder {
        self.steps.push(Repeat { part, dim: Some(dim), count });
        self
    }

    /// The part's next digit copies.
    pub fn broadcast(mut self, part: Part, count: u32) -> LayoutBuilder {
        self.steps.push(Repeat { part, dim: None, count });
        self
    }

    /// How many values the steps give a part so far.
    pub fn count(&self, part: Part) -> u32 {
        self.steps.iter().filter(|step| step.part == part).map(|step| step.count).product()
    }

    /// What the steps reach along a dim so far.
    pub fn covered(&self, dim: usize) -> u32 {
        self.steps.iter().filter(|step| step.dim == Some(dim)).map(|step| step.count).product()
    }

    /// The layout of a tile; along each dim without enough steps registers take the rest, the last dim first, and lanes
    /// without a step copy. Panics where a count is zero, or lanes are not 32.
    pub fn finish(mut self, extents: &[u32]) -> RegisterLayout {
        for dim in (0..extents.len()).rev() {
            let rest = extents[dim].div_ceil(self.covered(dim));
            self = self.take(Part::Register, dim, rest.max(1));
        }
        let lanes = LANES / self.count(Part::Lane);
        self = self.broadcast(Part::Lane, lanes);
        let layout = split(&self.steps, extents);
        assert_eq!(layout.count(Part::Lane), LANES, "invariant: a warp has 32 lanes");
        layout
    }
}

/// Steps to atom and repeats.
fn split(steps: &[Repeat], extents: &[u32]) -> RegisterLayout {
    // For each bit of the atom's parts its dim and the bit in it.
    let mut bits: [Vec<Option<(usize, u32)>>; 4] = Default::default();
    let mut dims: SmallVec<[u32; 4]> = SmallVec::from_elem(0, extents.len());
    let mut repeats: Vec<Repeat> = Vec::new();
    for &Repeat { part, dim, count } in steps {
        assert!(count > 0, "invariant: a layout repeats at least once");
        let counted = |repeat: &Repeat| repeat.part == part || dim.is_some() && repeat.dim == dim;
        let linear = if repeats.iter().any(counted) { 0 } else { count.trailing_zeros() };
        for _ in 0..linear {
            bits[part as usize].push(dim.map(|dim| (dim, dims[dim])));
            dim.into_iter().for_each(|dim| dims[dim] += 1);
        }
        let count = count >> linear;
        if count > 1 {
            repeats.push(Repeat { part, dim, count });
        }
    }
    let shift = |dim: usize| dims[dim + 1..].iter().sum::<u32>();
    let image = |bit: &Option<(usize, u32)>| bit.map_or(0, |(dim, bit)| 1_u64 << (shift(dim) + bit));
    let columns = bits.each_ref().map(|bits| bits.iter().map(image).collect());
    RegisterLayout { extents: extents.into(), atom: Atom::new(columns, dims.clone()), repeats }
}
