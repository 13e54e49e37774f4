//! Contractions of `f32`, by what their factors become.

use crate::support::{check_at, floats, region};
use tegula_target_lpu::FloatFactors;

/// What each form of factors is within, of the largest result.
const FORMS: [(FloatFactors, f64); 1] = [(FloatFactors::F16, 2e-3)];

/// Attention of query heads that share key heads, with each of its forms.
#[test]
fn attention() {
    let (q, k, v) = ("tensor<2x4x5x24xf32>", "tensor<2x2x7x24xf32>", "tensor<2x2x7x18xf32>");
    let (mask, y) = ("tensor<1x1x5x7xf32>", "tensor<2x4x5x18xf32>");
    let inputs = [
        floats(&[2, 4, 5, 24], 1),
        floats(&[2, 2, 7, 24], 2),
        floats(&[2, 2, 7, 18], 3),
        floats(&[1, 1, 5, 7], 4),
    ];
    for (has_mask, causal, window, softcap) in
        [(false, false, 0, 0.0), (true, false, 0, 0.0), (true, true, 0, 3.0), (false, true, 2, 0.0)]
    {
        let (args, names) = match has_mask {
            true => (vec![q, k, v, mask], "%x0, %x1, %x2, %x3"),
            false => (vec![q, k, v], "%x0, %x1, %x2"),
        };
        let op = format!(
            "%y = \"tgn.attention\"({names}) <{{scale = 0.2 : f64, causal = {causal}, window = {window}, softcap = {softcap:?} : f64}}> : ({}) -> {y}",
            args.join(", ")
        );
        let program = region(&args, &op, y);
        for (factors, tolerance) in FORMS {
            check_at(factors, &program, "tsp1", &inputs[..args.len()], 3.0 * tolerance);
        }
    }
}
