//! The state of a program in the making: its values, its symbols and their sizes, its inputs.

use super::Rng;
use super::data::{self, Values};
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo, Symbols};
use tegula_ir::{RegionId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorOp, TensorType};

/// A value that later ops may read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub value: Value,
    /// All executors give the same bits, so that decisions may hang on it.
    pub exact: bool,
}

pub(super) struct Gen<'a> {
    pub b: Builder<'a>,
    pub symbols: &'a mut Symbols,
    pub rng: Rng,
    pub pool: Vec<Entry>,
    /// Sizes of symbols.
    pub bindings: BTreeMap<Arc<str>, i64>,
    pub built: usize,
    /// Regions around the place of building.
    pub depth: usize,
    body: RegionId,
    inputs: Vec<HostTensor>,
    sizes: BTreeMap<usize, i64>,
    drawn_sizes: Vec<i64>,
}

/// Sizes next to the vector widths of 4, 8 and 16 lanes.
const NEAR_VECTORS: [i64; 9] = [3, 4, 5, 7, 8, 9, 15, 16, 17];

/// Elements of a tensor at most.
pub(super) const MAX_ELEMENTS: i64 = 6000;

impl<'a> Gen<'a> {
    pub fn new(b: Builder<'a>, symbols: &'a mut Symbols, rng: Rng, sizes: BTreeMap<usize, i64>) -> Gen<'a> {
        let body = b.region;
        Gen {
            b,
            symbols,
            rng,
            pool: vec![],
            bindings: BTreeMap::new(),
            built: 0,
            depth: 0,
            body,
            inputs: vec![],
            sizes,
            drawn_sizes: vec![],
        }
    }

    /// Ends the function; gives the inputs and the sizes drawn.
    pub fn finish(mut self) -> (Vec<HostTensor>, Vec<i64>) {
        let func = &self.b.func;
        let mut values: Vec<Value> = func.args(self.body).to_vec();
        values.extend(func.ops_in(self.body).iter().flat_map(|op| func.results(*op).iter().copied()));
        let is_arg = |value: &Value| func.args(self.body).contains(value);
        let mut results: Vec<Value> =
            values.iter().copied().filter(|value| func.users(*value).is_empty() && !is_arg(value)).collect();
        // A value that is also read inside.
        if let Some(entry) = self.pool.get(self.pool.len() / 2)
            && self.rng.chance(30)
            && !is_arg(&entry.value)
            && !results.contains(&entry.value)
        {
            results.push(entry.value);
        }
        self.b.ret(&results).expect("invariant: any values may be returned");
        (self.inputs, self.drawn_sizes)
    }

    pub fn add(&mut self, value: Value, exact: bool) {
        self.pool.push(Entry { value, exact });
    }

    // --- sizes -----------------------------------------------------------------------------------------

    /// A size, at most `most`.
    pub fn size(&mut self, most: i64) -> i64 {
        let free = match self.rng.below(100) {
            0..2 => 0,
            2..12 => 1,
            12..66 => self.rng.pick(&NEAR_VECTORS),
            66..94 => self.rng.between(2, 20),
            _ => self.rng.between(300, 400),
        };
        let size = self.sizes.get(&self.drawn_sizes.len()).copied().unwrap_or(free).min(most.max(0));
        self.drawn_sizes.push(size);
        size
    }

    /// A size that is not 0.
    pub fn count(&mut self, most: i64) -> i64 {
        self.size(most).max(1)
    }

    /// A small size, 1 to `most`.
    pub fn small(&mut self, most: i64) -> i64 {
        let free = self.rng.between(1, most);
        let size = self.sizes.get(&self.drawn_sizes.len()).copied().unwrap_or(free).clamp(1, most);
        self.drawn_sizes.push(size);
        size
    }

    pub fn value_of(&self, dim: &Dim) -> i64 {
        dim.eval(&|name| self.bindings.get(name).copied()).expect("invariant: symbols are bound when made")
    }

    pub fn extents(&self, value: Value) -> Vec<i64> {
        self.b.ty(value).shape.iter().map(|dim| self.value_of(dim)).collect()
    }

    pub fn elements(&self, value: Value) -> i64 {
        self.extents(value).iter().product()
    }

    /// A size as a constant, or as a symbol of that value that inputs bind.
    fn dim(&mut self, size: i64) -> Dim {
        if !self.rng.chance(25) {
            return Dim::from(size);
        }
        let known: Vec<Arc<str>> = self.input_symbols().filter(|name| self.bindings[name] == size).collect();
        if !known.is_empty() {
            return Dim::symbol(&self.rng.pick(&known));
        }
        let name: Arc<str> = format!("s{}", self.bindings.len()).into();
        self.bindings.insert(name.clone(), size);
        Dim::symbol(&name)
    }

    fn input_symbols(&self) -> impl Iterator<Item = Arc<str>> {
        self.bindings.keys().filter(|name| !name.starts_with('n')).cloned()
    }

    /// A shape of this rank, within the bound on elements.
    pub fn shape(&mut self, rank: usize) -> Shape {
        let mut room = MAX_ELEMENTS;
        (0..rank)
            .map(|_| {
                let size = self.size(room);
                room /= size.max(1);
                self.dim(size)
            })
            .collect()
    }

    pub fn rank(&mut self) -> usize {
        self.rng.weighted(&[(5, 0), (20, 1), (30, 2), (25, 3), (15, 4), (5, 5)])
    }

    pub fn dtype(&mut self) -> DType {
        if self.rng.chance(45) {
            return self.rng.pick(&[DType::F32, DType::F32, DType::F32, DType::I64, DType::I32, DType::Bool]);
        }
        self.rng.pick(&DType::ALL)
    }

    pub fn float(&mut self) -> DType {
        use DType::*;
        self.rng.weighted(&[(10, F32), (3, F64), (4, F16), (4, BF16), (1, F8E4M3FN), (1, F8E5M2)])
    }

    /// One of a list, which may be empty: there are element types without any op of a kind.
    pub fn draw<T: Copy>(&mut self, list: &[T]) -> Built<T> {
        if list.is_empty() { Err("no such op".into()) } else { Ok(self.rng.pick(list)) }
    }

    // --- operands --------------------------------------------------------------------------------------

    /// An input of the program with these elements' kind. Its shape must be of constants and input symbols.
    pub fn input(&mut self, dtype: DType, shape: Shape, values: Values) -> Value {
        let extents: Vec<usize> = shape.iter().map(|dim| self.value_of(dim) as usize).collect();
        let tensor = data::tensor(&mut self.rng, dtype, &extents, values);
        self.input_of(shape, tensor)
    }

    pub fn input_of(&mut self, shape: Shape, tensor: HostTensor) -> Value {
        for (axis, dim) in shape.iter().enumerate() {
            if let Some(name) = dim.as_symbol()
                && self.symbols.get(name).is_none()
            {
                let info = SymbolInfo::input(self.inputs.len() as u32, axis as u32);
                self.symbols.insert(name, info);
            }
        }
        let value = self.b.func.add_arg(self.body, TensorType::new(tensor.dtype, shape));
        self.inputs.push(tensor);
        value
    }

    /// A new value that depends on nothing: an input, or a constant where the shape is one.
    pub fn fresh(&mut self, dtype: DType, shape: Shape, values: Values) -> Value {
        let fixed = shape.as_static();
        match fixed {
            Some(extents) if self.rng.chance(30) => {
                let tensor = data::tensor(&mut self.rng, dtype, &extents, values);
                self.b.literal(tensor).expect("invariant: a constant fits its own type")
            }
            _ => self.input(dtype, shape, values),
        }
    }

    /// A fresh value of any shape, in the pool.
    pub fn fresh_any(&mut self, dtype: DType, rank: usize) -> Entry {
        let shape = self.shape(rank);
        let values = if self.rng.chance(12) { Values::Special } else { Values::Ordinary };
        let value = self.fresh(dtype, shape, values);
        self.add(value, true);
        Entry { value, exact: true }
    }

    /// A value that `fits`, mostly a late one of the pool, else fresh.
    pub fn operand(&mut self, dtype: DType, rank: usize, fits: impl Fn(&TensorType) -> bool) -> Entry {
        let found: Vec<Entry> =
            self.pool.iter().copied().filter(|entry| fits(self.b.ty(entry.value))).collect();
        if found.is_empty() || self.rng.chance(8) {
            return self.fresh_any(dtype, rank);
        }
        // The later of two draws.
        let place = self.rng.below(found.len()).max(self.rng.below(found.len()));
        found[place]
    }

    /// Any value, or one of a drawn type.
    pub fn any(&mut self) -> Entry {
        let (dtype, rank) = (self.dtype(), self.rank());
        if self.rng.chance(25) {
            return self.operand(dtype, rank, |ty| ty.dtype == dtype);
        }
        self.operand(dtype, rank, |_| true)
    }

    /// A value of this element type and at least this rank.
    pub fn of(&mut self, dtype: DType, least_rank: usize) -> Entry {
        let rank = self.rank().max(least_rank);
        self.operand(dtype, rank, |ty| ty.dtype == dtype && ty.rank() >= least_rank)
    }

    /// A float that is computed with, of at least this rank.
    pub fn any_float(&mut self, least_rank: usize) -> Entry {
        let (dtype, rank) = (self.float(), self.rank().max(least_rank));
        let is_real = |dtype: DType| dtype.is_float() && !dtype.is_stored_only();
        self.operand(dtype, rank, |ty| is_real(ty.dtype) && ty.rank() >= least_rank)
    }

    /// A value of at least this rank.
    pub fn ranked(&mut self, least_rank: usize) -> Entry {
        let (dtype, rank) = (self.dtype(), self.rank().max(least_rank));
        self.operand(dtype, rank, |ty| ty.rank() >= least_rank)
    }

    /// A value of this type: one of the pool, fresh, or made from what a symbolic size allows.
    pub fn like(&mut self, dtype: DType, shape: &Shape, values: Values) -> Entry {
        let found: Vec<Entry> = self
            .pool
            .iter()
            .copied()
            .filter(|entry| {
                let ty = self.b.ty(entry.value);
                ty.dtype == dtype && ty.shape == *shape
            })
            .collect();
        if values == Values::Ordinary && !found.is_empty() && self.rng.chance(60) {
            return self.rng.pick(&found);
        }
        let plain = shape.iter().all(|dim| match dim.as_symbol() {
            Some(name) => !name.starts_with('n'),
            None => dim.as_const().is_some(),
        });
        let value = if plain && !self.rng.chance(10) {
            self.fresh(dtype, shape.clone(), values)
        } else if shape.rank() > 0
            && dtype != DType::Bool
            && !dtype.is_stored_only()
            && self.rng.chance(50)
            && values == Values::Ordinary
        {
            let axis = self.rng.below(shape.rank());
            self.b.iota(dtype, shape.clone(), axis).expect("invariant: the axis exists")
        } else {
            let number = f64::from(self.rng.between(1, 3) as i32);
            self.b.splat(dtype, shape.clone(), number).expect("invariant: a splat fits any shape")
        };
        self.built += usize::from(self.b.func.def_op(value).is_some());
        self.add(value, true);
        Entry { value, exact: true }
    }

    /// A number as a scalar.
    pub fn scalar(&mut self, dtype: DType, values: Values) -> Value {
        self.fresh(dtype, Shape::scalar(), values)
    }

    /// Builds an op and puts its results into the pool.
    pub fn push(&mut self, kind: TensorOp, operands: &[Value], exact: bool) -> Built<Vec<Value>> {
        let results = self.b.emit_all(kind, operands)?;
        for value in &results {
            let extents = self.extents(*value);
            debug_assert!(extents.iter().all(|n| *n >= 0), "{}", self.b.ty(*value));
        }
        self.built += 1;
        for value in &results {
            self.add(*value, exact);
        }
        Ok(results)
    }
}
