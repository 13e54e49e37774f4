//! Where the elements of a tensor lie in memory: permutation x tiles x padding, one closed formalism.
//!
//! A layout lists the *physical* dims, outermost first; each is a logical axis whole, the outer part of an axis
//! split by a tile, or the inner part. `[2, 0]` of a matrix `[K, N]` split by 16 along N reads
//! `n/16, k, n%16`: panels. The elements of a partial last tile are padding: zero in constants, anything in what kernels
//! write.
//! Shape rules and the evaluator ignore layouts; only `relayout` changes them. A transpose or a reshape of a whole buffer
//! names it anew.

use tegula_base::{Dim, Shape};
use tegula_ir::{AttrText, attr};

/// One physical dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Physical {
    /// The axis whole.
    Axis(usize),
    /// `axis / tile`, rounded up in extent.
    Outer { axis: usize, tile: i64 },
    /// `axis % tile`, extent `tile`.
    Inner { axis: usize, tile: i64 },
}

impl Physical {
    /// The axis that this dim is, when it is not split.
    pub fn whole_axis(&self) -> Option<usize> {
        match *self {
            Physical::Axis(axis) => Some(axis),
            Physical::Outer { .. } | Physical::Inner { .. } => None,
        }
    }
}

/// Physical dims, outermost first; every axis appears whole once, or once as each of outer and inner.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Layout(pub Vec<Physical>);

impl Layout {
    pub fn row_major(rank: usize) -> Layout {
        Layout((0..rank).map(Physical::Axis).collect())
    }

    /// Physical dim `i` is logical axis `order[i]`.
    pub fn permuted(order: &[usize]) -> Layout {
        Layout(order.iter().map(|axis| Physical::Axis(*axis)).collect())
    }

    /// Splits `axis` by `tile` and puts its inner part innermost, the rest in the order of `outer`.
    pub fn panels(outer: &[usize], axis: usize, tile: i64) -> Layout {
        let mut dims: Vec<Physical> = outer
            .iter()
            .map(|a| if *a == axis { Physical::Outer { axis, tile } } else { Physical::Axis(*a) })
            .collect();
        dims.push(Physical::Inner { axis, tile });
        Layout(dims)
    }

    /// Channels innermost, for activations `[N, C, spatial...]`.
    pub fn channels_last(rank: usize) -> Layout {
        let axes = (0..rank.min(1)).chain(2..rank).chain((rank > 1).then_some(1));
        Layout(axes.map(Physical::Axis).collect())
    }

    /// The axes in memory order; `None` when one is split.
    pub fn order(&self) -> Option<Vec<usize>> {
        self.0.iter().map(Physical::whole_axis).collect()
    }

    pub fn is_row_major(&self) -> bool {
        self.0.iter().enumerate().all(|(i, dim)| *dim == Physical::Axis(i))
    }

    /// How a tensor that lies so lies under other names of its axes, those of its transpose; `None` when an axis is split.
    pub fn transposed(&self, perm: &[usize]) -> Option<Layout> {
        let becomes = |dim: &Physical| {
            let axis = dim.whole_axis()?;
            perm.iter().position(|own| *own == axis).map(Physical::Axis)
        };
        self.0.iter().map(becomes).collect::<Option<_>>().map(Layout)
    }

    /// Whether two layouts put the elements of this shape alike: axes of extent 1 lie anywhere.
    pub fn lies_alike(&self, other: &Layout, shape: &Shape) -> bool {
        // A dim that is part of an axis only is like no other.
        let wide = |dim: &&Physical| dim.whole_axis().is_none_or(|axis| !shape[axis].is_const(1));
        let alike = |(a, b): (&Physical, &Physical)| a == b && a.whole_axis().is_some();
        let (own, others) = (self.0.iter().filter(wide), other.0.iter().filter(wide));
        self == other || (own.clone().count() == others.clone().count() && own.zip(others).all(alike))
    }

    /// Extents of the physical dims of a tensor of this logical shape.
    pub fn physical_shape(&self, shape: &Shape) -> Shape {
        self.0
            .iter()
            .map(|dim| match *dim {
                Physical::Axis(axis) => shape[axis].clone(),
                Physical::Outer { axis, tile } => shape[axis].ceil_div(&Dim::from(tile)),
                Physical::Inner { tile, .. } => Dim::from(tile),
            })
            .collect()
    }

    /// Strides, in elements, of the logical axes; `None` when an axis is split.
    pub fn strides(&self, shape: &Shape) -> Option<Vec<Dim>> {
        let mut strides = vec![Dim::from(0); shape.rank()];
        let mut stride = Dim::from(1);
        for dim in self.0.iter().rev() {
            let Physical::Axis(axis) = *dim else { return None };
            strides[axis] = stride.clone();
            stride = stride * shape[axis].clone();
        }
        Some(strides)
    }
}

/// `["0/16", "1", "0%16"]`.
impl AttrText for Layout {
    fn to_attr(&self) -> tegula_ir::mlir::Attr {
        let text = |dim: &Physical| match dim {
            Physical::Axis(axis) => axis.to_string(),
            Physical::Outer { axis, tile } => format!("{axis}/{tile}"),
            Physical::Inner { axis, tile } => format!("{axis}%{tile}"),
        };
        self.0.iter().map(text).collect::<Vec<String>>().to_attr()
    }

    fn from_attr(attr: &tegula_ir::mlir::Attr) -> Result<Layout, String> {
        let tegula_ir::mlir::Attr::Array(items) = attr else {
            return Err("a list of dims is expected".into());
        };
        let parse = |item| {
            let text = attr::as_string(item)?;
            let number =
                |digits: &str| digits.parse::<usize>().map_err(|_| format!("`{text}` is no physical dim"));
            if let Some((axis, tile)) = text.split_once('/') {
                Ok(Physical::Outer { axis: number(axis)?, tile: number(tile)? as i64 })
            } else if let Some((axis, tile)) = text.split_once('%') {
                Ok(Physical::Inner { axis: number(axis)?, tile: number(tile)? as i64 })
            } else {
                number(text).map(Physical::Axis)
            }
        };
        items.iter().map(parse).collect::<Result<_, String>>().map(Layout)
    }
}
