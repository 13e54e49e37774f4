//! Conversions run on labelled elements.

use super::*;

const UNITS: MatrixUnits = MatrixUnits { ldmatrix: MatrixMoves(true), stmatrix: MatrixMoves(true) };

/// What each slot holds after the conversion, given what it holds before; `None` where a lane got nothing.
fn run(conversion: &Conversion, from: &RegisterLayout, to: &RegisterLayout) {
    let slot = |layout: &RegisterLayout, index: Index| {
        ((index.warp * 32 + index.lane) * layout.registers() + index.register) as usize
    };
    let mut held = vec![Coordinates::new(); from.indices().count()];
    from.indices().for_each(|index| held[slot(from, index)] = from.coordinates(index));
    let mut result = vec![Coordinates::new(); to.indices().count()];
    match conversion {
        Conversion::Identity => to.indices().for_each(|index| {
            result[slot(to, index)] = held[slot(from, index)].clone();
        }),
        Conversion::Registers { from: names } => to.indices().for_each(|index| {
            let register = names[index.register as usize];
            result[slot(to, index)] = held[slot(from, Index { register, ..index })].clone();
        }),
        Conversion::Shuffle(plan) => {
            swap(&mut held, from, &plan.before);
            for warp in 0..to.warps() {
                for (round, lane) in
                    plan.rounds.iter().flat_map(|round| (0..32).map(move |lane| (round, lane)))
                {
                    let asked = Index { register: round.from, lane: plan.asked(round, lane), warp, cta: 0 };
                    let there = Index { register: round.to, lane, warp, cta: 0 };
                    result[slot(to, there)] = held[slot(from, asked)].clone();
                }
            }
            swap(&mut result, to, &plan.after);
        }
        // The accesses are tested alone: every element has one place there.
        Conversion::Shared(trip) => {
            assert_eq!(trip.layout.extents(), to.extents());
            return;
        }
    }
    for index in to.indices() {
        assert_eq!(result[slot(to, index)], to.coordinates(index), "{conversion:?} {index:?}");
    }
}

fn swap(held: &mut [Coordinates], layout: &RegisterLayout, swaps: &[ConditionalSwap]) {
    let registers = layout.registers();
    for (thread, elements) in held.chunks_mut(registers as usize).enumerate() {
        for swap in swaps.iter().filter(|swap| thread as u32 >> swap.lane_bit & 1 == 1) {
            let partner = |register: u32| register ^ swap.mask;
            (0..registers).filter(|r| *r < partner(*r)).for_each(|r| {
                elements.swap(r as usize, partner(r) as usize);
            });
        }
    }
}

fn kind(conversion: &Conversion) -> &'static str {
    match conversion {
        Conversion::Identity => "identity",
        Conversion::Registers { .. } => "registers",
        Conversion::Shuffle(_) => "shuffle",
        Conversion::Shared(_) => "shared",
    }
}

fn check(from: &RegisterLayout, to: &RegisterLayout) -> &'static str {
    let conversion = plan_conversion(from, to, 2, UNITS);
    run(&conversion, from, to);
    kind(&conversion)
}

/// A layout of a 16 x 64 tile in one warp: which part counts along which dim, innermost first.
fn of_steps(steps: &[(Part, usize, u32)]) -> RegisterLayout {
    let take = |builder: LayoutBuilder, step: &(Part, usize, u32)| builder.take(step.0, step.1, step.2);
    steps.iter().fold(LayoutBuilder::new(), take).finish(&[16, 64])
}

#[test]
fn conversions_within_a_warp_bring_each_element() {
    use Part::{Lane, Register};
    let layouts = [
        of_steps(&[(Register, 1, 8), (Lane, 1, 8), (Lane, 0, 4)]),
        of_steps(&[(Register, 1, 2), (Lane, 1, 32)]),
        of_steps(&[(Lane, 1, 32)]),
        of_steps(&[(Lane, 0, 16), (Lane, 1, 2)]),
        of_steps(&[(Register, 0, 4), (Lane, 1, 4), (Register, 1, 2), (Lane, 0, 4), (Lane, 1, 2)]),
        of_steps(&[(Lane, 1, 4), (Lane, 0, 8), (Register, 0, 2)]),
        mma_sums(16, 64, WarpGrid { m: 1, n: 1 }),
        mma_left(16, 64, 16, WarpGrid { m: 1, n: 1 }),
        mma_left(16, 64, 8, WarpGrid { m: 1, n: 1 }),
        mma_right(16, 64, 16, WarpGrid { m: 1, n: 1 }),
        blocked(&[16, 64], 4, 1),
    ];
    for (from, to) in layouts.iter().flat_map(|from| layouts.iter().map(move |to| (from, to))) {
        let kind = check(from, to);
        assert_ne!(kind, "shared", "{from:?} {to:?}");
    }
}

#[test]
fn each_conversion_is_the_cheapest() {
    let one = WarpGrid { m: 1, n: 1 };
    let sums = mma_sums(16, 64, one);
    assert_eq!(check(&sums, &mma_left(16, 64, 16, one)), "identity");
    assert_eq!(check(&wgmma_sums(64, 128, 1), &wgmma_left(64, 128, 16, 1)), "identity");
    // Factors of 8 bits pack 4 of a row: another order, and other lanes.
    assert_eq!(check(&sums, &mma_left(16, 64, 8, one)), "shuffle");
    use Part::{Lane, Register};
    let pairs = of_steps(&[(Register, 1, 2), (Register, 0, 2), (Lane, 1, 32), (Lane, 0, 1)]);
    let turned = of_steps(&[(Register, 1, 2), (Lane, 1, 32), (Register, 0, 16)]);
    assert_eq!(check(&pairs, &turned), "identity");
    let columns = LayoutBuilder::new().take(Register, 0, 4).take(Lane, 1, 32).finish(&[16, 64]);
    let rows = LayoutBuilder::new().take(Register, 1, 2).take(Lane, 0, 4).finish(&[16, 64]);
    assert_eq!(check(&columns, &rows), "shuffle");
    let renamed = LayoutBuilder::new().take(Lane, 1, 32).take(Register, 1, 2).take(Register, 0, 16);
    let other = LayoutBuilder::new().take(Lane, 1, 32).take(Register, 0, 16).take(Register, 1, 2);
    assert_eq!(check(&renamed.finish(&[16, 64]), &other.finish(&[16, 64])), "registers");
    assert_eq!(check(&blocked(&[64, 64], 8, 4), &mma_sums(64, 64, WarpGrid { m: 4, n: 1 })), "shared");
}

#[test]
fn copies_come_from_one_lane() {
    // The row maxima of a fragment, copied to the 4 lanes of each row, to a layout with a row a lane.
    let maxima = mma_sums(16, 64, WarpGrid { m: 1, n: 1 }).sliced(1);
    let rows = LayoutBuilder::new().take(Part::Lane, 0, 16).finish(&[16]);
    assert_eq!(check(&maxima, &rows), "shuffle");
    assert_eq!(check(&rows, &maxima), "shuffle");
    assert_eq!(maxima.copies(), 4);
    assert_eq!(check(&maxima.expanded(1).sliced(1), &maxima), "identity");
}

#[test]
fn odd_extents_repeat_what_their_atom_does() {
    let (from, to) = (wgmma_sums(64, 176, 1), wgmma_left(64, 176, 8, 1));
    assert_eq!(check(&from, &to), "shared");
    assert_eq!(check(&wgmma_sums(64, 176, 1), &wgmma_left(64, 176, 16, 1)), "identity");
    let sums = mma_sums(16, 96, WarpGrid { m: 1, n: 1 });
    assert_eq!(check(&sums, &mma_left(16, 96, 8, WarpGrid { m: 1, n: 1 })), "shuffle");
}

#[test]
fn shared_trips_take_the_layout_without_conflicts() {
    let (from, to) = (blocked(&[64, 64], 8, 4), mma_left(64, 64, 16, WarpGrid { m: 2, n: 2 }));
    let Conversion::Shared(trip) = plan_conversion(&from, &to, 2, UNITS) else { panic!("not by memory") };
    assert_eq!(trip.load.kind, AccessKind::Matrix { count: 4, transposed: false });
    assert_eq!(trip.store.kind, AccessKind::Vector { bytes: 16 });
    assert_eq!(trip.store.wavefronts + trip.load.wavefronts, trip.store.fewest + trip.load.fewest);
}
