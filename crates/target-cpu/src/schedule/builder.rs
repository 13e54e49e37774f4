//! Writes schedule functions: one method an op, with constants folded, hoisted and shared.
//!
//! Before: operands fit the op; a misfit is the caller's bug and panics with the constraint. After
//! [`Builder::finish`]: constants stand first in the body, an equal pure op on equal operands stands once per
//! scope (a region sees what the regions around it computed), index arithmetic on constants is gone, and the
//! body ends in `return`.

use super::known::{Known, hash};
use super::ops::{Address, CompareOp, ConvertOp, CpuOp, IndexOp, LoopLevel, ReduceOp, VecOp};
use super::types::{CpuType, Elem};
use super::{CpuFunc, calls};
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_base::DType;
use tegula_ir::op::OpRules;
use tegula_ir::{Effects, OpId, RegionId, Value};
use tegula_package::Function;

/// `base + index * scale + disp` for the memory methods; `count` limits the active lanes.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub base: Value,
    pub index: Option<Value>,
    /// 1, 2, 4 or 8.
    pub scale: u32,
    /// Bytes.
    pub disp: i64,
    pub count: Option<Value>,
}

impl At {
    pub fn new(base: Value) -> At {
        At { base, index: None, scale: 1, disp: 0, count: None }
    }

    pub fn indexed(self, index: Value, scale: u32) -> At {
        At { index: Some(index), scale, ..self }
    }

    pub fn disp(self, disp: i64) -> At {
        At { disp, ..self }
    }

    pub fn count(self, count: Value) -> At {
        At { count: Some(count), ..self }
    }

    fn form(&self) -> Address {
        Address {
            indexed: self.index.is_some(),
            scale: self.scale,
            disp: self.disp,
            counted: self.count.is_some(),
        }
    }
}

/// Ops for which a kernel takes room at once: the 472 of `g2p-tiny` become 211 instructions on average.
const USUAL_OPS: usize = 256;

pub struct Builder {
    func: CpuFunc,
    regions: Vec<RegionId>,
    known: Known,
    /// Detached ops that `finish` puts first, in the order of their making.
    constants: Vec<OpId>,
    /// Given to every op that is made from now on.
    pub location: Option<Arc<str>>,
}

impl Builder {
    pub fn new(name: impl Into<String>) -> Builder {
        let mut func = CpuFunc::new(name);
        func.reserve(USUAL_OPS);
        let regions = vec![func.body()];
        Builder { func, regions, known: Known::new(USUAL_OPS), constants: vec![], location: None }
    }

    /// Ends the body with `return`.
    pub fn finish(mut self) -> CpuFunc {
        self.push(CpuOp::Return {}, &[]);
        let body = self.func.body();
        let mut ops = self.constants;
        ops.extend_from_slice(self.func.ops_in(body));
        self.func.set_ops(body, ops);
        self.func
    }

    pub fn func(&self) -> &CpuFunc {
        &self.func
    }

    /// The region that is being filled. What was computed in it can be used in it again.
    pub fn open_region(&self) -> RegionId {
        *self.regions.last().expect("invariant: the body stays open")
    }

    pub fn ty(&self, value: Value) -> CpuType {
        *self.func.ty(value)
    }

    /// Element and lanes of a vector. Panics on other types (the caller's bug).
    pub fn shape(&self, vector: Value) -> (Elem, u32) {
        match self.ty(vector) {
            CpuType::Vector { elem, lanes } => (elem, lanes.into()),
            other => panic!("invariant: a vector is expected, got {other:?}"),
        }
    }

    /// Lanes of a vector or mask. Panics on an index (the caller's bug).
    pub fn lanes(&self, value: Value) -> u32 {
        self.ty(value).lanes().expect("invariant: a vector or a mask is expected").into()
    }

    /// The value of a constant index.
    pub fn as_const(&self, value: Value) -> Option<i64> {
        match self.func.kind(self.func.def_op(value)?) {
            CpuOp::Const { value } => Some(*value),
            _ => None,
        }
    }

    /// The bits in every lane of a constant vector.
    pub fn as_vec_const(&self, value: Value) -> Option<i64> {
        match self.func.kind(self.func.def_op(value)?) {
            CpuOp::VecConst { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    // --- any op ----------------------------------------------------------------------------------------

    /// Appends an op without results, or whose results nobody shares.
    fn push(&mut self, kind: CpuOp, operands: &[Value]) -> OpId {
        if kind.effects() == Effects::Writes {
            self.known.forget_loaded();
        }
        let built = self.func.build(self.open_region(), kind, operands, self.location.clone());
        built.unwrap_or_else(|error| panic!("invariant: schedule code is well formed: {error}"))
    }

    /// The result of an op; a pure one that a surrounding scope has computed is shared, and so is a vector that was just
    /// loaded: windows whose places overlap read it several times.
    pub fn emit(&mut self, kind: CpuOp, operands: &[Value]) -> Value {
        if let CpuOp::Load { .. } = kind {
            let hash = hash(&kind, operands);
            let loaded = self.known.loaded(hash).filter(|value| self.is(*value, &kind, operands));
            return loaded.unwrap_or_else(|| {
                let op = self.push(kind, operands);
                let value = self.func.result(op);
                self.known.load(hash, value);
                value
            });
        }
        if kind.effects() != Effects::Pure {
            let op = self.push(kind, operands);
            return self.func.result(op);
        }
        let hash = hash(&kind, operands);
        if let Some(value) = self.find(hash, &kind, operands) {
            return value;
        }
        let op = self.push(kind, operands);
        let value = self.func.result(op);
        self.known.add(hash, value, self.open_region(), &self.regions);
        value
    }

    /// The result of an equal op in an open scope.
    fn find(&self, hash: u64, kind: &CpuOp, operands: &[Value]) -> Option<Value> {
        let known = self.known.of(hash).iter().filter(|(_, region)| self.regions.contains(region));
        known.map(|(value, _)| *value).find(|value| self.is(*value, kind, operands))
    }

    /// Whether a result is that of such an op.
    fn is(&self, value: Value, kind: &CpuOp, operands: &[Value]) -> bool {
        let op = self.func.def_op(value).expect("invariant: results are known, not arguments");
        self.func.kind(op) == kind && self.func.operands(op) == operands
    }

    /// A value of the function's entry, shared everywhere.
    fn entry(&mut self, kind: CpuOp, operands: &[Value], ty: CpuType) -> Value {
        let hash = hash(&kind, operands);
        if let Some(value) = self.find(hash, &kind, operands) {
            return value;
        }
        let op = self.func.create_op(kind, operands, [ty], None);
        self.constants.push(op);
        let value = self.func.result(op);
        self.known.add(hash, value, self.func.body(), &self.regions);
        value
    }

    // --- index -----------------------------------------------------------------------------------------

    pub fn index(&mut self, value: i64) -> Value {
        self.entry(CpuOp::Const { value }, &[], CpuType::Index)
    }

    pub fn arg(&mut self, word: usize) -> Value {
        self.entry(CpuOp::Arg { word }, &[], CpuType::Index)
    }

    pub fn scratch(&mut self) -> Value {
        self.entry(CpuOp::Scratch {}, &[], CpuType::Index)
    }

    pub fn begin(&mut self) -> Value {
        self.entry(CpuOp::Begin {}, &[], CpuType::Index)
    }

    pub fn end(&mut self) -> Value {
        self.entry(CpuOp::End {}, &[], CpuType::Index)
    }

    /// `op(a, b)`, folded where constants allow.
    pub fn index_op(&mut self, op: IndexOp, a: Value, b: Value) -> Value {
        let commutes = matches!(
            op,
            IndexOp::Add
                | IndexOp::Mul
                | IndexOp::Min
                | IndexOp::Max
                | IndexOp::And
                | IndexOp::Or
                | IndexOp::Xor
        );
        let (a, b) = if commutes && self.as_const(a).is_some() { (b, a) } else { (a, b) };
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.index(op.eval(x, y)),
            (None, Some(y)) => match (op, y) {
                (IndexOp::Add | IndexOp::Sub | IndexOp::Or | IndexOp::Xor | IndexOp::ShiftLeft, 0)
                | (IndexOp::ShiftRight, 0)
                | (IndexOp::Mul | IndexOp::FloorDiv, 1) => return a,
                (IndexOp::Mul | IndexOp::And | IndexOp::FloorDiv | IndexOp::Mod, 0) | (IndexOp::Mod, 1) => {
                    return self.index(0);
                }
                (IndexOp::Sub, _) => {
                    let minus = self.index(y.wrapping_neg());
                    return self.index_op(IndexOp::Add, a, minus);
                }
                (IndexOp::Add, _) => {
                    if let Some((inner, x)) = self.plus_const(a) {
                        let sum = self.index(x.wrapping_add(y));
                        return self.index_op(IndexOp::Add, inner, sum);
                    }
                }
                _ => {}
            },
            (None, None) if a == b => match op {
                IndexOp::Sub | IndexOp::Xor | IndexOp::Ne | IndexOp::Lt => return self.index(0),
                IndexOp::Eq | IndexOp::Le => return self.index(1),
                IndexOp::Min | IndexOp::Max | IndexOp::And | IndexOp::Or => return a,
                _ => {}
            },
            _ => {}
        }
        self.emit(CpuOp::Index { op }, &[a, b])
    }

    /// `inner` and `x` of a value made as `inner + x`.
    fn plus_const(&self, value: Value) -> Option<(Value, i64)> {
        let op = self.func.def_op(value)?;
        match (self.func.kind(op), self.func.operands(op)) {
            (CpuOp::Index { op: IndexOp::Add }, &[inner, x]) => Some((inner, self.as_const(x)?)),
            _ => None,
        }
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Mul, a, b)
    }

    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Min, a, b)
    }

    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.index_op(IndexOp::Max, a, b)
    }

    pub fn add_const(&mut self, a: Value, b: i64) -> Value {
        let b = self.index(b);
        self.add(a, b)
    }

    pub fn mul_const(&mut self, a: Value, b: i64) -> Value {
        let b = self.index(b);
        self.mul(a, b)
    }

    pub fn index_select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        match self.as_const(condition) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.emit(CpuOp::IndexSelect {}, &[condition, a, b]),
        }
    }

    // --- control ---------------------------------------------------------------------------------------

    /// A counted loop; `body` gets the induction variable and the carried values and gives the next ones.
    pub fn for_(
        &mut self,
        lo: Value,
        hi: Value,
        step: i64,
        level: LoopLevel,
        inits: &[Value],
        body: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let operands: Vec<Value> = [lo, hi].into_iter().chain(inits.iter().copied()).collect();
        let op = self.push(CpuOp::For { step, level }, &operands);
        let region = self.func.regions_of(op)[0];
        let iv = self.func.add_arg(region, CpuType::Index);
        let types: Vec<CpuType> = inits.iter().map(|init| self.ty(*init)).collect();
        let carried: Vec<Value> = types.into_iter().map(|ty| self.func.add_arg(region, ty)).collect();
        self.region(region, |b| body(b, iv, &carried));
        self.func.results(op).to_vec()
    }

    /// A branch on an index that is 0 or not; both sides give the same types.
    pub fn if_(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Builder) -> Vec<Value>,
        other: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Vec<Value> {
        let op = self.push(CpuOp::If {}, &[condition]);
        let regions = [self.func.regions_of(op)[0], self.func.regions_of(op)[1]];
        let types = self.region(regions[0], then);
        let other_types = self.region(regions[1], other);
        assert_eq!(types, other_types, "invariant: both branches of an `if` give the same types");
        types.into_iter().map(|ty| self.func.add_result(op, ty)).collect()
    }

    /// Fills a region and ends it with the yield of what `fill` gives; the types of that.
    fn region(&mut self, region: RegionId, fill: impl FnOnce(&mut Builder) -> Vec<Value>) -> Vec<CpuType> {
        self.regions.push(region);
        let values = fill(self);
        self.push(CpuOp::Yield {}, &values);
        self.regions.pop();
        values.into_iter().map(|value| self.ty(value)).collect()
    }

    // --- memory ----------------------------------------------------------------------------------------

    fn access(&self, at: At, own: &[Value]) -> SmallVec<[Value; 5]> {
        [at.base].into_iter().chain(at.index).chain(own.iter().copied()).chain(at.count).collect()
    }

    pub fn load_at(&mut self, dtype: DType, lanes: u32, at: At) -> Value {
        let operands = self.access(at, &[]);
        self.emit(CpuOp::Load { dtype, lanes, at: at.form() }, &operands)
    }

    pub fn load(&mut self, dtype: DType, lanes: u32, base: Value, disp: i64) -> Value {
        self.load_at(dtype, lanes, At::new(base).disp(disp))
    }

    /// The lanes of `mask`.
    pub fn load_masked(&mut self, dtype: DType, lanes: u32, at: At, mask: Value) -> Value {
        let operands = self.access(at, &[mask]);
        self.emit(CpuOp::LoadMasked { dtype, lanes, at: at.form() }, &operands)
    }

    pub fn load_splat(&mut self, dtype: DType, lanes: u32, at: At) -> Value {
        let operands = self.access(at, &[]);
        self.emit(CpuOp::LoadSplat { dtype, lanes, at: at.form() }, &operands)
    }

    pub fn load_strided(&mut self, dtype: DType, lanes: u32, at: At, stride: Value) -> Value {
        let operands = self.access(at, &[stride]);
        self.emit(CpuOp::LoadStrided { dtype, lanes, at: at.form() }, &operands)
    }

    pub fn gather(&mut self, dtype: DType, at: At, offsets: Value) -> Value {
        let operands = self.access(at, &[offsets]);
        let lanes = self.lanes(offsets);
        self.emit(CpuOp::Gather { dtype, lanes, at: at.form() }, &operands)
    }

    pub fn look_up(&mut self, at: At, offsets: Value) -> Value {
        let operands = self.access(at, &[offsets]);
        let lanes = self.lanes(offsets);
        self.emit(CpuOp::LookUp { lanes, at: at.form() }, &operands)
    }

    pub fn load_raw(&mut self, elem: Elem, lanes: u32, at: At) -> Value {
        let operands = self.access(at, &[]);
        self.emit(CpuOp::LoadRaw { elem, lanes, at: at.form() }, &operands)
    }

    pub fn load_words(&mut self, lanes: u32, at: At) -> Value {
        let operands = self.access(at, &[]);
        self.emit(CpuOp::LoadWords { lanes, at: at.form() }, &operands)
    }

    pub fn store_at(&mut self, dtype: DType, value: Value, at: At) {
        let operands = self.access(at, &[value]);
        self.push(CpuOp::Store { dtype, at: at.form() }, &operands);
    }

    pub fn store(&mut self, dtype: DType, value: Value, base: Value, disp: i64) {
        self.store_at(dtype, value, At::new(base).disp(disp));
    }

    pub fn store_strided(&mut self, dtype: DType, value: Value, at: At, stride: Value) {
        let operands = self.access(at, &[value, stride]);
        self.push(CpuOp::StoreStrided { dtype, at: at.form() }, &operands);
    }

    pub fn scatter(&mut self, dtype: DType, value: Value, at: At, offsets: Value) {
        let operands = self.access(at, &[value, offsets]);
        self.push(CpuOp::Scatter { dtype, at: at.form() }, &operands);
    }

    pub fn prefetch(&mut self, at: At) {
        let operands = self.access(at, &[]);
        self.push(CpuOp::Prefetch { at: at.form() }, &operands);
    }

    // --- lanes -----------------------------------------------------------------------------------------

    /// Every lane these bits (low bits of `bits`, sign-extended so that equal constants are one).
    pub fn vec_const(&mut self, elem: Elem, lanes: u32, bits: i64) -> Value {
        let unused = 64 - 8 * elem.bytes() as u32;
        let bits = (bits << unused) >> unused;
        let ty = CpuType::Vector { elem, lanes: lanes as u8 };
        self.entry(CpuOp::VecConst { elem, lanes, bits }, &[], ty)
    }

    pub fn f32(&mut self, lanes: u32, value: f32) -> Value {
        self.vec_const(Elem::F32, lanes, value.to_bits().into())
    }

    pub fn f64(&mut self, lanes: u32, value: f64) -> Value {
        self.vec_const(Elem::F64, lanes, value.to_bits() as i64)
    }

    pub fn i32(&mut self, lanes: u32, value: i32) -> Value {
        self.vec_const(Elem::I32, lanes, value.into())
    }

    pub fn i64(&mut self, lanes: u32, value: i64) -> Value {
        self.vec_const(Elem::I64, lanes, value)
    }

    pub fn splat(&mut self, elem: Elem, lanes: u32, value: Value) -> Value {
        match self.as_const(value) {
            Some(value) if !elem.is_float() => self.vec_const(elem, lanes, value),
            Some(value) if elem == Elem::F32 => self.f32(lanes, value as f32),
            Some(value) => self.f64(lanes, value as f64),
            None => self.emit(CpuOp::Splat { elem, lanes }, &[value]),
        }
    }

    pub fn iota(&mut self, elem: Elem, lanes: u32) -> Value {
        self.entry(CpuOp::Iota { elem, lanes }, &[], CpuType::Vector { elem, lanes: lanes as u8 })
    }

    pub fn vec(&mut self, op: VecOp, operands: &[Value]) -> Value {
        match self.known_vec(op, operands) {
            Some(known) => known,
            None => self.emit(CpuOp::Vec { op }, operands),
        }
    }

    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        match self.known_first(op, a, b) {
            Some(first) => self.mask_of_first(self.lanes(a), first),
            None => self.emit(CpuOp::Compare { op }, &[a, b]),
        }
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        match self.first_lanes(mask) {
            _ if a == b => a,
            Some(0) => b,
            Some(first) if first == self.lanes(mask) => a,
            _ => match self.extreme(mask, a, b) {
                Some(op) => self.vec(op, &[a, b]),
                None => self.emit(CpuOp::Select {}, &[mask, a, b]),
            },
        }
    }

    pub fn mask_op(&mut self, op: VecOp, a: Value, b: Value) -> Value {
        match self.known_mask(op, a, b) {
            Some(known) => known,
            None => self.emit(CpuOp::MaskOp { op }, &[a, b]),
        }
    }

    pub fn mask_first(&mut self, lanes: u32, count: Value) -> Value {
        self.emit(CpuOp::MaskFirst { lanes }, &[count])
    }

    /// All lanes true, or none.
    pub fn mask_const(&mut self, lanes: u32, value: bool) -> Value {
        self.mask_of_first(lanes, if value { lanes } else { 0 })
    }

    /// So many first lanes true.
    pub(super) fn mask_of_first(&mut self, lanes: u32, count: u32) -> Value {
        let count = self.index(count.into());
        self.entry(CpuOp::MaskFirst { lanes }, &[count], CpuType::Mask { lanes: lanes as u8 })
    }

    pub fn mask_to_vec(&mut self, mask: Value) -> Value {
        self.emit(CpuOp::MaskToVec {}, &[mask])
    }

    /// An index that is not 0 where any lane of the mask is true.
    pub fn any(&mut self, mask: Value) -> Value {
        let lanes = self.mask_to_vec(mask);
        let any = self.reduce(ReduceOp::Or, lanes);
        self.extract(any, 0)
    }

    pub fn convert(&mut self, op: ConvertOp, elem: Elem, value: Value) -> Value {
        self.emit(CpuOp::Convert { op, elem }, &[value])
    }

    pub fn bitcast(&mut self, elem: Elem, value: Value) -> Value {
        if self.shape(value).0 == elem { value } else { self.convert(ConvertOp::Bitcast, elem, value) }
    }

    pub fn extract(&mut self, value: Value, lane: u32) -> Value {
        self.emit(CpuOp::Extract { lane }, &[value])
    }

    pub fn reduce(&mut self, op: ReduceOp, value: Value) -> Value {
        self.emit(CpuOp::Reduce { op }, &[value])
    }

    pub fn shuffle(&mut self, a: Value, b: Value, lanes: Vec<u32>) -> Value {
        self.emit(CpuOp::Shuffle { lanes }, &[a, b])
    }

    /// Entries of a table of as many numbers as `places` has lanes.
    pub fn tabulated(&mut self, table: &[f32], places: Value) -> Value {
        self.emit(CpuOp::Tabulated { bits: table.iter().map(|entry| entry.to_bits()).collect() }, &[places])
    }

    pub fn dot_u8s8(&mut self, acc: Value, a: Value, b: Value) -> Value {
        self.emit(CpuOp::DotU8S8 {}, &[acc, a, b])
    }

    pub fn dot_u8s8_pairs(&mut self, acc: Value, a: Value, b: Value) -> Value {
        self.emit(CpuOp::DotU8S8Pairs {}, &[acc, a, b])
    }

    pub fn dot_words(&mut self, acc: Value, a: Value, b: Value) -> Value {
        self.emit(CpuOp::DotWords {}, &[acc, a, b])
    }

    pub fn dot_bf16(&mut self, acc: Value, a: Value, b: Value) -> Value {
        self.emit(CpuOp::DotBf16 {}, &[acc, a, b])
    }

    pub fn call(&mut self, function: Function, operands: &[Value]) -> Value {
        self.emit(CpuOp::Call { function: calls::spelling(function) }, operands)
    }
}
