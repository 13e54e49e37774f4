//! The models of published figures as tensor programs: a contraction, a step of an LSTM, an encoder. `residual.rs` has another.
//!
//! Factors are bytes, whose sums are `i32` and then scaled to `f32`, or `f32` that the target rounds to `f16`. Weights are
//! small numbers that repeat late; no two constants are the same, so that each has a place of its own.

use tegula_base::{DType, HostTensor};
use tegula_ir::{ScalarOp, Value};
use tegula_perf::lpu::Factors;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, DotDims, QuantScheme, TensorFunc, TensorProgram};

/// What sums of bytes, and activations that become bytes, are scaled by.
pub(super) const SCALE: f64 = 1.0 / 64.0;

/// Kinds of numbers of constants: their least is minus half of it.
const NUMBERS: usize = 101;

/// `f32[m, k]` by a constant `[k, n]`.
/// Errors: a constraint of the tensor level that these sizes break, as of all models here.
pub fn gemm(m: u64, k: u64, n: u64) -> Built<TensorProgram> {
    build(|net| {
        let x = net.b.arg(DType::F32, [m as i64, k as i64]);
        let w = net.weight(DType::F32, &[k, n])?;
        Ok(vec![net.b.dot_2d(x, w)?])
    })
}

/// `(x: i8[rows, units], h: i8[rows, units], c: f32[rows, units])` to the next `h` and `c`: gates of `x W + h R`, as in
/// S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", 1997, with forget gates.
pub fn lstm(units: u64, rows: u64) -> Built<TensorProgram> {
    build(|net| {
        let shape = [rows as i64, units as i64];
        let [x, h] = [(); 2].map(|()| net.b.arg(DType::I8, shape));
        let c = net.b.arg(DType::F32, shape);
        let gate = |net: &mut Net| -> Built {
            let [own, back] = [x, h].map(|side| net.sums(side, units, units));
            let sums = net.b.add(own?, back?)?;
            let scaled = net.scaled(sums)?;
            net.biased(scaled, units)
        };
        let (input, forget, cell, output) = (gate(net)?, gate(net)?, gate(net)?, gate(net)?);
        let (input, forget, output) = (net.b.sigmoid(input)?, net.b.sigmoid(forget)?, net.b.sigmoid(output)?);
        let cell = net.b.tanh(cell)?;
        let (kept, added) = (net.b.mul(forget, c)?, net.b.mul(input, cell)?);
        let c = net.b.add(kept, added)?;
        let squashed = net.b.tanh(c)?;
        let h = net.b.mul(output, squashed)?;
        Ok(vec![net.bytes(h)?, c])
    })
}

/// Sizes of an encoder: J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2018, section 3.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    pub tokens: u64,
    pub hidden: u64,
    pub heads: u64,
    pub feed_forward: u64,
    pub layers: usize,
}

impl Encoder {
    pub const BERT_BASE: Encoder =
        Encoder { tokens: 128, hidden: 768, heads: 12, feed_forward: 3072, layers: 12 };

    /// `f32[tokens, hidden]`, behind the embedding, to the same behind all layers.
    pub fn program(&self, factors: Factors) -> Built<TensorProgram> {
        build(|net| {
            net.factors = factors;
            let mut x = net.b.arg(DType::F32, [self.tokens as i64, self.hidden as i64]);
            for _ in 0..self.layers {
                x = self.layer(net, x)?;
            }
            Ok(vec![x])
        })
    }

    fn layer(&self, net: &mut Net, x: Value) -> Built {
        let mixed = self.attention(net, x)?;
        let sum = net.b.add(x, mixed)?;
        let x = net.norm(sum, self.hidden)?;
        let factor = net.factor(x)?;
        let wide = net.linear(factor, self.hidden, self.feed_forward)?;
        let wide = net.b.gelu(wide, false)?;
        let factor = net.factor(wide)?;
        let narrow = net.linear(factor, self.feed_forward, self.hidden)?;
        let sum = net.b.add(x, narrow)?;
        net.norm(sum, self.hidden)
    }

    fn attention(&self, net: &mut Net, x: Value) -> Built {
        let head = self.hidden / self.heads;
        let split = [self.tokens, self.heads, head].map(|n| n as i64);
        let factor = net.factor(x)?;
        let projected = |net: &mut Net| -> Built {
            let all = net.linear(factor, self.hidden, self.hidden)?;
            let all = net.factor(all)?;
            net.b.reshape(all, split)
        };
        let (q, k, v) = (projected(net)?, projected(net)?, projected(net)?);
        let dims = |lhs_batch, lhs_contract, rhs_contract| DotDims {
            lhs_batch: vec![lhs_batch],
            rhs_batch: vec![1],
            lhs_contract: vec![lhs_contract],
            rhs_contract: vec![rhs_contract],
        };
        // Heads, queries, keys.
        let scores = net.dot(q, k, dims(1, 2, 2))?;
        let scores = net.b.with_number(ScalarOp::Mul, scores, 1.0 / (head as f64).sqrt())?;
        let weights = net.b.softmax(scores, 2, false)?;
        let weights = net.factor(weights)?;
        let mixed = net.dot(weights, v, dims(0, 2, 0))?;
        let mixed = net.b.transpose(mixed, &[1, 0, 2])?;
        let mixed = net.b.reshape(mixed, [self.tokens as i64, self.hidden as i64])?;
        let factor = net.factor(mixed)?;
        net.linear(factor, self.hidden, self.hidden)
    }
}

/// A model that is being built.
pub(super) struct Net<'a> {
    pub(super) b: Builder<'a>,
    factors: Factors,
    constants: usize,
}

pub(super) fn build(fill: impl FnOnce(&mut Net) -> Built<Vec<Value>>) -> Built<TensorProgram> {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let [func] = &mut program.funcs[..] else { return Err("a program has an entry".into()) };
    let b = Builder::new(func, &mut program.consts);
    let mut net = Net { b, factors: Factors::I8, constants: 0 };
    let results = fill(&mut net)?;
    net.b.ret(&results)?;
    let body = func.body();
    func.arg_names = (0..func.args(body).len()).map(|i| format!("x{i}")).collect();
    func.result_names = (0..results.len()).map(|i| format!("y{i}")).collect();
    Ok(program)
}

impl Net<'_> {
    pub(super) fn weight(&mut self, dtype: DType, shape: &[u64]) -> Built {
        let shape: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        self.constants += 1;
        let first = self.constants;
        let number = |i: usize| ((i * 7 + i / 13 + first) % NUMBERS) as i8 - (NUMBERS / 2) as i8;
        let all = 0..shape.iter().product();
        let data = match dtype {
            DType::I8 => HostTensor::from_elements(&shape, &all.map(number).collect::<Vec<i8>>()),
            _ => {
                let scaled = |i| f32::from(number(i)) * SCALE as f32;
                HostTensor::from_elements(&shape, &all.map(scaled).collect::<Vec<f32>>())
            }
        };
        self.b.constant(data)
    }

    /// An activation as contractions read it.
    fn factor(&mut self, x: Value) -> Built {
        match self.factors {
            Factors::I8 => self.bytes(x),
            Factors::F16 => Ok(x),
        }
    }

    pub(super) fn bytes(&mut self, x: Value) -> Built {
        let scale = self.b.scalar_f32(SCALE as f32)?;
        let scheme = QuantScheme { axis: None, block: None, storage: DType::I8, zero_point: false };
        self.b.quantize(&[x, scale], scheme)
    }

    /// Integer sums of bytes and a constant.
    fn sums(&mut self, x: Value, from: u64, to: u64) -> Built {
        let w = self.weight(DType::I8, &[from, to])?;
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![1], rhs_contract: vec![0] };
        self.b.dot(x, w, dims, DType::I32)
    }

    pub(super) fn scaled(&mut self, sums: Value) -> Built {
        let sums = self.b.cast(sums, DType::F32)?;
        self.b.with_number(ScalarOp::Mul, sums, SCALE * SCALE)
    }

    fn biased(&mut self, x: Value, n: u64) -> Built {
        let bias = self.weight(DType::F32, &[1, n])?;
        self.b.add(x, bias)
    }

    /// A contraction of two activations.
    fn dot(&mut self, a: Value, b: Value, dims: DotDims) -> Built {
        match self.factors {
            Factors::I8 => {
                let sums = self.b.dot(a, b, dims, DType::I32)?;
                self.scaled(sums)
            }
            Factors::F16 => self.b.dot(a, b, dims, DType::F32),
        }
    }

    pub(super) fn linear(&mut self, x: Value, from: u64, to: u64) -> Built {
        let product = match self.factors {
            Factors::I8 => {
                let sums = self.sums(x, from, to)?;
                self.scaled(sums)?
            }
            Factors::F16 => {
                let w = self.weight(DType::F32, &[from, to])?;
                self.b.dot_2d(x, w)?
            }
        };
        self.biased(product, to)
    }

    fn norm(&mut self, x: Value, n: u64) -> Built {
        let (scale, bias) = (self.weight(DType::F32, &[n])?, self.weight(DType::F32, &[n])?);
        self.b.layer_norm(x, scale, Some(bias), 1, 1e-12)
    }
}
