//! Matrices of a warp: loads and stores of 8x8 fragments, and `mma.sync`.

use crate::form::{Access, ops, rule};
use crate::mma::{MmaShape, MmaType};
use crate::modifiers::*;
use crate::operand::{Address, RegList};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

/// How many 8x8 matrices.
const MATRICES: &[(usize, &str)] = &[(1, "x1"), (2, "x2"), (4, "x4")];

ops! {
    /// 1, 2 or 4 matrices of 8 rows of 16 bytes; lane `8i + r` gives the address of row `r` of matrix `i`.
    /// Lane `l` gets elements `2(l % 4)` and the next of row `l / 4`; with `trans`, of the transposed matrix.
    struct Ldmatrix "ldmatrix.sync.aligned.m8n8" { trans: bool, space: LocalShared, d: RegList, address: Address }
        form |v| {
            v.count(d, MATRICES).flag(trans, "trans").key(space).word("b16");
            let count = d.len();
            v.regs(d, count, Scalar::B32, Access::Write).shared(address)
        };
        check rule(!d.is_empty(), "1, 2 or 4 matrices are loaded");
        needs Needs::new(Target::Sm80, 7, 8).when(*space == LocalShared::Cta);

    /// The reverse of `Ldmatrix`.
    struct Stmatrix "stmatrix.sync.aligned.m8n8" { trans: bool, space: LocalShared, address: Address, a: RegList }
        form |v| {
            v.count(a, MATRICES).flag(trans, "trans").key(space).word("b16");
            let count = a.len();
            v.shared(address).regs(a, count, Scalar::B32, Access::Read)
        };
        check rule(!a.is_empty(), "1, 2 or 4 matrices are stored");
        needs Needs::new(Target::Sm90, 7, 8);

    /// An 8x8 matrix transposed across the warp.
    struct Movmatrix "movmatrix.sync.aligned.m8n8.trans.b16" { d: Reg, a: Reg }
        form |v| v.write(d, Scalar::B32).read(a, Scalar::B32);
        needs Needs::new(Target::Sm80, 7, 8);

    /// `d = a b + c` by a warp; `a` of m x k by rows, `b` of k x n by columns.
    /// Fragments as in the language's tables for the shape; `satfinite` clamps sums of integers.
    struct Mma "mma.sync.aligned" {
        shape: MmaShape, satfinite: bool, ty: MmaType, d: RegList, a: RegList, b: RegList, c: RegList,
    }
        form |v| {
            v.key(shape).word("row.col").flag(satfinite, "satfinite").key(ty);
            let (counts, sums) = (ty.counts(*shape), ty.sum_register());
            v.regs(d, counts.d, sums, Access::Write)
                .regs(a, counts.a, ty.factor_register(), Access::Read)
                .regs(b, counts.b, ty.factor_register(), Access::Read)
                .regs(c, counts.d, sums, Access::Read)
        };
        check rule(ty.has(*shape), "the type has no such shape")
            .and(rule(!*satfinite || ty.is_integer(), "`.satfinite` is for integers"));
        needs ty.needs(*shape);
}
