//! The tools of passes: visiting with replacement, copying, inlining, and the generic clean-ups.
//!
//! Every tool keeps the invariants of [`Func`](crate::Func) and costs time linear in what it touches.
//! The idiom for local rewrites is [`rewrite_ops`]: while an op is visited, whatever is built at the end of its region
//! stands in front of it.

mod clone;
mod cse;
mod dce;
mod names;
mod op_set;
mod visit;

pub use clone::{Cloner, inline_region};
pub use cse::cse;
pub use dce::{dce, erase_unneeded};
pub use names::{is_data, push_names};
pub use op_set::OpSet;
pub use visit::{Rewrite, Rule, rewrite_chosen, rewrite_ops, rewrite_region};
