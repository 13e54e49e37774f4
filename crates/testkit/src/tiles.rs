//! Tile kernels for tests: a kernel's shell with its run's sizes, random inputs, and what the tile level's executor
//! makes of them. Whoever compiles tile kernels compares with that.

pub mod generate;
pub mod kernels;
mod memory;
pub mod products;
pub mod text;

pub use memory::Buffers;

use std::collections::BTreeMap;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_package::PortableKernel;
use tegula_tile::{GridDim, TileBuilder, TileFunc, TileKernel, TileType, ViewParam, ViewType};

/// A kernel's shell: views (buffers), grid, and the run's sizes.
pub struct Case {
    views: Vec<ViewParam>,
    grid: Vec<Dim>,
    sizes: BTreeMap<String, i64>,
    /// Relative error allowed on floats.
    tolerance: f64,
    /// Values of integer inputs are below this.
    int_limit: u64,
}

pub fn dims(text: &str) -> Shape {
    let parts: Vec<Dim> = text
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| part.trim().parse().expect("a known size"))
        .collect();
    parts.into()
}

fn row_major(shape: &Shape) -> Shape {
    let mut strides = vec![Dim::from(1); shape.rank()];
    for i in (1..shape.rank()).rev() {
        strides[i - 1] = strides[i].clone() * shape[i].clone();
    }
    strides.into()
}

impl Case {
    pub fn new(grid: &str, sizes: &[(&str, i64)]) -> Case {
        Case {
            views: vec![],
            grid: dims(grid).iter().cloned().collect(),
            sizes: sizes.iter().map(|(name, n)| (name.to_string(), *n)).collect(),
            tolerance: 1e-5,
            int_limit: 100,
        }
    }

    pub fn int_limit(self, int_limit: u64) -> Case {
        Case { int_limit, ..self }
    }

    pub fn tolerance(self, tolerance: f64) -> Case {
        Case { tolerance, ..self }
    }

    pub fn input(self, dtype: DType, shape: &str) -> Case {
        let strides = row_major(&dims(shape));
        self.strided(dtype, shape, strides, false)
    }

    pub fn output(self, dtype: DType, shape: &str) -> Case {
        let strides = row_major(&dims(shape));
        self.strided(dtype, shape, strides, true)
    }

    pub fn input_with(self, dtype: DType, shape: &str, strides: &str) -> Case {
        self.strided(dtype, shape, dims(strides), false)
    }

    pub fn output_with(self, dtype: DType, shape: &str, strides: &str) -> Case {
        self.strided(dtype, shape, dims(strides), true)
    }

    fn strided(mut self, dtype: DType, shape: &str, strides: Shape, written: bool) -> Case {
        let ty = ViewType { dtype, shape: dims(shape), strides };
        self.views.push(ViewParam { ty, written, in_place: None });
        self
    }

    /// Makes the last view update view `of` in place.
    pub fn in_place(mut self, of: usize) -> Case {
        self.views.last_mut().expect("a known size").in_place = Some(of);
        self
    }

    /// The run's value of a size.
    pub fn eval(&self, dim: &Dim) -> Option<i64> {
        dim.eval(&|name| self.sizes.get(name).copied())
    }

    pub fn kernel(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value])) -> TileKernel {
        let mut func = TileFunc::new("kernel");
        let body = func.body();
        let views: Vec<Value> = self
            .views
            .iter()
            .map(|view| func.add_arg(body, TileType::View(Box::new(view.ty.clone()))))
            .collect();
        let units: Vec<Value> = self.grid.iter().map(|_| func.add_arg(body, TileType::Index)).collect();
        let grid = self.grid.iter().map(|extent| GridDim { extent: extent.clone() }).collect();
        let mut kernel = TileKernel { func, grid, views: self.views.clone() };
        let mut b = TileBuilder::new(&mut kernel);
        build(&mut b, &views, &units);
        b.finish();
        kernel
    }

    /// Random content of each view's buffer.
    pub fn buffers(&self) -> Vec<Vec<u8>> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        self.views
            .iter()
            .map(|view| {
                let extents: Vec<i64> =
                    view.ty.shape.iter().map(|dim| self.eval(dim).expect("a known size")).collect();
                let strides = view.ty.strides.iter().map(|dim| self.eval(dim).expect("a known size"));
                let last: i64 = extents.iter().zip(strides).map(|(n, stride)| (n - 1) * stride).sum();
                let count = if extents.contains(&0) { 0 } else { last + 1 };
                let dtype = view.ty.dtype;
                let element = |x: u64| -> u64 {
                    let real = (x % 4001) as f64 / 1000.0 - 2.0;
                    match dtype {
                        DType::Bool => x & 1,
                        DType::F32 => (real as f32).to_bits().into(),
                        DType::F64 => real.to_bits(),
                        DType::F16 | DType::BF16 => cast(DType::F64, dtype, real.to_bits()),
                        DType::F8E4M3FN | DType::F8E5M2 => x % 100,
                        // Within what the type holds.
                        _ if dtype.bits() < 4 => cast(DType::U64, dtype, x),
                        _ if dtype.is_signed() => (x % self.int_limit).wrapping_sub(self.int_limit / 2),
                        _ => x % self.int_limit,
                    }
                };
                (0..count).flat_map(|_| element(random()).to_le_bytes()[..dtype.size()].to_vec()).collect()
            })
            .collect()
    }

    /// The buffer behind each view: one of its own, or that of the view it updates in place.
    pub fn buffer_of(&self) -> Vec<usize> {
        self.views.iter().enumerate().map(|(i, view)| view.in_place.unwrap_or(i)).collect()
    }

    /// What the kernel makes of the buffers, by the tile level's executor. Errors: its own, in its words.
    pub fn expected(&self, kernel: &TileKernel, start: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
        let mut buffers = start.to_vec();
        tegula_tile::exec::run(kernel, &self.buffer_of(), &mut buffers, &|dim| self.eval(dim))?;
        Ok(buffers)
    }

    /// What a portable kernel makes of the buffers, its units in two parts, the later ones first; `sizes` are the words
    /// behind the views'. Errors: the executor's, in its words.
    pub fn run(
        &self,
        kernel: &TileKernel,
        code: &dyn PortableKernel,
        sizes: &[Dim],
        start: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, String> {
        let memory = Buffers::default();
        let addresses: Vec<u64> = start.iter().map(|bytes| memory.add(bytes.clone())).collect();
        let mut args = vec![0];
        args.extend(self.buffer_of().iter().map(|buffer| addresses[*buffer]));
        for dim in sizes.iter() {
            args.push(self.eval(dim).ok_or_else(|| format!("size `{dim}` is unknown"))? as u64);
        }
        let units = self.eval(&kernel.units()).ok_or("the grid is unknown")? as u64;
        for (begin, end) in [(units / 2, units), (0, units / 2)] {
            code.run(&args, 0, &memory, begin, end).map_err(|error| error.to_string())?;
        }
        Ok(addresses.into_iter().map(|address| memory.bytes(address)).collect())
    }

    /// Compares all buffers. Errors: the first element that is too far off.
    pub fn compare_all(&self, expected: &[Vec<u8>], got: &[Vec<u8>]) -> Result<(), String> {
        let buffers = self.buffer_of().into_iter().enumerate();
        buffers.into_iter().try_for_each(|(view, i)| self.compare(view, &expected[i], &got[i]))
    }

    /// Compares the content of a view's buffer. Errors: the first element that is too far off.
    pub fn compare(&self, view: usize, expected: &[u8], got: &[u8]) -> Result<(), String> {
        let dtype = self.views[view].ty.dtype;
        let size = dtype.size();
        if expected.len() != got.len() {
            return Err(format!("view {view}: {} bytes, not {}", got.len(), expected.len()));
        }
        for (i, (x, y)) in expected.chunks(size).zip(got.chunks(size)).enumerate() {
            let (a, b) = (real(dtype, x), real(dtype, y));
            let same_zero = a != 0.0 || b != 0.0 || a.is_sign_negative() == b.is_sign_negative();
            let close = dtype.is_float() && same_zero && (a - b).abs() <= self.tolerance * (1.0 + a.abs());
            if x != y && !close && !(a.is_nan() && b.is_nan()) {
                return Err(format!("view {view}, element {i}: expected {a} ({x:?}), got {b} ({y:?})"));
            }
        }
        Ok(())
    }
}

fn cast(from: DType, to: DType, bits: u64) -> u64 {
    let op = tegula_ir::ScalarOp::Cast { to, saturate: true };
    tegula_ir::scalar::eval::eval(op, &[from], &[bits])
}

fn real(dtype: DType, bytes: &[u8]) -> f64 {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(raw);
    match dtype {
        _ if dtype.is_float() => f64::from_bits(cast(dtype, DType::F64, bits)),
        _ => bits as i64 as f64,
    }
}

/// `unit * n`.
pub fn times(b: &mut TileBuilder, unit: Value, n: i64) -> Value {
    let n = b.index(n);
    b.mul(unit, n)
}

pub fn plain(n: usize) -> (Vec<i64>, Vec<bool>) {
    (vec![1; n], vec![false; n])
}

/// Loads a whole box at offsets.
pub fn load(b: &mut TileBuilder, view: Value, offsets: &[Value], shape: &[i64]) -> Value {
    let (steps, bounded) = plain(shape.len());
    b.load(view, offsets, shape, &steps, &bounded, 0)
}

pub fn store(b: &mut TileBuilder, view: Value, tile: Value, offsets: &[Value]) {
    let (steps, bounded) = plain(offsets.len());
    b.store(view, tile, offsets, &steps, &bounded);
}
