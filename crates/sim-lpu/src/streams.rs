//! The streams of a chip. A vector keeps its diagonal while it hops, so it is an entry on a diagonal: it is visible at every
//! position behind its driver, up to the next driver of the same diagonal. Nothing is moved.

use crate::trap::Fault;
use crate::vector::Vector;
use tegula_isa_lpu::{Direction, Stream, Tag};
use tegula_machine::Lpu;

/// All streams, each with as many diagonals as can be in use at once.
pub(crate) struct Streams {
    east: Vec<Ring>,
    west: Vec<Ring>,
    hop: u32,
}

/// The diagonals of a stream, by their number modulo the ring's length.
struct Ring(Vec<Slot>);

#[derive(Clone)]
struct Slot {
    diagonal: i64,
    drives: Vec<Drive>,
}

#[derive(Clone)]
struct Drive {
    position: i32,
    tag: Tag,
    vector: Vector,
}

impl Ring {
    fn new(length: usize) -> Ring {
        Ring(vec![Slot { diagonal: i64::MIN, drives: Vec::new() }; length])
    }

    /// The diagonal's entries; those of one that has left the chip make room.
    fn slot(&mut self, diagonal: i64) -> &mut Slot {
        let at = diagonal.rem_euclid(self.0.len() as i64) as usize;
        let slot = &mut self.0[at];
        if slot.diagonal != diagonal {
            slot.diagonal = diagonal;
            slot.drives.clear();
        }
        slot
    }
}

impl Streams {
    pub(crate) fn new(lpu: &Lpu) -> Streams {
        let slowest = [
            lpu.mem.read_delay,
            lpu.vxm.delay,
            lpu.vxm.special_delay,
            lpu.sxm.shift_delay,
            lpu.sxm.permute_delay,
            lpu.sxm.transpose_delay,
        ];
        let delay = slowest.into_iter().max().unwrap_or(0);
        // From the oldest diagonal that is still on the chip to the newest that is driven ahead.
        let length = (2 * lpu.mxm_position() as u32 * lpu.hop + delay + 2).next_power_of_two() as usize;
        let rings = |n: u32| (0..n).map(|_| Ring::new(length)).collect();
        Streams { east: rings(lpu.streams_east), west: rings(lpu.streams_west), hop: lpu.hop }
    }

    fn ring(&mut self, stream: Stream) -> Result<&mut Ring, Fault> {
        let rings = match stream.direction {
            Direction::East => &mut self.east,
            Direction::West => &mut self.west,
        };
        rings.get_mut(usize::from(stream.id)).ok_or(Fault::OutOfRange("stream"))
    }

    /// Drives a vector at a position in a cycle.
    pub(crate) fn drive(
        &mut self,
        stream: Stream,
        position: i32,
        cycle: i64,
        tag: Tag,
        vector: Vector,
    ) -> Result<(), Fault> {
        let diagonal = stream.diagonal(position, cycle, self.hop);
        let slot = self.ring(stream)?.slot(diagonal);
        if let Some(other) = slot.drives.iter().find(|drive| drive.position == position) {
            return Err(Fault::TwoDrivers { first: other.tag, second: tag });
        }
        slot.drives.push(Drive { position, tag, vector });
        Ok(())
    }

    /// The vector that is at a position in a cycle, which must be the one wanted.
    pub(crate) fn sense(
        &mut self,
        stream: Stream,
        position: i32,
        cycle: i64,
        wanted: Tag,
    ) -> Result<Vector, Fault> {
        let diagonal = stream.diagonal(position, cycle, self.hop);
        let passed = self
            .ring(stream)?
            .slot(diagonal)
            .drives
            .iter()
            .filter(|drive| stream.reaches(drive.position, position));
        let nearest = passed.min_by_key(|drive| (drive.position - position).abs());
        match nearest {
            None => Err(Fault::Nothing { wanted }),
            Some(drive) if drive.tag != wanted => Err(Fault::Other { wanted, found: drive.tag }),
            Some(drive) => Ok(drive.vector.clone()),
        }
    }
}
