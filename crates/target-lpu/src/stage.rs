//! Which operands of an ALU are copied before it reads them, and where to.
//!
//! Operands that are read in one cycle lie in different slices. Those of the west flow east, as do results that lie in the
//! east; each direction has so many streams. Method: all ways to leave operands or move them, the fewest copies first.

use crate::flow::walk::rounds;
use crate::flow::{Access, Flow, FlowProgram, Kind, Source};
use crate::place::{Homes, Place, Sram};
use tegula_isa_lpu::Half;
use tegula_machine::Lpu;

/// The operand with this number is read from a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) slot: usize,
    pub(crate) half: Half,
    pub(crate) first_slice: u8,
}

/// An operand, each read once.
struct Operand<'a> {
    slot: usize,
    access: &'a Access,
}

/// The fewest copies with which an ALU's flow has a schedule. None: no copies help.
pub(crate) fn copies(
    flow: &Flow,
    program: &FlowProgram,
    homes: &Homes,
    sram: &Sram,
    lpu: &Lpu,
) -> Option<Vec<Copy>> {
    let Kind::Alu { op, operands } = &flow.kind else { return None };
    let mut read: Vec<Operand<'_>> = Vec::new();
    for (slot, source) in operands.iter().enumerate() {
        if let Source::Vector(access) = source
            && read.iter().all(|known| known.access != access)
        {
            read.push(Operand { slot, access });
        }
    }
    let [width, result] = op.widths();
    let out = homes.of(flow.out.value).0.first()?.half;
    // Of each operand, where it may lie: where it does, or in a copy.
    let choices: Vec<Vec<Option<Place>>> = read
        .iter()
        .map(|operand| {
            let vectors = program.value(operand.access.value).vectors.min(rounds(&flow.loops));
            let rooms = sram.rooms(vectors);
            std::iter::once(None).chain(rooms.into_iter().map(Some)).collect()
        })
        .collect();
    let fits = |chosen: &[Option<Place>]| {
        let place = |i: usize| match chosen[i] {
            Some(place) => vec![place],
            None => homes.of(read[i].access.value).0.clone(),
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
    let copies = found?.into_iter().zip(&read).filter_map(|(place, operand)| {
        let place = place?;
        Some(Copy { slot: operand.slot, half: place.half, first_slice: place.first_slice })
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
