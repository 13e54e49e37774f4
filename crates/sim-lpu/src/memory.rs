//! The SRAM of a chip: vectors with the tags that were stored with them, and one port a bank.

use crate::trap::Fault;
use crate::vector::Vector;
use tegula_base::HashMap;
use tegula_isa_lpu::{Address, Half, Tag};
use tegula_machine::Lpu;

pub(crate) struct Memory {
    words: HashMap<Address, Stored>,
    /// The cycle of the last use of each bank's port.
    ports: HashMap<(Half, u8, u8), i64>,
    lanes: usize,
    mask_lanes: usize,
}

#[derive(Clone)]
struct Stored {
    vector: Vector,
    /// Of each part that a mask can choose; a word of one write has them all alike.
    tags: Vec<Option<Tag>>,
}

impl Memory {
    pub(crate) fn new(lpu: &Lpu) -> Memory {
        Memory {
            words: HashMap::default(),
            ports: HashMap::default(),
            lanes: lpu.vector() as usize,
            mask_lanes: lpu.mem.mask_lanes as usize,
        }
    }

    /// Cycles start anew.
    pub(crate) fn rest(&mut self) {
        self.ports.clear();
    }

    /// Takes the bank's port for a cycle.
    pub(crate) fn port(&mut self, at: Address, cycle: i64) -> Result<(), Fault> {
        match self.ports.insert((at.half, at.slice, at.bank), cycle) {
            Some(before) if before == cycle => Err(Fault::PortTwice),
            _ => Ok(()),
        }
    }

    /// The vector of a word, all of whose parts must be of the tag.
    pub(crate) fn read(&self, at: Address, wanted: Tag) -> Result<Vector, Fault> {
        let stored = self.words.get(&at).ok_or(Fault::Nothing { wanted })?;
        self.all_of(stored, |tag| tag == wanted, wanted)?;
        Ok(stored.vector.clone())
    }

    /// The vector of a word that holds any vector of the tag's value and part.
    pub(crate) fn read_any(&self, at: Address, wanted: Tag) -> Result<Vector, Fault> {
        let stored = self.words.get(&at).ok_or(Fault::Nothing { wanted })?;
        self.all_of(stored, |tag| (tag.value, tag.part) == (wanted.value, wanted.part), wanted)?;
        Ok(stored.vector.clone())
    }

    /// Writes a word that holds any vector of the tag's value and part. It keeps the tag that it has: a row of a table remains
    /// the row of its place.
    pub(crate) fn replace(&mut self, at: Address, vector: Vector, wanted: Tag) -> Result<(), Fault> {
        self.read_any(at, wanted)?;
        self.words.entry(at).and_modify(|stored| stored.vector = vector);
        Ok(())
    }

    fn all_of(&self, stored: &Stored, is_it: impl Fn(Tag) -> bool, wanted: Tag) -> Result<(), Fault> {
        for tag in &stored.tags {
            match tag {
                None => return Err(Fault::Nothing { wanted }),
                Some(found) if !is_it(*found) => return Err(Fault::Other { wanted, found: *found }),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The bytes of a word as they are; zeros where nothing was written.
    pub(crate) fn bytes(&self, at: Address) -> Vector {
        self.words.get(&at).map_or_else(|| vec![0; self.lanes].into(), |stored| stored.vector.clone())
    }

    /// Writes the parts that the mask has.
    pub(crate) fn write(&mut self, at: Address, vector: Vector, tag: Tag, mask: u32) {
        let parts = self.lanes / self.mask_lanes;
        let all = if parts == 32 { u32::MAX } else { (1 << parts) - 1 };
        if mask & all == all {
            self.words.insert(at, Stored { vector, tags: vec![Some(tag)] });
            return;
        }
        let empty = || Stored { vector: vec![0; self.lanes].into(), tags: vec![None] };
        let stored = self.words.entry(at).or_insert_with(empty);
        if stored.tags.len() == 1 {
            stored.tags = vec![stored.tags[0]; parts];
        }
        let mut bytes = stored.vector.to_vec();
        for part in (0..parts).filter(|part| mask >> part & 1 == 1) {
            let lanes = part * self.mask_lanes..(part + 1) * self.mask_lanes;
            bytes[lanes.clone()].copy_from_slice(&vector[lanes]);
            stored.tags[part] = Some(tag);
        }
        stored.vector = bytes.into();
    }
}
