//! The interface between `opt` and a target: trait `TargetModel`.
//! In: kernels.  Out: claims, tile candidates, costs, compiled sections.
//! May use: tensor, tile, machine, perf, package, ir, base.  Never knows: any particular target.
//! Start reading at `lib.rs`.
