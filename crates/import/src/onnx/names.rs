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

impl NameId {
    /// Whether it is the empty name's, which stands for what is left out.
    pub fn is_nothing(self) -> bool {
        self.index() == 0
    }
}

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
    /// The empty name alone.
    pub fn new() -> Names {
        let mut names = Names { texts: Texts::default(), table: HashTable::default(), seed: Seed::default() };
        names.intern("");
        names
    }

    /// Makes room for names to come.
    pub fn reserve(&mut self, names: usize) {
        /// As exporters name values: `/encoder/layer.0/MatMul_output_0`.
        const LETTERS: usize = 32;
        let Names { texts, table, seed } = self;
        texts.letters.reserve(LETTERS * names);
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
        let mut names = Names::new();
        let texts: Vec<String> = (1..1000).map(|i| format!("{}{i}", "x".repeat(i % 7))).collect();
        let ids: Vec<NameId> = texts.iter().map(|text| names.intern(text)).collect();
        assert_eq!(ids, (1..1000).map(NameId::new).collect::<Vec<_>>());
        assert!(texts.iter().zip(&ids).all(|(text, id)| names.intern(text) == *id));
        assert!(texts.iter().zip(&ids).all(|(text, id)| names.get(text) == Some(*id)));
        assert_eq!(names.get("x"), None);
        assert!(names.get("").is_some_and(NameId::is_nothing) && names.intern("").is_nothing());
        assert!(!ids[0].is_nothing());
    }
}
