//! Tile level (`tgt`): tiles, views, structured loops; executor.
//! In: tile functions built by recipes.  Out: verified `TileFunc`s and their meaning.
//! May use: ir, machine, base, mlir.  Never knows: tensors, registers, a particular machine.
//! Start reading at `ops.rs`, then `exec.rs`.
