//! One function an op (or a close family): picks operands that fit, draws attributes, builds.

mod contract;
mod control;
mod elementwise;
mod movement;
mod order;
mod reduce;
mod rows;
mod stored;

use super::build::Gen;
use tegula_tensor::build::Built;

pub(super) use elementwise::preserving;

type Maker = fn(&mut Gen) -> Built<()>;

/// How often an op is drawn, in parts of the sum. Rare ops weigh enough for 100 programs of 2,000.
const MAKERS: [(u64, Maker); 50] = [
    (150, elementwise::unary),
    (170, elementwise::binary),
    (30, elementwise::select),
    (20, elementwise::fma),
    (60, elementwise::cast),
    (20, elementwise::bitcast),
    (16, movement::splat),
    (16, movement::iota),
    (16, movement::sizes),
    (16, movement::constant),
    (30, movement::broadcast),
    (40, movement::reshape),
    (40, movement::transpose),
    (40, movement::slice),
    (30, movement::pad),
    (40, movement::concat),
    (25, movement::gather),
    (22, movement::gather_elements),
    (22, movement::gather_nd),
    (22, movement::scatter_elements),
    (22, movement::scatter_nd),
    (50, reduce::reduce),
    (25, reduce::arg_reduce),
    (25, reduce::scan),
    (40, contract::dot),
    (20, contract::stored_bytes),
    (30, contract::conv),
    (22, contract::conv_transpose),
    (24, contract::pool),
    (20, contract::max_pool_indices),
    (26, rows::softmax),
    (22, rows::layer_norm),
    (20, rows::rms_norm),
    (20, rows::gelu),
    (20, rows::attention),
    (18, rows::lstm),
    (18, rows::gru),
    (24, stored::quantize),
    (24, stored::dequantize),
    (20, stored::q_dot),
    (20, stored::q_conv),
    (20, order::top_k),
    (18, order::non_zero),
    (18, order::unique),
    (16, order::non_max_suppression),
    (20, order::bind),
    (16, control::assert_size),
    (20, control::branch),
    (20, control::repeat),
    (4, control::nothing_read),
];

/// Adds an op and what it needs; nothing where the draw does not fit.
pub(super) fn add_any(g: &mut Gen) {
    let make = g.rng.weighted(&MAKERS);
    // A draw that breaks a constraint leaves at most operands, which other ops may read.
    let _ = make(g);
}
