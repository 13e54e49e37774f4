//! A decoder of the Llama kind as a tensor program, to measure compilers by: of a prompt, whose tokens and cache have
//! symbolic lengths ([`Decoder::program`]), and one step of decoding into a cache of fixed room ([`Decoder::step`]).
//!
//! Embedding; layers of rms norm, rotary attention over a growing cache, rms norm, gated feed-forward; norm and head
//! ("LLaMA: Open and Efficient Foundation Language Models", section 2.2).

use crate::random::Rng;
use crate::random::data::from_reals;
use tegula_base::{DType, Dim, Shape, SymbolInfo};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Builder, ScatterKind, TensorFunc, TensorProgram, build::Built};

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
    pub weights: Weights,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Each is an argument.
    Arguments,
    /// Random ones of this seed stand in the program.
    Constants(u64),
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
        weights: Weights::Arguments,
    };

    /// Small enough for the evaluator and the simulator.
    pub const TINY: Decoder = Decoder {
        hidden: 64,
        feed_forward: 96,
        layers: 2,
        heads: 4,
        groups: 2,
        vocabulary: 96,
        dtype: DType::F32,
        weights: Weights::Constants(7),
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
        let embedding = self.weight(&mut b, [self.vocabulary, self.hidden])?;
        let offset = b.size_as(&past, DType::F32, 4)?;
        let angles = self.angles(&mut b, &seq, offset)?;
        let mut x = b.gather(embedding, tokens, 0)?;
        let mut results = Vec::new();
        for cache in caches {
            let norm = self.norm(&mut b, x)?;
            let [q, k, v] = self.projected(&mut b, norm, angles, &seq)?;
            let kept = [b.concat(&[cache[0], k], 2)?, b.concat(&[cache[1], v], 2)?];
            let mixed = b.attention(&[q, kept[0], kept[1]], self.scale(), true, 0, 0.0)?;
            x = self.rest_of_layer(&mut b, x, mixed, &seq)?;
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

    /// One step: `(token: i64[1], position: i64[1], then of each layer two caches [1,groups,room,head]; weights)` to
    /// `(next: i64[1], logits: [1,vocabulary], the caches with a row more)`. The position is data: all steps have the
    /// same sizes. The caches' names are those of [`Decoder::aliases`].
    /// Errors: a constraint of the tensor level that these sizes break.
    pub fn step(&self, room: i64) -> Built<TensorProgram> {
        let mut program = TensorProgram::new(TensorFunc::new("step"));
        let [func] = &mut program.funcs[..] else { return Err("a program has an entry".into()) };
        let mut b = Builder::new(func, &mut program.consts);
        let one = Dim::from(1);
        let (token, position) = (b.arg(DType::I64, [1]), b.arg(DType::I64, [1]));
        let cache = [1, self.groups, room, self.head()];
        let caches: Vec<[Value; 2]> =
            (0..self.layers).map(|_| [b.arg(self.dtype, cache), b.arg(self.dtype, cache)]).collect();
        let embedding = self.weight(&mut b, [self.vocabulary, self.hidden])?;
        let position = b.reshape(position, [1, 1, 1, 1])?;
        let offset = b.cast(position, DType::F32)?;
        let angles = self.angles(&mut b, &one, offset)?;
        let places = b.broadcast(position, [1, self.groups, 1, self.head()])?;
        let mask = self.filled_part(&mut b, position, room)?;
        let mut x = b.gather(embedding, token, 0)?;
        let mut kept = Vec::new();
        for [keys, values] in caches {
            let norm = self.norm(&mut b, x)?;
            let [q, k, v] = self.projected(&mut b, norm, angles, &one)?;
            let keys = b.scatter_elements(keys, places, k, 2, ScatterKind::Set)?;
            let values = b.scatter_elements(values, places, v, 2, ScatterKind::Set)?;
            let mixed = b.attention(&[q, keys, values, mask], self.scale(), false, 0, 0.0)?;
            x = self.rest_of_layer(&mut b, x, mixed, &one)?;
            kept.extend([keys, values]);
        }
        let last = self.norm(&mut b, x)?;
        let logits = self.linear(&mut b, last, self.hidden, self.vocabulary)?;
        let next = b.arg_reduce(true, logits, 1, false, false)?;
        let results: Vec<Value> = [next, logits].into_iter().chain(kept).collect();
        b.ret(&results)?;
        let n_weights = func.args(func.body()).len() - 2 - 2 * self.layers;
        let names = self.aliases().into_iter();
        let (past, present): (Vec<String>, Vec<String>) = names.unzip();
        let weights = (0..n_weights).map(|i| format!("weight.{i}"));
        let first = |names: [&str; 2]| names.map(str::to_string).into_iter();
        func.arg_names = first(["token", "position"]).chain(past).chain(weights).collect();
        func.result_names = first(["next", "logits"]).chain(present).collect();
        Ok(program)
    }

    /// The caches before and after a step, by name.
    pub fn aliases(&self) -> Vec<(String, String)> {
        let of_layer = |layer: usize| {
            ["key", "value"].map(|kind| (format!("past.{layer}.{kind}"), format!("present.{layer}.{kind}")))
        };
        (0..self.layers).flat_map(of_layer).collect()
    }

    /// A number to add to the scores of each place of a cache: none of the rows up to the position, else minus infinity.
    fn filled_part(&self, b: &mut Builder, position: Value, room: i64) -> Built {
        let place = b.iota(DType::I64, [1, 1, 1, room], 3)?;
        let seen = b.broadcasted(ScalarOp::Le, &[place, position])?;
        let [zero, hidden] = [0.0, f64::NEG_INFINITY].map(|n| b.splat(self.dtype, Shape::scalar(), n));
        b.select(seen, zero?, hidden?)
    }

    fn weight(&self, b: &mut Builder, shape: [i64; 2]) -> Built {
        self.given(b, &shape, |unit| (unit - 0.5) * (12.0 / shape[1] as f64).sqrt())
    }

    /// An argument, or random numbers: `of` maps 0 to 1 to a weight.
    fn given(&self, b: &mut Builder, shape: &[i64], of: impl Fn(f64) -> f64) -> Built {
        let Weights::Constants(seed) = self.weights else {
            return Ok(b.arg(self.dtype, shape.iter().copied().collect::<Shape>()));
        };
        let extents: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
        let mut rng = Rng::new(seed + b.func.value_count() as u64);
        let reals: Vec<f64> = (0..extents.iter().product()).map(|_| of(rng.unit())).collect();
        b.literal(from_reals(self.dtype, &extents, &reals))
    }

    fn scale(&self) -> f64 {
        1.0 / (self.head() as f64).sqrt()
    }

    /// Cosines and sines of the positions from `offset` on, `[1, 1, seq, head / 2]`.
    fn angles(&self, b: &mut Builder, seq: &Dim, offset: Value) -> Built<[Value; 2]> {
        let half = self.head() / 2;
        let shape: Shape = [Dim::from(1), 1.into(), seq.clone(), half.into()].into();
        let position = b.iota(DType::F32, shape.clone(), 2)?;
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
        let scale = self.given(b, &[self.hidden], |unit| 0.5 + unit)?;
        b.rms_norm(x, scale, 1, 1e-5)
    }

    fn linear(&self, b: &mut Builder, x: Value, from: i64, to: i64) -> Built {
        let weight = self.weight(b, [to, from])?;
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

    /// Queries, keys and values of normalised x, `[1, heads or groups, seq, head]`.
    fn projected(&self, b: &mut Builder, x: Value, angles: [Value; 2], seq: &Dim) -> Built<[Value; 3]> {
        let (n, kv) = (self.hidden, self.groups * self.head());
        let (q, k, v) = (self.linear(b, x, n, n)?, self.linear(b, x, n, kv)?, self.linear(b, x, n, kv)?);
        let (q, k) = (self.split(b, q, seq, self.heads)?, self.split(b, k, seq, self.groups)?);
        let v = self.split(b, v, seq, self.groups)?;
        Ok([self.rotated(b, q, angles)?, self.rotated(b, k, angles)?, v])
    }

    /// What follows attention in a layer.
    fn rest_of_layer(&self, b: &mut Builder, x: Value, mixed: Value, seq: &Dim) -> Built {
        let n = self.hidden;
        let mixed = b.transpose(mixed, &[0, 2, 1, 3])?;
        let mixed = b.reshape(mixed, [seq.clone(), n.into()])?;
        let attended = self.linear(b, mixed, n, n)?;
        let x = b.add(x, attended)?;
        let fed = self.feed_forward(b, x)?;
        b.add(x, fed)
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
