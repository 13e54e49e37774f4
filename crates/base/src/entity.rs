//! Ids into arenas: a `u32` newtype per kind of thing, displayed as it stands in the text.
//! An arena only grows, and an id stays valid, until it is rearranged.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena`]; made by [`entity_id!`](crate::entity_id).
pub trait EntityId: Copy + Eq + Ord + std::hash::Hash {
    fn new(index: usize) -> Self;
    fn index(self) -> usize;
}

/// Declares an id type: `entity_id!(/// docs pub struct Value, "%");` displays as `%7`.
#[macro_export]
macro_rules! entity_id {
    ($(#[$doc:meta])* $vis:vis struct $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);
        impl $crate::EntityId for $name {
            #[inline]
            fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("invariant: an arena holds fewer than 2^32 entries"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

/// A growing table of `T`, indexed by `K`.
#[derive(Clone, Debug)]
pub struct Arena<K, T> {
    items: Vec<T>,
    key: PhantomData<K>,
}

impl<K, T> Default for Arena<K, T> {
    fn default() -> Self {
        Arena { items: Vec::new(), key: PhantomData }
    }
}

impl<K: EntityId, T> Arena<K, T> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, item: T) -> K {
        self.items.push(item);
        K::new(self.items.len() - 1)
    }

    /// Makes room for more items, so that they need not be moved as the table grows.
    pub fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    /// Keeps these items, in this order; the first has key 0. Each is named once.
    pub fn rearrange(&mut self, kept: &[K]) {
        // Which item lies in each place, and where each item lies: both begin as they were.
        let mut items: Vec<u32> = (0..self.items.len() as u32).collect();
        let mut places = items.clone();
        for (to, key) in kept.iter().enumerate() {
            let from = places[key.index()] as usize;
            self.items.swap(to, from);
            items.swap(to, from);
            places[items[to] as usize] = to as u32;
            places[items[from] as usize] = from as u32;
        }
        self.items.truncate(kept.len());
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn get(&self, key: K) -> Option<&T> {
        self.items.get(key.index())
    }

    pub fn keys(&self) -> impl Iterator<Item = K> + use<K, T> {
        (0..self.items.len()).map(K::new)
    }

    /// All items, in the order of their keys.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (K::new(i), item))
    }
}

impl<K: EntityId, T> Index<K> for Arena<K, T> {
    type Output = T;
    fn index(&self, key: K) -> &T {
        &self.items[key.index()]
    }
}

impl<K: EntityId, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.items[key.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    entity_id!(
        struct Id, "id"
    );

    #[test]
    fn what_is_rearranged_stands_as_asked() {
        let mut random = SplitMix64::new(7);
        for n in 0..40 {
            let mut arena: Arena<Id, usize> = Arena::new();
            (0..n).for_each(|item| _ = arena.push(item));
            let mut kept: Vec<Id> = arena.keys().collect();
            (0..n).for_each(|i| kept.swap(i, random.next_u64() as usize % n));
            kept.truncate(n - n / 3);
            arena.rearrange(&kept);
            let found: Vec<usize> = arena.iter().map(|(_, item)| *item).collect();
            assert_eq!(found, kept.iter().map(|id| id.index()).collect::<Vec<_>>());
        }
    }

    /// Who follows an item from one place to the next takes as many steps as there are places before it here.
    #[test]
    fn a_long_shift_takes_no_longer_than_any_other_order() {
        const N: usize = 1 << 20;
        let mut arena: Arena<Id, usize> = Arena::new();
        (0..N).for_each(|item| _ = arena.push(item));
        let kept: Vec<Id> = std::iter::once(N - 1).chain(0..N - 1).map(Id::new).collect();
        let start = std::time::Instant::now();
        arena.rearrange(&kept);
        assert_eq!([arena[Id::new(0)], arena[Id::new(1)], arena[Id::new(N - 1)]], [N - 1, 0, N - 2]);
        let ms = start.elapsed().as_millis();
        assert!(ms < 2000, "2^20 items took {ms} ms");
    }
}
