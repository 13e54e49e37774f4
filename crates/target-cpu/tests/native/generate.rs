//! Kernels for the differential tests: random programs, and each op in a kernel of its own ([`single_ops`]).
//!
//! A kernel's arguments are an input buffer, an output buffer and three sizes. Accesses stay in bounds by
//! construction. NaNs are made one NaN before their bits can be seen: payloads are not the level's meaning.

mod single_ops;

pub use single_ops::single_ops;
use tegula_base::DType;
use tegula_ir::{Op, Value};
use tegula_package::Function;
use tegula_target_cpu::schedule::builder::At;
use tegula_target_cpu::schedule::{
    Builder, CompareOp, ConvertOp, CpuFunc, CpuOp, CpuType, Elem, IndexOp, LoopLevel, ReduceOp, VecOp,
};

pub const IN_BYTES: usize = 4096;
pub const OUT_BYTES: usize = 65536;
const LANES: [u32; 5] = [1, 2, 4, 8, 16];
const ELEMS: [Elem; 4] = [Elem::I32, Elem::I64, Elem::F32, Elem::F64];

/// xorshift64*.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 3
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 5) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Bytes with many special numbers.
pub fn input(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(IN_BYTES);
    while bytes.len() < IN_BYTES {
        let word: u64 = match rng.below(8) {
            0 => rng.next() << 3 | rng.next() >> 40,
            1 => u64::from((rng.next() as f32 / 1e16 - 20.0).to_bits()) << 32 | u64::from(1.5f32.to_bits()),
            2 => ((rng.next() as f64) / 1e15 - 1000.0).to_bits(),
            3 => 0x8000_0000_7fff_ffff,
            4 => (rng.below(40) as u64) << 32 | rng.below(9) as u64,
            5 => [f64::NAN, f64::INFINITY, -0.0, 1e300, 5e-324][rng.below(5)].to_bits(),
            6 => {
                let specials = [f32::NAN, f32::INFINITY, -0.0, 3e38, 1e-45, 448.0, 2f32.powi(31), -2.5];
                let pair = [rng.pick(&specials), rng.pick(&specials)].map(|x| u64::from(x.to_bits()));
                pair[0] | pair[1] << 32
            }
            _ => u64::MAX,
        };
        bytes.extend(word.to_le_bytes());
    }
    bytes
}

/// Vectors, masks and indexes to choose operands from; writes results to the output.
pub struct Generator<'r> {
    b: Builder,
    rng: &'r mut Rng,
    max_bytes: u32,
    /// Values in scope.
    pool: Vec<Value>,
    out: i64,
    depth: u32,
    budget: usize,
}

impl<'r> Generator<'r> {
    pub fn new(rng: &'r mut Rng, max_bytes: u32) -> Generator<'r> {
        let mut g = Generator {
            b: Builder::new("random"),
            rng,
            max_bytes,
            pool: Vec::new(),
            out: 0,
            depth: 0,
            budget: 0,
        };
        for word in 3..6 {
            let size = g.b.arg(word);
            g.pool.push(size);
        }
        g
    }

    pub fn program(mut self, seed: u64) -> CpuFunc {
        // Some programs need far more registers than there are.
        self.budget = if seed % 4 == 3 { 160 } else { 10 + self.rng.below(50) };
        while self.budget > 0 {
            self.step();
        }
        for value in std::mem::take(&mut self.pool) {
            self.write(value);
        }
        self.b.finish()
    }

    fn step(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(24) {
            0 | 1 if self.depth < 3 => self.nest(),
            2 => self.index_op(),
            3 | 4 => {
                let v = self.load();
                self.keep(v);
            }
            5 => self.store(),
            _ => {
                let (elem, lanes) = self.shape();
                self.vector_op(elem, lanes);
            }
        }
    }

    fn keep(&mut self, value: Value) {
        let value = self.one_nan(value);
        self.pool.push(value);
    }

    /// Replaces NaNs by the default one.
    fn one_nan(&mut self, value: Value) -> Value {
        match self.b.ty(value) {
            CpuType::Vector { elem, lanes } if elem.is_float() => {
                let nan = if elem == Elem::F32 { 0x7fc0_0000 } else { 0x7ff8_0000_0000_0000 };
                let nan = self.b.vec_const(elem, lanes.into(), nan);
                let mask = self.b.compare(CompareOp::Ne, value, value);
                self.b.select(mask, nan, value)
            }
            _ => value,
        }
    }

    fn shape(&mut self) -> (Elem, u32) {
        loop {
            let (elem, lanes) = (self.rng.pick(&ELEMS), self.rng.pick(&LANES));
            if elem.bytes() as u32 * lanes <= self.max_bytes {
                return (elem, lanes);
            }
        }
    }

    fn find(&mut self, ty: CpuType) -> Value {
        let fits: Vec<Value> = self.pool.iter().copied().filter(|v| self.b.ty(*v) == ty).collect();
        if !fits.is_empty() && self.rng.below(8) > 0 {
            return self.rng.pick(&fits);
        }
        match ty {
            CpuType::Index => {
                let n = self.rng.below(40) as i64 - 8;
                self.b.index(n)
            }
            CpuType::Mask { lanes } => {
                let count = self.find(CpuType::Index);
                let mask = self.b.mask_first(lanes.into(), count);
                self.pool.push(mask);
                mask
            }
            CpuType::Vector { elem, lanes } => {
                let value = match self.rng.below(4) {
                    0 => {
                        let bits = self.rng.next() as i64 >> self.rng.below(60);
                        self.b.vec_const(elem, lanes.into(), bits)
                    }
                    1 if !elem.is_float() => self.b.iota(elem, lanes.into()),
                    2 => {
                        let index = self.find(CpuType::Index);
                        self.b.splat(elem, lanes.into(), index)
                    }
                    _ => self.load_of(storage_of(elem), lanes.into()),
                };
                let value = self.one_nan(value);
                self.pool.push(value);
                value
            }
        }
    }

    fn vector(&mut self, elem: Elem, lanes: u32) -> Value {
        self.find(CpuType::Vector { elem, lanes: lanes as u8 })
    }

    fn index_op(&mut self) {
        let op = self.rng.pick(IndexOp::ALL);
        let (a, b) = (self.find(CpuType::Index), self.find(CpuType::Index));
        let mut value = self.b.index_op(op, a, b);
        if self.rng.below(4) == 0 {
            let (x, y) = (self.find(CpuType::Index), self.find(CpuType::Index));
            value = self.b.index_select(value, x, y);
        }
        self.pool.push(value);
    }

    /// An index in `0..n`.
    fn bounded(&mut self, n: i64) -> Value {
        let index = self.find(CpuType::Index);
        let n = self.b.index(n);
        self.b.index_op(IndexOp::Mod, index, n)
    }

    fn place(&mut self, word: usize, bytes: usize, room: usize) -> At {
        let base = self.b.arg(word);
        let mut at = At::new(base).disp(self.rng.below(64) as i64);
        if self.rng.below(2) == 0 {
            let scale = self.rng.pick(&[1, 2, 4, 8]);
            let index = self.bounded((room - 64 - bytes) as i64 / i64::from(scale));
            at = at.indexed(index, scale);
        } else if self.rng.below(2) == 0 {
            let offset = self.bounded((room - 64 - bytes) as i64);
            at.base = self.b.add(base, offset);
        }
        at
    }

    fn load(&mut self) -> Value {
        let dtype = self.rng.pick(&DType::COMPUTED);
        let lanes = loop {
            let lanes = self.rng.pick(&LANES);
            if lanes * Elem::of(dtype).bytes() as u32 <= self.max_bytes {
                break lanes;
            }
        };
        self.load_of(dtype, lanes)
    }

    fn load_of(&mut self, dtype: DType, lanes: u32) -> Value {
        let bytes = dtype.size() * lanes as usize;
        let mut at = match self.rng.below(3) {
            // Ends with the buffer.
            0 => {
                let base = self.b.arg(1);
                At::new(base).disp((IN_BYTES - bytes) as i64)
            }
            _ => self.place(1, bytes, IN_BYTES),
        };
        if self.rng.below(3) == 0 {
            let count = self.find(CpuType::Index);
            at = at.count(count);
        }
        match self.rng.below(6) {
            0 if at.count.is_none() => match dtype.size() > 1 && Elem::of(dtype) == Elem::I32 {
                true if self.rng.below(2) == 0 => self.b.load_words(lanes, at),
                _ => self.b.load_splat(dtype, lanes, at),
            },
            1 => {
                let base = self.b.arg(1);
                let stride = self.bounded(40);
                let at = At { base, index: None, disp: 3, ..at };
                self.b.load_strided(dtype, lanes, at, stride)
            }
            2 => {
                let offsets = self.offsets(lanes);
                let base = self.b.arg(1);
                let at = At { base, index: None, scale: self.rng.pick(&[1, 2, 4, 8]), disp: 5, ..at };
                self.b.gather(dtype, at, offsets)
            }
            _ => self.b.load_at(dtype, lanes, at),
        }
    }

    /// Lane offsets in `0..256`.
    fn offsets(&mut self, lanes: u32) -> Value {
        let wide = self.rng.below(2) == 0 && lanes * 8 <= self.max_bytes;
        let elem = if wide { Elem::I64 } else { Elem::I32 };
        let value = self.vector(elem, lanes);
        let mask = self.b.vec_const(elem, lanes, 0xff);
        self.b.vec(VecOp::And, &[value, mask])
    }

    fn store(&mut self) {
        let dtype = self.rng.pick(&DType::COMPUTED);
        let elem = Elem::of(dtype);
        let (_, lanes) = loop {
            let shape = self.shape();
            if shape.0.bytes() == elem.bytes() {
                break shape;
            }
        };
        let value = self.vector(elem, lanes);
        let base = self.b.arg(2);
        let mut at = At::new(base).disp(self.advance(4096));
        if self.rng.below(8) == 0 {
            // Any address will do.
            let index = self.find(CpuType::Index);
            self.b.prefetch(at.indexed(index, 8));
        }
        if self.rng.below(2) == 0 {
            let count = self.find(CpuType::Index);
            at = at.count(count);
        }
        match self.rng.below(4) {
            0 => {
                let stride = self.bounded(40);
                self.b.store_strided(dtype, value, at, stride);
            }
            1 => {
                let offsets = self.offsets(lanes);
                let at = At { scale: self.rng.pick(&[1, 2, 4, 8]), ..at };
                self.b.scatter(dtype, value, at, offsets);
            }
            2 => {
                let index = self.bounded(100);
                self.b.store_at(dtype, value, at.indexed(index, 4));
            }
            _ => self.b.store_at(dtype, value, at),
        }
    }

    /// Room in the output.
    fn advance(&mut self, bytes: i64) -> i64 {
        if self.out + bytes > OUT_BYTES as i64 {
            self.out = 0;
        }
        self.out += bytes;
        self.out - bytes
    }

    fn write(&mut self, value: Value) {
        let base = self.b.arg(2);
        let at = self.advance(64);
        match self.b.ty(value) {
            CpuType::Index => {
                let value = self.b.splat(Elem::I64, 1, value);
                self.b.store(DType::I64, value, base, at);
            }
            CpuType::Mask { .. } => {
                let value = self.b.mask_to_vec(value);
                self.b.store(DType::I32, value, base, at);
            }
            CpuType::Vector { elem, .. } => self.b.store(storage_of(elem), value, base, at),
        }
    }

    fn tabulated(&mut self, places: Value, lanes: u32) -> Value {
        let table: Vec<f32> = (0..lanes).map(|_| self.rng.below(1 << 20) as f32).collect();
        self.b.tabulated(&table, places)
    }

    fn vector_op(&mut self, elem: Elem, lanes: u32) {
        let value = match self.rng.below(16) {
            0..=6 => {
                let ops = vec_ops(elem);
                let op = self.rng.pick(&ops);
                let operands: Vec<Value> = (0..op.arity()).map(|_| self.vector(elem, lanes)).collect();
                self.b.vec(op, &operands)
            }
            7 => {
                let ops: &[CompareOp] = if elem.is_float() { &CompareOp::ALL[..4] } else { CompareOp::ALL };
                let op = self.rng.pick(ops);
                let (a, b) = (self.vector(elem, lanes), self.vector(elem, lanes));
                self.b.compare(op, a, b)
            }
            8 => {
                let mask = self.find(CpuType::Mask { lanes: lanes as u8 });
                let (a, b) = (self.vector(elem, lanes), self.vector(elem, lanes));
                self.b.select(mask, a, b)
            }
            9 => {
                let [a, b, c] = [0; 3].map(|_| self.find(CpuType::Mask { lanes: lanes as u8 }));
                if self.rng.below(4) == 0 {
                    self.b.select(a, b, c)
                } else {
                    let op = self.rng.pick(&[VecOp::And, VecOp::Or, VecOp::Xor, VecOp::AndNot]);
                    self.b.mask_op(op, a, b)
                }
            }
            10 if 4 * lanes <= self.max_bytes => {
                let mask = self.find(CpuType::Mask { lanes: lanes as u8 });
                self.b.mask_to_vec(mask)
            }
            11 => {
                let list = conversions(elem, lanes, self.max_bytes);
                let (op, to) = self.rng.pick(&list);
                let a = self.vector(elem, lanes);
                self.b.convert(op, to, a)
            }
            12 => {
                let a = self.vector(elem, lanes);
                let lane = self.rng.below(lanes as usize) as u32;
                self.b.extract(a, lane)
            }
            13 => {
                let ops: &[ReduceOp] = if elem.is_float() { &ReduceOp::ALL[..4] } else { ReduceOp::ALL };
                let op = self.rng.pick(ops);
                let a = self.vector(elem, lanes);
                self.b.reduce(op, a)
            }
            14 => {
                let (a, b) = (self.vector(elem, lanes), self.vector(elem, lanes));
                let (_, n) = self.shape();
                let n = if n * elem.bytes() as u32 <= self.max_bytes { n } else { lanes };
                let picks = (0..n).map(|_| self.rng.below(2 * lanes as usize) as u32).collect();
                self.b.shuffle(a, b, picks)
            }
            _ if elem == Elem::I32 && matches!(lanes, 8 | 16) && self.rng.below(2) == 0 => {
                let places = self.vector(elem, lanes);
                self.tabulated(places, lanes)
            }
            _ if elem == Elem::I32 => {
                let [acc, a, b] = [0; 3].map(|_| self.vector(elem, lanes));
                match self.rng.below(3) {
                    0 => self.b.dot_u8s8(acc, a, b),
                    1 => self.b.dot_words(acc, a, b),
                    _ => self.b.dot_u8s8_pairs(acc, a, b),
                }
            }
            _ if elem.is_float() => {
                let function = Function::ALL[self.rng.pick(&crate::call::CALLED)];
                let elem = Elem::of(function.dtype());
                let lanes = lanes.min(self.max_bytes / elem.bytes() as u32);
                let (a, b) = (self.vector(elem, lanes), self.vector(elem, lanes));
                let binary = function.name() == "pow";
                self.b.call(function, &[a, b][..if binary { 2 } else { 1 }])
            }
            _ => self.vector(elem, lanes),
        };
        self.keep(value);
    }

    /// A loop or a branch with carried values of the types of some values in scope.
    fn nest(&mut self) {
        // The three sizes are always in scope.
        let n = self.rng.below(6);
        let carried: Vec<Value> = (0..n).map(|_| self.pool[self.rng.below(self.pool.len())]).collect();
        let types: Vec<CpuType> = carried.iter().map(|v| self.b.ty(*v)).collect();
        let outer = self.pool.clone();
        self.depth += 1;
        let results = if self.rng.below(2) == 0 {
            let (lo, hi) = match self.rng.below(3) {
                0 => (self.b.index(0), self.b.index(3)),
                _ => (self.b.index(-1), self.bounded(4)),
            };
            let step = self.rng.pick(&[1, 2]);
            self.b_with(|b, g| {
                b.for_(lo, hi, step, LoopLevel::L1, &carried, |b, iv, args| {
                    g.pool.push(iv);
                    g.pool.extend_from_slice(args);
                    g.fill(b, &types, args)
                })
            })
        } else {
            let cond = self.find(CpuType::Index);
            let limit = self.b.index(3);
            let op = self.rng.pick(&[IndexOp::Lt, IndexOp::Le, IndexOp::Eq, IndexOp::Ne, IndexOp::Mod]);
            let cond = self.b.index_op(op, cond, limit);
            let before = self.pool.clone();
            let g = std::cell::RefCell::new(self);
            let mut b = {
                let mut g = g.borrow_mut();
                std::mem::replace(&mut g.b, Builder::new("draft"))
            };
            let results = b.if_(
                cond,
                |b| g.borrow_mut().fill(b, &types, &[]),
                |b| {
                    let mut g = g.borrow_mut();
                    g.pool = before.clone();
                    g.fill(b, &types, &[])
                },
            );
            let g = g.into_inner();
            g.b = b;
            g.pool = outer;
            g.depth -= 1;
            g.pool.extend(results);
            return;
        };
        self.pool = outer;
        self.depth -= 1;
        self.pool.extend(results);
    }

    fn b_with<T>(&mut self, f: impl FnOnce(&mut Builder, &mut Self) -> T) -> T {
        let mut b = std::mem::replace(&mut self.b, Builder::new("draft"));
        let result = f(&mut b, self);
        self.b = b;
        result
    }

    /// A region's ops; gives values of the types asked for.
    fn fill(&mut self, b: &mut Builder, types: &[CpuType], args: &[Value]) -> Vec<Value> {
        std::mem::swap(b, &mut self.b);
        for _ in 0..self.rng.below(8) {
            if self.budget > 0 {
                self.step();
            }
        }
        // Sometimes values change places.
        let values = types
            .iter()
            .map(|ty| match args.iter().find(|arg| self.b.ty(**arg) == *ty) {
                Some(arg) if self.rng.below(4) == 0 => *arg,
                _ => self.find(*ty),
            })
            .collect();
        std::mem::swap(b, &mut self.b);
        values
    }
}

fn storage_of(elem: Elem) -> DType {
    match elem {
        Elem::I32 => DType::I32,
        Elem::I64 => DType::I64,
        Elem::F32 => DType::F32,
        Elem::F64 => DType::F64,
        Elem::I8 => DType::I8,
        Elem::I16 => DType::I16,
    }
}

fn vec_ops(elem: Elem) -> Vec<VecOp> {
    let legal = |op: &VecOp| {
        let float = matches!(
            op,
            VecOp::Maximum
                | VecOp::Sqrt
                | VecOp::Floor
                | VecOp::Ceil
                | VecOp::Trunc
                | VecOp::RoundEven
                | VecOp::Fma
                | VecOp::Fnma
        );
        let both = matches!(
            op,
            VecOp::Add
                | VecOp::Sub
                | VecOp::Mul
                | VecOp::Div
                | VecOp::Min
                | VecOp::Max
                | VecOp::And
                | VecOp::Or
                | VecOp::Xor
                | VecOp::AndNot
        );
        both || float == elem.is_float()
    };
    VecOp::ALL.iter().copied().filter(legal).collect()
}

fn conversions(elem: Elem, lanes: u32, max_bytes: u32) -> Vec<(ConvertOp, Elem)> {
    let mut list = Vec::new();
    for &op in ConvertOp::ALL {
        for to in ELEMS {
            let mut func = Builder::new("probe");
            let legal = to.bytes() as u32 * lanes <= max_bytes && {
                let value = func.vec_const(elem, lanes, 0);
                let mut func = func.finish();
                let body = func.body();
                func.build(body, CpuOp::Convert { op, elem: to }, &[value], None).is_ok()
            };
            if legal {
                list.push((op, to));
            }
        }
    }
    list
}
