//! How the elements of a tile are spread over the registers of a CTA's threads: a [`Place`] a register.

use crate::coord::{Coord, MapId, Place, ThreadMap, ThreadMaps};
use smallvec::SmallVec;
use tegula_base::DType;

/// One register a thread for each place, in rising order of the coordinates' constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub places: Vec<Place>,
}

/// Neighbours that one thread reads or writes at once at most: 16 bytes, of bytes 4.
pub(crate) fn vector_elements(dtype: DType) -> i64 {
    const VECTOR_BYTES: i64 = 16;
    match dtype.size() as i64 {
        1 => 4,
        size => VECTOR_BYTES / size,
    }
}

impl Spread {
    /// Along the last axis vectors of neighbours, then threads; then threads along the axes before. What is left of the
    /// tile repeats in registers; threads that are left hold copies.
    pub fn rows(maps: &mut ThreadMaps, shape: &[i64], dtype: DType, thread_bits: u32) -> Spread {
        let count: i64 = shape.iter().product();
        let share = (count >> thread_bits).max(1);
        let last = shape.last().copied().unwrap_or(1);
        let mut vector = 1;
        while vector * 2 <= vector_elements(dtype).min(share) && last % (vector * 2) == 0 {
            vector *= 2;
        }
        let mut bit = 0;
        let mut axes: SmallVec<[(MapId, i64, i64); 4]> = SmallVec::new();
        for (i, extent) in shape.iter().enumerate().rev() {
            let vector = if i + 1 == shape.len() { vector } else { 1 };
            let mut map = ThreadMap::new();
            let mut width = vector;
            while width < *extent && bit < thread_bits {
                map.push((bit as u8, width));
                width *= 2;
                bit += 1;
            }
            axes.insert(0, (maps.intern(map), vector, width));
        }
        Spread { places: places(shape, &axes) }
    }

    /// As the tile has extent 1 along `axis`: each thread along it holds the same.
    pub fn reduced(&self, axis: usize) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for place in &self.places {
            let mut place = place.clone();
            place[axis] = Coord::uniform(0);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}

/// An axis is a map, neighbours in one thread, and the width of all threads together.
fn places(shape: &[i64], axes: &[(MapId, i64, i64)]) -> Vec<Place> {
    let mut places: Vec<Place> = vec![Place::new()];
    for (extent, (map, vector, width)) in shape.iter().zip(axes) {
        let mut next = Vec::new();
        for place in &places {
            let mut start = 0;
            while start < *extent {
                for i in 0..*vector {
                    let mut place = place.clone();
                    place.push(Coord { map: *map, at: start + i });
                    next.push(place);
                }
                start += width;
            }
        }
        places = next;
    }
    places
}

pub(crate) fn low_bits(count: u32) -> u32 {
    ((1u64 << count) - 1) as u32
}
