//! Where in a tile the element lies that a thread holds in one register: along each axis a constant plus a sum over the
//! bits of the thread's number.
//!
//! Sums, and not exclusive ors, so that slicing, merging and broadcasting axes stay inside of the form. Along an axis
//! coordinates may leave the tile (extents that threads do not divide): such elements are nobody's, and whoever reads
//! or writes memory leaves them out.

use smallvec::SmallVec;

/// A sum over bits of the thread's number, in a [`ThreadMaps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MapId(u32);

/// No bit counts: the same for all threads.
pub(crate) const UNIFORM: MapId = MapId(0);

/// Bit of the thread's number, and what it adds where it is set; bits rise, no weight is 0.
pub(crate) type ThreadMap = SmallVec<[(u8, i64); 8]>;

/// A coordinate along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Coord {
    pub map: MapId,
    pub at: i64,
}

impl Coord {
    pub fn uniform(at: i64) -> Coord {
        Coord { map: UNIFORM, at }
    }

    pub fn plus(self, at: i64) -> Coord {
        Coord { at: self.at + at, ..self }
    }
}

/// A coordinate an axis: one element a thread.
pub(crate) type Place = SmallVec<[Coord; 4]>;

/// All sums in use, each once.
pub(crate) struct ThreadMaps {
    maps: Vec<ThreadMap>,
}

impl ThreadMaps {
    pub fn new() -> ThreadMaps {
        ThreadMaps { maps: vec![ThreadMap::new()] }
    }

    pub fn get(&self, id: MapId) -> &ThreadMap {
        &self.maps[id.0 as usize]
    }

    pub fn intern(&mut self, mut map: ThreadMap) -> MapId {
        map.retain(|(_, weight)| *weight != 0);
        map.sort_unstable();
        let known = self.maps.iter().position(|own| *own == map);
        MapId(known.unwrap_or_else(|| {
            self.maps.push(map);
            self.maps.len() - 1
        }) as u32)
    }

    /// The largest sum.
    pub fn most(&self, id: MapId) -> i64 {
        self.get(id).iter().map(|(_, weight)| weight).sum()
    }

    pub fn add(&mut self, a: MapId, b: MapId) -> MapId {
        let mut sum = self.get(a).clone();
        for (bit, weight) in self.get(b).clone() {
            match sum.iter_mut().find(|(own, _)| *own == bit) {
                Some((_, own)) => *own += weight,
                None => sum.push((bit, weight)),
            }
        }
        self.intern(sum)
    }

    pub fn scale(&mut self, a: MapId, by: i64) -> MapId {
        let map = self.get(a).iter().map(|(bit, weight)| (*bit, weight * by)).collect();
        self.intern(map)
    }

    /// Quotient and remainder by `by`, where no thread carries from one into the other.
    pub fn split(&mut self, coord: Coord, by: i64) -> Option<(Coord, Coord)> {
        let map = self.get(coord.map).clone();
        let (high, low): (ThreadMap, ThreadMap) = map.into_iter().partition(|(_, weight)| weight % by == 0);
        let (high_at, low_at) = (coord.at.div_euclid(by), coord.at.rem_euclid(by));
        let reach: i64 = low.iter().map(|(_, weight)| weight).sum();
        if low_at + reach >= by {
            return None;
        }
        let high = high.into_iter().map(|(bit, weight)| (bit, weight / by)).collect();
        let (high, low) = (self.intern(high), self.intern(low));
        Some((Coord { map: high, at: high_at }, Coord { map: low, at: low_at }))
    }

    /// Whether every sum is a multiple.
    pub fn is_multiple(&self, id: MapId, of: i64) -> bool {
        self.get(id).iter().all(|(_, weight)| weight % of == 0)
    }

    /// The place of the same element in a tile of shape `from` that is reshaped to `to`; none where a merged axis does
    /// not split over threads.
    pub fn unreshape(&mut self, from: &[i64], to: &[i64], place: &Place) -> Option<Place> {
        let mut result: Place = from.iter().map(|_| Coord::uniform(0)).collect();
        let (mut left, mut right) = (0, 0);
        while left < from.len() || right < to.len() {
            // The shortest runs of axes with equal counts.
            let (start, mut count_left, mut count_right) = (left, 1, 1);
            let mut linear = Coord::uniform(0);
            loop {
                if count_left < count_right || (right == to.len() && left < from.len()) {
                    count_left *= from[left];
                    left += 1;
                } else {
                    count_right *= to[right];
                    linear.map = self.scale(linear.map, to[right]);
                    linear.map = self.add(linear.map, place[right].map);
                    linear.at = linear.at * to[right] + place[right].at;
                    right += 1;
                }
                if count_left == count_right {
                    break;
                }
            }
            let mut wide = (start..left).filter(|axis| from[*axis] != 1).collect::<SmallVec<[usize; 4]>>();
            let first = if wide.is_empty() { None } else { Some(wide.remove(0)) };
            for axis in wide.into_iter().rev() {
                let (high, low) = self.split(linear, from[axis])?;
                result[axis] = low;
                linear = high;
            }
            if let Some(first) = first {
                result[first] = linear;
            }
        }
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reshapes_keep_row_major_order() {
        let maps = &mut ThreadMaps::new();
        let lanes = maps.intern([(0, 4), (1, 8), (2, 16)].into_iter().collect());
        let place: Place = [Coord { map: lanes, at: 3 }].into_iter().collect();
        let split = maps.unreshape(&[2, 1, 16], &[32], &place).expect("16 divides");
        assert_eq!(split.iter().map(|c| c.at).collect::<Vec<_>>(), [0, 0, 3]);
        assert_eq!(maps.get(split[0].map).as_slice(), [(2, 1)]);
        assert_eq!(maps.get(split[2].map).as_slice(), [(0, 4), (1, 8)]);
        assert_eq!(maps.unreshape(&[32], &[2, 1, 16], &split), Some(place.clone()));
        assert_eq!(maps.unreshape(&[4, 8], &[32], &place).map(|p| p[1].at), Some(3));
        assert_eq!(maps.unreshape(&[3, 11], &[33], &place), None);
    }
}
