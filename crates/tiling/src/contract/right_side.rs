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
    /// Panels of `width` columns in k-groups: `[n/width, k/k_group, width, k_group]`. Groups of bytes are all of k, the
    /// last one filled up; of floats, what is left over of k stands first in a group of its own.
    Groups { width: i64, k_group: i64 },
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

    /// Steps of a k-group; 1 where there are none.
    pub fn k_group(self) -> i64 {
        match self {
            RightSide::Plain | RightSide::Panels { .. } => 1,
            RightSide::Groups { k_group, .. } => k_group,
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
        (Some(width), Some(k_group)) => RightSide::Groups { width, k_group },
        (Some(width), None) => RightSide::Panels { width },
        (None, _) => RightSide::Plain,
    }
}
