//! Accesses and conversions by brute force: what arrives where, element by element.

use super::*;

fn shared_samples(extents: &[u32], element: u32) -> Vec<SharedLayout> {
    let mut samples = vec![
        SharedLayout::rows(extents, element, &[0, 1], 0),
        SharedLayout::rows(extents, element, &[1, 0], 0),
        SharedLayout::rows(extents, element, &[0, 1], 16),
    ];
    for swizzle in Swizzle::ALL {
        samples.push(SharedLayout::panels(extents, element, 1, 0, swizzle));
        samples.push(SharedLayout::panels(extents, element, 0, 1, swizzle));
    }
    samples
}

#[test]
fn shared_elements_do_not_overlap() {
    for (extents, element) in [([64, 64], 2), ([24, 176], 2), ([40, 48], 4), ([128, 32], 1)] {
        for shared in shared_samples(&extents, element) {
            let mut seen = vec![false; shared.size() as usize];
            for at in 0..extents[0] * extents[1] {
                let offset = shared.offset(&[at / extents[1], at % extents[1]]) as usize;
                assert!(offset.is_multiple_of(element as usize) && !seen[offset], "{shared:?} {at}");
                seen[offset] = true;
            }
        }
    }
}

#[test]
fn panels_are_what_the_tensor_copy_writes() {
    // 128-byte rows: the box of 64 columns is written row after row, then swizzled as one run of bytes.
    let shared = SharedLayout::panels(&[128, 256], 2, 1, 0, Swizzle::B128);
    assert_eq!((shared.size(), shared.alignment()), (65536, 1024));
    for (row, column) in (0..128).flat_map(|row| (0..256).map(move |column| (row, column))) {
        let linear = column / 64 * 128 * 128 + row * 128 + column % 64 * 2;
        assert_eq!(shared.offset(&[row, column]), linear ^ (linear >> 3 & 0x70));
    }
}

/// Stores the tile by the access and reads memory back by the layout of memory, or the other way round.
fn check_access(register: &RegisterLayout, shared: &SharedLayout) -> Access {
    let access = plan_access(register, shared, MatrixMoves(true));
    let mut moved: Vec<u32> = access.moves.concat();
    moved.sort_unstable();
    assert_eq!(moved, (0..register.registers()).collect::<Vec<_>>());
    let element = shared.element();
    let offset = |index| shared.offset(&register.coordinates(index));
    for warp in 0..register.warps() {
        for (at, elements) in access.moves.iter().enumerate() {
            let rows: Vec<u32> = (0..32).map(|lane| offset(access.addressed(at, lane, warp))).collect();
            for lane in 0..32 {
                for (place, &register) in elements.iter().enumerate() {
                    let byte = match access.kind {
                        AccessKind::Vector { bytes } => {
                            assert!(rows[lane as usize].is_multiple_of(bytes));
                            rows[lane as usize] + place as u32 * element
                        }
                        // PTX ISA, `ldmatrix`: lane l gets row l / 4, bytes 4 (l % 4); transposed, rows 2 (l % 4) and
                        // 2 (l % 4) + 1, column l / 4.
                        AccessKind::Matrix { transposed, .. } => {
                            let (matrix, within) = (place as u32 * element / 4, place as u32 * element % 4);
                            let (row, byte) = if transposed {
                                (2 * (lane % 4) + within / 2, lane / 4 * 2)
                            } else {
                                (lane / 4, lane % 4 * 4 + within)
                            };
                            let start = rows[(8 * matrix + row) as usize];
                            assert!(start.is_multiple_of(16));
                            start + byte
                        }
                    };
                    assert_eq!(byte, offset(Index { register, lane, warp, cta: 0 }));
                }
            }
        }
    }
    assert!(access.wavefronts >= access.fewest);
    access
}

#[test]
fn accesses_move_each_element_to_its_place() {
    let grid = WarpGrid { m: 2, n: 2 };
    let extents = [64, 64];
    for (element, bits) in [(1, 8), (2, 16), (4, 32)] {
        let registers = [
            blocked(&extents, 16 / element, 4),
            blocked(&extents, 1, 4),
            mma_left(64, 64, bits, grid),
            mma_right(64, 64, bits, grid),
            wgmma_sums(64, 64, 1),
            mma_sums(64, 64, grid).transposed(&[1, 0]),
        ];
        for (register, shared) in
            registers.iter().flat_map(|r| shared_samples(&extents, element).into_iter().map(move |s| (r, s)))
        {
            check_access(register, &shared);
        }
    }
}

#[test]
fn matrices_are_found_and_free_of_conflicts() {
    let swizzled = SharedLayout::panels(&[128, 256], 2, 1, 0, Swizzle::B128);
    let sums = wgmma_sums(128, 256, 2);
    let store = check_access(&sums, &swizzled);
    assert_eq!(store.kind, AccessKind::Matrix { count: 4, transposed: false });
    assert_eq!((store.moves.len(), store.wavefronts, store.fewest), (16, 64, 64));
    // The right factor from rows of n comes transposed; from rows of k straight.
    let grid = WarpGrid { m: 2, n: 2 };
    let right = mma_right(64, 128, 16, grid);
    let by_n = SharedLayout::panels(&[64, 128], 2, 1, 0, Swizzle::B128);
    let by_k = SharedLayout::panels(&[64, 128], 2, 0, 1, Swizzle::B128);
    assert_eq!(check_access(&right, &by_n).kind, AccessKind::Matrix { count: 4, transposed: true });
    let straight = check_access(&right, &by_k);
    assert_eq!(straight.kind, AccessKind::Matrix { count: 4, transposed: false });
    assert_eq!(straight.wavefronts, straight.fewest);
    // Rows without swizzle or padding: all 8 rows of a matrix in the same banks.
    let plain = SharedLayout::rows(&[128, 64], 2, &[0, 1], 0);
    let left = check_access(&mma_left(128, 64, 16, grid), &plain);
    assert_eq!(left.wavefronts, 8 * left.fewest);
    let padded = SharedLayout::rows(&[128, 64], 2, &[0, 1], 16);
    let left = check_access(&mma_left(128, 64, 16, grid), &padded);
    assert_eq!(left.wavefronts, left.fewest);
}
