//! Tiles as lists of raw bits, and what each op does to them. Arithmetic is `ir`'s semantics table.

use std::rc::Rc;
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval;

#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub dtype: DType,
    pub shape: Vec<i64>,
    /// Row-major, one element's bits each.
    pub bits: Vec<u64>,
}

/// All coordinates of a shape in row-major order.
pub(super) fn coordinates(shape: &[i64]) -> Vec<Vec<i64>> {
    let count: i64 = shape.iter().product();
    (0..count)
        .map(|n| {
            let mut rest = n;
            let mut at = vec![0; shape.len()];
            for i in (0..shape.len()).rev() {
                at[i] = rest % shape[i];
                rest /= shape[i];
            }
            at
        })
        .collect()
}

fn linear(shape: &[i64], at: &[i64]) -> usize {
    at.iter().zip(shape).fold(0, |linear, (i, extent)| linear * extent + i) as usize
}

fn cast(from: DType, to: DType, bits: u64) -> u64 {
    if from == to { bits } else { eval(ScalarOp::Cast { to, saturate: true }, &[from], &[bits]) }
}

impl Tile {
    pub fn splat(dtype: DType, shape: &[i64], bits: u64) -> Tile {
        // Only the element's own bits count.
        let bits = if dtype.bits() == 64 { bits } else { bits & ((1 << (8 * dtype.size())) - 1) };
        Tile { dtype, shape: shape.to_vec(), bits: vec![bits; shape.iter().product::<i64>() as usize] }
    }

    pub fn from_index(dtype: DType, index: i64) -> Tile {
        Tile { dtype, shape: vec![], bits: vec![cast(DType::I64, dtype, index as u64)] }
    }

    pub fn iota(dtype: DType, shape: &[i64], axis: usize) -> Tile {
        let bits = coordinates(shape).iter().map(|at| cast(DType::I64, dtype, at[axis] as u64)).collect();
        Tile { dtype, shape: shape.to_vec(), bits }
    }

    /// Elements of an integer tile as signed 64-bit numbers.
    pub fn integers(&self) -> Vec<i64> {
        self.bits.iter().map(|bits| cast(self.dtype, DType::I64, *bits) as i64).collect()
    }

    pub fn to_index(&self) -> i64 {
        self.integers()[0]
    }

    pub fn elementwise(f: ScalarOp, tiles: &[Rc<Tile>]) -> Tile {
        let dtypes: Vec<DType> = tiles.iter().map(|tile| tile.dtype).collect();
        let dtype = f.result_type(&dtypes).expect("invariant: the verifier checked dtypes");
        let element = |i: usize| {
            let bits: Vec<u64> = tiles.iter().map(|tile| tile.bits[i]).collect();
            eval(f, &dtypes, &bits)
        };
        Tile { dtype, shape: tiles[0].shape.clone(), bits: (0..tiles[0].bits.len()).map(element).collect() }
    }

    fn remap(&self, shape: &[i64], source: impl Fn(&[i64]) -> Vec<i64>) -> Tile {
        let bits = coordinates(shape).iter().map(|at| self.bits[linear(&self.shape, &source(at))]).collect();
        Tile { dtype: self.dtype, shape: shape.to_vec(), bits }
    }

    pub fn broadcast(&self, shape: &[i64]) -> Tile {
        self.remap(shape, |at| at.iter().zip(&self.shape).map(|(i, extent)| i % extent).collect())
    }

    pub fn transpose(&self, perm: &[usize]) -> Tile {
        let shape: Vec<i64> = perm.iter().map(|axis| self.shape[*axis]).collect();
        self.remap(&shape, |at| {
            let mut source = vec![0; at.len()];
            for (i, axis) in perm.iter().enumerate() {
                source[*axis] = at[i];
            }
            source
        })
    }

    pub fn extract(&self, offsets: &[i64], sizes: &[i64]) -> Tile {
        self.remap(sizes, |at| at.iter().zip(offsets).map(|(i, offset)| i + offset).collect())
    }

    pub fn concat(tiles: &[Rc<Tile>], axis: usize) -> Tile {
        let mut shape = tiles[0].shape.clone();
        shape[axis] = tiles.iter().map(|tile| tile.shape[axis]).sum();
        let element = |at: Vec<i64>| {
            let mut at = at;
            for tile in tiles {
                if at[axis] < tile.shape[axis] {
                    return tile.bits[linear(&tile.shape, &at)];
                }
                at[axis] -= tile.shape[axis];
            }
            unreachable!("coordinates are inside of the joined shape")
        };
        Tile { dtype: tiles[0].dtype, bits: coordinates(&shape).into_iter().map(element).collect(), shape }
    }

    /// `self + a b`: k ascending, one fused multiply-add a step for floats (`docs/numerics.md`).
    pub fn add_dot(&self, a: &Tile, b: &Tile) -> Tile {
        let (m, n, k) = (self.shape[0] as usize, self.shape[1] as usize, a.shape[1] as usize);
        let acc = self.dtype;
        let mut result = self.clone();
        for i in 0..m {
            for j in 0..n {
                let mut sum = self.bits[i * n + j];
                for l in 0..k {
                    let x = cast(a.dtype, acc, a.bits[i * k + l]);
                    let y = cast(b.dtype, acc, b.bits[l * n + j]);
                    sum = match acc.is_float() {
                        true => eval(ScalarOp::Fma, &[acc; 3], &[x, y, sum]),
                        false => {
                            let product = eval(ScalarOp::Mul, &[acc; 2], &[x, y]);
                            eval(ScalarOp::Add, &[acc; 2], &[sum, product])
                        }
                    };
                }
                result.bits[i * n + j] = sum;
            }
        }
        result
    }

    /// `self + a b` of bytes, where the products of two steps are summed in `i16` with saturation.
    pub fn add_dot_of_pairs(&self, a: &Tile, b: &Tile) -> Tile {
        let (n, k) = (self.shape[1] as usize, a.shape[1] as usize);
        let mut result = self.clone();
        for (i, sum) in result.bits.iter_mut().enumerate() {
            let product = |step: usize| {
                let (x, y) = (a.bits[i / n * k + step] as u8, b.bits[step * n + i % n] as i8);
                i32::from(x) * i32::from(y)
            };
            let pairs = (0..k / 2).map(|pair| product(2 * pair) + product(2 * pair + 1));
            let pairs: i32 = pairs.map(|sum| sum.clamp(i16::MIN.into(), i16::MAX.into())).sum();
            *sum = eval(ScalarOp::Add, &[self.dtype; 2], &[*sum, pairs as u32 as u64]);
        }
        result
    }

    pub fn reduce(&self, f: ScalarOp, axis: usize) -> Tile {
        let scanned = self.scan(f, axis, false);
        let mut shape = self.shape.clone();
        shape[axis] = 1;
        let last = self.shape[axis] - 1;
        scanned.remap(&shape, |at| {
            let mut at = at.to_vec();
            at[axis] = last;
            at
        })
    }

    pub fn scan(&self, f: ScalarOp, axis: usize, reverse: bool) -> Tile {
        let mut result = self.clone();
        let extent = self.shape[axis];
        let mut shape = self.shape.clone();
        shape[axis] = 1;
        for mut at in coordinates(&shape) {
            for step in 1..extent {
                let (from, to) = match reverse {
                    false => (step - 1, step),
                    true => (extent - step, extent - step - 1),
                };
                at[axis] = from;
                let before = result.bits[linear(&self.shape, &at)];
                at[axis] = to;
                let place = linear(&self.shape, &at);
                result.bits[place] = eval(f, &[self.dtype; 2], &[before, result.bits[place]]);
            }
        }
        result
    }
}
