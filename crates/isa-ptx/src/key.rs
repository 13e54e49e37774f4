//! Closed sets of words of an opcode, such as `.rn`, `.u32`, `.relaxed.gpu`.

use crate::types::Scalar;

/// A modifier: one of a closed set of words between the dots of an opcode.
pub trait Key: Copy + PartialEq + Default + 'static {
    /// Every value, in the order that the documentation has.
    fn all() -> &'static [Self];

    /// Without the leading dot; may contain dots.
    fn text(self) -> &'static str;
}

/// A modifier that names the type of operands.
pub trait TypeKey: Key {
    fn scalar(self) -> Scalar;
}

/// Declares enums of modifiers; the first variant is the default.
macro_rules! keys {
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$vdoc:meta])* $variant:ident = $text:literal ),* $(,)? } )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$vdoc])* $variant ),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$( $name::$variant ),*];
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
            }
        }

        impl $crate::key::Key for $name {
            fn all() -> &'static [$name] {
                $name::ALL
            }

            fn text(self) -> &'static str {
                match self { $( $name::$variant => $text ),* }
            }
        }
    )* };
}

/// Declares subsets of `Scalar` under names of their own; the first variant is the default.
macro_rules! types {
    ($( $(#[$doc:meta])* $name:ident { $( $variant:ident ),* $(,)? } )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $variant ),* }

        impl $name {
            pub const ALL: &'static [$name] = &[$( $name::$variant ),*];

            pub fn scalar(self) -> Scalar {
                match self { $( $name::$variant => Scalar::$variant ),* }
            }

            /// The class of registers that hold it.
            pub fn class(self) -> RegClass {
                self.scalar().class()
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
            }
        }

        impl $crate::key::Key for $name {
            fn all() -> &'static [$name] {
                $name::ALL
            }

            fn text(self) -> &'static str {
                $crate::key::Key::text(self.scalar())
            }
        }

        impl $crate::key::TypeKey for $name {
            fn scalar(self) -> Scalar {
                $name::scalar(self)
            }
        }
    )* };
}

pub(crate) use {keys, types};
