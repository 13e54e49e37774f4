//! Predicts time and bytes of kernels on a machine, and says why.
//! In: kernel facts and a `Machine`.  Out: `Estimate` with the bound that holds it.
//! May use: tensor, tile, machine, base, ir.  Never knows: targets, passes; it is asked and asks nobody.
//! Start reading at `lib.rs`.
