//! The names of a scope, each once, by number. A large model has tens of thousands: their letters stand in one text.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher;
use tegula_base::hash::Seed;
use tegula_base::{EntityId, entity_id};

entity_id!(
    /// A name in the innermost scope; cheaper to ask by than its text.
    pub(crate) struct NameId, "name"
);

#[derive(Default)]
pub(super) struct Names {
    texts: Texts,
    table: HashTable<NameId>,
    seed: Seed,
}

/// Texts one behind the other.
#[derive(Default)]
struct Texts {
    letters: String,
    ends: Vec<usize>,
}

impl Texts {
    fn get(&self, id: NameId) -> &str {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.letters[start..self.ends[id.index()]]
    }
}

impl Names {
    /// Makes room for names to come.
    pub fn reserve(&mut self, names: usize) {
        let Names { texts, table, seed } = self;
        texts.ends.reserve(names);
        table.reserve(names, |id| seed.hash_one(texts.get(*id)));
    }

    /// The id of a name that was interned before.
    pub fn get(&self, name: &str) -> Option<NameId> {
        self.table.find(self.seed.hash_one(name), |id| self.texts.get(*id) == name).copied()
    }

    /// The id of a name: the number of names before it.
    pub fn intern(&mut self, name: &str) -> NameId {
        let Names { texts, table, seed } = self;
        let hash = seed.hash_one(name);
        let entry = table.entry(hash, |id| texts.get(*id) == name, |id| seed.hash_one(texts.get(*id)));
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = NameId::new(texts.ends.len());
                entry.insert(id);
                texts.letters.push_str(name);
                texts.ends.push(texts.letters.len());
                id
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = Names::default();
        let texts: Vec<String> = (0..1000).map(|i| format!("{}{i}", "x".repeat(i % 7))).collect();
        let ids: Vec<NameId> = texts.iter().map(|text| names.intern(text)).collect();
        assert_eq!(ids, (0..1000).map(NameId::new).collect::<Vec<_>>());
        assert!(texts.iter().zip(&ids).all(|(text, id)| names.intern(text) == *id));
        assert!(texts.iter().zip(&ids).all(|(text, id)| names.get(text) == Some(*id)));
        assert_eq!([names.get(""), names.get("x")], [None, None]);
        let nothing = names.intern("");
        assert_eq!((nothing, names.get("")), (NameId::new(1000), Some(nothing)));
    }
}
