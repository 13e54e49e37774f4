//! Products by `wgmma`: which they take, and the descriptors of their factors.

use super::super::Lower;
use super::Ring;
use super::source::{Source, behind};
use crate::encoding::matrix::{K_BYTES, window_start};
use crate::encoding::{MatrixOperand, Window, matrix_operand};
use tegula_base::{DType, HashMap};
use tegula_ir::OpId;
use tegula_isa_ptx::mma::{WgmmaShape, WgmmaType};
use tegula_tile::TileOp;

/// Rows of one instruction.
pub(in crate::lower) const ROWS: i64 = 64;
/// Columns of one instruction at most.
const COLUMNS: i64 = 256;

/// How a product is cut into instructions.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Product {
    pub ty: WgmmaType,
    pub shape: WgmmaShape,
    pub n: i64,
    /// Blocks of 64 rows that each warpgroup has, in a run of rows.
    pub blocks: i64,
    /// Instructions along k.
    pub steps: i64,
    pub left: Left,
    pub right: OperandPlan,
    pub warpgroups: u32,
    pub cluster: u32,
}

/// Where the left factor is.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Left {
    Shared(OperandPlan),
    Registers,
}

/// A factor in a ring's slot.
#[derive(Clone, Debug)]
pub(in crate::lower) struct OperandPlan {
    pub ring: usize,
    pub operand: MatrixOperand,
    /// Bytes from the slot's start to what each instruction reads: by block of 64 rows, then by step along k.
    pub starts: Vec<Vec<u32>>,
    /// Bytes from one warpgroup's rows to the next one's.
    pub warpgroup: u32,
}

/// The instruction's type for factors and sums.
fn ty(left: DType, right: DType, sums: DType) -> Option<WgmmaType> {
    use DType::*;
    Some(match (left, right, sums) {
        (BF16, BF16, F32) => WgmmaType::F32BF16,
        (F16, F16, F32) => WgmmaType::F32F16,
        (F8E4M3FN, F8E4M3FN, F32) => WgmmaType::F32E4M3E4M3,
        (F8E4M3FN, F8E5M2, F32) => WgmmaType::F32E4M3E5M2,
        (F8E5M2, F8E4M3FN, F32) => WgmmaType::F32E5M2E4M3,
        (F8E5M2, F8E5M2, F32) => WgmmaType::F32E5M2E5M2,
        (I8, I8, I32) => WgmmaType::S32S8S8,
        (I8, U8, I32) => WgmmaType::S32S8U8,
        (U8, I8, I32) => WgmmaType::S32U8S8,
        (U8, U8, I32) => WgmmaType::S32U8U8,
        _ => return None,
    })
}

pub(super) fn rows(cx: &Lower, dot: OpId) -> i64 {
    cx.tile(cx.func.operand(dot, 0)).1[0]
}

/// Type and extents of a product that instructions divide: m, n, k.
fn shape(cx: &Lower, dot: OpId) -> Option<(WgmmaType, WgmmaShape, [i64; 3])> {
    let TileOp::Dot { accumulation: None } = cx.func.kind(dot) else { return None };
    let [acc, a, b] = *cx.func.operands(dot) else { return None };
    let ((sums, extents), (left, factor), (right, _)) = (cx.tile(acc), cx.tile(a), cx.tile(b));
    let ty = ty(left, right, sums)?;
    let [m, n, k] = [extents[0], extents[1], factor[1]];
    let shape = WgmmaShape::new(n as usize, ty.k()).filter(|shape| ty.has(*shape))?;
    (m % ROWS == 0 && n <= COLUMNS && k % ty.k() as i64 == 0).then_some((ty, shape, [m, n, k]))
}

pub(super) fn fits(cx: &Lower, dot: OpId) -> bool {
    shape(cx, dot).is_some()
}

/// Whether registers hold a left factor's elements as the instructions want them.
pub(super) fn from_registers(cx: &Lower, dot: OpId) -> bool {
    let (dtype, _) = cx.tile(cx.func.operand(dot, 1));
    matches!(dtype, DType::BF16 | DType::F16 | DType::I8 | DType::U8)
}

/// Whether a load is the product's left factor.
pub(super) fn is_left(cx: &Lower, dot: OpId, load: OpId) -> bool {
    behind(cx, cx.func.operand(dot, 1)).is_some_and(|(left, _)| left == load)
}

/// The dim of a left factor's matrix that has the product's rows.
pub(super) fn mn_dim(cx: &Lower, dot: OpId, load: OpId) -> Option<usize> {
    let (left, turned) = behind(cx, cx.func.operand(dot, 1))?;
    (left == load).then_some(usize::from(turned))
}

/// Whether instructions can read the factor in the source's layout.
pub(super) fn reads(cx: &Lower, dot: OpId, source: &Source, left: bool) -> bool {
    operand(cx, dot, source, left).is_some()
}

/// The factor as instructions read it, and the windows that they read.
fn operand(cx: &Lower, dot: OpId, source: &Source, left: bool) -> Option<(MatrixOperand, Window)> {
    let (_, _, [_, n, _]) = shape(cx, dot)?;
    let value = cx.func.operand(dot, if left { 1 } else { 2 });
    let (load, turned) = behind(cx, value)?;
    (load == source.load).then_some(())?;
    // The left factor has rows first, the right one k.
    let mn_dim = usize::from(left == turned);
    let mn = if left { ROWS } else { n } as u32;
    let window = Window { mn_dim, k_dim: 1 - mn_dim, mn };
    Some((matrix_operand(&source.layout, window).ok()?, window))
}

/// The product's plan, once rings have their places.
pub(super) fn plan(
    cx: &Lower,
    dot: OpId,
    rings: &[Ring],
    of_load: &HashMap<OpId, (usize, usize)>,
    [warpgroups, cluster]: [u32; 2],
) -> Option<Product> {
    let (ty, shape, [m, n, k]) = shape(cx, dot)?;
    let blocks = m / ROWS / i64::from(warpgroups * cluster);
    let factor = |left: bool| -> Option<OperandPlan> {
        let (load, _) = behind(cx, cx.func.operand(dot, if left { 1 } else { 2 }))?;
        let (ring, number) = *of_load.get(&load)?;
        let source = &rings[ring].loads[number];
        let (operand, window) = operand(cx, dot, source, left)?;
        let at = |mn: u32, k: u32| source.offset + window_start(&source.layout, window, mn, k);
        let k_step = K_BYTES / source.layout.element();
        let starts = |block: i64| {
            let steps = (0..k as u32).step_by(k_step as usize);
            steps.map(|k| at((block * ROWS) as u32, k)).collect()
        };
        let own = (blocks * ROWS) as u32;
        let warpgroup = if left && warpgroups > 1 { at(own, 0) - at(0, 0) } else { 0 };
        let even = (0..warpgroups).all(|w| !left || at(w * own, 0) == at(0, 0) + w * warpgroup);
        let starts = (0..if left { blocks } else { 1 }).map(starts).collect();
        even.then_some(OperandPlan { ring, operand, starts, warpgroup })
    };
    let left = match behind(cx, cx.func.operand(dot, 1)).filter(|(load, _)| of_load.contains_key(load)) {
        Some(_) => Left::Shared(factor(true)?),
        None => Left::Registers,
    };
    let right = factor(false)?;
    Some(Product { ty, shape, n, blocks, steps: k / ty.k() as i64, left, right, warpgroups, cluster })
}
