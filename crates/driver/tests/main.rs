//! The crate's tests as one program, which is built and linked once: a module a subject; `tidy` sees that none is left out.

mod all_ways;
mod common;
#[path = "common/model.rs"]
mod model;
#[path = "common/program.rs"]
mod program;
#[path = "common/programs.rs"]
mod programs;

mod bisect;
mod bound;
mod byte_products;
mod check;
mod control_flow;
mod decoding;
mod diff;
mod extensions;
mod fitting_sizes;
mod forecast;
mod groups;
mod halves;
mod lpu;
mod lpu_decoding;
mod null;
mod packing;
mod pair_sums;
mod remarks;
mod sharing;
mod strides;
mod tune;
mod views;
mod winograd;
