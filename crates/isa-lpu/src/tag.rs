//! Tags: whose vector a word senses, drives or stores. Hardware has none; they are the proof that a schedule carries.
//!
//! A tag names one vector of a value of the program: a row of weights, of an input, of a result on its way. A group of streams
//! carries the parts of one vector, from part 0 on; a bundle carries vectors of consecutive index, part 0 of each.

use crate::word::EndShape;
use smallvec::SmallVec;
use std::fmt;

/// A vector of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// An index into the image's names of values.
    pub value: u32,
    pub index: u32,
    /// Which byte of each element it has.
    pub part: u8,
}

impl Tag {
    pub fn new(value: u32, index: u32) -> Tag {
        Tag { value, index, part: 0 }
    }

    /// Another part of the same vector.
    pub fn part(self, part: u8) -> Tag {
        Tag { part, ..self }
    }

    /// The tag of the stream with this number in a group or bundle whose first has this tag.
    pub fn member(self, number: u32, shape: EndShape) -> Tag {
        match shape {
            EndShape::Parts => self.part(self.part.wrapping_add(number as u8)),
            EndShape::Bundle => Tag { index: self.index.wrapping_add(number), ..self },
        }
    }

    /// What a `repeat` does to it.
    pub fn step(&mut self, by: Tag) {
        self.value = self.value.wrapping_add(by.value);
        self.index = self.index.wrapping_add(by.index);
        self.part = self.part.wrapping_add(by.part);
    }
}

/// As `%3[7]`, and `%3[7].2` of part 2.
impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}[{}]", self.value, self.index)?;
        match self.part {
            0 => Ok(()),
            part => write!(f, ".{part}"),
        }
    }
}

/// The tags of a word's ends, in the order that `Word::ends` gives them; of a `repeat`, the steps of the indices.
pub type Tags = SmallVec<[Tag; 2]>;
