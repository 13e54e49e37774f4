//! Which operands of an ALU are copied before it reads them, and where to.
//!
//! Operands that are read in one cycle lie in different slices. Those of the west flow east, as do results that lie in the
//! east; each direction has so many streams. Method: all ways to leave operands or move them, the fewest copies first.

use crate::flow::walk::rounds;
use crate::flow::{Access, Flow, FlowProgram, Kind};
use crate::place::{Homes, Place, Sram};
use tegula_isa_lpu::Half;
use tegula_machine::Lpu;

/// These vectors are read from a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) access: Access,
    pub(crate) half: Half,
    pub(crate) first_slice: u8,
}

/// The fewest copies with which the flow of one operation has a schedule. None: no copies help.
pub(crate) fn copies(
    flow: &Flow,
    program: &FlowProgram,
    homes: &Homes,
    sram: &Sram,
    lpu: &Lpu,
) -> Option<Vec<Copy>> {
    let Kind::Alu { steps } = &flow.kind else { return None };
    let [step] = &steps[..] else { return None };
    // Each is read once.
    let mut read: Vec<&Access> = Vec::new();
    for access in step.vectors() {
        if !read.contains(&access) {
            read.push(access);
        }
    }
    let [width, result] = step.op.widths();
    let out = homes.of(flow.out.value).0.first()?.half;
    // Of each operand, where it may lie: where it does, or in a copy.
    let choices: Vec<Vec<Option<Place>>> = read
        .iter()
        .map(|access| {
            let vectors = program.value(access.value).vectors.min(rounds(&flow.loops));
            let rooms = sram.rooms(vectors);
            std::iter::once(None).chain(rooms.into_iter().map(Some)).collect()
        })
        .collect();
    let fits = |chosen: &[Option<Place>]| {
        let place = |i: usize| match chosen[i] {
            Some(place) => vec![place],
            None => homes.of(read[i].value).0.clone(),
        };
        let places: Vec<Vec<Place>> = (0..read.len()).map(place).collect();
        let apart = |i: usize, j: usize| {
            places[i].iter().all(|own| places[j].iter().all(|other| !own.shares_slice(other)))
        };
        let mut streams = [0, 0];
        streams[usize::from(out == Half::West)] += result;
        for places in &places {
            let half = places[0].half;
            if places.iter().any(|place| place.half != half) {
                return false;
            }
            streams[usize::from(half == Half::East)] += width;
        }
        (0..read.len()).all(|i| (0..i).all(|j| apart(i, j)))
            && streams[0] <= lpu.streams_east
            && streams[1] <= lpu.streams_west
    };
    let mut found: Option<Vec<Option<Place>>> = None;
    let count = |chosen: &[Option<Place>]| chosen.iter().flatten().count();
    for_each_choice(&choices, &mut |chosen| {
        if found.as_ref().is_none_or(|best| count(chosen) < count(best)) && fits(chosen) {
            found = Some(chosen.to_vec());
        }
    });
    let copies = found?.into_iter().zip(read).filter_map(|(place, access)| {
        let place = place?;
        Some(Copy { access: access.clone(), half: place.half, first_slice: place.first_slice })
    });
    let copies: Vec<Copy> = copies.collect();
    (!copies.is_empty()).then_some(copies)
}

fn for_each_choice(choices: &[Vec<Option<Place>>], f: &mut dyn FnMut(&[Option<Place>])) {
    fn go(
        choices: &[Vec<Option<Place>>],
        chosen: &mut Vec<Option<Place>>,
        f: &mut dyn FnMut(&[Option<Place>]),
    ) {
        let Some(own) = choices.get(chosen.len()) else { return f(chosen) };
        for choice in own {
            chosen.push(*choice);
            go(choices, chosen, f);
            chosen.pop();
        }
    }
    go(choices, &mut Vec::new(), f);
}
