//! Random kernels, by seed.

use super::generate::{Generator, Memory, Rng};
use super::{Case, store};
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_tile::TileKernel;

/// A random kernel over two inputs and two buffers that are read and written; all tiles left are summed up.
pub fn random_kernel(seed: u64) -> (Case, TileKernel) {
    let rng = &mut Rng::new(seed);
    let dtype = rng.pick(&[DType::I32, DType::I32, DType::F32, DType::I64, DType::U8]);
    let other = rng.pick(&[dtype, DType::I32]);
    let (m, n) = (9 + rng.below(30) as i64, 9 + rng.below(40) as i64);
    let strides = rng.pick(&["n,1", "1,m", "2*n,2", "n+3,1", "3*n+1,3"]);
    let case = Case::new("1", &[("m", m), ("n", n)])
        .input_with(dtype, "m,n", strides)
        .input(other, "37,45")
        .output(dtype, "12,40")
        .output_with(dtype, "20,12", "1,20")
        .output(dtype, "1,1")
        .output(other, "37,45")
        .in_place(1)
        .tolerance(1e-4);
    let kernel = case.kernel(|b, views, units| {
        let memory = |i: usize, dtype: DType, extents: [i64; 2], written: bool| Memory {
            view: views[i],
            dtype,
            extents,
            written,
        };
        let memory = vec![
            memory(0, dtype, [m, n], false),
            memory(1, other, [37, 45], false),
            memory(2, dtype, [12, 40], true),
            memory(3, dtype, [20, 12], true),
            memory(5, other, [37, 45], true),
        ];
        let size = b.size(&"m".parse().expect("a size"));
        let mut generator = Generator { rng, memory, tiles: vec![], indexes: vec![units[0], size] };
        generator.steps(b, 14, 0);
        let zero = b.index(0);
        let mut total = b.splat(dtype, &[1, 1], 0);
        for tile in generator.tiles.clone() {
            if b.tile_type(tile).0 == dtype {
                let sum = b.reduce(ScalarOp::Max, tile, 1);
                let sum = b.reduce(ScalarOp::Max, sum, 0);
                total = b.elementwise(ScalarOp::Add, &[total, sum]);
                if b.tile_type(tile).1 == [12, 40] {
                    store(b, views[2], tile, &[zero, zero]);
                }
            }
        }
        store(b, views[4], total, &[zero, zero]);
    });
    (case, kernel)
}
