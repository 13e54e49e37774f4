//! Size expressions inside serialised structs: a constant is a JSON integer, anything else its text.
//! `#[serde(with = "size")]` is for one expression, `list` and `option` for what their names say.
//! A package names the same sizes, and parts of sizes, again and again: [`read_once`] has each read once.

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt;
use tegula_base::{Dim, DimReader};

thread_local! {
    /// What this thread has read of a package: a visitor is told nothing else.
    static READER: RefCell<DimReader> = RefCell::default();
}

/// Runs `read`, within which sizes of the same text are read once, and forgets them.
pub fn read_once<T>(read: impl FnOnce() -> T) -> T {
    let result = read();
    READER.take();
    result
}

/// One expression on its own, for containers.
struct Wire<D>(D);

impl Serialize for Wire<&Dim> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Wire<Dim> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wire<Dim>, D::Error> {
        deserialize(deserializer).map(Wire)
    }
}

pub fn serialize<S: Serializer>(dim: &Dim, serializer: S) -> Result<S::Ok, S::Error> {
    match dim.as_const() {
        Some(n) => serializer.serialize_i64(n),
        None => serializer.collect_str(dim),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dim, D::Error> {
    struct Size;
    impl Visitor<'_> for Size {
        type Value = Dim;
        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("an integer or a size expression")
        }
        fn visit_i64<E: de::Error>(self, n: i64) -> Result<Dim, E> {
            Ok(Dim::from(n))
        }
        fn visit_u64<E: de::Error>(self, n: u64) -> Result<Dim, E> {
            i64::try_from(n).map(Dim::from).map_err(|_| E::custom(format!("{n} is no 64-bit size")))
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Dim, E> {
            READER.with_borrow_mut(|reader| reader.read(text)).map_err(E::custom)
        }
    }
    deserializer.deserialize_any(Size)
}

/// `Vec<Dim>`.
pub mod list {
    use super::*;

    pub fn serialize<S: Serializer>(dims: &[Dim], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(dims.iter().map(Wire))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Dim>, D::Error> {
        Ok(Vec::<Wire<Dim>>::deserialize(deserializer)?.into_iter().map(|wire| wire.0).collect())
    }
}

/// `Option<Dim>`.
pub mod option {
    use super::*;

    pub fn serialize<S: Serializer>(dim: &Option<Dim>, serializer: S) -> Result<S::Ok, S::Error> {
        dim.as_ref().map(Wire).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dim>, D::Error> {
        Ok(Option::<Wire<Dim>>::deserialize(deserializer)?.map(|wire| wire.0))
    }
}

/// `DType` by its name.
pub mod dtype {
    use super::*;
    use tegula_base::DType;

    pub fn serialize<S: Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(dtype.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
