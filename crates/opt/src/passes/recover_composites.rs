//! Finds composites that exporters have spelled out.
//!
//! Before: canonical form, sizes folded, equal ops joined.  After: softmax, normalisations, GELU and attention are one op each;
//! contractions of dequantised bytes are integer contractions.
//! A pattern matches its meaning exactly: every constant, axis and variant. It is written as mathematics has it, and
//! `algebra.rs` sees through the order, association and spelling that an exporter chose.

mod algebra;
mod attention;
mod byte_tables;
mod gates;
mod narrow;
mod quantised;
mod requantised;
mod rows;

use crate::passes::canonicalise::{Rule, apply_rules, window};
use tegula_backend::{Contractions, Targets};
use tegula_base::Diagnostics;
use tegula_ir::ScalarOp;
use tegula_ir::pass::{Changed, PassCx};
use tegula_tensor::{TensorOp, TensorProgram};

/// Where contractions are a device's, they are not shaped for the host, and no function of bytes becomes a lookup of the host's.
pub fn recover_composites(
    program: &mut TensorProgram,
    targets: Targets<'_>,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let table = match targets.contractions {
        Contractions::Device => table_of_device,
        Contractions::Anywhere if targets.host.preferences().lookup_tables => table_with_lookups,
        Contractions::Anywhere => table,
    };
    apply_rules(program, table, cx)
}

#[cfg(test)]
pub(crate) const TABLES: [&[Rule]; 10] =
    [MUL, DIV, RECIPROCAL, ADD, SUB, CAST, CONTRACTIONS, CONTRACTIONS_OF_DEVICE, QUANTIZE, LOOKUPS];

fn table(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Elementwise { f } => match f {
            ScalarOp::Mul => MUL,
            ScalarOp::Div => DIV,
            ScalarOp::Reciprocal => RECIPROCAL,
            ScalarOp::Add => ADD,
            ScalarOp::Sub => SUB,
            ScalarOp::Cast { .. } => CAST,
            _ => &[],
        },
        TensorOp::Conv { .. } | TensorOp::Dot { .. } => CONTRACTIONS,
        TensorOp::Quantize { .. } => QUANTIZE,
        _ => &[],
    }
}

fn table_with_lookups(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Quantize { .. } => LOOKUPS,
        kind => table(kind),
    }
}

fn table_of_device(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Conv { .. } | TensorOp::Dot { .. } => CONTRACTIONS_OF_DEVICE,
        // No pass behind this one touches what a device takes.
        TensorOp::Pool { .. } => window::POOL,
        kind => table(kind),
    }
}

const SOFTMAX: Rule = Rule { name: "exp(x) / sum(exp(x)) => softmax(x)", apply: rows::softmax };
const NORM: Rule = Rule {
    name: "x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)",
    apply: rows::norm,
};
const NORM_OF_PRODUCTS: Rule =
    Rule { name: "x * a + (b - mean(x) * a) => layer_norm(x) * scale + b", apply: rows::norm_of_products };
const GELU: Rule = Rule {
    name: "x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)",
    apply: gates::gelu,
};
const SIGMOID: Rule = Rule { name: "x / (1 + exp(-x)) => x * sigmoid(x)", apply: gates::sigmoid };

const MUL: &[Rule] =
    &[Rule { name: "norm(x, 1) * scale => norm(x, scale)", apply: rows::scale }, GELU, SOFTMAX, NORM];
const DIV: &[Rule] = &[SIGMOID, GELU, SOFTMAX, NORM];
const RECIPROCAL: &[Rule] = &[SIGMOID];
const ADD: &[Rule] = &[
    Rule { name: "layer_norm(x, scale) + bias => layer_norm(x, scale, bias)", apply: rows::bias },
    NORM_OF_PRODUCTS,
];
const SUB: &[Rule] =
    &[Rule { name: "x - log(sum(exp(x))) => log softmax(x)", apply: rows::log_softmax }, NORM_OF_PRODUCTS];
const CAST: &[Rule] = &[Rule { name: "cast(composite(cast(x))) => composite(x)", apply: narrow::composite }];
const DOT: Rule =
    Rule { name: "dot(dequantize(x), dequantize(w)) => dot(x, w) * scales", apply: quantised::dot };
const WEIGHTS: Rule =
    Rule { name: "dot(x, dequantize(constant)) => dot(x, constant) * scales", apply: quantised::weights };
const ATTENTION: Rule = Rule {
    name: "dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)",
    apply: attention::attention,
};
const CONTRACTIONS: &[Rule] = &[
    Rule {
        name: "conv(dequantize(x), dequantize(w)) => conv(x, w) * scales",
        apply: quantised::conv_of_fours,
    },
    DOT,
    WEIGHTS,
    ATTENTION,
];
const CONTRACTIONS_OF_DEVICE: &[Rule] = &[
    Rule { name: "conv(dequantize(x), dequantize(w)) => conv(x, w) * scales", apply: quantised::conv },
    DOT,
    WEIGHTS,
    ATTENTION,
];
const MOVED: Rule = Rule { name: "quantize(moved(dequantize(x))) => moved(x)", apply: requantised::quantize };
const QUANTIZE: &[Rule] = &[MOVED];
const LOOKUPS: &[Rule] =
    &[MOVED, Rule { name: "quantize(f(dequantize(x))) => gather(table, x)", apply: byte_tables::table }];
