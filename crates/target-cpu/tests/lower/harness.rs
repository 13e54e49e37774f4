//! Runs a tile kernel by the tile level's executor, by the schedule level's, and as machine code where the
//! processor can, for every register width; compares all buffers. Machine code runs on buffers that end where
//! memory ends.

// Each test file uses its part of this.
#![allow(dead_code)]

use crate::call::{CALLED, Guarded, Loaded, tiers};
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, Shape, Symbols};
use tegula_ir::Value;
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::lower::{Schedule, lower};
use tegula_target_cpu::native::{Tier, compile};
use tegula_target_cpu::schedule::{CpuOp, calls};
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
        .map(|part| part.trim().parse().unwrap())
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
        self.views.last_mut().unwrap().in_place = Some(of);
        self
    }

    fn eval(&self, dim: &Dim) -> Option<i64> {
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

    fn buffers(&self) -> Vec<Vec<u8>> {
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
                let extents: Vec<i64> = view.ty.shape.iter().map(|dim| self.eval(dim).unwrap()).collect();
                let strides = view.ty.strides.iter().map(|dim| self.eval(dim).unwrap());
                let last: i64 = extents.iter().zip(strides).map(|(n, stride)| (n - 1) * stride).sum();
                let count = if extents.contains(&0) { 0 } else { last + 1 };
                let dtype = view.ty.dtype;
                let element = |x: u64| -> u64 {
                    let real = (x % 4001) as f64 / 1000.0 - 2.0;
                    match dtype {
                        DType::Bool => x & 1,
                        DType::F32 => (real as f32).to_bits().into(),
                        DType::F64 => real.to_bits(),
                        DType::F16 => half::f16::from_f64(real).to_bits().into(),
                        DType::BF16 => half::bf16::from_f64(real).to_bits().into(),
                        DType::F8E4M3FN | DType::F8E5M2 => x % 100,
                        _ if dtype.is_signed() => (x % self.int_limit).wrapping_sub(self.int_limit / 2),
                        _ => x % self.int_limit,
                    }
                };
                (0..count).flat_map(|_| element(random()).to_le_bytes()[..dtype.size()].to_vec()).collect()
            })
            .collect()
    }

    /// Runs the kernel every way; panics where results differ.
    pub fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value])) {
        let kernel = self.kernel(build);
        if let Err(errors) = tegula_ir::verify(&kernel.func) {
            panic!("{errors}");
        }
        let start = self.buffers();
        let buffer_of: Vec<usize> =
            self.views.iter().enumerate().map(|(i, view)| view.in_place.unwrap_or(i)).collect();
        let mut expected = start.clone();
        tegula_tile::exec::run(&kernel, &buffer_of, &mut expected, &|dim| self.eval(dim)).unwrap();
        for tier in Tier::ALL {
            let bits = tier.vector_bytes() as u32 * 8;
            let schedule = lower("kernel", &kernel, bits, &Symbols::default());
            let text = || {
                let program = tegula_ir::Program::new(schedule.func.clone());
                tegula_ir::print_program(&program, &tegula_ir::PrintOptions::default())
            };
            if let Err(errors) = tegula_ir::verify(&schedule.func) {
                panic!("{errors}\n{}", text());
            }
            let memory = VecMemory::new();
            let addresses: Vec<u64> = start.iter().map(|bytes| memory.add(bytes.clone())).collect();
            let mut args = vec![0];
            args.extend(buffer_of.iter().map(|buffer| addresses[*buffer]));
            args.extend(schedule.sizes.iter().map(|dim| self.eval(dim).unwrap() as u64));
            let scratch = memory.add(vec![0xa5; self.eval(&schedule.scratch).unwrap() as usize]);
            let units = self.eval(&schedule.units).unwrap() as u64;
            let code = Executable::new(&schedule.func).unwrap();
            // Two ranges, as threads would.
            for (begin, end) in [(units / 2, units), (0, units / 2)] {
                if let Err(fault) = code.run(&args, scratch, begin, end, &memory) {
                    panic!("{bits} bits: {fault}\n{}", text());
                }
            }
            for (i, view) in self.views.iter().enumerate() {
                let got = memory.bytes(addresses[buffer_of[i]]);
                self.compare(view.ty.dtype, &expected[buffer_of[i]], &got, &|| {
                    format!("view {i}, {bits} bits\n{}", text())
                });
            }
            if tiers().contains(&tier) && !needs_absent_function(&schedule) {
                let got = self.run_native(&schedule, tier, &start, &buffer_of);
                for (i, view) in self.views.iter().enumerate() {
                    self.compare(view.ty.dtype, &expected[buffer_of[i]], &got[buffer_of[i]], &|| {
                        let listing = compile(&schedule.func, tier).unwrap().listing(&schedule.func);
                        format!("view {i}, machine code for {}\n{}\n{listing}", tier.name(), text())
                    });
                }
            }
        }
    }

    fn run_native(
        &self,
        schedule: &Schedule,
        tier: Tier,
        start: &[Vec<u8>],
        buffer_of: &[usize],
    ) -> Vec<Vec<u8>> {
        let kernel = Loaded::new(&compile(&schedule.func, tier).unwrap());
        let buffers: Vec<Guarded> = start.iter().map(|bytes| Guarded::new(bytes)).collect();
        let mut args: Vec<u64> = buffer_of.iter().map(|buffer| buffers[*buffer].address()).collect();
        args.extend(schedule.sizes.iter().map(|dim| self.eval(dim).unwrap() as u64));
        let mut scratch = vec![0xa5; self.eval(&schedule.scratch).unwrap() as usize + 64];
        let aligned = scratch.as_ptr().align_offset(64);
        let units = self.eval(&schedule.units).unwrap() as u64;
        kernel.run(&args, &mut scratch[aligned..], units / 2, units);
        kernel.run(&args, &mut scratch[aligned..], 0, units / 2);
        buffers.iter().map(|buffer| buffer.bytes().to_vec()).collect()
    }

    fn compare(&self, dtype: DType, expected: &[u8], got: &[u8], context: &dyn Fn() -> String) {
        let size = dtype.size();
        assert_eq!(expected.len(), got.len());
        for (i, (x, y)) in expected.chunks(size).zip(got.chunks(size)).enumerate() {
            if x == y {
                continue;
            }
            let (a, b) = (real(dtype, x), real(dtype, y));
            let same_zero = a != 0.0 || b != 0.0 || a.is_sign_negative() == b.is_sign_negative();
            let close = dtype.is_float() && same_zero && (a - b).abs() <= self.tolerance * (1.0 + a.abs());
            if !(close || a.is_nan() && b.is_nan()) {
                panic!("element {i}: expected {a} ({x:?}), got {b} ({y:?}): {}", context());
            }
        }
    }
}

/// Whether a kernel calls what the test's function table leaves out.
fn needs_absent_function(schedule: &Schedule) -> bool {
    schedule.func.walk().into_iter().any(|op| match schedule.func.kind(op) {
        CpuOp::Call { function } => {
            calls::function(function).is_none_or(|function| !CALLED.contains(&(function.number() as usize)))
        }
        _ => false,
    })
}

fn real(dtype: DType, bytes: &[u8]) -> f64 {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(raw);
    match dtype {
        DType::F32 => f32::from_bits(bits as u32).into(),
        DType::F64 => f64::from_bits(bits),
        DType::F16 => half::f16::from_bits(bits as u16).into(),
        DType::BF16 => half::bf16::from_bits(bits as u16).into(),
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
