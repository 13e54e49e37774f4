//! Named pipelines: compile, check, inspect, explain as functions.
//! In: model bytes and options.  Out: a package, reports.
//! May use: tensor, tile, host, import, perf, target, opt, target-cpu, package, runtime, machine, mlir, ir, base.  Never knows: terminals, argument parsing, the environment.
//! Start reading at `compile.rs`.
