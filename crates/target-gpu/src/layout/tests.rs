//! Layouts by brute force: every index against a formula that is written by hand.

use std::collections::BTreeMap;

use super::*;

mod convert;
mod moves;

fn holders(layout: &RegisterLayout) -> BTreeMap<Vec<u32>, Vec<Index>> {
    let mut holders: BTreeMap<Vec<u32>, Vec<Index>> = BTreeMap::new();
    for index in layout.indices() {
        holders.entry(layout.coordinates(index).to_vec()).or_default().push(index);
    }
    holders
}

/// What every layout promises.
fn check(layout: &RegisterLayout) {
    let holders = holders(layout);
    let covered: u32 = (0..layout.rank()).map(|dim| layout.covered(dim)).product();
    assert_eq!(holders.len() as u32, covered, "each element has a place");
    for (coordinates, places) in &holders {
        assert_eq!(places.len() as u32, layout.copies());
        let found = layout.index_of(coordinates);
        assert!(places.contains(&found), "{coordinates:?} is not at {found:?}");
        assert!(coordinates.iter().enumerate().all(|(dim, at)| *at < layout.covered(dim)));
    }
    assert!(layout.extents().iter().enumerate().all(|(dim, extent)| *extent <= layout.covered(dim)));
}

fn samples() -> Vec<RegisterLayout> {
    let grid = WarpGrid { m: 2, n: 2 };
    vec![
        blocked(&[64, 64], 8, 4),
        blocked(&[16, 176], 8, 4),
        blocked(&[100], 4, 4),
        blocked(&[3, 5, 7], 1, 2),
        blocked(&[48, 40], 2, 12),
        blocked(&[], 1, 4),
        blocked(&[1, 8], 4, 4),
        mma_sums(64, 48, grid),
        mma_left(64, 32, 16, grid),
        mma_left(32, 64, 8, grid),
        mma_right(16, 48, 16, grid),
        mma_right(24, 16, 32, grid),
        wgmma_sums(128, 176, 2),
        wgmma_sums(192, 80, 3),
        wgmma_left(128, 48, 16, 2),
    ]
}

#[test]
fn every_element_has_its_places() {
    samples().iter().for_each(check);
}

#[test]
fn shape_ops_move_no_element() {
    for layout in samples().into_iter().filter(|layout| layout.rank() == 2) {
        let transposed = layout.transposed(&[1, 0]);
        check(&transposed);
        for index in layout.indices() {
            let (at, turned) = (layout.coordinates(index), transposed.coordinates(index));
            assert_eq!([at[0], at[1]], [turned[1], turned[0]]);
        }
        let expanded = layout.expanded(1);
        check(&expanded);
        assert_eq!(expanded.sliced(1), layout);
        for dim in 0..2 {
            let sliced = layout.sliced(dim);
            check(&sliced);
            // Each thread keeps exactly the coordinates that it had, once.
            for thread in layout.indices().filter(|index| index.register == 0) {
                let held = |layout: &RegisterLayout, kept: usize| {
                    let each = |register| layout.coordinates(Index { register, ..thread })[kept];
                    (0..layout.registers()).map(each).collect::<Vec<_>>()
                };
                let mut before = held(&layout, 1 - dim);
                let after = held(&sliced, 0);
                before.sort_unstable();
                before.dedup();
                let mut once = after.clone();
                once.sort_unstable();
                assert_eq!(once, before);
            }
        }
    }
}

#[test]
fn wgmma_sums_lie_as_the_manual_says() {
    let layout = wgmma_sums(128, 176, 2);
    assert_eq!((layout.registers(), layout.warps(), layout.copies()), (88, 8, 1));
    for index in layout.indices() {
        let Index { register: i, lane, warp, .. } = index;
        let expected = [16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2];
        assert_eq!(layout.coordinates(index)[..], expected);
    }
}

#[test]
fn mma_factors_lie_as_the_manual_says() {
    let one = WarpGrid { m: 1, n: 1 };
    for (bits, packed) in [(8, 4), (16, 2), (32, 1)] {
        let (left, right) = (mma_left(16, 8 * packed, bits, one), mma_right(8 * packed, 8, bits, one));
        for index in left.indices() {
            // Register `a` of four: row + 8 for odd ones, k + 4 * packed for the upper two.
            let (a, within) = (index.register / packed, index.register % packed);
            let k = index.lane % 4 * packed + within + 4 * packed * (a / 2);
            assert_eq!(left.coordinates(index)[..], [index.lane / 4 + 8 * (a % 2), k]);
        }
        for index in right.indices() {
            let (b, within) = (index.register / packed, index.register % packed);
            let k = index.lane % 4 * packed + within + 4 * packed * b;
            assert_eq!(right.coordinates(index)[..], [k, index.lane / 4]);
        }
    }
}

#[test]
fn sums_are_the_next_product_s_left_factor() {
    // Sums of 16 columns, packed in pairs, are the A fragment of a block of 16 k.
    let (sums, left) = (wgmma_sums(64, 128, 1), wgmma_left(64, 128, 16, 1));
    assert_eq!(sums, left);
}

#[test]
fn blocked_warps_read_whole_lines() {
    // Rows of 176 elements of 16 bits: 8 lanes read 128 bytes; 22 vectors a row take 3 turns of 8 lanes.
    let layout = blocked(&[16, 176], 8, 4);
    assert_eq!((layout.registers(), layout.covered(1), layout.covered(0)), (24, 192, 16));
    let first = |lane| layout.coordinates(Index { lane, ..Index::default() });
    assert_eq!((first(7)[..].to_vec(), first(8)[..].to_vec()), (vec![0, 56], vec![1, 0]));
    assert_eq!(blocked(&[64, 64], 8, 4).registers(), 32);
    assert_eq!(blocked(&[1, 8], 4, 4).free_bits(Part::Lane), 0b11110);
}
