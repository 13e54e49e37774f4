//! The converters, one file a family; each lists its rows at the top.

mod activation;
mod attention;
mod cast;
mod contraction;
mod control;
mod convolution;
mod elementwise;
mod indexing;
mod loss;
mod means;
mod ml;
mod movement;
mod ngrams;
mod normalisation;
mod optional;
mod padding;
mod pooling;
mod quantisation;
mod random;
mod recurrent;
mod reduction;
mod resize;
mod sequences;
mod signal;
mod slicing;
mod source;
mod spatial;
mod text;
mod training;
mod window;

use super::domain::{MICROSOFT, ML, ONNX, PREVIEW, TRAINING};
use super::row::Row;

/// All rows by domain.
pub(super) const FAMILIES: &[(&str, &[Row])] = &[
    (ONNX, elementwise::ROWS),
    (ONNX, cast::ROWS),
    (ONNX, activation::ROWS),
    (ONNX, movement::ROWS),
    (ONNX, reduction::ROWS),
    (ONNX, slicing::ROWS),
    (ONNX, padding::ROWS),
    (ONNX, indexing::ROWS),
    (ONNX, source::ROWS),
    (ONNX, contraction::ROWS),
    (ONNX, convolution::ROWS),
    (ONNX, pooling::ROWS),
    (ONNX, normalisation::ROWS),
    (ONNX, control::ROWS),
    (ONNX, recurrent::ROWS),
    (ONNX, quantisation::ROWS),
    (ONNX, resize::ROWS),
    (ONNX, attention::ROWS),
    (ONNX, loss::ROWS),
    (ONNX, spatial::ROWS),
    (ONNX, signal::ROWS),
    (ONNX, random::ROWS),
    (ONNX, ngrams::ROWS),
    (ONNX, sequences::ROWS),
    (ONNX, text::ROWS),
    (ONNX, optional::ROWS),
    (TRAINING, training::ROWS),
    (ML, ml::ROWS),
    (PREVIEW, attention::PREVIEW),
    (MICROSOFT, activation::MICROSOFT),
    (MICROSOFT, attention::MICROSOFT),
    (MICROSOFT, contraction::MICROSOFT),
    (MICROSOFT, convolution::MICROSOFT),
    (MICROSOFT, recurrent::MICROSOFT),
    (MICROSOFT, quantisation::MICROSOFT),
    (MICROSOFT, quantisation::FEW_BITS),
    (MICROSOFT, quantisation::Q_LINEAR),
    (MICROSOFT, normalisation::MICROSOFT),
];

/// Why a known op is refused by design.
pub(super) fn reason_refused(name: &str) -> Option<&'static str> {
    const STRINGS: &str =
        "strings are compared, moved, joined and normalised; nothing else is supported of them";
    Some(match name {
        "StringSplit" | "RegexFullMatch" => STRINGS,
        "ImageDecoder" => "image files are decoded before they reach the model",
        _ => return None,
    })
}
