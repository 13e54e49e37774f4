//! How the right side of a contraction lies in memory, read from its layout.

use crate::Panels;
use crate::body::Body;
use tegula_ir::Value;
use tegula_tensor::layout::Physical;

/// How the right side lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RightSide {
    /// Whole axes in some order.
    Plain,
    /// Panels of `width` columns, k rows each.
    Panels { width: i64 },
    /// Panels of `width` columns of so many consecutive k: `[n/width, k/together, width, together]`. Groups of bytes are
    /// all of k, the last one filled up; of floats, what is left over of k stands first in a group of its own.
    Groups { width: i64, together: i64 },
}

impl RightSide {
    /// What the target is told of it.
    pub fn panels(self) -> Panels {
        self.width().map_or(Panels::None, Panels::Of)
    }

    /// Columns of a panel.
    pub fn width(self) -> Option<i64> {
        match self {
            RightSide::Plain => None,
            RightSide::Panels { width } | RightSide::Groups { width, .. } => Some(width),
        }
    }

    /// Steps of k next to each other.
    pub fn together(self) -> i64 {
        match self {
            RightSide::Plain | RightSide::Panels { .. } => 1,
            RightSide::Groups { together, .. } => together,
        }
    }
}

/// Reads the packing of an argument; `column` is its column axis.
pub(super) fn right_side(body: &Body, arg: Value, column: usize) -> RightSide {
    let layout = body.func.ty(arg).layout_or_default();
    let inner = |is_column: bool| {
        layout.0.iter().find_map(|dim| match dim {
            Physical::Inner { axis, tile } if (*axis == column) == is_column => Some(*tile),
            _ => None,
        })
    };
    match (inner(true), inner(false)) {
        (Some(width), Some(together)) => RightSide::Groups { width, together },
        (Some(width), None) => RightSide::Panels { width },
        (None, _) => RightSide::Plain,
    }
}
