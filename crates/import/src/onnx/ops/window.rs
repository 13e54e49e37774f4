//! The sliding window that convolutions and pooling share: kernel, strides, dilations and ONNX's ways to pad.

use crate::build::window::{is_extent, same_pads};
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{Dim, Shape, SymbolInfo};
use tegula_tensor::Window;

/// Reads the window of a node over `x`'s spatial axes. `kernel` overrides the attribute (the weights' extents).
pub(super) fn window_of(node: &Node, x: &Shape, kernel: Option<Vec<i64>>) -> Outcome<Window> {
    let n = spatial_rank(x)?;
    let size = match (kernel, node.ints("kernel_shape")) {
        (Some(kernel), Some(given)) if kernel != given => {
            return Err(Fault::from(format!("kernel_shape {given:?} does not fit weights of {kernel:?}")));
        }
        (Some(kernel), _) => kernel,
        (None, Some(given)) => given,
        (None, None) => return Err(Fault::invalid("attribute `kernel_shape` is missing")),
    };
    let (strides, dilations) = (steps_of(node, "strides", n)?, steps_of(node, "dilations", n)?);
    if size.len() != n || !size.iter().all(is_extent) {
        return Err(Fault::invalid(format!("a kernel of {size:?} must be {n} positive sizes")));
    }
    let (low, high) = match auto_pad(node)? {
        AutoPad::Explicit => explicit_pads(node, n)?,
        AutoPad::Valid => (vec![Dim::from(0); n], vec![Dim::from(0); n]),
        AutoPad::Same { upper } => {
            (0..n).map(|i| same_pads(&x[i + 2], size[i], strides[i], dilations[i], upper)).unzip()
        }
    };
    Ok(Window { size, strides, dilations, low, high })
}

/// Strides or dilations over `n` spatial axes, 1 where not given. Errors: one is not positive.
pub(super) fn steps_of(node: &Node, name: &str, n: usize) -> Outcome<Vec<i64>> {
    let steps = node.per_axis(name, n, 1)?;
    if steps.iter().all(is_extent) {
        return Ok(steps);
    }
    Err(Fault::invalid(format!("{name} {steps:?} must be positive")))
}

/// How a node asks for padding.
pub(super) enum AutoPad {
    Explicit,
    Valid,
    /// As many outputs as inputs over the stride; the odd element goes to the end when `upper`.
    Same {
        upper: bool,
    },
}

pub(super) fn auto_pad(node: &Node) -> Outcome<AutoPad> {
    Ok(match node.text("auto_pad", "NOTSET").as_str() {
        "NOTSET" | "" => AutoPad::Explicit,
        "VALID" => AutoPad::Valid,
        "SAME_UPPER" => AutoPad::Same { upper: true },
        "SAME_LOWER" => AutoPad::Same { upper: false },
        other => return Err(Fault::invalid(format!("auto_pad `{other}` is unknown"))),
    })
}

pub(super) fn explicit_pads(node: &Node, n: usize) -> Outcome<(Vec<Dim>, Vec<Dim>)> {
    let pads = node.ints("pads").unwrap_or_else(|| vec![0; 2 * n]);
    if pads.len() != 2 * n {
        return Err(Fault::invalid(format!("{} pads for {n} spatial axes", pads.len())));
    }
    if pads.iter().any(|pad| !(0..=SymbolInfo::MAX).contains(pad)) {
        return Err(Fault::invalid(format!("pads {pads:?} must not be negative, nor longer than any axis")));
    }
    let sizes = |pads: &[i64]| pads.iter().map(|n| Dim::from(*n)).collect::<Vec<_>>();
    Ok((sizes(&pads[..n]), sizes(&pads[n..])))
}

pub(super) fn spatial_rank(x: &Shape) -> Outcome<usize> {
    match x.rank().checked_sub(2) {
        Some(n) if n > 0 => Ok(n),
        _ => Err(Fault::from(format!("a tensor [N,C,...] with spatial axes is expected, got {x}"))),
    }
}

/// The constant extents of weights behind the first two axes.
pub(super) fn kernel_of(cx: &Cx, w: tegula_ir::Value) -> Outcome<Vec<i64>> {
    let shape = cx.shape(w);
    spatial_rank(&shape)?;
    let extents = shape.iter().skip(2).map(Dim::as_const).collect::<Option<Vec<i64>>>();
    extents
        .ok_or_else(|| Fault::unsupported(format!("the kernel's sizes must be constant, got {}", cx.ty(w))))
}
