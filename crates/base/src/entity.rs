//! Ids into arenas: a `u32` newtype per kind of thing, displayed as it stands in the text.
//! An arena only grows; an id stays valid for the arena's life.

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
