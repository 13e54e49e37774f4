//! `ai.onnx.ml`: classical models. Here what prepares features; beside this file trees, linear models and support vector
//! machines, and how scores become labels.
//!
//! Whole numbers are computed as `f32`, as the domain's results are.

mod linear;
mod scores;
mod tree;
mod vectors;

use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_of_slots, op_of_slots_since, op_since};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op("ArrayFeatureExtractor", array_feature_extractor),
    op("Binarizer", binarizer),
    op("FeatureVectorizer", feature_vectorizer),
    op("Imputer", imputer),
    op_of_slots_since("LabelEncoder", 2, label_encoder),
    op_of_slots("LinearClassifier", linear::linear_classifier),
    op("LinearRegressor", linear::linear_regressor),
    op("Normalizer", normalizer),
    op("OneHotEncoder", one_hot_encoder),
    op_of_slots("SVMClassifier", vectors::svm_classifier),
    op("SVMRegressor", vectors::svm_regressor),
    op("Scaler", scaler),
    op_since("TreeEnsemble", 5, tree::tree_ensemble),
    op_of_slots("TreeEnsembleClassifier", tree::tree_ensemble_classifier),
    op("TreeEnsembleRegressor", tree::tree_ensemble_regressor),
    op("ZipMap", zip_map),
];

impl Cx<'_> {
    /// A row of `f32` constants: `[1, n]`.
    fn float_row(&mut self, values: &[f32]) -> Outcome {
        self.constant(HostTensor::from_elements(&[1, values.len()], values))
    }

    /// Whole numbers as `f32`; floats stay.
    fn as_features(&mut self, x: Value) -> Outcome {
        match self.dtype(x) {
            DType::F32 | DType::F64 => Ok(x),
            _ => self.cast(x, DType::F32),
        }
    }

    /// Rows of features `[N,F]`; one vector is one row.
    fn feature_rows(&mut self, x: Value) -> Outcome {
        let x = self.as_features(x)?;
        match self.rank(x) {
            1 => self.add_axes(x, &[0]),
            2 => Ok(x),
            _ => Err(Fault::from(format!("features [N,F] are expected, got {}", self.ty(x)))),
        }
    }
}

/// Columns by index: `[..., F]` to `[..., n]`; of a vector `[1, n]`.
fn array_feature_extractor(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, indices) = (node.operand(0)?, node.operand(1)?);
    cx.expect_axis(x, 0)?;
    let x = if cx.rank(x) == 1 { cx.add_axes(x, &[0])? } else { x };
    let count = cx.shape(indices).count();
    let indices = cx.reshape(indices, [count])?;
    let last = cx.rank(x) - 1;
    Ok(vec![cx.gather(x, indices, last)?])
}

fn binarizer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let features = cx.as_features(x)?;
    let above = cx.with_number(ScalarOp::Gt, features, node.float("threshold", 0.0))?;
    Ok(vec![cx.cast_like(above, x)?])
}

/// Columns side by side, each operand cut or filled up with zeros to its width.
fn feature_vectorizer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    let widths = node.ints("inputdimensions").unwrap_or_default();
    if widths.len() != operands.len() || widths.iter().any(|width| *width < 0) {
        return Err(Fault::invalid(format!(
            "inputdimensions {widths:?} do not fit {} operands",
            operands.len()
        )));
    }
    let mut parts = Vec::with_capacity(operands.len());
    for (x, width) in operands.into_iter().zip(widths) {
        let x = cx.cast(x, DType::F32)?;
        let x = if cx.rank(x) == 1 { cx.add_axes(x, &[1])? } else { x };
        cx.expect_rank(x, 2, "features [N,F]")?;
        let (own, width) = (cx.dim(x, 1), Dim::from(width));
        let used = cx.least(&own, &width);
        let x = cx.slice_axis(x, 1, Dim::from(0), used.clone())?;
        let none = vec![Dim::from(0); 2];
        parts.push(cx.pad_with(x, 0.0, none, vec![Dim::from(0), width - used])?);
    }
    Ok(vec![cx.concat(&parts, 1)?])
}

/// Puts values in the place of one that stands for a missing one: one for all columns, or one a column.
fn imputer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    cx.expect_axis(x, 0)?;
    let missing = if cx.dtype(x).is_float() {
        match node.float("replaced_value_float", 0.0) {
            value if value.is_nan() => cx.unary(ScalarOp::IsNan, x)?,
            value => cx.with_number(ScalarOp::Eq, x, value)?,
        }
    } else {
        let ones = Shape::from_iter(vec![1i64; cx.rank(x)]);
        let dtype = cx.dtype(x);
        let value = cx.splat_int(dtype, ones, node.int("replaced_value_int64", 0))?;
        cx.binary(ScalarOp::Eq, x, value)?
    };
    let floats = node.floats("imputed_value_floats").filter(|list| !list.is_empty());
    let ints = node.ints("imputed_value_int64s").filter(|list| !list.is_empty());
    let values = match (cx.dtype(x).is_float(), floats, ints) {
        (true, Some(floats), _) => cx.constant(HostTensor::from_elements(&[floats.len()], &floats))?,
        (false, _, Some(ints)) => cx.constant(HostTensor::from_elements(&[ints.len()], &ints))?,
        _ => return Err(Fault::invalid("there are no values of the operand's kind to put in")),
    };
    let values = cx.cast_like(values, x)?;
    Ok(vec![cx.select(missing, values, x)?])
}

/// A key's value, the default for anything else. Keys and values may be strings.
fn label_encoder(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let keys = encoder_list(cx, node, "keys")?;
    let values = encoder_list(cx, node, "values")?;
    let default = encoder_default(cx, node, &values)?;
    let (keyed, numbers) = match (node.slot(0)?, &keys) {
        (Slot::Text(x), Slot::Text(keys)) => {
            let rank = cx.rank(x);
            let column = cx.add_axes(x, &[rank - 1])?;
            (cx.equal_texts(column, *keys)?, *keys)
        }
        (Slot::Value(x), Slot::Value(keys)) => (equal_keys(cx, x, *keys)?, *keys),
        (x, keys) => {
            return Err(Fault::invalid(format!("{} is looked up in {}", x.describe(), keys.describe())));
        }
    };
    let n = cx.dim(values.tensors()[0], 0);
    let extent = cx.dim(numbers, 0);
    cx.assert_equal(&extent, &n, "each key must have a value")?;
    let last = cx.rank(keyed) - 1;
    let places = cx.iota(DType::I64, [n.clone()], 0)?;
    let none = cx.size_as(n.clone(), DType::I64, 1)?;
    let places = cx.select(keyed, places, none)?;
    let place = cx.reduce(ScalarOp::Min, places, &[last], false)?;
    // Of no keys at all the least place is the largest number.
    let most = cx.size_as(n, DType::I64, last)?;
    let place = cx.binary(ScalarOp::Min, place, most)?;
    // The default stands behind the values.
    Ok(vec![match (values, default) {
        (Slot::Text(values), Slot::Text(default)) => {
            let both = cx.alike_texts(&[values, default])?;
            let table = cx.concat(&both, 0)?;
            Slot::Text(cx.gather(table, place, 0)?)
        }
        (Slot::Value(values), Slot::Value(default)) => {
            let default = cx.cast_like(default, values)?;
            let table = cx.concat(&[values, default], 0)?;
            Slot::Value(cx.gather(table, place, 0)?)
        }
        (values, default) => {
            return Err(Fault::invalid(format!(
                "the values are {}, the default is {}",
                values.describe(),
                default.describe()
            )));
        }
    }])
}

/// Which keys `[K]` each element is: `[..., K]`. Keys that are no number are equal to each other here.
fn equal_keys(cx: &mut Cx, x: Value, keys: Value) -> Outcome {
    let keys = cx.cast_like(keys, x)?;
    let rank = cx.rank(x);
    let column = cx.add_axes(x, &[rank])?;
    let same = cx.binary(ScalarOp::Eq, column, keys)?;
    if !cx.dtype(x).is_float() {
        return Ok(same);
    }
    let (a, b) = (cx.unary(ScalarOp::IsNan, column)?, cx.unary(ScalarOp::IsNan, keys)?);
    let both = cx.binary(ScalarOp::And, a, b)?;
    cx.binary(ScalarOp::Or, same, both)
}

/// One element, in a row.
fn encoder_default(cx: &mut Cx, node: &Node, values: &Slot) -> Outcome<Slot> {
    let default = match (node.tensor("default_tensor"), values) {
        (Some(tensor), _) => cx.stored(tensor)?,
        (None, Slot::Text(_)) => {
            let default = node.text("default_string", "_Unused").into_bytes();
            Slot::Text(cx.texts(&[default], &[1])?)
        }
        (None, _) => {
            let dtype = cx.dtype(values.tensors()[0]);
            Slot::Value(match dtype.is_float() {
                true => cx.splat(dtype, Shape::scalar(), node.float("default_float", -0.0))?,
                false => cx.splat_int(dtype, Shape::scalar(), node.int("default_int64", -1))?,
            })
        }
    };
    flat(cx, default)
}

/// A list of keys or values, at least one of a kind that the attributes name.
fn encoder_list(cx: &mut Cx, node: &Node, stem: &str) -> Outcome<Slot> {
    let list = if let Some(tensor) = node.tensor(&format!("{stem}_tensor")) {
        cx.stored(tensor)?
    } else if let Some(floats) = node.floats(&format!("{stem}_floats")) {
        Slot::Value(cx.constant(HostTensor::from_elements(&[floats.len()], &floats))?)
    } else if let Some(ints) = node.ints(&format!("{stem}_int64s")) {
        Slot::Value(cx.constant(HostTensor::from_elements(&[ints.len()], &ints))?)
    } else if let Some(texts) = node.texts(&format!("{stem}_strings")) {
        let texts: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
        Slot::Text(cx.texts(&texts, &[texts.len()])?)
    } else {
        return Err(Fault::invalid(format!("there are no {stem}")));
    };
    flat(cx, list)
}

/// As one row.
fn flat(cx: &mut Cx, list: Slot) -> Outcome<Slot> {
    Ok(match list {
        Slot::Text(texts) => {
            let (count, width) = (cx.text_shape(texts).count(), cx.text_width(texts));
            Slot::Text(cx.reshape(texts, [count, width])?)
        }
        Slot::Value(values) => {
            let count = cx.shape(values).count();
            Slot::Value(cx.reshape(values, [count])?)
        }
        other => other,
    })
}

/// Rows divided by their largest magnitude, their sum of magnitudes or their length.
fn normalizer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let x = cx.as_features(x)?;
    cx.expect_axis(x, 0)?;
    let last = [cx.rank(x) - 1];
    let size = match node.text("norm", "MAX").as_str() {
        "MAX" => {
            let sizes = cx.unary(ScalarOp::Abs, x)?;
            cx.reduce(ScalarOp::Max, sizes, &last, true)?
        }
        "L1" => {
            let sizes = cx.unary(ScalarOp::Abs, x)?;
            cx.reduce(ScalarOp::Add, sizes, &last, true)?
        }
        "L2" => {
            let squares = cx.mul(x, x)?;
            let sum = cx.reduce(ScalarOp::Add, squares, &last, true)?;
            cx.unary(ScalarOp::Sqrt, sum)?
        }
        other => return Err(Fault::invalid(format!("norm `{other}` is none of MAX, L1, L2"))),
    };
    // Rows of zeros stay.
    let size = cx.with_number(ScalarOp::Max, size, 1e-30)?;
    let y = cx.div(x, size)?;
    Ok(vec![cx.cast(y, DType::F32)?])
}

/// A row's scores by label. They stay a matrix, whose columns are in the order of the labels.
fn zip_map(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let scores = node.operand(0)?;
    let labels = scores::Labels::of(node, "classlabels_int64s")?;
    match cx.shape(scores).last() {
        Some(columns) if columns.is_const(labels.count() as i64) => Ok(vec![scores]),
        _ => Err(Fault::invalid(format!("{} labels do not fit scores {}", labels.count(), cx.ty(scores)))),
    }
}

/// 1 at the category's place; rows of zeros for what is no category.
fn one_hot_encoder(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    if !node.flag("zeros", true) {
        return Err(Fault::unsupported("`zeros` of 0, which stops at what is no category, is not supported"));
    }
    let same = if let Some(categories) = node.texts("cats_strings").filter(|list| !list.is_empty()) {
        let x = node.texts_operand(0)?;
        let texts: Vec<Vec<u8>> = categories.into_iter().map(String::into_bytes).collect();
        let categories = cx.texts(&texts, &[texts.len()])?;
        let own_rank = cx.rank(x);
        let column = cx.add_axes(x, &[own_rank - 1])?;
        cx.equal_texts(column, categories)?
    } else {
        let x = node.operand(0)?;
        let categories = node.ints("cats_int64s").unwrap_or_default();
        let categories = cx.constant(HostTensor::from_elements(&[categories.len()], &categories))?;
        let x = cx.cast(x, DType::I64)?;
        let rank = cx.rank(x);
        let column = cx.add_axes(x, &[rank])?;
        cx.binary(ScalarOp::Eq, column, categories)?
    };
    Ok(vec![cx.cast(same, DType::F32)?])
}

fn scaler(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let mut y = cx.as_features(x)?;
    for (name, f) in [("offset", ScalarOp::Sub), ("scale", ScalarOp::Mul)] {
        if let Some(values) = node.floats(name).filter(|values| !values.is_empty()) {
            let values = cx.constant(HostTensor::from_elements(&[values.len()], &values))?;
            let values = cx.cast_like(values, y)?;
            y = cx.binary(f, y, values)?;
        }
    }
    Ok(vec![cx.cast(y, DType::F32)?])
}
