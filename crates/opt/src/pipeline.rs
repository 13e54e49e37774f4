//! The passes on tensor programs, in order.

use crate::assign_layouts::assign_layouts;
use crate::check_contractions::check_contractions;
use crate::form_kernels::form_kernels;
use crate::keep_wide::keep_wide;
use crate::partition::partition;
use crate::passes::{
    Precision, canonicalise, decompose_composites, decompose_recurrent, decompose_wide_attention,
    fold_constants, fold_scales, inline_branches, legalise_types, narrow_places, recover_composites,
    requantise, round_factors, simplify_sizes, sum_channels, sum_pairs, transform_filters, transpose_factors,
    unpack_nibbles, widen_rows,
};
use crate::share_kernels::share_kernels;
use tegula_backend::Targets;
use tegula_ir::Pipeline;
use tegula_ir::rewrite::{cse, dce};
use tegula_tensor::{TensorFunc, TensorProgram};

/// From what an importer builds to kernels with layouts; lowering to the host program comes next.
pub fn tensor_pipeline(targets: Targets<'_>, precision: Precision) -> Pipeline<'_, TensorProgram> {
    let (target, device) = (targets.host, targets.device);
    Pipeline::new("tensor")
        // Sizes first: they decide branches, and most of an exporter's ops are arithmetic on them.
        .pass("simplify_sizes", simplify_sizes)
        .pass("inline_branches", inline_branches)
        .pass("canonicalise", canonicalise)
        .pass("unpack_nibbles", move |program, cx| unpack_nibbles(program, target, cx))
        .pass("fold_constants", move |program, cx| fold_constants(program, target, cx))
        .pass("decompose_recurrent", move |program, cx| decompose_recurrent(program, targets, cx))
        .pass("narrow_places", move |program, cx| narrow_places(program, targets, cx))
        // What a formula says twice is said once.
        .pass("cse", |program, _| Ok(program.for_each_func(cse)))
        // Constants are folded, so that scales and zero points are seen.
        .pass("recover_composites", move |program, cx| recover_composites(program, targets, cx))
        // Transposed convolutions are still one op.
        .pass("fold_scales", fold_scales)
        .pass("dce", |program, _| Ok(program.for_each_func(dce)))
        // Passes to come find what is left side by side in memory.
        .pass("compact", |program, _| Ok(program.for_each_func(TensorFunc::compact)))
        // Composites are whole; what a device takes no pass touches any more.
        .pass("partition", move |program, cx| {
            let changed = partition(program, device, cx)?;
            check_contractions(program, targets, precision)?;
            Ok(changed)
        })
        .pass("decompose_wide_attention", move |program, cx| {
            decompose_wide_attention(program, target, precision, cx)
        })
        .pass("decompose_composites", move |program, cx| decompose_composites(program, target, cx))
        // What is left are casts and comparisons.
        .pass("legalise_types", legalise_types)
        // Decompositions are built plainly: what they repeat or do for nothing goes here.
        .pass("canonicalise_decomposed", canonicalise)
        // Before folding, which computes the new weights.
        .pass("fold_scales_decomposed", fold_scales)
        .pass("fold_decomposed", move |program, cx| fold_constants(program, target, cx))
        .pass("requantise", requantise)
        // Weights are what they will be, but for their type.
        .pass("round_factors", move |program, cx| round_factors(program, precision, target, cx))
        .pass("transpose_factors", move |program, cx| transpose_factors(program, target, cx))
        .pass("sum_channels", move |program, cx| sum_channels(program, target, cx))
        .pass("transform_filters", move |program, cx| transform_filters(program, target, cx))
        .pass("sum_pairs", move |program, cx| sum_pairs(program, target, cx))
        .pass("widen_rows", move |program, cx| widen_rows(program, target, cx))
        .pass("cse_decomposed", |program, _| Ok(program.for_each_func(cse)))
        .pass("dce_decomposed", |program, _| Ok(program.for_each_func(dce)))
        .pass("compact_decomposed", |program, _| Ok(program.for_each_func(TensorFunc::compact)))
        .pass("form_kernels", move |program, cx| form_kernels(program, target, cx))
        .pass("keep_wide", keep_wide)
        .pass("share_kernels", share_kernels)
        .pass("assign_layouts", move |program, cx| assign_layouts(program, target, cx))
}
