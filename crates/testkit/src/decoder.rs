//! A decoder of the Llama kind as a tensor program, to measure compilers by: every weight is an argument, tokens and
//! cache have symbolic lengths.
//!
//! Embedding; layers of rms norm, rotary attention over a growing cache, rms norm, gated feed-forward; norm and head
//! ("LLaMA: Open and Efficient Foundation Language Models", section 2.2).

use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Builder, TensorFunc, TensorProgram, build::Built};

/// Sizes of a decoder.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    pub hidden: i64,
    pub feed_forward: i64,
    pub layers: usize,
    pub heads: i64,
    /// Heads of keys and values, which divide `heads`.
    pub groups: i64,
    pub vocabulary: i64,
    pub dtype: DType,
}

impl Decoder {
    /// Llama 2 7B.
    pub const LLAMA_7B: Decoder = Decoder {
        hidden: 4096,
        feed_forward: 11008,
        layers: 32,
        heads: 32,
        groups: 32,
        vocabulary: 32000,
        dtype: DType::BF16,
    };

    fn head(&self) -> i64 {
        self.hidden / self.heads
    }

    /// The program: `(tokens: i64[seq], then of each layer two caches [1,groups,past,head]; weights)` to
    /// `(logits: [seq,vocabulary], the caches with `seq` more rows)`.
    /// Errors: a constraint of the tensor level that these sizes break.
    pub fn program(&self) -> Built<TensorProgram> {
        let mut program = TensorProgram::new(TensorFunc::new("decoder"));
        let (seq, past) = (Dim::symbol("seq"), Dim::symbol("past"));
        program.symbols.insert("seq", SymbolInfo { min: 1, ..SymbolInfo::input(0, 0) });
        program.symbols.insert("past", SymbolInfo::input(1, 2));
        let [func] = &mut program.funcs[..] else { return Err("a program has an entry".into()) };
        let mut b = Builder::new(func, &mut program.consts);
        let tokens = b.arg(DType::I64, [seq.clone()]);
        let cache = [Dim::from(1), self.groups.into(), past.clone(), self.head().into()];
        let caches: Vec<[Value; 2]> = (0..self.layers)
            .map(|_| [b.arg(self.dtype, cache.clone()), b.arg(self.dtype, cache.clone())])
            .collect();
        let embedding = b.arg(self.dtype, [self.vocabulary, self.hidden]);
        let angles = self.angles(&mut b, &seq, &past)?;
        let mut x = b.gather(embedding, tokens, 0)?;
        let mut results = Vec::new();
        for cache in caches {
            let (attended, kept) = self.attention(&mut b, x, cache, angles, &seq)?;
            x = b.add(x, attended)?;
            let fed = self.feed_forward(&mut b, x)?;
            x = b.add(x, fed)?;
            results.extend(kept);
        }
        let last = self.norm(&mut b, x)?;
        let logits = self.linear(&mut b, last, self.hidden, self.vocabulary)?;
        results.insert(0, logits);
        b.ret(&results)?;
        let body = func.body();
        func.arg_names = (0..func.args(body).len()).map(|i| format!("x{i}")).collect();
        func.result_names = (0..results.len()).map(|i| format!("y{i}")).collect();
        Ok(program)
    }

    /// Cosines and sines of the positions, `[1, 1, seq, head / 2]`.
    fn angles(&self, b: &mut Builder, seq: &Dim, past: &Dim) -> Built<[Value; 2]> {
        let half = self.head() / 2;
        let shape: Shape = [Dim::from(1), 1.into(), seq.clone(), half.into()].into();
        let position = b.iota(DType::F32, shape.clone(), 2)?;
        let offset = b.size_as(past, DType::F32, 4)?;
        let position = b.add(position, offset)?;
        let pair = b.iota(DType::F32, shape, 3)?;
        // 10000^(-pair / half).
        let power = b.with_number(ScalarOp::Mul, pair, -(10_000f64.ln()) / half as f64)?;
        let frequency = b.exp(power)?;
        let angle = b.mul(position, frequency)?;
        let (cos, sin) = (b.elementwise(ScalarOp::Cos, &[angle])?, b.elementwise(ScalarOp::Sin, &[angle])?);
        Ok([b.cast(cos, self.dtype)?, b.cast(sin, self.dtype)?])
    }

    fn norm(&self, b: &mut Builder, x: Value) -> Built {
        let scale = b.arg(self.dtype, [self.hidden]);
        b.rms_norm(x, scale, 1, 1e-5)
    }

    fn linear(&self, b: &mut Builder, x: Value, from: i64, to: i64) -> Built {
        let weight = b.arg(self.dtype, [to, from]);
        b.dot_rows(x, weight)
    }

    /// `[seq, n head]` as `[1, n, seq, head]`.
    fn split(&self, b: &mut Builder, x: Value, seq: &Dim, n: i64) -> Built {
        let x = b.reshape(x, [Dim::from(1), seq.clone(), n.into(), self.head().into()])?;
        b.transpose(x, &[0, 2, 1, 3])
    }

    fn rotated(&self, b: &mut Builder, x: Value, [cos, sin]: [Value; 2]) -> Built {
        let half = self.head() / 2;
        let (low, high) = (b.slice_axis(x, 3, 0, half)?, b.slice_axis(x, 3, half, half)?);
        let (a, c) = (b.mul(low, cos)?, b.mul(high, sin)?);
        let first = b.sub(a, c)?;
        let (a, c) = (b.mul(high, cos)?, b.mul(low, sin)?);
        let second = b.add(a, c)?;
        b.concat(&[first, second], 3)
    }

    fn attention(
        &self,
        b: &mut Builder,
        x: Value,
        [keys, values]: [Value; 2],
        angles: [Value; 2],
        seq: &Dim,
    ) -> Built<(Value, [Value; 2])> {
        let (n, kv) = (self.hidden, self.groups * self.head());
        let x = self.norm(b, x)?;
        let (q, k, v) = (self.linear(b, x, n, n)?, self.linear(b, x, n, kv)?, self.linear(b, x, n, kv)?);
        let (q, k) = (self.split(b, q, seq, self.heads)?, self.split(b, k, seq, self.groups)?);
        let v = self.split(b, v, seq, self.groups)?;
        let (q, k) = (self.rotated(b, q, angles)?, self.rotated(b, k, angles)?);
        let (k, v) = (b.concat(&[keys, k], 2)?, b.concat(&[values, v], 2)?);
        let scale = 1.0 / (self.head() as f64).sqrt();
        let mixed = b.attention(&[q, k, v], scale, true, 0, 0.0)?;
        let mixed = b.transpose(mixed, &[0, 2, 1, 3])?;
        let mixed = b.reshape(mixed, [seq.clone(), n.into()])?;
        Ok((self.linear(b, mixed, n, n)?, [k, v]))
    }

    /// `down(silu(gate x) * up x)` of the normalised x.
    fn feed_forward(&self, b: &mut Builder, x: Value) -> Built {
        let (n, wide) = (self.hidden, self.feed_forward);
        let x = self.norm(b, x)?;
        let (gate, up) = (self.linear(b, x, n, wide)?, self.linear(b, x, n, wide)?);
        let sigmoid = b.sigmoid(gate)?;
        let gate = b.mul(gate, sigmoid)?;
        let product = b.mul(gate, up)?;
        self.linear(b, product, wide, n)
    }
}
