//! Tile kernels of every target (`crates/testkit/tests/tiles`) in Tile IR: each is written, and its bytecode read back.
//! Where `TILEIR_OUT` names a folder, the bytecode is left there for NVIDIA's assembler; `cargo xtask gpu-tileir` does.
