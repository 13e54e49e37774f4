//! Random tile kernels: movement, reductions, products, loops and branches over integers and short floats, and
//! memory that is read and written in turn.

use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_tile::{IndexOp, TileBuilder};

const EXTENTS: [i64; 9] = [1, 1, 2, 3, 5, 8, 16, 20, 33];

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A view with its extents in this run.
#[derive(Clone, Copy)]
pub struct Memory {
    pub view: Value,
    pub dtype: DType,
    pub extents: [i64; 2],
    pub written: bool,
}

pub struct Generator<'r> {
    pub rng: &'r mut Rng,
    pub memory: Vec<Memory>,
    /// Tiles of rank 2 in sight.
    pub tiles: Vec<Value>,
    pub indexes: Vec<Value>,
}

impl Generator<'_> {
    fn tile(&mut self) -> Option<Value> {
        if self.tiles.is_empty() { None } else { Some(self.rng.pick(&self.tiles)) }
    }

    fn shape(&mut self) -> [i64; 2] {
        loop {
            let shape = [self.rng.pick(&EXTENTS), self.rng.pick(&EXTENTS)];
            if shape[0] * shape[1] <= 200 {
                return shape;
            }
        }
    }

    /// An index in `lo..=hi`, known or computed while running.
    fn index_between(&mut self, b: &mut TileBuilder, lo: i64, hi: i64) -> Value {
        let at = lo + self.rng.below((hi - lo + 1) as usize) as i64;
        if self.rng.below(2) == 0 || self.indexes.is_empty() {
            return b.index(at);
        }
        let span = b.index(hi - lo + 1);
        let first = b.index(lo);
        let any = self.rng.pick(&self.indexes);
        let any = b.index_op(IndexOp::Mod, any, span);
        b.add(any, first)
    }

    /// A random box of a view: offsets, steps, bounded.
    fn place(
        &mut self,
        b: &mut TileBuilder,
        memory: Memory,
        shape: [i64; 2],
    ) -> Option<([Value; 2], [i64; 2], [bool; 2])> {
        let (mut offsets, mut steps, mut bounded) = (Vec::new(), [1; 2], [false; 2]);
        for axis in 0..2 {
            let extent = memory.extents[axis];
            bounded[axis] = self.rng.below(3) == 0;
            steps[axis] = self.rng.pick(&[1, 1, 1, 2, -1]);
            let reach = (shape[axis] - 1) * steps[axis];
            let (lo, hi) =
                if bounded[axis] { (-4, extent + 2) } else { ((-reach).max(0), extent - 1 - reach.max(0)) };
            if lo > hi {
                return None;
            }
            offsets.push(self.index_between(b, lo, hi));
        }
        Some(([offsets[0], offsets[1]], steps, bounded))
    }

    fn load(&mut self, b: &mut TileBuilder) {
        let memory = self.rng.pick(&self.memory);
        let shape = self.shape();
        let Some((offsets, steps, bounded)) = self.place(b, memory, shape) else { return };
        // Of integers also the lowest and all ones, which are of either sign.
        let all = (u64::MAX >> (u64::BITS - memory.dtype.bits())) as i64;
        let pads: &[i64] =
            if memory.dtype.is_int() { &[0, 3, all, all ^ (all as u64 >> 1) as i64] } else { &[0, 0, 3] };
        let pad = self.rng.pick(pads);
        let tile = b.load(memory.view, &offsets, &shape, &steps, &bounded, pad);
        self.tiles.push(tile);
    }

    fn store(&mut self, b: &mut TileBuilder) {
        let Some(tile) = self.tile() else { return };
        let (dtype, shape) = b.tile_type(tile);
        let fitting: Vec<Memory> =
            self.memory.iter().copied().filter(|m| m.written && m.dtype == dtype).collect();
        if fitting.is_empty() {
            return;
        }
        let memory = self.rng.pick(&fitting);
        if let Some((offsets, steps, bounded)) = self.place(b, memory, [shape[0], shape[1]]) {
            b.store(memory.view, tile, &offsets, &steps, &bounded);
        }
    }

    fn elementwise(&mut self, b: &mut TileBuilder) {
        let Some(x) = self.tile() else { return };
        let ty = b.tile_type(x);
        let same: Vec<Value> = self.tiles.iter().copied().filter(|tile| b.tile_type(*tile) == ty).collect();
        let y = self.rng.pick(&same);
        let f = self.rng.pick(&[ScalarOp::Add, ScalarOp::Sub, ScalarOp::Max, ScalarOp::Min]);
        let result = match self.rng.below(4) {
            0 => {
                let less = b.elementwise(ScalarOp::Lt, &[x, y]);
                let less = self.maybe_moved(b, less);
                b.elementwise(ScalarOp::Select, &[less, y, x])
            }
            _ => b.elementwise(f, &[x, y]),
        };
        self.tiles.push(result);
    }

    /// A tile of the same shape whose elements went through a transpose and back.
    fn maybe_moved(&mut self, b: &mut TileBuilder, tile: Value) -> Value {
        if self.rng.below(2) == 0 {
            return tile;
        }
        let turned = b.transpose(tile, &[1, 0]);
        let turned = b.elementwise(ScalarOp::Not, &[turned]);
        b.transpose(turned, &[1, 0])
    }

    fn movement(&mut self, b: &mut TileBuilder) {
        let Some(x) = self.tile() else { return };
        let (_, shape) = b.tile_type(x);
        let count = shape[0] * shape[1];
        let tile = match self.rng.below(6) {
            0 | 1 => b.transpose(x, &[1, 0]),
            2 => {
                let divisors: Vec<i64> = (1..=count).filter(|n| count % n == 0).collect();
                let rows = self.rng.pick(&divisors);
                b.reshape(x, &[rows, count / rows])
            }
            3 => {
                let sizes: Vec<i64> = shape.iter().map(|n| 1 + self.rng.below(*n as usize) as i64).collect();
                let offsets: Vec<i64> =
                    (0..2).map(|i| self.rng.below((shape[i] - sizes[i] + 1) as usize) as i64).collect();
                b.extract(x, &offsets, &sizes)
            }
            4 => {
                let wide: Vec<i64> =
                    shape.iter().map(|n| if *n == 1 { self.rng.pick(&[1, 4, 17]) } else { *n }).collect();
                if wide[0] * wide[1] > 200 {
                    return;
                }
                b.broadcast(x, &wide)
            }
            _ => {
                let axis = self.rng.below(2);
                let dtype = b.tile_type(x).0;
                let fitting: Vec<Value> = self
                    .tiles
                    .iter()
                    .copied()
                    .filter(|tile| {
                        let (own, other) = b.tile_type(*tile);
                        own == dtype && other[1 - axis] == shape[1 - axis] && other[0] * other[1] <= 100
                    })
                    .collect();
                if fitting.is_empty() || count > 100 {
                    return;
                }
                let y = self.rng.pick(&fitting);
                b.concat(&[x, y], axis)
            }
        };
        self.tiles.push(tile);
    }

    fn combine(&mut self, b: &mut TileBuilder) {
        let Some(x) = self.tile() else { return };
        let (dtype, shape) = b.tile_type(x);
        let axis = self.rng.below(2);
        let f = self.rng.pick(&[ScalarOp::Add, ScalarOp::Max, ScalarOp::Min]);
        let tile = match self.rng.below(3) {
            0 => b.reduce(f, x, axis),
            1 => {
                let reverse = self.rng.below(2) == 0;
                b.scan(f, x, axis, reverse)
            }
            _ => {
                let right: Vec<Value> = self
                    .tiles
                    .iter()
                    .copied()
                    .filter(|tile| {
                        let (own, other) = b.tile_type(*tile);
                        own == dtype && other[0] == shape[1] && shape[0] * other[1] <= 200
                    })
                    .collect();
                if right.is_empty() || dtype != DType::I32 {
                    return;
                }
                let y = self.rng.pick(&right);
                let acc = b.splat(dtype, &[shape[0], b.tile_type(y).1[1]], 5);
                b.dot(acc, x, y)
            }
        };
        self.tiles.push(tile);
    }

    fn for_loop(&mut self, b: &mut TileBuilder, depth: usize) {
        let Some(x) = self.tile() else { return };
        let (lo, hi) = (self.index_between(b, 0, 2), self.index_between(b, 1, 4));
        let step = self.rng.pick(&[1, 1, 2]);
        let zero = b.index(0);
        let scope = b.begin_for(lo, hi, step, &[x, zero]);
        let (n_tiles, n_indexes) = (self.tiles.len(), self.indexes.len());
        self.tiles.push(scope.carried[0]);
        self.indexes.extend([scope.iv, scope.carried[1]]);
        self.steps(b, 4, depth + 1);
        let ty = b.tile_type(x);
        let fitting: Vec<Value> =
            self.tiles.iter().copied().filter(|tile| b.tile_type(*tile) == ty).collect();
        let next = self.rng.pick(&fitting);
        let count = b.add(scope.carried[1], scope.iv);
        self.tiles.truncate(n_tiles);
        self.indexes.truncate(n_indexes);
        let results = b.end_for(scope, &[next, count]);
        self.tiles.push(results[0]);
        self.indexes.push(results[1]);
    }

    fn branch(&mut self, b: &mut TileBuilder, depth: usize) {
        let Some(x) = self.tile() else { return };
        let ty = b.tile_type(x);
        let (a, c) = (self.index_between(b, 0, 2), self.index_between(b, 0, 2));
        let condition = b.index_op(IndexOp::Lt, a, c);
        let (n_tiles, n_indexes) = (self.tiles.len(), self.indexes.len());
        let side = |generator: &mut Self, b: &mut TileBuilder| {
            generator.steps(b, 3, depth + 1);
            let fitting: Vec<Value> =
                generator.tiles.iter().copied().filter(|tile| b.tile_type(*tile) == ty).collect();
            let result = generator.rng.pick(&fitting);
            generator.tiles.truncate(n_tiles);
            generator.indexes.truncate(n_indexes);
            result
        };
        let scope = b.begin_if(condition);
        let yes = side(self, b);
        b.begin_else(&scope, &[yes]);
        let no = side(self, b);
        let results = b.end_if(scope, &[no]);
        self.tiles.extend(results);
    }

    pub fn steps(&mut self, b: &mut TileBuilder, n: usize, depth: usize) {
        for _ in 0..n {
            match self.rng.below(12) {
                0..=2 => self.load(b),
                3 => self.store(b),
                4 | 5 => self.elementwise(b),
                6..=8 => self.movement(b),
                9 => self.combine(b),
                10 if depth < 2 => self.for_loop(b, depth),
                11 if depth < 2 => self.branch(b, depth),
                _ => {}
            }
        }
    }
}
