//! What divides an index in every run, from the loops and arithmetic that it comes from.

use crate::{IndexOp, TileFunc, TileOp};
use tegula_base::Dim;
use tegula_ir::{Def, Value};

/// Only what divides it is asked about; 0 is a multiple of it too.
const MOST: i64 = 1 << 20;

/// A divisor of [`MOST`] that divides the index in every run; `of_size` says what divides a size expression.
pub fn divisor(func: &TileFunc, value: Value, of_size: &dyn Fn(&Dim) -> i64) -> i64 {
    match func.def(value) {
        Def::Arg(region, 0) if region != func.body() => {
            let owner = func.owner(region).expect("invariant: a loop owns its body");
            match func.kind(owner) {
                TileOp::For { step } => gcd(divisor(func, func.operand(owner, 0), of_size), *step),
                _ => 1,
            }
        }
        Def::Arg(..) => 1,
        Def::Result(op, _) => {
            let operand = |i: usize| divisor(func, func.operand(op, i), of_size);
            match func.kind(op) {
                TileOp::Const { value } => gcd(*value, MOST),
                TileOp::Size { dim } => gcd(of_size(dim), MOST),
                TileOp::Index { op: IndexOp::Mul } => gcd(operand(0) * operand(1), MOST),
                TileOp::Index { op: IndexOp::Add | IndexOp::Sub | IndexOp::Min | IndexOp::Max } => {
                    gcd(operand(0), operand(1))
                }
                TileOp::Index { op: IndexOp::FloorDiv } => match constant(func, func.operand(op, 1)) {
                    Some(by) if by > 0 && operand(0) % by == 0 => operand(0) / by,
                    _ => 1,
                },
                TileOp::Index { op: IndexOp::Mod } => gcd(operand(0), operand(1)),
                _ => 1,
            }
        }
    }
}

/// `a` and `factor / c` where the index is `a / c` without a rest and `factor` a multiple of `c`: `index * factor` is
/// their product.
pub fn exact_quotient(func: &TileFunc, index: Value, factor: i64) -> Option<(Value, i64)> {
    let op = func.def_op(index)?;
    let (TileOp::Index { op: IndexOp::FloorDiv }, [a, c]) = (func.kind(op), func.operands(op)) else {
        return None;
    };
    let c = constant(func, *c).filter(|c| *c > 0 && factor % c == 0)?;
    (divisor(func, *a, &|_| 1) % c == 0).then_some((*a, factor / c))
}

/// The value of a constant index.
pub fn constant(func: &TileFunc, index: Value) -> Option<i64> {
    match func.kind(func.def_op(index)?) {
        TileOp::Const { value } => Some(*value),
        _ => None,
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

#[cfg(test)]
mod tests {
    use super::{MOST, divisor, exact_quotient};
    use crate::build::fold_index;
    use crate::{IndexOp, TileBuilder, TileFunc, TileKernel};
    use tegula_base::{Dim, HashMap};
    use tegula_ir::Value;

    /// Sizes and constants; a size divides itself.
    const SIZES: [(&str, i64); 4] = [("a", 3 << 10), ("b", 1 << 9), ("c", 3 << 21), ("d", 7)];
    const CONSTANTS: [i64; 6] = [0, 1, 2, 12, -8, 3 << 19];
    const OPS: [IndexOp; 7] = [
        IndexOp::Add,
        IndexOp::Sub,
        IndexOp::Mul,
        IndexOp::FloorDiv,
        IndexOp::Mod,
        IndexOp::Min,
        IndexOp::Max,
    ];

    fn of_size(dim: &Dim) -> i64 {
        dim.eval(&|name| SIZES.iter().find(|(size, _)| *size == name).map(|(_, n)| *n)).unwrap()
    }

    /// Sums, products, quotients and so on of sizes and constants, and of those, with their values.
    fn indexes(b: &mut TileBuilder) -> Vec<(Value, i64)> {
        let mut indexes: Vec<(Value, i64)> = SIZES.map(|(name, n)| (b.size(&Dim::symbol(name)), n)).to_vec();
        indexes.extend(CONSTANTS.map(|n| (b.index(n), n)));
        for _ in 0..2 {
            let known = indexes.clone();
            for (x, vx) in &known {
                // Later rounds combine with the first indexes, so that they stay few and small.
                for (y, vy) in &known[..SIZES.len() + CONSTANTS.len()] {
                    indexes.extend(OPS.map(|op| (b.index_op(op, *x, *y), fold_index(op, *vx, *vy))));
                }
            }
        }
        indexes
    }

    fn kernel() -> TileKernel {
        TileKernel { func: TileFunc::new("divisors"), grid: vec![], views: vec![] }
    }

    #[test]
    fn divisors_divide_what_is_computed() {
        let mut kernel = kernel();
        let mut b = TileBuilder::new(&mut kernel);
        let mut found = 0;
        for (index, value) in indexes(&mut b) {
            let by = divisor(b.func, index, &of_size);
            assert!(by > 0 && MOST % by == 0 && value % by == 0, "{value} by {by}");
            found += usize::from(by > 1 && value != 0);
        }
        assert!(found > 1000, "{found} divisors");
    }

    /// An index of a loop is its start and some steps.
    #[test]
    fn divisors_of_loops_divide_start_and_step() {
        let mut kernel = kernel();
        let mut b = TileBuilder::new(&mut kernel);
        for (start, step, by) in [(0, 8, 8), (4, 8, 4), (3, 8, 1), (12, 18, 2), (16, 4, 4)] {
            let (lo, hi) = (b.index(start), b.index(start + 3 * step));
            let scope = b.begin_for(lo, hi, step, &[]);
            assert_eq!(divisor(b.func, scope.iv, &of_size), by, "from {start} by {step}");
            b.end_for(scope, &[]);
        }
    }

    #[test]
    fn exact_quotients_multiply_back() {
        let mut kernel = kernel();
        let mut b = TileBuilder::new(&mut kernel);
        let indexes = indexes(&mut b);
        let values: HashMap<Value, i64> = indexes.iter().copied().collect();
        let mut found = 0;
        for (index, value) in indexes {
            for factor in [-8, 0, 1, 2, 3, 4, 12, 64] {
                let Some((dividend, rest)) = exact_quotient(b.func, index, factor) else { continue };
                assert_eq!(
                    value.wrapping_mul(factor),
                    values[&dividend].wrapping_mul(rest),
                    "{value} * {factor}"
                );
                found += 1;
            }
        }
        assert!(found > 50, "{found} quotients");
    }
}
