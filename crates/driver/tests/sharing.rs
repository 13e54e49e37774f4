//! Chains whose every link reads the one before twice: a formula of 40 ops whose tree has 2^40 leaves. A walk over
//! definitions or uses that remembers nothing never ends on one, wherever in a program it stands.

use std::sync::mpsc;
use std::time::Duration;
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_driver::{CompileOptions, PassCx};
use tegula_ir::{ScalarOp, Value};
use tegula_machine::Machine;
use tegula_tensor::build::{Built, same_window};
use tegula_tensor::{
    Builder, Direction, PadMode, PoolKind, QuantScheme, ScatterKind, TensorFunc, TensorProgram,
};

const LINKS: usize = 40;
/// Rows and columns of most values.
const N: i64 = 16;
/// Rows and columns of products in whole tiles of a GPU.
const LARGE: i64 = 128;
/// A compilation takes some milliseconds, and without optimisation on a busy processor up to a minute; without a memory it
/// takes years.
const LONGEST: Duration = Duration::from_secs(300);

/// One link of a chain of `[N,N]` floats.
type Link = fn(&mut Builder, Value) -> Built;
/// A program around a chain: what is done with the value that a chain is grown on.
type Place = fn(&mut Builder, &Grow) -> Built<Vec<Value>>;
type Grow<'a> = dyn Fn(&mut Builder, Value) -> Built + 'a;

const LINKS_BY_NAME: &[(&str, Link)] = &[
    ("mul", |b, y| b.mul(y, y)),
    ("add", |b, y| b.add(y, y)),
    ("pow", |b, y| b.pow(y, y)),
    ("max of both signs", |b, y| {
        let other = b.neg(y)?;
        b.max(y, other)
    }),
    ("silu", |b, y| {
        let gate = b.sigmoid(y)?;
        b.mul(y, gate)
    }),
    ("quotient", |b, y| {
        let by = b.exp(y)?;
        b.div(y, by)
    }),
    ("choice", |b, y| {
        let positive = b.gt(y, y)?;
        b.select(positive, y, y)
    }),
    ("transpose", |b, y| {
        let turned = b.transpose(y, &[1, 0])?;
        b.add(y, turned)
    }),
    ("shift", |b, y| {
        let part = b.slice_axis(y, 1, 1, extent(b, y) - 1)?;
        let fill = b.splat(b.dtype(y), Shape::scalar(), 0.0)?;
        let moved = b.pad(part, &[0.into(), 0.into()], &[0.into(), 1.into()], fill)?;
        b.mul(y, moved)
    }),
    ("halves", |b, y| {
        let half = extent(b, y) / 2;
        let (low, high) = (b.slice_axis(y, 1, 0, half)?, b.slice_axis(y, 1, half, half)?);
        b.concat(&[high, low], 1)
    }),
    ("edge", |b, y| {
        let wide = b.pad_with(y, &[0.into(), 1.into()], &[0.into(), 0.into()], PadMode::Edge)?;
        let moved = b.slice_axis(wide, 1, 0, extent(b, y))?;
        b.sub(y, moved)
    }),
    ("reshape", |b, y| {
        let n = extent(b, y);
        let other = b.reshape(y, [n / 2, 2 * n])?;
        let (other, flat) = (b.exp(other)?, b.reshape(y, [n / 4, 4 * n])?);
        let (other, flat) = (b.reshape(other, [n, n])?, b.reshape(flat, [n, n])?);
        b.mul(other, flat)
    }),
    ("mean", |b, y| {
        let mean = b.mean(y, &[1])?;
        b.sub(y, mean)
    }),
    ("bytes", |b, y| {
        let bytes = quantised(b, y)?;
        let number = dequantised(b, bytes, b.dtype(y))?;
        b.mul(number, number)
    }),
    ("gelu", |b, y| {
        let gate = b.gelu(y, false)?;
        b.add(y, gate)
    }),
    ("integers", |b, y| {
        let number = b.cast(y, DType::I32)?;
        let sum = b.add(number, number)?;
        b.cast(sum, b.dtype(y))
    }),
];

const PLACES: &[(&str, Place)] = &[
    ("alone", |b, grow| {
        let x = arg(b, [N, N]);
        Ok(vec![grow(b, x)?])
    }),
    ("of constants", |b, grow| {
        let x = b.splat(DType::F32, [N, N], 0.5)?;
        let (y, z) = (grow(b, x)?, arg(b, [N, N]));
        Ok(vec![b.add(y, z)?])
    }),
    ("of places", |b, grow| {
        let x = b.iota(DType::F32, [N, N], 0)?;
        let (y, z) = (grow(b, x)?, arg(b, [N, N]));
        Ok(vec![b.add(y, z)?])
    }),
    ("of sizes", |b, grow| {
        let x = b.size_as(&Dim::symbol("n"), DType::F32, 2)?;
        let x = b.broadcast(x, [N, N])?;
        let (y, z) = (grow(b, x)?, arg(b, [Dim::symbol("n")]));
        Ok(vec![y, z])
    }),
    ("between bytes", |b, grow| {
        let bytes = b.arg(DType::U8, [N, N]);
        let x = dequantised(b, bytes, DType::F32)?;
        let y = grow(b, x)?;
        Ok(vec![quantised(b, y)?])
    }),
    ("before a softmax", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        Ok(vec![b.softmax(y, 1, false)?])
    }),
    ("in a softmax spelled out", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        let e = b.exp(y)?;
        let sum = b.reduce(ScalarOp::Add, e, &[1], true)?;
        Ok(vec![b.div(e, sum)?])
    }),
    ("before norms", |b, grow| {
        let (x, scale) = (arg(b, [N, N]), arg(b, [N]));
        let y = grow(b, x)?;
        Ok(vec![b.layer_norm(y, scale, Some(scale), 1, 1e-5)?, b.rms_norm(y, scale, 1, 1e-5)?])
    }),
    ("as a norm's scale", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        let row = b.reduce(ScalarOp::Max, y, &[0], true)?;
        let row = b.reshape(row, [N])?;
        Ok(vec![b.layer_norm(x, row, None, 1, 1e-5)?])
    }),
    ("behind a norm", |b, grow| {
        let (x, scale) = (arg(b, [N, N]), arg(b, [N]));
        let y = b.layer_norm(x, scale, None, 1, 1e-5)?;
        Ok(vec![grow(b, y)?])
    }),
    ("around a product", |b, grow| {
        let (x, w) = (arg(b, [N, N]), arg(b, [N, N]));
        let y = grow(b, x)?;
        let y = b.dot_2d(y, w)?;
        Ok(vec![grow(b, y)?])
    }),
    ("as weights", |b, grow| {
        let (x, w) = (arg(b, [N, N]), arg(b, [N, N]));
        let w = grow(b, w)?;
        Ok(vec![b.dot_2d(x, w)?])
    }),
    ("as both factors", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        Ok(vec![b.dot_2d(y, y)?])
    }),
    ("as weights in bytes", |b, grow| {
        let (x, bytes) = (arg(b, [N, N]), b.arg(DType::U8, [N, N]));
        let w = dequantised(b, bytes, DType::F32)?;
        let w = grow(b, w)?;
        Ok(vec![b.dot_2d(x, w)?])
    }),
    ("as weights of 16 bits in bytes", |b, grow| {
        let (x, bytes) = (b.arg(DType::BF16, [LARGE, LARGE]), b.arg(DType::I8, [LARGE, LARGE]));
        let w = b.cast(bytes, DType::BF16)?;
        let w = grow(b, w)?;
        Ok(vec![b.dot_2d(x, w)?])
    }),
    ("as factors of 16 bits", |b, grow| {
        let x = b.arg(DType::F16, [LARGE, LARGE]);
        let y = grow(b, x)?;
        let y = b.dot_2d(y, x)?;
        Ok(vec![grow(b, y)?])
    }),
    ("as scales of blocks", |b, grow| {
        let (x, scale) = (arg(b, [LARGE, LARGE]), arg(b, [LARGE, LARGE / 32]));
        let bytes = b.arg(DType::F8E4M3FN, [LARGE, LARGE]);
        let (w, scale) = (b.cast(bytes, DType::F32)?, b.broadcast(scale, [LARGE, LARGE / 32])?);
        let scale = b.reshape(scale, [LARGE, LARGE / 32, 1])?;
        let scale = b.broadcast(scale, [LARGE, LARGE / 32, 32])?;
        let scale = b.reshape(scale, [LARGE, LARGE])?;
        let w = b.mul(w, scale)?;
        let w = grow(b, w)?;
        Ok(vec![b.dot_rows(x, w)?])
    }),
    ("around a convolution", |b, grow| {
        let (x, w) = (arg(b, [N, N]), arg(b, [4, 4, 3, 3]));
        let y = grow(b, x)?;
        let y = b.reshape(y, [1, 4, 8, 8])?;
        let mut window = same_window(&[3, 3]);
        (window.low, window.high) = (vec![1.into(); 2], vec![1.into(); 2]);
        let y = b.conv(y, w, window, 1, DType::F32)?;
        let y = b.reshape(y, [N, N])?;
        Ok(vec![grow(b, y)?])
    }),
    ("as filters", |b, grow| {
        let (x, w) = (arg(b, [1, N, 4, 4]), arg(b, [N, N]));
        let w = grow(b, w)?;
        let w = b.reshape(w, [N, N, 1, 1])?;
        Ok(vec![b.conv(x, w, same_window(&[1, 1]), 1, DType::F32)?])
    }),
    ("around a pool", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        let y = b.reshape(y, [1, 4, 8, 8])?;
        let y = b.pool(PoolKind::Max, y, same_window(&[1, 1]))?;
        let y = b.reshape(y, [N, N])?;
        Ok(vec![grow(b, y)?])
    }),
    ("as queries, keys and values", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        let y = b.reshape(y, [1, 1, N, N])?;
        Ok(vec![b.attention(&[y, y, y], 0.25, false, 0, 0.0)?])
    }),
    ("as a mask", |b, grow| {
        let (q, x) = (arg(b, [1, 1, N, N]), arg(b, [N, N]));
        let mask = grow(b, x)?;
        let mask = b.reshape(mask, [1, 1, N, N])?;
        Ok(vec![b.attention(&[q, q, q, mask], 0.25, true, 0, 0.0)?])
    }),
    ("in attention spelled out", |b, grow| {
        let (q, x) = (arg(b, [N, N]), arg(b, [N, N]));
        let keys = b.transpose(q, &[1, 0])?;
        let scores = b.dot_2d(q, keys)?;
        let scores = grow(b, scores)?;
        let mask = grow(b, x)?;
        let scores = b.add(scores, mask)?;
        let weights = b.softmax(scores, 1, false)?;
        Ok(vec![b.dot_2d(weights, q)?])
    }),
    ("around an LSTM", |b, grow| {
        let (x, r) = (arg(b, [N, N]), arg(b, [4 * 4, 4]));
        let (bias, h) = (arg(b, [8 * 4]), arg(b, [2, 4]));
        let y = grow(b, x)?;
        let (steps, w) = (b.reshape(y, [8, 2, N])?, b.reshape(y, [4 * 4, N])?);
        let y = b.lstm(&[steps, w, r, bias, h, h], Direction::Forward)?[0];
        let y = b.reshape(y, [4, N])?;
        let y = b.concat(&[y, y, y, y], 0)?;
        Ok(vec![grow(b, y)?])
    }),
    ("before a reduction and a scan", |b, grow| {
        let x = arg(b, [N, N]);
        let y = grow(b, x)?;
        let best = b.arg_reduce(true, y, 1, false, false)?;
        Ok(vec![b.reduce(ScalarOp::Add, y, &[0], true)?, b.scan(ScalarOp::Add, y, 1, false, false)?, best])
    }),
    ("as indices and updates", |b, grow| {
        let (data, x) = (arg(b, [N, N]), arg(b, [N, N]));
        let y = grow(b, x)?;
        let places = b.cast(y, DType::I64)?;
        let taken = b.gather_elements(data, places, 0)?;
        let row = b.slice_axis(places, 0, 0, 1)?;
        let row = b.reshape(row, [N, 1])?;
        Ok(vec![taken, b.scatter_nd(data, row, y, ScatterKind::Add)?, b.gather(data, places, 1)?])
    }),
    ("as places to write", |b, grow| {
        let (data, at) = (arg(b, [N, N]), b.iota(DType::F32, [N, N], 0)?);
        let at = grow(b, at)?;
        let at = b.cast(at, DType::I64)?;
        Ok(vec![b.scatter_elements(data, at, data, 0, ScatterKind::Set)?])
    }),
    ("in a branch and a loop", |b, grow| {
        let (go, x) = (b.arg(DType::Bool, Shape::scalar()), arg(b, [N, N]));
        let y = b.branch(go, |b| Ok(vec![grow(b, x)?]), |_| Ok(vec![x]))?[0];
        let last = b.repeat(3, go, &[y], 0, |b, _, state| {
            let next = grow(b, state[0])?;
            Ok(vec![go, next])
        })?;
        Ok(vec![last[1]])
    }),
];

fn arg(b: &mut Builder, shape: impl Into<Shape>) -> Value {
    b.arg(DType::F32, shape)
}

fn scheme() -> QuantScheme {
    QuantScheme { axis: None, block: None, storage: DType::U8, zero_point: false }
}

/// Columns of a chain's values, and rows.
fn extent(b: &Builder, y: Value) -> i64 {
    b.shape(y)[1].as_const().unwrap()
}

fn quantised(b: &mut Builder, x: Value) -> Built {
    let scale = b.splat(b.dtype(x), Shape::scalar(), 0.0625)?;
    b.quantize(&[x, scale], scheme())
}

fn dequantised(b: &mut Builder, x: Value, to: DType) -> Built {
    let scale = b.splat(to, Shape::scalar(), 0.0625)?;
    b.dequantize(&[x, scale], scheme())
}

fn program(link: Link, place: Place) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let grow = |b: &mut Builder, x: Value| (0..LINKS).try_fold(x, |y, _| link(b, y));
    let results = place(&mut b, &grow).unwrap();
    b.ret(&results).unwrap();
    program.consts = consts;
    let func = program.entry_mut();
    func.arg_names = (0..func.args(func.body()).len()).map(|i| format!("in{i}")).collect();
    func.result_names = (0..results.len()).map(|i| format!("out{i}")).collect();
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    program
}

/// Compiles on a thread of its own, which is left behind where it does not end.
fn compiles(program: TensorProgram, class: &'static str) -> Result<(), String> {
    let (done, outcome) = mpsc::channel();
    std::thread::spawn(move || {
        let options = CompileOptions::new(Machine::class(class).unwrap());
        let compiled =
            tegula_driver::compile::compile_program(program, "chain", &options, None, &mut PassCx::new());
        // Nobody listens any more after the time is over.
        let _ = done.send(compiled.map(|_| ()).map_err(|found| found.to_string()));
    });
    outcome.recv_timeout(LONGEST).unwrap_or_else(|_| Err(format!("does not end within {LONGEST:?}")))
}

/// Every chain in every place.
fn all_compile(class: &'static str) {
    for (link_name, link) in LINKS_BY_NAME {
        for (place_name, place) in PLACES {
            if let Err(found) = compiles(program(*link, *place), class) {
                panic!("{link_name} {place_name} for {class}: {found}");
            }
        }
    }
}

// One test a machine: cores that would be idle take one each.

#[test]
fn chains_that_read_all_twice_compile_in_their_length_for_avx512() {
    all_compile("avx512-generic");
}

#[test]
fn chains_that_read_all_twice_compile_in_their_length_for_avx2() {
    all_compile("avx2-generic");
}

#[test]
fn chains_that_read_all_twice_compile_in_their_length_for_a_gpu() {
    all_compile("h200");
}
