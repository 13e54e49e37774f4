//! Convolutions of 3x3 by Winograd's algorithm ([`tegula_tensor::winograd`]), a block of an image's tiles a work unit.
//!
//! The unit transforms its tiles of the input once, into memory of its own, and goes through its panels of filters: sixteen
//! matrix products, one for each place of a transformed tile, of tiles by channels; then the inverse transform, and what
//! follows the convolution, on each tile's four results. Tiles past an image's last are that tile again, so that all
//! products are of whole row tiles.
//!
//! ```text
//! x ──Bᵀ d B──► [16, tiles, channels] ──products with a panel──► [16, tiles, columns] ──Aᵀ m A──► results
//! ```

use super::conv::result_shape;
use super::dot::packed;
use super::window::{lies_inside, window_start};
use super::{RightSide, Walk, epilogue, not, of_winograd, over_k, result_order, right_side};
use crate::Lowered;
use crate::access::{Axis, Lowering, TileBox, begin};
use crate::body::Body;
use crate::{Contract, ContractTile, TileMachine};
use tegula_base::{DType, Diagnostic, Dim, Shape, Symbols};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::winograd::{REACH, RESULTS};
use tegula_tensor::{TensorOp, Window};
use tegula_tile::IndexOp;

struct Winograd<'a> {
    body: &'a Body,
    root: OpId,
    window: &'a Window,
    x: Value,
    u: Value,
    /// The result's, `[batch, channels, height, width]`.
    shape: Shape,
    tile: ContractTile,
    /// Tiles of a unit.
    block: i64,
    lanes: i64,
    /// Of the unit's tiles.
    transformed: Value,
    /// Of a panel's columns.
    products: Value,
    /// Memory order of the result's logical axes.
    order: Vec<usize>,
}

/// The tiles of a work unit.
struct Block {
    batch: Value,
    /// Of the image's.
    first: Value,
    count: Value,
    /// The count in whole row tiles.
    padded: Value,
}

/// What the target is asked about the products.
fn contract_of(body: &Body, x: Value, u: Value, window: &Window) -> Contract {
    of_winograd(&result_shape(body, x, u, window), body.shape(x)[1].clone())
}

/// Why a convolution of transformed filters is not computed.
pub(super) fn refused(
    body: &Body,
    root: OpId,
    window: &Window,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Option<Diagnostic> {
    let (x, u) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let refuse = |why: String| {
        let message = format!("`winograd_conv` of {} by {} {why}", body.shape(x), body.shape(u));
        let help = "write `conv` by the filters of 3x3: they are transformed where that pays";
        Some(Diagnostic::error("unsupported", message).help(help))
    };
    let contract = contract_of(body, x, u, window);
    if machine.winograd_tile(&contract, symbols).is_none() {
        return refuse(format!("is not computed on `{}`", machine.machine().name));
    }
    match right_side(body, u, 0) {
        RightSide::Panels { .. } => None,
        RightSide::Plain | RightSide::Groups { .. } => {
            refuse("takes filters that are constant and not all one number".into())
        }
    }
}

pub(super) fn lower(
    body: &Body,
    root: OpId,
    machine: &dyn TileMachine,
    symbols: &Symbols,
) -> Result<Lowered, String> {
    let TensorOp::WinogradConv { window } = body.func.kind(root) else {
        return Err("a convolution of transformed filters is expected".into());
    };
    let (x, u) = (body.func.operand(root, 0), body.func.operand(root, 1));
    let RightSide::Panels { width } = right_side(body, u, 0) else {
        return Err("transformed filters lie in panels".into());
    };
    let shape: Shape = result_shape(body, x, u, window).into_iter().collect();
    let channels = body.shape(x)[1].clone();
    let contract = contract_of(body, x, u, window);
    let tile = machine.winograd_tile(&contract, symbols).ok_or("the target takes no transformed filters")?;
    let tile = ContractTile { n: width, ..tile };
    let block = tile.m * tile.m_block;
    let (Some(k), Some(n)) = (channels.as_const(), shape[1].as_const()) else {
        return Err("channels of transformed filters are known".into());
    };
    let lanes = machine.lanes(DType::F32);
    let panels = (n + width - 1) / width;
    let blocks = contract.m.ceil_div(&Dim::from(block));
    // Panels are as wide as they were packed.
    let slabs = if panels % tile.n_slabs == 0 { tile.n_slabs } else { 1 };
    let (mut kernel, views) = begin(body, vec![shape[0].clone(), blocks, Dim::from(slabs)]);
    let mut cx = Lowering::new(body, &mut kernel, views);
    // A row more than there are tiles: planes whole pages apart would fall into one set of L1.
    let plane = |width: i64| [REACH * REACH, block + 1, width];
    let transformed = cx.b.scratch(DType::F32, &plane((k + lanes - 1) / lanes * lanes));
    let products = cx.b.scratch(DType::F32, &plane(width));
    let order = result_order(body, shape.rank());
    let conv = Winograd { body, root, window, x, u, shape, tile, block, lanes, transformed, products, order };
    let unit = cx.unit.clone();
    let tiles = conv.block(&mut cx, &unit, &contract.m);
    conv.transform(&mut cx, &tiles, k);
    let of_slab = cx.b.index(panels / slabs);
    let first = cx.b.mul(unit[2], of_slab);
    let end = cx.b.add(first, of_slab);
    let mut outcome = Ok(());
    cx.for_(first, end, 1, &[], |cx, panel, _| {
        outcome =
            conv.multiply(cx, &tiles, panel, &channels).and_then(|()| conv.results(cx, &tiles, panel, n));
        vec![]
    });
    outcome?;
    let buffers = cx.finish();
    Ok(Lowered { kernel, buffers })
}

fn one(offset: Value) -> Axis {
    Axis { offset, extent: 1, step: 1, bounded: false }
}

impl Winograd<'_> {
    fn block(&self, cx: &mut Lowering, unit: &[Value], tiles: &Dim) -> Block {
        let (size, all) = (cx.b.index(self.block), cx.b.size(tiles));
        let first = cx.b.mul(unit[1], size);
        let left = cx.b.sub(all, first);
        let count = cx.b.index_op(IndexOp::Min, left, size);
        let rows = cx.b.index(self.tile.m);
        let up = cx.b.index(self.tile.m - 1);
        let above = cx.b.add(count, up);
        let row_tiles = cx.b.index_op(IndexOp::FloorDiv, above, rows);
        Block { batch: unit[0], first, count, padded: cx.b.mul(row_tiles, rows) }
    }

    /// The result's coordinates at which a tile begins, along its two axes.
    fn place(&self, cx: &mut Lowering, tiles: &Block, tile: Value) -> [Value; 2] {
        let one = cx.b.index(1);
        let last = cx.b.sub(tiles.count, one);
        let tile = cx.b.index_op(IndexOp::Min, tile, last);
        let number = cx.b.add(tiles.first, tile);
        let results = cx.b.index(RESULTS);
        let across = cx.b.size(&self.shape[3].ceil_div(&Dim::from(RESULTS)));
        [IndexOp::FloorDiv, IndexOp::Mod].map(|op| {
            let place = cx.b.index_op(op, number, across);
            cx.b.mul(place, results)
        })
    }

    /// `Bᵀ d B` of all tiles of the unit.
    fn transform(&self, cx: &mut Lowering, tiles: &Block, channels: i64) {
        let zero = cx.b.index(0);
        cx.for_(zero, tiles.padded, 1, &[], |cx, tile, _| {
            let place = self.place(cx, tiles, tile);
            let start = [0, 1].map(|axis| window_start(cx, self.window, axis, place[axis]));
            // A tile may reach past what its results' windows see, where their number is odd.
            let x = self.body.shape(self.x);
            let inside = [0, 1].map(|axis| lies_inside(cx, x, axis, start[axis], REACH - 1));
            let inside = cx.b.index_op(IndexOp::And, inside[0], inside[1]);
            let border = not(cx, inside);
            for (condition, bounded) in [(inside, false), (border, true)] {
                cx.when(condition, |cx| {
                    let (zero, end) = (cx.b.index(0), cx.b.index(channels));
                    cx.lane_loop(zero, end, self.lanes, self.lanes, &[], |cx, channel, _| {
                        self.transform_channels(cx, tiles.batch, tile, start, channel, bounded);
                        vec![]
                    });
                });
            }
            vec![]
        });
    }

    fn transform_channels(
        &self,
        cx: &mut Lowering,
        batch: Value,
        tile: Value,
        start: [Value; 2],
        channel: Axis,
        bounded: bool,
    ) {
        let order = cx.axis_order(self.x).expect("invariant: only right sides are packed");
        let columns = steps(|j| {
            let column = steps(|i| {
                let (i, j) = (cx.b.index(i as i64), cx.b.index(j as i64));
                let (y, x) = (cx.b.add(start[0], i), cx.b.add(start[1], j));
                let at: TileBox =
                    [one(batch), channel, Axis { bounded, ..one(y) }, Axis { bounded, ..one(x) }]
                        .into_iter()
                        .collect();
                let loaded = cx.load_physical(self.x, &order, &at, 0);
                cx.b.reshape(loaded, &[1, 1, channel.extent])
            });
            differences(cx, column)
        });
        for i in 0..REACH as usize {
            let row = differences(cx, columns.map(|column| column[i]));
            for (j, value) in row.into_iter().enumerate() {
                let plane = cx.b.index(i as i64 * REACH + j as i64);
                cx.b.store(self.transformed, value, &[plane, tile, channel.offset], &[1; 3], &[false; 3]);
            }
        }
    }

    /// The sixteen products of the unit's tiles with a panel.
    fn multiply(&self, cx: &mut Lowering, tiles: &Block, panel: Value, channels: &Dim) -> Result<(), String> {
        let (rows, width) = (self.tile.m, self.tile.n);
        let packing = RightSide::Panels { width };
        let mut outcome = Ok(());
        let (zero, reach) = (cx.b.index(0), cx.b.index(REACH));
        cx.for_(zero, reach, 1, &[], |cx, i, _| {
            cx.for_(zero, reach, 1, &[], |cx, j, _| {
                let before = cx.b.mul(i, reach);
                let plane = cx.b.add(before, j);
                cx.for_(zero, tiles.padded, rows, &[], |cx, row, _| {
                    let zeros = cx.b.splat(DType::F32, &[rows, width], 0);
                    let walk = Walk::new(&self.tile, packing, channels.as_const(), rows);
                    let sum = over_k(cx, channels, walk, zeros, &mut |_, _| {}, &mut |cx, step, sum| {
                        let extents = [1, rows, step.extent];
                        let a = cx.b.load(
                            self.transformed,
                            &[plane, row, step.offset],
                            &extents,
                            &[1; 3],
                            &[false; 3],
                            0,
                        );
                        let a = cx.b.reshape(a, &extents[1..]);
                        let b = packed(cx, self.u, packing, &[], &[one(i), one(j)], step, panel);
                        Ok(cx.b.dot(sum, a, b))
                    });
                    match sum {
                        Ok(sum) => {
                            let sum = cx.b.reshape(sum, &[1, rows, width]);
                            cx.b.store(self.products, sum, &[plane, row, zero], &[1; 3], &[false; 3]);
                        }
                        Err(error) => outcome = Err(error),
                    }
                    vec![]
                });
                vec![]
            });
            vec![]
        });
        outcome
    }

    /// `Aᵀ m A` of all tiles of the unit, and what follows, on the columns of a panel.
    fn results(&self, cx: &mut Lowering, tiles: &Block, panel: Value, columns: i64) -> Result<(), String> {
        let mut outcome = Ok(());
        let zero = cx.b.index(0);
        let (width, all) = (cx.b.index(self.tile.n), cx.b.index(columns));
        let first = cx.b.mul(panel, width);
        let left = cx.b.sub(all, first);
        let here = cx.b.index_op(IndexOp::Min, left, width);
        let bounded = columns % self.lanes != 0;
        cx.for_(zero, tiles.count, 1, &[], |cx, tile, _| {
            let place = self.place(cx, tiles, tile);
            cx.for_(zero, here, self.lanes, &[], |cx, lane, _| {
                let offset = cx.b.add(first, lane);
                let column = Axis { offset, extent: self.lanes, step: 1, bounded };
                outcome = std::mem::replace(&mut outcome, Ok(()))
                    .and_then(|()| self.tile_results(cx, [tile, lane], column, tiles.batch, place));
                vec![]
            });
            vec![]
        });
        outcome
    }

    fn tile_results(
        &self,
        cx: &mut Lowering,
        [tile, lane]: [Value; 2],
        column: Axis,
        batch: Value,
        place: [Value; 2],
    ) -> Result<(), String> {
        let columns = steps(|j| {
            let products = steps(|i| {
                let plane = cx.b.index((i * REACH as usize + j) as i64);
                let extents = [1, 1, self.lanes];
                cx.b.load(self.products, &[plane, tile, lane], &extents, &[1; 3], &[false; 3], 0)
            });
            sums(cx, products)
        });
        for i in 0..RESULTS as usize {
            let row = sums(cx, columns.map(|column| column[i]));
            for (j, sum) in row.into_iter().enumerate() {
                let axis = |cx: &mut Lowering, axis: usize, step: usize| {
                    let step = cx.b.index(step as i64);
                    let offset = cx.b.add(place[axis], step);
                    let is_whole =
                        self.shape[2 + axis].as_const().is_some_and(|extent| extent % RESULTS == 0);
                    Axis { bounded: cx.b.known(step) != Some(0) && !is_whole, ..one(offset) }
                };
                let logical = [one(batch), column, axis(cx, 0, i), axis(cx, 1, j)];
                let at: TileBox = self.order.iter().map(|axis| logical[*axis]).collect();
                epilogue(cx, self.root, sum, &at)?;
            }
        }
        Ok(())
    }
}

/// For each of a tile's four places along an axis.
fn steps<T>(of: impl FnMut(usize) -> T) -> [T; REACH as usize] {
    [0, 1, 2, 3].map(of)
}

/// `Bᵀ` times a column.
fn differences(cx: &mut Lowering, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
    let mut of = |f: ScalarOp, x: Value, y: Value| cx.b.elementwise(f, &[x, y]);
    [of(ScalarOp::Sub, a, c), of(ScalarOp::Add, b, c), of(ScalarOp::Sub, c, b), of(ScalarOp::Sub, b, d)]
}

/// `Aᵀ` times a column.
fn sums(cx: &mut Lowering, [a, b, c, d]: [Value; 4]) -> [Value; 2] {
    let mut of = |f: ScalarOp, x: Value, y: Value| cx.b.elementwise(f, &[x, y]);
    let upper = of(ScalarOp::Add, a, b);
    let lower = of(ScalarOp::Sub, b, c);
    [of(ScalarOp::Add, upper, c), of(ScalarOp::Sub, lower, d)]
}
