//! What a level promises to the generic passes: the trait of its closed op enum, and the macro that declares one.
//!
//! An op's enum variant holds its *attributes* as named typed fields; operands, results and regions stand in
//! [`OpData`](crate::OpData), so that generic code walks every level the same way.

use crate::{Func, OpId};
use mlir_ast::Attr;
use smallvec::SmallVec;
use tegula_mlir::ast as mlir_ast;

/// What running an op does besides making its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effects {
    /// Same operands, same results: may be removed, merged, moved.
    Pure,
    /// Reads memory that others may write: may be removed, not moved across writes.
    Reads,
    /// Writes memory, launches, asserts, ends a block: stays where it is.
    Writes,
}

/// What an op adds to the name of what it is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRank {
    /// Nothing: it is data, not work.
    None,
    /// Its nodes, behind those of the root.
    Fused,
    /// It is what its kernel is for, and named first.
    Root,
}

/// The types of an op's results, most often one.
pub type Types<T> = SmallVec<[T; 1]>;

/// A value's type on one level, with its MLIR spelling.
pub trait TypeText:
    Clone + PartialEq + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static
{
    fn to_mlir(&self) -> mlir_ast::Type;
    /// Errors: what was expected, in a few words.
    fn from_mlir(ty: &mlir_ast::Type) -> Result<Self, String>;
}

/// The ops of one level. Implemented by [`define_ops!`](crate::define_ops) plus a hand-written `OpRules`.
pub trait Op:
    OpRules + Clone + PartialEq + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static
{
    /// The namespace in text: `tgn`, `tgt`, `tgh` ...
    const DIALECT: &'static str;
    /// The op's name without its namespace.
    fn name(&self) -> &'static str;
    /// The attributes in declaration order.
    fn attrs(&self) -> Vec<(&'static str, Attr)>;
    /// Rebuilds an op from its name and a lookup of attributes.
    fn from_attrs(name: &str, attr: &dyn Fn(&str) -> Option<Attr>) -> Result<Self, String>;
    /// Every op's name with its documentation, for the generated reference.
    fn reference() -> Vec<(&'static str, &'static str)>;
}

/// What the macro cannot write: the rules of a level, an exhaustive `match` each.
pub trait OpRules: Sized {
    type Type: TypeText;

    fn effects(&self) -> Effects;

    fn is_terminator(&self) -> bool;

    /// Levels without nodes of a model keep the default: there is no name to carry.
    fn name_rank(&self) -> NameRank {
        NameRank::None
    }

    /// Number of regions the op has.
    fn region_count(&self) -> usize {
        0
    }

    /// Whether rewrites leave this op's regions alone: what is in them is another target's.
    fn regions_are_sealed(&self) -> bool {
        false
    }

    /// Whether code in this op's regions may use values from outside.
    fn regions_capture(&self) -> bool {
        true
    }

    /// Checks operands, attributes and regions against the op's numbered constraints, and gives the types of
    /// its results. Errors name the constraint: "dot_c2: inner sizes 4 and 5 differ".
    /// Ops whose result types are not implied by their operands check `func.result_types(op)` instead.
    fn check(func: &Func<Self>, op: OpId) -> Result<Types<Self::Type>, String>
    where
        Self: Op;
}

/// Declares a level's op enum, its names, attribute text and reference.
///
/// ```ignore
/// define_ops! {
///     /// The tensor level.
///     pub enum TensorOp: "tgn" {
///         /// Same elements, other extents. c1: counts are equal.
///         Reshape = "reshape" { shape: Shape },
///     }
/// }
/// ```
#[macro_export]
macro_rules! define_ops {
    ($(#[doc = $enum_doc:literal])* $vis:vis enum $enum:ident: $dialect:literal {
        $($(#[doc = $doc:literal])* $variant:ident = $name:literal { $($field:ident: $ty:ty),* $(,)? }),* $(,)?
    }) => {
        $(#[doc = $enum_doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        $vis enum $enum {
            $($(#[doc = $doc])* $variant { $($field: $ty),* }),*
        }
        impl $crate::Op for $enum {
            const DIALECT: &'static str = $dialect;
            fn name(&self) -> &'static str {
                match self { $($enum::$variant { .. } => $name),* }
            }
            fn attrs(&self) -> Vec<(&'static str, $crate::mlir::Attr)> {
                match self {
                    $($enum::$variant { $($field),* } =>
                        vec![$((stringify!($field), $crate::AttrText::to_attr($field))),*]),*
                }
            }
            fn from_attrs(
                name: &str,
                attr: &dyn Fn(&str) -> Option<$crate::mlir::Attr>,
            ) -> Result<Self, String> {
                match name {
                    $($name => Ok($enum::$variant { $($field: $crate::attr::required(attr, stringify!($field))?),* }),)*
                    _ => Err(format!(concat!("`", $dialect, ".{}` is no op of this level"), name)),
                }
            }
            fn reference() -> Vec<(&'static str, &'static str)> {
                vec![$(($name, concat!($($doc, "\n"),*))),*]
            }
        }
    };
}
