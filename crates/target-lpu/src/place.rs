//! Where values lie in SRAM.
//!
//! A value lies in a few slices side by side: four, or as many as a plane loads rows at once. In each of them it has the same
//! words of the same bank. A value that is longer than a bank lies in several such places.
//! Elements of 4 bytes have one in each of four slices. Of bytes, a quarter of the vectors lies in each slice, so that planes read
//! parts of a value at once.
//! Values that a flow reads in one cycle lie in different slices: `avoid` says which ones a new value keeps away from.

use crate::assemble::Place as Text;
use crate::flow::{FlowValue, ValueId};
use std::collections::BTreeMap;
use tegula_isa_lpu::word::FETCHED_FROM;
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
    /// Vectors of one word of all slices, and words of each of them in a slice.
    stripe: u8,
    a_vector: u8,
    /// Whether the vectors of a word follow one another.
    is_striped: bool,
}

/// A value's places, by its first vectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Home(pub(crate) Vec<Place>);

/// A part of a value finds no room: words of a bank, and the most that are free side by side in the slices that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) part: u64,
    pub(crate) free: u64,
}

/// Free and used words.
pub(crate) struct Sram {
    banks: u8,
    words: u16,
    slices: u8,
    stripe: u8,
    /// Words that a plane holds: known weights lie in parts of so many vectors, so that planes load at once.
    part: u32,
    /// Used words of each bank, sorted: first and end.
    used: BTreeMap<(Half, u8, u8), Vec<(u16, u16)>>,
    /// The end of all words that were ever used.
    ends: BTreeMap<(Half, u8, u8), u16>,
    /// Where the next value is tried first, so that values spread; of stripes, and of others.
    turns: [usize; 2],
    /// The word from which on a column is tried first: what was freed just now is read for some time yet.
    next: BTreeMap<(Half, u8, u8, u8), u16>,
    text_slices: u8,
    /// The slices from this one on hold weights of long products, where that can be; other values lie before it.
    held_from: Option<u8>,
    /// The first word of the text in each bank.
    texts: BTreeMap<(Half, u8, u8), u16>,
}

/// Blocks of a long value, and vectors of one of them at the least: less than a stage from memory to memory takes.
const BLOCKS: u64 = 4;
const LEAST_OF_BLOCK: u64 = 24;

/// Groups of slices of a half in which values may lie in blocks: an operation reads and writes some four at once.
const MANY_GROUPS: u8 = 8;

/// Places that are read or written while a part of a value is, if all its vectors are in one order with theirs. Units stand
/// apart, so that flows have a part before or behind it at hand as well.
fn near(homes: &[&Home], [from, to]: [f64; 2]) -> Vec<Place> {
    let margin = to - from;
    let mut near = Vec::new();
    for home in homes {
        let all = home.vectors() as f64;
        for (at, place) in home.0.iter().enumerate() {
            let end = home.0.get(at + 1).map_or(all, |next| f64::from(next.first_vector));
            let apart = end / all <= from - margin || f64::from(place.first_vector) / all >= to + margin;
            if !apart {
                near.push(*place);
            }
        }
    }
    near
}

/// The share of a bank of text that stays free of values where that can be.
const TEXT_SHARE: u16 = 2;

/// Slices of a byte of each element: values of 32 bits have four.
const BYTES: u8 = 4;

impl Sram {
    pub(crate) fn of(lpu: &Lpu) -> Sram {
        Sram {
            banks: lpu.mem.banks as u8,
            words: lpu.mem.words as u16,
            slices: lpu.mem.slices as u8,
            stripe: lpu.mxm.load_streams as u8,
            part: lpu.mxm.k.next_multiple_of(lpu.mxm.load_streams.max(1)),
            used: BTreeMap::new(),
            ends: BTreeMap::new(),
            turns: [0; 2],
            next: BTreeMap::new(),
            text_slices: lpu.text_slices as u8,
            held_from: None,
            texts: BTreeMap::new(),
        }
    }

    /// Keeps the stripe next to the planes for weights of long products: rows of values that lie in a slice of its own are read
    /// while it loads.
    pub(crate) fn hold_weights_apart(&mut self) {
        let first = self.slices.saturating_sub(self.stripe);
        self.held_from = (first / BYTES >= MANY_GROUPS / 2).then_some(first);
    }

    /// Places for text: words that no value ever had, those near the values first.
    pub(crate) fn text(&self, half: Half) -> Vec<Text> {
        let words = FETCHED_FROM;
        let mut places = Vec::new();
        for bank in 0..self.banks {
            for slice in 0..self.text_slices {
                let end = self.ends.get(&(half, slice, bank)).copied().unwrap_or(0);
                let top = self.texts.get(&(half, slice, bank)).copied().unwrap_or(self.words);
                let firsts = (0..top / words).map(|n| top - (n + 1) * words);
                places.extend(firsts.take_while(|first| *first >= end).map(|word| Text {
                    slice,
                    bank,
                    word,
                }));
            }
        }
        places.sort_by_key(|place| (place.word, place.bank, place.slice));
        places
    }

    /// Keeps values off a place of text from now on.
    pub(crate) fn keep_text(&mut self, half: Half, Text { slice, bank, word }: Text) {
        let used = self.used.entry((half, slice, bank)).or_default();
        let at = used.partition_point(|(first, _)| *first < word);
        used.insert(at, (word, word + FETCHED_FROM));
        // What lies above it is text too.
        let texts = self.texts.entry((half, slice, bank)).or_insert(self.words);
        *texts = (*texts).min(word);
    }

    /// Finds room for a value: in other slices than those of `avoid` and in a half, where that can be. `is_long`: as weights of a
    /// long product.
    pub(crate) fn place(
        &mut self,
        value: &FlowValue,
        avoid: &[&Home],
        wanted: Option<Half>,
        is_long: bool,
    ) -> Result<Home, Full> {
        let width = value.element.width();
        // Rows of a stripe lie in turn in its slices, and a row's bytes in different ones: `address` says in which.
        let (slices, a_word, a_vector) = match value.striped {
            true => (self.stripe, u32::from(self.stripe), width),
            false if width == 1 => (BYTES, u32::from(BYTES), 1),
            false => (BYTES, 1, 1),
        };
        let words = u64::from(value.vectors.div_ceil(a_word) * a_vector);
        let is_held = value.striped && value.constant.is_some();
        let most = match is_held {
            true => u64::from(self.part / a_word * a_vector),
            // Blocks lie in slices of their own: the first is read while the next is written.
            false if !value.striped && !value.indexed => {
                // Where slices are few, blocks of several values would share them.
                let has_many = self.slices / BYTES >= MANY_GROUPS;
                let blocks = if has_many { BLOCKS } else { 1 };
                words.div_ceil(blocks).max(LEAST_OF_BLOCK).min(u64::from(self.words).div_ceil(blocks))
            }
            false => u64::from(self.words),
        };
        let mut home = Home::default();
        let (mut left, mut first_vector) = (words, 0);
        while left > 0 {
            let part = left.min(most) as u16;
            // What goes to the centre lies in one half, so that it comes on the same streams.
            let own = home.0.first().map(|place| place.half).filter(|_| !is_held);
            let block = [words - left, words - left + u64::from(part)].map(|at| at as f64 / words as f64);
            let near: Vec<Place> = home.0.iter().copied().chain(near(avoid, block)).collect();
            let zone = match (self.held_from, is_long) {
                (None, _) => 0..self.slices,
                (Some(first), true) => first..self.slices,
                (Some(_), false) if value.striped => 0..self.slices,
                (Some(first), false) => 0..first,
            };
            let whole = 0..self.slices;
            let tries = [
                (&near[..], own.or(wanted), &zone),
                (&near, own, &zone),
                (&near, own.or(wanted), &whole),
                (&near, own, &whole),
                (&[], own, &whole),
            ];
            let found =
                tries.into_iter().find_map(|(near, half, zone)| self.find(slices, part, near, (half, zone)));
            let Some(place) = found else { return self.undo(home, slices, part, (own, &whole)) };
            self.take(place);
            home.0.push(Place {
                first_vector,
                stripe: a_word as u8,
                a_vector: a_vector as u8,
                is_striped: value.striped,
                ..place
            });
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
                is_striped: false,
            };
            self.gap(place, 0, true).map(|word| Place { word, ..place })
        })
    }

    /// Places so many vectors in the slices from `first_slice` of a half on.
    pub(crate) fn place_at(&mut self, vectors: u32, half: Half, first_slice: u8) -> Option<Home> {
        let place = self.room_at(vectors, half, first_slice)?;
        self.take(place);
        Some(Home(vec![place]))
    }

    fn undo(
        &mut self,
        home: Home,
        slices: u8,
        part: u16,
        wanted: (Option<Half>, &std::ops::Range<u8>),
    ) -> Result<Home, Full> {
        // By halves: a part of `words` words finds room, and one of `words` + 1 does not.
        let (mut words, mut most) = (0, part);
        while words + 1 < most {
            let tried = words + (most - words) / 2;
            match self.find(slices, tried, &[], wanted) {
                Some(_) => words = tried,
                None => most = tried,
            }
        }
        self.free(&home);
        Err(Full { part: part.into(), free: words.into() })
    }

    /// The first room in the order of turns; stripes start at the planes.
    fn find(
        &mut self,
        slices: u8,
        words: u16,
        avoid: &[Place],
        (wanted, zone): (Option<Half>, &std::ops::Range<u8>),
    ) -> Option<Place> {
        let is_stripe = slices != BYTES || self.stripe == BYTES;
        let step = if is_stripe { slices } else { BYTES };
        let starts: Vec<u8> = (0..=self.slices.checked_sub(slices)?).step_by(usize::from(step)).collect();
        let offset = if is_stripe { self.slices % slices } else { 0 };
        let mut columns = Vec::new();
        for bank in 0..self.banks {
            for &first_slice in starts.iter().rev() {
                columns.extend(Half::BOTH.map(|half| (half, first_slice + offset, bank)));
            }
        }
        let turn = self.turns[usize::from(is_stripe)];
        for with_text in [false, true] {
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
                    is_striped: false,
                };
                let is_in_zone = zone.start <= first_slice && first_slice + slices <= zone.end;
                if wanted.is_some_and(|wanted| half != wanted) || !is_in_zone {
                    continue;
                }
                if avoid.iter().any(|other| place.shares_slice(other)) {
                    continue;
                }
                let next = self.next.get(&(half, first_slice, slices, bank)).copied().unwrap_or(0);
                let found = self.gap(place, next, with_text).or_else(|| self.gap(place, 0, with_text));
                if let Some(word) = found {
                    self.turns[usize::from(is_stripe)] = (turn + i + 1) % columns.len();
                    self.next.insert((half, first_slice, slices, bank), word + words);
                    return Some(Place { word, ..place });
                }
            }
        }
        None
    }

    /// The first word from `start` on from which on all slices of a place are free.
    fn gap(&self, place: Place, mut start: u16, with_text: bool) -> Option<u16> {
        let mut used: Vec<(u16, u16)> = (place.first_slice..place.first_slice + place.slices)
            .filter_map(|slice| self.used.get(&(place.half, slice, place.bank)))
            .flatten()
            .copied()
            .collect();
        used.sort_unstable();
        for (first, end) in used {
            if first >= start.saturating_add(place.words) {
                break;
            }
            start = start.max(end);
        }
        let text =
            if place.first_slice < self.text_slices && !with_text { self.words / TEXT_SHARE } else { 0 };
        (u32::from(start) + u32::from(place.words) <= u32::from(self.words - text)).then_some(start)
    }

    fn take(&mut self, place: Place) {
        for slice in place.first_slice..place.first_slice + place.slices {
            let used = self.used.entry((place.half, slice, place.bank)).or_default();
            let at = used.partition_point(|(first, _)| *first < place.word);
            used.insert(at, (place.word, place.word + place.words));
            let end = self.ends.entry((place.half, slice, place.bank)).or_default();
            *end = (*end).max(place.word + place.words);
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

    /// Vectors that have room.
    fn vectors(&self) -> u32 {
        self.0.last().map_or(0, |place| {
            place.first_vector + u32::from(place.words / u16::from(place.a_vector)) * u32::from(place.stripe)
        })
    }

    /// Where a byte of a vector's elements lies.
    pub(crate) fn address(&self, vector: u32, part: u32) -> Address {
        let at = self.0.partition_point(|place| place.first_vector <= vector).saturating_sub(1);
        let place = &self.0[at];
        let within = vector - place.first_vector;
        let (stripe, a_vector) = (u32::from(place.stripe), u32::from(place.a_vector));
        let (row, turn) = (within / stripe, within % stripe);
        // Of a stripe's vectors, all have this part in different slices, and each has its parts in different slices.
        let (slice, word) = match place.is_striped {
            false => {
                let words = u32::from(place.words);
                (within / words * (u32::from(BYTES) / stripe) + part, within % words)
            }
            true => ((turn + part * (stripe / a_vector).max(1)) % stripe, row * a_vector + part),
        };
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
