//! A kernel on the tile level: a grid of independent work units, the views it reads and writes, its body.

use crate::{TileFunc, ViewType};
use tegula_base::Dim;

/// One axis of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridDim {
    /// Number of work units along the axis.
    pub extent: Dim,
}

/// A view argument. Views written by a kernel overlap no other view, unless `in_place` names one with the same
/// element at the same coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewParam {
    pub ty: ViewType,
    pub written: bool,
    pub in_place: Option<usize>,
}

/// The body's arguments are the views, then one `index` a grid axis: the coordinates of the work unit.
/// Units may run in any order and at the same time; the linear number of a unit is row-major over the grid.
#[derive(Clone, Debug)]
pub struct TileKernel {
    pub func: TileFunc,
    pub grid: Vec<GridDim>,
    pub views: Vec<ViewParam>,
}

impl TileKernel {
    /// Work units in all.
    pub fn units(&self) -> Dim {
        self.grid.iter().fold(Dim::from(1), |product, dim| product * dim.extent.clone())
    }
}
