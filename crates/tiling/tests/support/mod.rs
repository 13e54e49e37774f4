//! Builds a kernel, runs it on the tile executor, and compares with the evaluator's result of the same ops.

use tegula_backend::CompiledKernel;
use tegula_base::{Bytes, DType, Diagnostic, Dim, HostTensor, Shape, Symbols};
use tegula_ir::rewrite::Cloner;
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ConstStore, OpId, Program, ScalarOp, Value};
use tegula_machine::Machine;
use tegula_tensor::build::Builder;
use tegula_tensor::layout::Physical;
use tegula_tensor::{KernelClass, Layout, TensorFunc, TensorOp, TensorType};
use tegula_tile::exec::Order;
use tegula_tile::{TileKernel, TileOp};
use tegula_tiling::tuning::TunedTile;
use tegula_tiling::{
    Attention, AttentionFacts, AttentionSplits, AttentionTile, ByteProductFacts, Contract, ContractForm,
    ContractTile, ContractionFacts, Edges, Facts, RowFacts, Scores, TileMachine, lower_kernel,
};

/// Small tiles, so that small tensors reach every tail.
#[derive(Clone)]
pub struct SmallMachine {
    pub edges: Edges,
    /// Contractions of few rows and attention over keys are split, with padded edges only.
    pub splits: bool,
    facts: Facts,
}

impl SmallMachine {
    pub fn all() -> [SmallMachine; 3] {
        [(Edges::Cut, false), (Edges::Padded, false), (Edges::Padded, true)].map(|(edges, splits)| {
            let is_padded = edges == Edges::Padded;
            let facts = Facts {
                contractions: ContractionFacts {
                    unpacks_to: if is_padded { vec![DType::BF16, DType::F16] } else { vec![] },
                    block_scales: is_padded,
                    prefetched_line: Some(Bytes(16)),
                    ..ContractionFacts::default()
                },
                rows: RowFacts {
                    transposes: is_padded,
                    lookup_tables: true,
                    rows_together: if is_padded { 3 } else { 1 },
                    rereads_results: true,
                    unit_bytes: Bytes(64),
                    ..RowFacts::default()
                },
                byte_products: ByteProductFacts::default(),
                attention: AttentionFacts { has_recipe: true },
            };
            SmallMachine { edges, splits, facts }
        })
    }
}

impl TileMachine for SmallMachine {
    fn machine(&self) -> &Machine {
        unreachable!("recipes ask for tiles, not for the machine")
    }
    fn isa(&self) -> &str {
        "none"
    }
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn lanes(&self, _: DType) -> i64 {
        4
    }
    fn contract_tile(&self, _: &Contract, _: &Symbols) -> ContractTile {
        ContractTile {
            m: 4,
            n: 8,
            k: 2,
            m_block: 3,
            n_slabs: if self.edges == Edges::Cut { 2 } else { 1 },
            busy_rows: 2,
            converts_for: None,
            edges: self.edges,
            swapped: false,
            splits: 1,
        }
    }
    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
        let tile = self.contract_tile(contract, symbols);
        let form = |most_rows: i64, splits: i64| ContractForm {
            most_rows,
            tile: ContractTile { splits, ..tile },
            reason: String::new(),
        };
        match (self.splits, contract.m.as_const()) {
            (false, _) => vec![form(i64::MAX, 1)],
            (true, Some(_)) => vec![form(i64::MAX, 3)],
            (true, None) => vec![form(3, 4), form(6, 1), form(i64::MAX, 2)],
        }
    }
    fn other_tiles(&self, _: &Contract, _: &Symbols) -> Vec<TunedTile> {
        vec![]
    }
    fn tile_reason(&self, _: &Contract) -> Option<String> {
        None
    }
    fn rows_worth_packing(&self, _: &Contract) -> Option<i64> {
        None
    }
    fn k_group(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        if (lhs, rhs) == (DType::U8, DType::I8) && k % 4 == 0 { 4 } else { 1 }
    }
    fn lines_of_panel(&self, _: Bytes, _: Bytes) -> i64 {
        3
    }
    fn winograd_tile(&self, _: &Contract, _: &Symbols) -> Option<ContractTile> {
        None
    }
    fn prefetches_rows(&self, _: &Contract) -> bool {
        false
    }
    fn row_tile(&self, _: DType, _: i64) -> i64 {
        8
    }
    fn long_row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        self.row_tile(widest, live_rows)
    }
    fn resident_row(&self, _: DType) -> i64 {
        16
    }
    fn columns_together(&self, widest: DType) -> i64 {
        self.lanes(widest)
    }
    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile> {
        Some(match self.edges {
            Edges::Cut => AttentionTile {
                queries: 8,
                keys: 7,
                v_dim: attention.v_dim,
                scores: Scores::Transposed { rows: 3, queries: 5 },
            },
            Edges::Padded => AttentionTile { queries: 16, keys: 8, v_dim: 16, scores: Scores::Rows },
        })
    }
    fn attention_splits(
        &self,
        attention: &Attention,
        _: &AttentionTile,
        _: &Symbols,
    ) -> Option<AttentionSplits> {
        let (one, splits) = (Dim::from(1), attention.keys.ceil_div(&Dim::from(9)).maximum(&Dim::from(1)));
        let used = (splits.clone() - one.clone()).minimum(&one);
        self.splits.then(|| AttentionSplits { splits, used, reason: String::new() })
    }
    fn compile(&self, _: &str, _: &TileKernel, _: &Symbols) -> Result<CompiledKernel, Diagnostic> {
        Err(Diagnostic::internal("nothing compiles here"))
    }
}

#[derive(Clone)]
pub struct Case {
    name: String,
    class: KernelClass,
    symbols: Vec<(String, i64)>,
    args: Vec<TensorType>,
    /// Values below this, for index operands.
    limits: Vec<Option<i64>>,
    result_layout: Option<Layout>,
    edges: &'static [Edges],
}

impl Case {
    pub fn new(name: &str) -> Case {
        let name = name.to_string();
        Case {
            name,
            class: KernelClass::Map,
            symbols: vec![],
            args: vec![],
            limits: vec![],
            result_layout: None,
            edges: &[Edges::Cut, Edges::Padded],
        }
    }
    pub fn class(mut self, class: KernelClass) -> Case {
        self.class = class;
        self
    }
    pub fn symbol(mut self, name: &str, value: i64) -> Case {
        self.symbols.push((name.into(), value));
        self
    }
    pub fn arg(mut self, dtype: DType, shape: impl Into<Shape>) -> Case {
        self.args.push(TensorType::new(dtype, shape));
        self.limits.push(None);
        self
    }
    pub fn indices(mut self, shape: impl Into<Shape>, limit: i64) -> Case {
        self.args.push(TensorType::new(DType::I64, shape));
        self.limits.push(Some(limit));
        self
    }
    /// Only in whole tiles.
    pub fn padded(mut self) -> Case {
        self.edges = &[Edges::Padded];
        self
    }
    /// Of the argument added last.
    pub fn layout(mut self, layout: Layout) -> Case {
        self.args.last_mut().expect("an argument").layout = Some(Box::new(layout));
        self
    }
    pub fn result_layout(mut self, layout: Layout) -> Case {
        self.result_layout = Some(layout);
        self
    }
}

type Built<T> = Result<T, String>;

pub fn check(case: Case, build: impl Fn(&mut Builder, &[Value]) -> Built<Vec<Value>>) {
    let name = case.name.clone();
    let bind = |symbol: &str| case.symbols.iter().find(|(name, _)| name == symbol).map(|(_, value)| *value);
    let extents = |shape: &Shape| -> Vec<usize> {
        shape.iter().map(|dim| dim.eval(&bind).unwrap_or_else(|| panic!("{name}: {dim}")) as usize).collect()
    };
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let inputs: Vec<HostTensor> = case
        .args
        .iter()
        .zip(&case.limits)
        .map(|(ty, limit)| random(ty.dtype, &extents(&ty.shape), *limit, &mut state))
        .collect();

    // The ops alone, for the evaluator; symbols replaced by their values.
    let (plain, consts) = function(&case, &build, true);
    let mut program = Program::new(plain);
    program.consts = consts;
    let expected = tegula_tensor::eval::evaluate(&program, &inputs).unwrap_or_else(|e| panic!("{name}: {e}"));

    // The same as one kernel.
    let (func, kernel) = kernel_function(&case, &build);
    for target in SmallMachine::all().into_iter().filter(|target| case.edges.contains(&target.edges)) {
        let lowered = lower_kernel(&func, kernel, &target, &Symbols::default());
        let lowered = lowered.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut buffers: Vec<Vec<u8>> = Vec::new();
        for (input, ty) in inputs.iter().zip(&case.args) {
            buffers.push(permute(input, ty, true));
        }
        for (output, ty) in expected.iter().zip(func.result_types(kernel)) {
            let physical = ty.layout_or_default().physical_shape(&ty.shape);
            let count: usize = extents(&physical).iter().product();
            buffers.push(vec![0xa5; count * output.dtype.size()]);
        }
        let n = inputs.len();
        for bytes in &lowered.temporaries {
            buffers.push(vec![0xa5; extents(&[bytes.clone()].into())[0]]);
        }
        let mut backwards = buffers.clone();
        for (order, buffers) in [(Order::Rising, &mut buffers), (Order::Falling, &mut backwards)] {
            for (_, launch) in &lowered.list {
                let views = launch.buffer_numbers(n, expected.len());
                tegula_tile::exec::run_in(order, &launch.kernel, &views, buffers, &|dim| dim.eval(&bind))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
        assert!(buffers == backwards, "{name}: units that run in another order give other bits");
        for (i, (output, ty)) in expected.iter().zip(func.result_types(kernel)).enumerate() {
            let physical = extents(&ty.layout_or_default().physical_shape(&ty.shape));
            let raw = HostTensor { dtype: output.dtype, shape: physical, bytes: buffers[n + i].clone() };
            let got = HostTensor {
                shape: output.shape.clone(),
                bytes: permute(&raw, &ty_of(output, &ty), false),
                dtype: output.dtype,
            };
            for (at, (a, b)) in got.to_f64().iter().zip(output.to_f64()).enumerate() {
                let close = (a - b).abs() <= 1e-5 * (1.0 + b.abs());
                assert!(
                    close || a.is_nan() && b.is_nan(),
                    "{name}: result {i} element {at}: {a} instead of {b}"
                );
            }
        }
    }
}

/// The shapes of the tiles that a kernel loads where whole tiles are wanted.
pub fn loads(case: Case, build: impl Fn(&mut Builder, &[Value]) -> Built<Vec<Value>>) -> Vec<Vec<i64>> {
    let shape = |op| match op {
        TileOp::Load { shape, .. } => Some(shape),
        _ => None,
    };
    ops(case, build).into_iter().filter_map(shape).collect()
}

/// The ops of a kernel where whole tiles are wanted, but for those whose results nobody reads.
pub fn ops(case: Case, build: impl Fn(&mut Builder, &[Value]) -> Built<Vec<Value>>) -> Vec<TileOp> {
    let (func, kernel) = kernel_function(&case, &build);
    let lowered = lower_kernel(&func, kernel, &SmallMachine::all()[1], &Symbols::default());
    let lowered = lowered.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let [(_, only)] = lowered.list.as_slice() else { panic!("{}: several launches", case.name) };
    let func = &only.kernel.func;
    let is_read = |op: &OpId| {
        let results = func.results(*op);
        results.is_empty() || results.iter().any(|result| !func.users(*result).is_empty())
    };
    func.walk().into_iter().filter(is_read).map(|op| func.kind(op).clone()).collect()
}

fn ty_of(output: &HostTensor, ty: &TensorType) -> TensorType {
    let shape: Shape = output.shape.iter().map(|n| Dim::from(*n)).collect();
    TensorType { dtype: ty.dtype, shape, layout: ty.layout.clone() }
}

fn function(
    case: &Case,
    build: &impl Fn(&mut Builder, &[Value]) -> Built<Vec<Value>>,
    concrete: bool,
) -> (TensorFunc, ConstStore) {
    let mut func = TensorFunc::new("main");
    let mut consts = ConstStore::default();
    let body = func.body();
    let bind =
        |symbol: &str| case.symbols.iter().find(|(name, _)| name == symbol).map(|(_, n)| Dim::from(*n));
    let args: Vec<Value> = case
        .args
        .iter()
        .map(|ty| {
            let shape = if concrete { ty.shape.substitute(&bind) } else { ty.shape.clone() };
            func.add_arg(body, TensorType::new(ty.dtype, shape))
        })
        .collect();
    let mut b = Builder::new(&mut func, &mut consts);
    let results = build(&mut b, &args).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    b.ret(&results).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    (func, consts)
}

fn kernel_function(
    case: &Case,
    build: &impl Fn(&mut Builder, &[Value]) -> Built<Vec<Value>>,
) -> (TensorFunc, tegula_ir::OpId) {
    let (source, _) = function(case, build, false);
    let mut func = TensorFunc::new("main");
    let body = func.body();
    let args: Vec<Value> = case.args.iter().map(|ty| func.add_arg(body, ty.clone())).collect();
    let end = source.terminator(source.body()).expect("a function ends");
    let mut types: Vec<TensorType> =
        source.operands(end).iter().map(|value| source.ty(*value).clone()).collect();
    for ty in &mut types {
        ty.layout = case.result_layout.clone().map(Box::new);
    }
    let kernel = func.push_op(body, TensorOp::Kernel { class: case.class }, &args, types, None);
    let region = func.regions_of(kernel)[0];
    let mut cloner = Cloner::between(&source);
    for (from, ty) in source.args(source.body()).iter().zip(&case.args) {
        let arg = func.add_arg(region, ty.clone());
        cloner.bind(*from, arg);
    }
    let results = cloner.region(&mut func, source.body(), region);
    func.push_op(region, TensorOp::Yield {}, &results, [], None);
    (func, kernel)
}

fn random(dtype: DType, shape: &[usize], limit: Option<i64>, state: &mut u64) -> HostTensor {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    };
    let count: usize = shape.iter().product();
    match (dtype, limit) {
        (DType::I64, limit) => {
            let limit = limit.unwrap_or(1000);
            let values: Vec<i64> = (0..count).map(|_| (next() % (2 * limit as u64)) as i64 - limit).collect();
            HostTensor::from_elements(shape, &values)
        }
        (DType::F32, _) => {
            let values: Vec<f32> = (0..count).map(|_| (next() % 2000) as f32 / 500.0 - 2.0).collect();
            HostTensor::from_elements(shape, &values)
        }
        (DType::BF16 | DType::F8E4M3FN, _) => {
            let cast = ScalarOp::Cast { to: dtype, saturate: true };
            let mut number = || {
                let number = (next() % 2000) as f32 / 500.0 - 2.0;
                eval(cast, &[DType::F32], &[number.to_bits().into()]).to_le_bytes()
            };
            let bytes = (0..count).flat_map(|_| number().into_iter().take(dtype.size())).collect();
            HostTensor { dtype, shape: shape.to_vec(), bytes }
        }
        _ => HostTensor {
            dtype,
            shape: shape.to_vec(),
            bytes: (0..count * dtype.size()).map(|_| next() as u8).collect(),
        },
    }
}

/// Row-major to physical bytes (`pack`), or back.
fn permute(tensor: &HostTensor, ty: &TensorType, pack: bool) -> Vec<u8> {
    let Some(layout) = &ty.layout else { return tensor.bytes.clone() };
    let logical: Vec<usize> = match pack {
        true => tensor.shape.clone(),
        false => ty.shape.as_static().expect("a concrete shape"),
    };
    let size = tensor.dtype.size();
    let extent = |dim: &Physical| match *dim {
        Physical::Axis(axis) => logical[axis],
        Physical::Outer { axis, tile } => logical[axis].div_ceil(tile as usize),
        Physical::Inner { tile, .. } => tile as usize,
    };
    let physical: Vec<usize> = layout.0.iter().map(extent).collect();
    let (n_logical, n_physical): (usize, usize) = (logical.iter().product(), physical.iter().product());
    let mut out = vec![0; if pack { n_physical } else { n_logical } * size];
    for n in 0..n_logical {
        let mut at = vec![0; logical.len()];
        let mut rest = n;
        for i in (0..logical.len()).rev() {
            at[i] = rest % logical[i];
            rest /= logical[i];
        }
        let place = layout.0.iter().zip(&physical).fold(0, |place, (dim, extent)| {
            place * extent
                + match *dim {
                    Physical::Axis(axis) => at[axis],
                    Physical::Outer { axis, tile } => at[axis] / tile as usize,
                    Physical::Inner { axis, tile } => at[axis] % tile as usize,
                }
        });
        let (from, to) = if pack { (n, place) } else { (place, n) };
        out[to * size..][..size].copy_from_slice(&tensor.bytes[from * size..][..size]);
    }
    out
}
