//! Attention: prompts under all masks, and decoding from a cache, plain or in pages.

use super::{Fill, Params};
use serde::Deserialize;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;

/// `group g` heads of `l` queries over `g` heads of `s` keys.
#[derive(Clone, Debug, Deserialize)]
pub struct Attention {
    dtype: String,
    group: i64,
    /// Elements of a query or key, and of a value.
    d: i64,
    v: i64,
    causal: bool,
    window: i64,
    softcap: f64,
    mask: Mask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mask {
    None,
    /// A number for each head, query and key.
    Added,
    /// Whether a key of a sequence is seen at all.
    Bool,
    /// A slope a head, times the distance.
    Alibi,
}

impl Attention {
    pub(super) fn is_narrow(&self) -> bool {
        self.dtype.parse().is_ok_and(|dtype: DType| dtype.bits() <= 16)
    }

    pub(super) fn build(&self, p: &mut Params) -> Built<Vec<Value>> {
        let dtype: DType = self.dtype.parse()?;
        let [b, g, l, s] = ["b", "g", "l", "s"].map(|name| p.dim(name));
        let heads = Dim::from(self.group) * g.clone();
        let q = p.input("q", dtype, [b.clone(), heads.clone(), l.clone(), Dim::from(self.d)]);
        let k = p.input("k", dtype, [b.clone(), g.clone(), s.clone(), Dim::from(self.d)]);
        let v = p.input("v", dtype, [b.clone(), g, s.clone(), Dim::from(self.v)]);
        let mut operands = vec![q, k, v];
        let one = Dim::from(1);
        match self.mask {
            Mask::None => {}
            Mask::Added => operands.push(p.input("mask", dtype, [b, heads, l, s])),
            Mask::Bool => {
                let seen = p.input("seen", DType::Bool, [b, one.clone(), one, s]);
                let [zero, hidden] = [0.0, f64::NEG_INFINITY].map(|n| p.b.splat(dtype, Shape::scalar(), n));
                operands.push(p.b.select(seen, zero?, hidden?)?);
            }
            Mask::Alibi => {
                let slopes = p.positive("slopes", dtype, [one.clone(), heads, one.clone(), one.clone()]);
                let row = p.b.iota(DType::I32, [one.clone(), one.clone(), l.clone(), one.clone()], 2)?;
                let column = p.b.iota(DType::I32, [one.clone(), one.clone(), one, s.clone()], 3)?;
                let distance = p.b.sub(column, row)?;
                let distance = p.b.cast(distance, dtype)?;
                operands.push(p.b.mul(slopes, distance)?);
            }
        }
        let scale = 1.0 / (self.d as f64).sqrt();
        Ok(vec![p.b.attention(&operands, scale, self.causal, self.window, self.softcap)?])
    }
}

/// One query of each sequence.
#[derive(Clone, Debug, Deserialize)]
pub struct Decode {
    dtype: String,
    group: i64,
    d: i64,
    v: i64,
    /// Keys of a page.
    #[serde(default)]
    page: i64,
}

impl Decode {
    /// Whether each page has one key.
    pub(super) fn is_single_keys(&self) -> bool {
        self.page == 1
    }

    /// From a cache `[b, g, s, d]`.
    pub(super) fn build(&self, p: &mut Params) -> Built<Vec<Value>> {
        let dtype: DType = self.dtype.parse()?;
        let [b, g, s] = ["b", "g", "s"].map(|name| p.dim(name));
        let q = self.query(p, dtype)?;
        let k = p.input("k", dtype, [b.clone(), g.clone(), s.clone(), Dim::from(self.d)]);
        let v = p.input("v", dtype, [b, g, s, Dim::from(self.v)]);
        self.attention(p, [q, k, v])
    }

    /// From a pool of pages `[pool, page, g, d]`; a table `[b, p]` says which a sequence has. Values of another size
    /// than keys are the keys' first elements.
    pub(super) fn paged(&self, p: &mut Params) -> Built<Vec<Value>> {
        let dtype: DType = self.dtype.parse()?;
        let [b, g, pages, pool] = ["b", "g", "p", "pool"].map(|name| p.dim(name));
        let page = Dim::from(self.page);
        let q = self.query(p, dtype)?;
        let table = p.filled("table", DType::I64, [b.clone(), pages.clone()], Fill::Below(pool.clone()));
        let cache = |p: &mut Params, name: &str, d: i64| -> Built {
            let pool = p.input(name, dtype, [pool.clone(), page.clone(), g.clone(), Dim::from(d)]);
            let own = p.b.gather(pool, table, 0)?;
            let keys = pages.clone() * page.clone();
            let own = p.b.reshape(own, [b.clone(), keys, g.clone(), Dim::from(d)])?;
            p.b.transpose(own, &[0, 2, 1, 3])
        };
        let k = cache(p, "k", self.d)?;
        let v = match self.v == self.d {
            true => cache(p, "v", self.v)?,
            false => p.b.slice_axis(k, 3, Dim::from(0), Dim::from(self.v))?,
        };
        self.attention(p, [q, k, v])
    }

    fn query(&self, p: &mut Params, dtype: DType) -> Built {
        let [b, g] = ["b", "g"].map(|name| p.dim(name));
        Ok(p.input("q", dtype, [b, Dim::from(self.group) * g, Dim::from(1), Dim::from(self.d)]))
    }

    fn attention(&self, p: &mut Params, operands: [Value; 3]) -> Built<Vec<Value>> {
        let scale = 1.0 / (self.d as f64).sqrt();
        Ok(vec![p.b.attention(&operands, scale, false, 0, 0.0)?])
    }
}
