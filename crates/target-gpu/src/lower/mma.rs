//! Matrix products by `mma.sync`: which they take, how sums and factors lie over lanes and warps, the instructions.
//!
//! A warp multiplies 16 x k by k x 8. Lane `4g + t` holds sums of rows `g` and `g + 8` at columns `2t` and `2t + 1`; of
//! the factors it holds runs of neighbours along k, as many as fill 32 bits (PTX ISA, "Matrix Fragments for
//! mma.m16n8k16", "mma.m16n8k32").

use super::{Lower, Made};
use crate::coord::{Coord, Place, ThreadMap};
use crate::spread::Spread;
use tegula_base::DType;
use tegula_ir::OpId;
use tegula_isa_ptx::mma::{MmaShape, MmaType};
use tegula_isa_ptx::op::{CvtHalves, Mma, Prmt};
use tegula_isa_ptx::types::PackedHalf;
use tegula_isa_ptx::{Operand, Reg, RegClass, RegList};
use tegula_tile::TileOp;

/// Rows and columns of one instruction.
const ROWS: i64 = 16;
const COLUMNS: i64 = 8;
const LANE_BITS: u32 = 5;

/// How a product is cut into instructions.
pub(super) struct Plan {
    ty: MmaType,
    shape: MmaShape,
    /// Steps of the contraction of one instruction, and neighbours in one register.
    k: i64,
    run: i64,
    /// The tile's extents.
    m: i64,
    n: i64,
    inner: i64,
    /// Bits of the thread's number that name a warp's row and column.
    row_bits: Vec<u8>,
    column_bits: Vec<u8>,
}

impl Plan {
    fn row_step(&self) -> i64 {
        ROWS << self.row_bits.len()
    }

    fn column_step(&self) -> i64 {
        COLUMNS << self.column_bits.len()
    }

    fn warps(bits: &[u8], step: i64) -> impl Iterator<Item = (u8, i64)> {
        bits.iter().enumerate().map(move |(i, bit)| (*bit, step << i))
    }

    /// Rows of the sums and of the left factor.
    fn row_map(&self) -> ThreadMap {
        [(2, 1), (3, 2), (4, 4)].into_iter().chain(Plan::warps(&self.row_bits, ROWS)).collect()
    }

    /// Columns of the sums.
    fn column_map(&self) -> ThreadMap {
        [(0, 2), (1, 4)].into_iter().chain(Plan::warps(&self.column_bits, COLUMNS)).collect()
    }

    /// Columns of the right factor.
    fn right_map(&self) -> ThreadMap {
        [(2, 1), (3, 2), (4, 4)].into_iter().chain(Plan::warps(&self.column_bits, COLUMNS)).collect()
    }

    fn inner_map(&self) -> ThreadMap {
        [(0, self.run), (1, 2 * self.run)].into_iter().collect()
    }
}

impl Lower<'_> {
    /// How `mma.sync` computes a product; none where it does not.
    pub fn mma_plan(&self, op: OpId) -> Option<Plan> {
        if !matches!(self.func.kind(op), TileOp::Dot { accumulation: None }) {
            return None;
        }
        let [acc, a, b] = *self.func.operands(op) else { return None };
        let ((_, sums), (left, factor), (right, _)) = (self.tile(acc), self.tile(a), self.tile(b));
        let (ty, shape, k, run) = match (left, right) {
            (DType::BF16, DType::BF16) => (MmaType::F32BF16, MmaShape::M16N8K16, 16, 2),
            (DType::F16, DType::F16) => (MmaType::F32F16, MmaShape::M16N8K16, 16, 2),
            (DType::I8, DType::I8) => (MmaType::S32S8S8, MmaShape::M16N8K32, 32, 4),
            (DType::I8, DType::U8) => (MmaType::S32S8U8, MmaShape::M16N8K32, 32, 4),
            (DType::U8, DType::I8) => (MmaType::S32U8S8, MmaShape::M16N8K32, 32, 4),
            (DType::U8, DType::U8) => (MmaType::S32U8U8, MmaShape::M16N8K32, 32, 4),
            _ => return None,
        };
        let (m, n, inner) = (sums[0], sums[1], factor[1]);
        if m % ROWS != 0 || n % COLUMNS != 0 || inner % k != 0 {
            return None;
        }
        // Warps share the longer side; those that are left over do the same.
        let (mut row_bits, mut column_bits) = (Vec::new(), Vec::new());
        let (mut rows, mut columns) = (m / ROWS, n / COLUMNS);
        for bit in LANE_BITS..self.thread_bits {
            if rows % 2 == 0 && (rows * ROWS >= columns * COLUMNS || columns % 2 != 0) {
                row_bits.push(bit as u8);
                rows /= 2;
            } else if columns % 2 == 0 {
                column_bits.push(bit as u8);
                columns /= 2;
            }
        }
        Some(Plan { ty, shape, k, run, m, n, inner, row_bits, column_bits })
    }

    /// Where the sums lie: for each instruction its four registers.
    pub fn mma_places(&mut self, plan: &Plan) -> Vec<Place> {
        let (rows, columns) = (self.maps.intern(plan.row_map()), self.maps.intern(plan.column_map()));
        let mut places = Vec::new();
        for row in (0..plan.m).step_by(plan.row_step() as usize) {
            for column in (0..plan.n).step_by(plan.column_step() as usize) {
                for (down, right) in [(0, 0), (0, 1), (8, 0), (8, 1)] {
                    let place =
                        [Coord { map: rows, at: row + down }, Coord { map: columns, at: column + right }];
                    places.push(place.into_iter().collect());
                }
            }
        }
        places
    }

    pub fn mma(&mut self, op: OpId, plan: &Plan) -> Made<()> {
        let [acc, a, b] = *self.func.operands(op) else {
            unreachable!("invariant: a product has three operands")
        };
        let spread = Spread { places: self.mma_places(plan) };
        let mut sums = self.pieces(acc, &spread.places)?;
        let (dtype, _) = self.tile(a);
        let inner = self.maps.intern(plan.inner_map());
        let rows = self.maps.intern(plan.row_map());
        let columns = self.maps.intern(plan.right_map());
        let row_starts: Vec<i64> = (0..plan.m).step_by(plan.row_step() as usize).collect();
        let column_starts: Vec<i64> = (0..plan.n).step_by(plan.column_step() as usize).collect();
        let steps: Vec<i64> = (0..plan.inner).step_by(plan.k as usize).collect();
        let along = |start: i64| (0..plan.run).map(move |i| Coord { map: inner, at: start + i });
        // Registers of a fragment: rows `g` and `g + 8`, then the same half of k further.
        let mut lefts: Vec<Place> = Vec::new();
        let mut rights: Vec<Place> = Vec::new();
        for k in &steps {
            for row in &row_starts {
                for (far, down) in [(0, 0), (0, 8), (1, 0), (1, 8)] {
                    let at = Coord { map: rows, at: row + down };
                    lefts.extend(
                        along(k + far * plan.k / 2).map(|k| -> Place { [at, k].into_iter().collect() }),
                    );
                }
            }
            for column in &column_starts {
                for far in 0..2 {
                    let at = Coord { map: columns, at: *column };
                    rights.extend(
                        along(k + far * plan.k / 2).map(|k| -> Place { [k, at].into_iter().collect() }),
                    );
                }
            }
        }
        let lefts = self.factors(a, &lefts)?;
        let rights = self.factors(b, &rights)?;
        let lefts: Vec<Reg> = lefts.chunks(plan.run as usize).map(|run| self.packed(dtype, run)).collect();
        let rights: Vec<Reg> = rights.chunks(plan.run as usize).map(|run| self.packed(dtype, run)).collect();
        for step in 0..steps.len() {
            for row in 0..row_starts.len() {
                let first = 4 * (step * row_starts.len() + row);
                let a: RegList = lefts[first..first + 4].iter().copied().collect();
                for column in 0..column_starts.len() {
                    let first = 2 * (step * column_starts.len() + column);
                    let b: RegList = rights[first..first + 2].iter().copied().collect();
                    let own = 4 * (row * column_starts.len() + column);
                    let c: RegList =
                        sums[own..own + 4].iter().map(|sum| self.code.in_reg(RegClass::B32, *sum)).collect();
                    let d: RegList = (0..4).map(|_| self.code.b32()).collect();
                    for (i, sum) in d.iter().enumerate() {
                        sums[own + i] = (*sum).into();
                    }
                    self.code.emit(Mma {
                        shape: plan.shape,
                        satfinite: false,
                        ty: plan.ty,
                        d,
                        a: a.clone(),
                        b,
                        c,
                    });
                }
            }
        }
        self.anchor_at(self.func.result(op), spread, &sums);
        Ok(())
    }

    /// Neighbours along k in one register, the first one lowest.
    pub fn packed(&mut self, dtype: DType, run: &[Operand]) -> Reg {
        let d = self.code.b32();
        self.pack(d, dtype, run);
        d
    }

    /// As [`Self::packed`], into a register.
    pub fn pack(&mut self, d: Reg, dtype: DType, run: &[Operand]) {
        if let [low, high] = *run {
            let to = if dtype == DType::F16 { PackedHalf::F16x2 } else { PackedHalf::BF16x2 };
            self.code.emit(CvtHalves { to, d, a: high, b: low, ..Default::default() });
            return;
        }
        let join = |cx: &mut Self, d: Reg, a: Operand, b: Operand, selector: u32| {
            cx.code.emit(Prmt { mode: None, d, a, b, selector: Operand::u32(selector) });
        };
        let (low, high) = (self.code.b32(), self.code.b32());
        join(self, low, run[0], run[1], 0x0040);
        join(self, high, run[2], run[3], 0x0040);
        join(self, d, low.into(), high.into(), 0x5410);
    }
}
