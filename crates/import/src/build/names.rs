//! The names of a scope, each once, by number. A large model has tens of thousands, whose letters lie far apart: names
//! are told from each other by their fingerprints.

use tegula_base::{EntityId, HashMap, entity_id, fingerprint};

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

/// Ids by the fingerprints of names.
pub(super) struct Names(HashMap<u64, NameId>);

impl Names {
    /// The empty name alone, with room for as many more.
    pub fn with_room(more: usize) -> Names {
        let mut names = Names(HashMap::default());
        names.0.reserve(more + 1);
        names.intern("");
        names
    }

    /// The id of a name that was interned before.
    pub fn get(&self, name: &str) -> Option<NameId> {
        self.0.get(&fingerprint(&name)).copied()
    }

    /// The id of a name: the number of names before it.
    pub fn intern(&mut self, name: &str) -> NameId {
        let next = NameId::new(self.0.len());
        *self.0.entry(fingerprint(&name)).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number() {
        let mut names = Names::with_room(0);
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
