//! Matrix products: Gemm, MatMul and their kin, Einsum, determinants of small matrices.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::Dim;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{DotDims, TensorOp};

pub(super) const ROWS: &[Row] =
    &[op("Gemm", gemm), op("MatMul", matmul), op("Einsum", einsum), op("Det", det)];

pub(super) const MICROSOFT: &[Row] = &[op("FusedMatMul", fused_matmul), op("FusedGemm", fused_gemm)];

/// `alpha * a' b' + beta * c`.
fn gemm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b) = (node.operand(0)?, node.operand(1)?);
    if cx.rank(a) != 2 || cx.rank(b) != 2 {
        return Err(Fault::from(format!("matrices are expected, got {} and {}", cx.ty(a), cx.ty(b))));
    }
    let (inner_a, inner_b) =
        (usize::from(!node.flag("transA", false)), usize::from(node.flag("transB", false)));
    let (a, b) = cx.with_one_inner_size((a, inner_a), (b, inner_b))?;
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![inner_a],
        rhs_contract: vec![inner_b],
    };
    let out = cx.dtype(a);
    let product = cx.emit(TensorOp::dot(dims, out), &[a, b])?;
    let mut y = scaled(cx, product, node.float("alpha", 1.0))?;
    if let Some(c) = node.optional(2) {
        let c = scaled(cx, c, node.float("beta", 1.0))?;
        y = cx.add(y, c)?;
    }
    Ok(vec![y])
}

fn scaled(cx: &mut Cx, x: Value, factor: f64) -> Outcome {
    if factor == 1.0 { Ok(x) } else { cx.with_number(ScalarOp::Mul, x, factor) }
}

fn matmul(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b) = (node.operand(0)?, node.operand(1)?);
    let out = cx.dtype(a);
    Ok(vec![cx.matmul(a, b, out)?])
}

/// A side may have its first axis where a matrix has its rows (`transBatch`), and rows and columns swapped.
fn fused_matmul(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let side = |cx: &mut Cx, i: usize, swapped: &str, batch: &str| {
        let mut x = node.operand(i)?;
        let rank = cx.rank(x);
        if node.flag(batch, false) && rank >= 3 {
            x = cx.move_axis(x, 0, rank - 2)?;
        }
        if node.flag(swapped, false) && rank >= 2 { cx.transpose_matrix(x) } else { Ok(x) }
    };
    let (a, b) = (side(cx, 0, "transA", "transBatchA")?, side(cx, 1, "transB", "transBatchB")?);
    let dtype = cx.dtype(a);
    let product = cx.matmul(a, b, dtype)?;
    Ok(vec![scaled(cx, product, node.float("alpha", 1.0))?])
}

fn fused_gemm(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let y = gemm(cx, node)?[0];
    node.needs_not(&["alpha", "beta", "activation_gamma"]);
    let numbers: Vec<f64> = ["activation_alpha", "activation_beta"]
        .into_iter()
        .map_while(|name| node.optional_float(name))
        .collect();
    Ok(vec![cx.activated(y, &node.text("activation", ""), &numbers)?])
}

/// An equation's axes, one letter each; `.` stands for the axes of an ellipsis, numbered from the right.
type Axes = Vec<(char, usize)>;

fn einsum(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let equation: String = node.text("equation", "").chars().filter(|c| !c.is_whitespace()).collect();
    let operands = node.all_operands()?;
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left.to_string(), Some(right.to_string())),
        None => (equation.clone(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != operands.len() {
        return Err(Fault::invalid(format!("equation `{equation}` has {} terms", terms.len())));
    }
    let named = terms.iter().zip(&operands).map(|(term, operand)| named_axes(term, cx.rank(*operand)));
    let named = named.collect::<Outcome<Vec<Axes>>>()?;
    let implicit = implicit_result(&named);
    let mut parts = Vec::with_capacity(operands.len());
    for (operand, axes) in operands.iter().zip(named) {
        parts.push(diagonal(cx, *operand, axes)?);
    }
    let wanted = match right {
        Some(right) => {
            let dots = parts.iter().flat_map(|(_, axes)| axes).filter(|(c, _)| *c == '.');
            let n_dots = dots.map(|(_, i)| i + 1).max().unwrap_or(0);
            let letters = right.replace("...", "").chars().count();
            named_axes(&right, letters + if right.contains("...") { n_dots } else { 0 })?
        }
        None => implicit,
    };
    let mut parts = parts.into_iter();
    let (mut value, mut axes) = parts.next().ok_or_else(|| Fault::invalid("takes one or more operands"))?;
    let rest: Vec<(Value, Axes)> = parts.collect();
    for i in 0..rest.len() {
        let (other, other_axes) = &rest[i];
        let later: Vec<(char, usize)> = rest[i + 1..]
            .iter()
            .flat_map(|(_, axes)| axes.iter().copied())
            .chain(wanted.iter().copied())
            .collect();
        (value, axes) = contract(cx, (value, axes), (*other, other_axes.clone()), &later)?;
    }
    finish_einsum(cx, value, axes, &wanted).map(|value| vec![value])
}

fn named_axes(term: &str, rank: usize) -> Outcome<Axes> {
    let mut axes = Axes::new();
    let letters = term.replace("...", "").chars().count();
    let n_dots = rank
        .checked_sub(letters)
        .ok_or_else(|| Fault::invalid(format!("term `{term}` names too many axes")))?;
    let mut rest = term;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            axes.extend((0..n_dots).rev().map(|i| ('.', i)));
            rest = after;
        } else if c.is_ascii_alphabetic() {
            axes.push((c, 0));
            rest = &rest[1..];
        } else {
            return Err(Fault::invalid(format!("`{c}` in term `{term}` is no axis")));
        }
    }
    if axes.len() != rank {
        return Err(Fault::invalid(format!("term `{term}` does not name {rank} axes")));
    }
    Ok(axes)
}

/// Letters named twice in one term keep the diagonal.
fn diagonal(cx: &mut Cx, x: Value, mut axes: Axes) -> Outcome<(Value, Axes)> {
    let mut x = x;
    while let Some((i, j)) = repeated(&axes) {
        let (rows, columns) = (cx.places_along(x, i)?, cx.places_along(x, j)?);
        let hit = cx.binary(ScalarOp::Eq, rows, columns)?;
        let zero = cx.number_like(x, 0.0)?;
        let kept = cx.select(hit, x, zero)?;
        x = cx.reduce(ScalarOp::Add, kept, &[j], false)?;
        axes.remove(j);
    }
    Ok((x, axes))
}

fn repeated(axes: &Axes) -> Option<(usize, usize)> {
    (0..axes.len()).find_map(|i| (i + 1..axes.len()).find(|j| axes[i] == axes[*j]).map(|j| (i, j)))
}

/// Without `->`: the ellipsis, then letters that occur once, in order.
fn implicit_result(terms: &[Axes]) -> Axes {
    let all: Axes = terms.iter().flatten().copied().collect();
    let mut wanted: Axes = all.iter().copied().filter(|(c, _)| *c == '.').collect();
    wanted.sort_by(|a, b| b.cmp(a));
    wanted.dedup();
    let mut letters: Axes = all
        .iter()
        .copied()
        .filter(|axis| axis.0 != '.' && all.iter().filter(|a| *a == axis).count() == 1)
        .collect();
    letters.sort_unstable();
    wanted.extend(letters);
    wanted
}

/// Multiplies two terms; axes that nothing later names are summed.
fn contract(
    cx: &mut Cx,
    (a, a_axes): (Value, Axes),
    (b, b_axes): (Value, Axes),
    later: &[(char, usize)],
) -> Outcome<(Value, Axes)> {
    // Axes of one side only that nobody needs are summed first.
    let (a, a_axes) = sum_unneeded(cx, a, a_axes, &b_axes, later)?;
    let (b, b_axes) = sum_unneeded(cx, b, b_axes, &a_axes, later)?;
    // A shared axis of extent 1 on one side broadcasts: multiply elementwise in that case.
    let shared: Axes = a_axes.iter().copied().filter(|axis| b_axes.contains(axis)).collect();
    let place = |axes: &Axes, axis: &(char, usize)| axes.iter().position(|other| other == axis).unwrap_or(0);
    let same = shared.iter().all(|axis| cx.dim(a, place(&a_axes, axis)) == cx.dim(b, place(&b_axes, axis)));
    if !same {
        return multiply(cx, (a, a_axes), (b, b_axes), later);
    }
    let batch: Axes = shared.iter().copied().filter(|axis| later.contains(axis)).collect();
    let inner: Axes = shared.iter().copied().filter(|axis| !later.contains(axis)).collect();
    let places = |axes: &Axes, list: &Axes| list.iter().map(|axis| place(axes, axis)).collect::<Vec<_>>();
    let dims = DotDims {
        lhs_batch: places(&a_axes, &batch),
        rhs_batch: places(&b_axes, &batch),
        lhs_contract: places(&a_axes, &inner),
        rhs_contract: places(&b_axes, &inner),
    };
    let out = cx.dtype(a);
    let product = cx.emit(TensorOp::dot(dims, out), &[a, b])?;
    let free = |axes: &Axes| axes.iter().copied().filter(|axis| !shared.contains(axis)).collect::<Axes>();
    let axes = [batch, free(&a_axes), free(&b_axes)].concat();
    Ok((product, axes))
}

fn sum_unneeded(
    cx: &mut Cx,
    x: Value,
    axes: Axes,
    other: &Axes,
    later: &[(char, usize)],
) -> Outcome<(Value, Axes)> {
    let gone: Vec<usize> =
        (0..axes.len()).filter(|i| !other.contains(&axes[*i]) && !later.contains(&axes[*i])).collect();
    if gone.is_empty() {
        return Ok((x, axes));
    }
    let summed = cx.reduce(ScalarOp::Add, x, &gone, false)?;
    Ok((
        summed,
        axes.into_iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, axis)| axis).collect(),
    ))
}

fn multiply(
    cx: &mut Cx,
    (a, a_axes): (Value, Axes),
    (b, b_axes): (Value, Axes),
    later: &[(char, usize)],
) -> Outcome<(Value, Axes)> {
    let all: Axes =
        a_axes.iter().chain(b_axes.iter().filter(|axis| !a_axes.contains(axis))).copied().collect();
    let (a, b) = (laid_out(cx, a, &a_axes, &all)?, laid_out(cx, b, &b_axes, &all)?);
    let product = cx.mul(a, b)?;
    sum_unneeded(cx, product, all, &vec![], later)
}

/// Axes in the order of `all`, with extents of 1 for those the term has not.
fn laid_out(cx: &mut Cx, x: Value, axes: &Axes, all: &Axes) -> Outcome {
    let own: Vec<usize> = all.iter().filter_map(|axis| axes.iter().position(|other| other == axis)).collect();
    let x = cx.transpose(x, &own)?;
    let missing: Vec<usize> = (0..all.len()).filter(|i| !axes.contains(&all[*i])).collect();
    cx.add_axes(x, &missing)
}

fn finish_einsum(cx: &mut Cx, value: Value, axes: Axes, wanted: &Axes) -> Outcome {
    let (value, axes) = sum_unneeded(cx, value, axes, &vec![], wanted)?;
    if let Some(axis) = wanted.iter().find(|axis| !axes.contains(axis)) {
        return Err(Fault::invalid(format!("result axis `{}` is in no term", axis.0)));
    }
    let perm: Vec<usize> =
        wanted.iter().filter_map(|axis| axes.iter().position(|other| other == axis)).collect();
    cx.transpose(value, &perm)
}

/// By cofactors along the first row; for matrices up to 4 by 4.
fn det(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let rank = cx.rank(x);
    let n = rank.checked_sub(2).and_then(|i| cx.dim(x, i).as_const()).unwrap_or(-1);
    if !(1..=4).contains(&n) || !cx.dim(x, rank - 1).is_const(n) {
        return Err(Fault::unsupported(format!(
            "square matrices up to 4 by 4 are expected, got {}",
            cx.ty(x)
        )));
    }
    let rows: Vec<usize> = (0..n as usize).collect();
    let value = minor(cx, x, 0, &rows)?;
    Ok(vec![cx.drop_axes(value, &[rank - 2, rank - 1])?])
}

fn minor(cx: &mut Cx, x: Value, row: usize, columns: &[usize]) -> Outcome {
    let rank = cx.rank(x);
    let mut sum: Option<Value> = None;
    for (i, column) in columns.iter().enumerate() {
        let element = cx.slice_axis(x, rank - 2, Dim::from(row), Dim::from(1))?;
        let element = cx.slice_axis(element, rank - 1, Dim::from(*column), Dim::from(1))?;
        let rest: Vec<usize> = columns.iter().copied().filter(|c| c != column).collect();
        let term = if rest.is_empty() {
            element
        } else {
            let minor = minor(cx, x, row + 1, &rest)?;
            cx.mul(element, minor)?
        };
        sum = Some(match sum {
            None => term,
            Some(sum) if i % 2 == 1 => cx.sub(sum, term)?,
            Some(sum) => cx.add(sum, term)?,
        });
    }
    sum.ok_or_else(|| Fault::invalid("an empty matrix"))
}
