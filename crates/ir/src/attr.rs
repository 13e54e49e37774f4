//! The MLIR spelling of each kind of attribute field.

use crate::mlir::{Attr, Type};
use tegula_base::{DType, Dim, Shape};

/// A field type of an op: prints to an MLIR attribute and reads back equal.
pub trait AttrText: Sized {
    fn to_attr(&self) -> Attr;
    /// Errors: what was expected.
    fn from_attr(attr: &Attr) -> Result<Self, String>;
    /// The value when the text leaves the attribute out; `None` makes it required.
    fn absent() -> Option<Self> {
        None
    }
}

/// Looks a field up and reads it; used by [`define_ops!`](crate::define_ops).
pub fn required<T: AttrText>(attr: &dyn Fn(&str) -> Option<Attr>, name: &str) -> Result<T, String> {
    match attr(name) {
        Some(attr) => T::from_attr(&attr).map_err(|error| format!("attribute `{name}`: {error}")),
        None => T::absent().ok_or_else(|| format!("attribute `{name}` is missing")),
    }
}

/// A plain string attribute.
pub fn string(text: impl Into<String>) -> Attr {
    Attr::String(text.into().into_bytes(), None)
}

/// The text of a string attribute.
pub fn as_string(attr: &Attr) -> Result<&str, String> {
    match attr {
        Attr::String(bytes, _) => std::str::from_utf8(bytes).map_err(|_| "a UTF-8 string is expected".into()),
        _ => Err("a string is expected".into()),
    }
}

impl AttrText for bool {
    fn to_attr(&self) -> Attr {
        Attr::Bool(*self)
    }
    fn from_attr(attr: &Attr) -> Result<bool, String> {
        match attr {
            Attr::Bool(value) => Ok(*value),
            _ => Err("true or false is expected".into()),
        }
    }
}

macro_rules! integer_attr {
    ($($ty:ty),*) => {$(
        impl AttrText for $ty {
            fn to_attr(&self) -> Attr {
                Attr::Integer(*self as i128, None)
            }
            fn from_attr(attr: &Attr) -> Result<$ty, String> {
                match attr {
                    Attr::Integer(value, _) => {
                        <$ty>::try_from(*value).map_err(|_| concat!("an integer of type ", stringify!($ty), " is expected").into())
                    }
                    _ => Err("an integer is expected".into()),
                }
            }
        }
    )*};
}
integer_attr!(i64, u32, usize);

impl AttrText for String {
    fn to_attr(&self) -> Attr {
        string(self.clone())
    }
    fn from_attr(attr: &Attr) -> Result<String, String> {
        as_string(attr).map(str::to_owned)
    }
}

/// A float attribute that compares and hashes by its bits.
#[derive(Clone, Copy)]
pub struct F64(pub f64);

impl PartialEq for F64 {
    fn eq(&self, other: &F64) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}
impl Eq for F64 {}
impl std::hash::Hash for F64 {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}
impl std::fmt::Debug for F64 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl AttrText for F64 {
    fn to_attr(&self) -> Attr {
        // Decimal where it reads back to the same bits, else MLIR's hexadecimal bit form.
        let text = format!("{:e}", self.0);
        let exact = self.0.is_finite();
        let text = if exact {
            let (mantissa, exponent) = text.split_once('e').expect("invariant: `{:e}` prints an exponent");
            let point = if mantissa.contains('.') { "" } else { ".0" };
            format!("{mantissa}{point}e{exponent}")
        } else {
            format!("0x{:016X}", self.0.to_bits())
        };
        Attr::Float(text, Some(Type::Float("f64".into())))
    }
    fn from_attr(attr: &Attr) -> Result<F64, String> {
        match attr {
            Attr::Float(text, _) => match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16)
                    .map(|bits| F64(f64::from_bits(bits)))
                    .map_err(|e| e.to_string()),
                None => text.parse().map(F64).map_err(|_| format!("`{text}` is no float")),
            },
            Attr::Integer(bits, Some(Type::Float(_))) => Ok(F64(f64::from_bits(*bits as u64))),
            _ => Err("a float is expected".into()),
        }
    }
}

impl AttrText for Dim {
    fn to_attr(&self) -> Attr {
        match self.as_const() {
            Some(n) => n.to_attr(),
            None => string(self.to_string()),
        }
    }
    fn from_attr(attr: &Attr) -> Result<Dim, String> {
        match attr {
            Attr::Integer(..) => i64::from_attr(attr).map(Dim::from),
            _ => as_string(attr)?.parse(),
        }
    }
}

impl AttrText for Shape {
    fn to_attr(&self) -> Attr {
        Attr::Array(self.iter().map(AttrText::to_attr).collect())
    }
    fn from_attr(attr: &Attr) -> Result<Shape, String> {
        Vec::<Dim>::from_attr(attr).map(Shape::from)
    }
}

impl AttrText for DType {
    fn to_attr(&self) -> Attr {
        string(self.name())
    }
    fn from_attr(attr: &Attr) -> Result<DType, String> {
        as_string(attr)?.parse()
    }
}

impl<T: AttrText> AttrText for Vec<T> {
    fn to_attr(&self) -> Attr {
        Attr::Array(self.iter().map(AttrText::to_attr).collect())
    }
    fn from_attr(attr: &Attr) -> Result<Vec<T>, String> {
        match attr {
            Attr::Array(items) => items.iter().map(T::from_attr).collect(),
            _ => Err("an array is expected".into()),
        }
    }
}

impl<T: AttrText> AttrText for Box<T> {
    fn to_attr(&self) -> Attr {
        (**self).to_attr()
    }
    fn from_attr(attr: &Attr) -> Result<Box<T>, String> {
        T::from_attr(attr).map(Box::new)
    }
    fn absent() -> Option<Box<T>> {
        T::absent().map(Box::new)
    }
}

/// `None` is the `unit` attribute.
impl<T: AttrText> AttrText for Option<T> {
    fn to_attr(&self) -> Attr {
        self.as_ref().map_or(Attr::Unit, AttrText::to_attr)
    }
    fn from_attr(attr: &Attr) -> Result<Option<T>, String> {
        match attr {
            Attr::Unit => Ok(None),
            _ => T::from_attr(attr).map(Some),
        }
    }
    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

/// Implements [`AttrText`] for a field-less enum by the names given.
#[macro_export]
macro_rules! enum_attr {
    ($ty:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $ty {
            pub const ALL: &'static [$ty] = &[$($ty::$variant),*];
            pub fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),* }
            }
        }
        impl $crate::AttrText for $ty {
            fn to_attr(&self) -> $crate::mlir::Attr {
                $crate::attr::string(self.name())
            }
            fn from_attr(attr: &$crate::mlir::Attr) -> Result<$ty, String> {
                match $crate::attr::as_string(attr)? {
                    $($name => Ok($ty::$variant),)*
                    other => Err(format!("`{other}` is none of {}", [$($name),*].join(", "))),
                }
            }
        }
    };
}

/// Implements [`AttrText`] for a struct as a dictionary of its fields.
#[macro_export]
macro_rules! struct_attr {
    ($ty:ident { $($field:ident),* $(,)? }) => {
        impl $crate::AttrText for $ty {
            fn to_attr(&self) -> $crate::mlir::Attr {
                $crate::mlir::Attr::Dictionary(vec![
                    $((stringify!($field).to_string(), $crate::AttrText::to_attr(&self.$field))),*
                ])
            }
            fn from_attr(attr: &$crate::mlir::Attr) -> Result<$ty, String> {
                let $crate::mlir::Attr::Dictionary(entries) = attr else {
                    return Err("a dictionary is expected".into());
                };
                let lookup = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, attr)| attr.clone());
                Ok($ty { $($field: $crate::attr::required(&lookup, stringify!($field))?),* })
            }
        }
    };
}
