//! Where values lie in SRAM.
//!
//! A value lies in a few slices side by side: one a byte of its elements, or as many as a plane loads rows at once. In each of
//! them it has the same words of the same bank. A value that is longer than a bank lies in several such places.
//! Values that a flow reads in one cycle lie in different slices: `avoid` says which ones a new value keeps away from.

use crate::flow::{FlowValue, ValueId};
use std::collections::BTreeMap;
use tegula_isa_lpu::{Address, Half};
use tegula_machine::Lpu;

/// Slices of a half that lie side by side, and words of one bank in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) half: Half,
    pub(crate) first_slice: u8,
    pub(crate) slices: u8,
    pub(crate) bank: u8,
    pub(crate) word: u16,
    pub(crate) words: u16,
    /// The value's first vector that lies here.
    first_vector: u32,
    /// Vectors side by side, and words of each of them in a slice.
    stripe: u8,
    a_vector: u8,
}

/// A value's places, by its first vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home(pub(crate) Vec<Place>);

/// What a value has too little room for, in words of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) words: u64,
}

/// Free and used words.
pub(crate) struct Sram {
    banks: u8,
    words: u16,
    slices: u8,
    stripe: u8,
    /// Used words of each bank, sorted: first and end.
    used: BTreeMap<(Half, u8, u8), Vec<(u16, u16)>>,
    /// Where the next value is tried first, so that values spread.
    turn: usize,
}

/// Slices of a byte of each element: values of 32 bits have four.
const BYTES: u8 = 4;

impl Sram {
    pub(crate) fn of(lpu: &Lpu) -> Sram {
        Sram {
            banks: lpu.mem.banks as u8,
            words: lpu.mem.words as u16,
            slices: lpu.mem.slices as u8,
            stripe: lpu.mxm.load_streams as u8,
            used: BTreeMap::new(),
            turn: 0,
        }
    }

    /// Finds room for a value: in other slices than those of `avoid` and in a half, where that can be.
    pub(crate) fn place(
        &mut self,
        value: &FlowValue,
        avoid: &[&Home],
        wanted: Option<Half>,
    ) -> Result<Home, Full> {
        let width = value.element.width();
        // Rows of a stripe lie in turn in its slices. Known bytes of a row lie behind one another; those that are computed are
        // written at once, so that each lies in slices of its own.
        let (slices, a_word, a_vector) = match (value.striped, value.constant.is_some()) {
            (true, true) => (self.stripe, u32::from(self.stripe), width),
            (true, false) => (self.stripe * width as u8, u32::from(self.stripe), 1),
            (false, _) => (BYTES, 1, 1),
        };
        let words = u64::from(value.vectors.div_ceil(a_word) * a_vector);
        let most = u64::from(self.words) / u64::from(a_vector) * u64::from(a_vector);
        let mut home = Home::default();
        let (mut left, mut first_vector) = (words, 0);
        while left > 0 {
            let part = left.min(most) as u16;
            // All of a value lies in one half, so that it comes on the same streams.
            let own = home.0.first().map(|place| place.half);
            let tries = [(avoid, own.or(wanted)), (avoid, own), (&[], own)];
            let found = tries.into_iter().find_map(|(avoid, half)| self.find(slices, part, avoid, half));
            let Some(place) = found else { return self.undo(home, words) };
            self.take(place);
            home.0.push(Place { first_vector, stripe: a_word as u8, a_vector: a_vector as u8, ..place });
            first_vector += u32::from(part) / a_vector * a_word;
            left -= u64::from(part);
        }
        Ok(home)
    }

    /// Where so many vectors would find room, one place for each group of slices.
    pub(crate) fn rooms(&self, vectors: u32) -> Vec<Place> {
        let mut rooms = Vec::new();
        for half in Half::BOTH {
            for first_slice in (0..=self.slices.saturating_sub(BYTES)).step_by(usize::from(BYTES)) {
                rooms.extend(self.room_at(vectors, half, first_slice));
            }
        }
        rooms
    }

    fn room_at(&self, vectors: u32, half: Half, first_slice: u8) -> Option<Place> {
        let words = u16::try_from(vectors).ok()?;
        (0..self.banks).find_map(|bank| {
            let place = Place {
                half,
                first_slice,
                slices: BYTES,
                bank,
                word: 0,
                words,
                first_vector: 0,
                stripe: 1,
                a_vector: 1,
            };
            self.gap(place).map(|word| Place { word, ..place })
        })
    }

    /// Places so many vectors in the slices from `first_slice` of a half on.
    pub(crate) fn place_at(&mut self, vectors: u32, half: Half, first_slice: u8) -> Option<Home> {
        let place = self.room_at(vectors, half, first_slice)?;
        self.take(place);
        Some(Home(vec![place]))
    }

    fn undo(&mut self, home: Home, words: u64) -> Result<Home, Full> {
        self.free(&home);
        Err(Full { words })
    }

    /// The first room in the order of turns; stripes start at the planes.
    fn find(&mut self, slices: u8, words: u16, avoid: &[&Home], wanted: Option<Half>) -> Option<Place> {
        let starts: Vec<u8> = (0..=self.slices.checked_sub(slices)?).step_by(usize::from(BYTES)).collect();
        let mut columns = Vec::new();
        for bank in 0..self.banks {
            for &first_slice in starts.iter().rev() {
                columns.extend(Half::BOTH.map(|half| (half, first_slice, bank)));
            }
        }
        let is_stripe = slices != BYTES || self.stripe == BYTES;
        let turn = if is_stripe { 0 } else { self.turn };
        for i in 0..columns.len() {
            let (half, first_slice, bank) = columns[(turn + i) % columns.len()];
            let place = Place {
                half,
                first_slice,
                slices,
                bank,
                word: 0,
                words,
                first_vector: 0,
                stripe: 1,
                a_vector: 1,
            };
            if wanted.is_some_and(|wanted| half != wanted) {
                continue;
            }
            if avoid.iter().flat_map(|home| &home.0).any(|other| place.shares_slice(other)) {
                continue;
            }
            if let Some(word) = self.gap(place) {
                self.turn = (turn + i + 1) % columns.len();
                return Some(Place { word, ..place });
            }
        }
        None
    }

    /// The first word from which on all slices of a place are free.
    fn gap(&self, place: Place) -> Option<u16> {
        let mut used: Vec<(u16, u16)> = (place.first_slice..place.first_slice + place.slices)
            .filter_map(|slice| self.used.get(&(place.half, slice, place.bank)))
            .flatten()
            .copied()
            .collect();
        used.sort_unstable();
        let mut start = 0u16;
        for (first, end) in used {
            if first >= start.saturating_add(place.words) {
                break;
            }
            start = start.max(end);
        }
        (u32::from(start) + u32::from(place.words) <= u32::from(self.words)).then_some(start)
    }

    fn take(&mut self, place: Place) {
        for slice in place.first_slice..place.first_slice + place.slices {
            let used = self.used.entry((place.half, slice, place.bank)).or_default();
            let at = used.partition_point(|(first, _)| *first < place.word);
            used.insert(at, (place.word, place.word + place.words));
        }
    }

    pub(crate) fn free(&mut self, home: &Home) {
        for place in &home.0 {
            for slice in place.first_slice..place.first_slice + place.slices {
                if let Some(used) = self.used.get_mut(&(place.half, slice, place.bank)) {
                    used.retain(|(first, _)| *first != place.word);
                }
            }
        }
    }
}

impl Place {
    pub(crate) fn shares_slice(&self, other: &Place) -> bool {
        let apart = self.first_slice + self.slices <= other.first_slice
            || other.first_slice + other.slices <= self.first_slice;
        self.half == other.half && !apart
    }
}

impl Home {
    pub(crate) fn shares_slice(&self, other: &Home) -> bool {
        self.0.iter().any(|own| other.0.iter().any(|place| own.shares_slice(place)))
    }

    /// Where a byte of a vector's elements lies.
    pub(crate) fn address(&self, vector: u32, part: u32) -> Address {
        let at = self.0.partition_point(|place| place.first_vector <= vector).saturating_sub(1);
        let place = &self.0[at];
        let within = vector - place.first_vector;
        let (stripe, a_vector) = (u32::from(place.stripe), u32::from(place.a_vector));
        let (row, turn) = (within / stripe, within % stripe);
        let (slice, word) =
            if a_vector > 1 { (turn, row * a_vector + part) } else { (part * stripe + turn, row) };
        Address {
            half: place.half,
            slice: place.first_slice + slice as u8,
            bank: place.bank,
            word: place.word + word as u16,
        }
    }
}

/// The places of all values that lie somewhere now.
#[derive(Default)]
pub(crate) struct Homes(pub(crate) BTreeMap<ValueId, Home>);

impl Homes {
    pub(crate) fn of(&self, value: ValueId) -> &Home {
        &self.0[&value]
    }
}
