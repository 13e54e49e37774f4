//! Tile kernels against their meaning: movement of elements, borders of views, gathers, updates in place. The tile
//! level's executor is the oracle.
//! A target's tests include this file; their `harness` says how a kernel runs there.

use crate::harness::{Case, Check};
use tegula_base::DType::{self, *};
use tegula_ir::ScalarOp;
use tegula_testkit::tiles::{load, store};

const ADD: ScalarOp = ScalarOp::Add;

#[test]
fn bounded_tails() {
    for n in [1, 7, 16, 45] {
        Case::new("3", &[("n", n)]).input(F32, "3,n").output(F32, "3,n").check(|b, views, units| {
            let (zero, size) = (b.index(0), b.size(&"n".parse().unwrap()));
            let scope = b.begin_for(zero, size, 24, &[]);
            let offsets = [units[0], scope.iv];
            let x = b.load(views[0], &offsets, &[1, 24], &[1, 1], &[false, true], 0);
            let x = b.elementwise(ADD, &[x, x]);
            b.store(views[1], x, &offsets, &[1, 1], &[false, true]);
            b.end_for(scope, &[]);
        });
    }
}

/// Beyond a view stand the numbers that a load says, of either sign; a comparison and a sum see their sign.
#[test]
fn paddings_keep_their_sign() {
    for (dtype, bits) in [(I8, 8), (U8, 8), (I16, 16), (U16, 16), (I32, 32), (U32, 32), (I64, 64), (U64, 64)]
    {
        for pad in [1i64 << (bits - 1), u64::MAX.wrapping_shr(64 - bits) as i64, 5] {
            Case::new("1", &[("n", 9)]).input(dtype, "n").output(I64, "16").output(dtype, "16").check(
                |b, views, _| {
                    let zero = b.index(0);
                    let x = b.load(views[0], &[zero], &[16], &[1], &[true], pad);
                    let wide = b.elementwise(ScalarOp::Cast { to: I64, saturate: false }, &[x]);
                    let none = b.splat(dtype, &[16], 0);
                    let most = b.elementwise(ScalarOp::Max, &[x, none]);
                    b.store(views[1], wide, &[zero], &[1], &[false]);
                    b.store(views[2], most, &[zero], &[1], &[false]);
                },
            );
        }
    }
}

#[test]
fn transposes() {
    for (dtype, m, n) in [
        (F32, 32, 16),
        (F32, 20, 37),
        (F32, 3, 5),
        (F32, 12, 32),
        (F32, 40, 9),
        (F64, 16, 8),
        (U8, 16, 32),
        (Bool, 17, 16),
    ] {
        for compute in [false, true] {
            let (from, to) = (format!("{m},{n}"), format!("{n},{m}"));
            Case::new("1", &[]).input(dtype, &from).output(dtype, &to).check(|b, views, _| {
                let zero = b.index(0);
                let mut x = load(b, views[0], &[zero, zero], &[m, n]);
                if compute {
                    x = match dtype {
                        Bool => b.elementwise(ScalarOp::Not, &[x]),
                        _ => b.elementwise(ADD, &[x, x]),
                    };
                }
                let x = b.transpose(x, &[1, 0]);
                store(b, views[1], x, &[zero, zero]);
            });
        }
    }
}

#[test]
fn reshapes_extracts_concats() {
    for compute in [false, true] {
        Case::new("1", &[])
            .input(F32, "6,20")
            .output(F32, "10,12")
            .output(F32, "3,7")
            .output(F32, "6,27")
            .check(|b, views, _| {
                let zero = b.index(0);
                let mut x = load(b, views[0], &[zero, zero], &[6, 20]);
                if compute {
                    x = b.elementwise(ADD, &[x, x]);
                }
                let y = b.reshape(x, &[10, 12]);
                store(b, views[1], y, &[zero, zero]);
                let z = b.extract(x, &[2, 11], &[3, 7]);
                store(b, views[2], z, &[zero, zero]);
                let one = b.extract(x, &[0, 3], &[6, 1]);
                let wide = b.extract(x, &[0, 2], &[6, 6]);
                let joined = b.concat(&[wide, one, x], 1);
                store(b, views[3], joined, &[zero, zero]);
            });
    }
}

#[test]
fn columns_to_rows_and_back() {
    for compute in [false, true] {
        Case::new("1", &[]).input(F32, "20").output(F32, "20,3").output(F32, "1,20").check(|b, views, _| {
            let zero = b.index(0);
            let mut x = load(b, views[0], &[zero], &[20]);
            if compute {
                x = b.elementwise(ADD, &[x, x]);
            }
            let column = b.reshape(x, &[20, 1]);
            let wide = b.broadcast(column, &[20, 3]);
            store(b, views[1], wide, &[zero, zero]);
            let row = b.transpose(column, &[1, 0]);
            store(b, views[2], row, &[zero, zero]);
        });
    }
}

#[test]
fn strides_and_steps() {
    Case::new("3", &[("n", 50)])
        .input_with(F32, "n,3", "1,n")
        .input_with(F32, "3,n", "0,1")
        .output(F32, "3,20")
        .output_with(F32, "3,20", "1,3")
        .check(|b, views, units| {
            let (zero, four) = (b.index(0), b.index(4));
            let x = b.load(views[0], &[four, units[0]], &[20, 1], &[2, 1], &[false, false], 0);
            let x = b.transpose(x, &[1, 0]);
            let y = b.load(views[1], &[units[0], four], &[1, 20], &[1, 2], &[false, false], 0);
            let z = b.elementwise(ScalarOp::Mul, &[x, y]);
            store(b, views[2], z, &[units[0], zero]);
            store(b, views[3], z, &[units[0], zero]);
        });
}

#[test]
fn reversed_rows() {
    Case::new("3", &[("n", 21)]).input(F32, "3,n").output(F32, "3,n").check(|b, views, units| {
        let (zero, size) = (b.index(0), b.size(&"n".parse().unwrap()));
        let scope = b.begin_for(zero, size, 16, &[]);
        let one = b.index(1);
        let last = b.sub(size, one);
        let from = b.sub(last, scope.iv);
        let x = b.load(views[0], &[units[0], from], &[1, 16], &[1, -1], &[false, true], 0);
        b.store(views[1], x, &[units[0], scope.iv], &[1, 1], &[false, true]);
        b.end_for(scope, &[]);
    });
}

#[test]
fn windows_with_padding() {
    for pad in [0, i64::from(7.5f32.to_bits())] {
        for (n, m) in [(19, 6), (0, 6), (3, 1), (16, 0)] {
            Case::new("8", &[("n", n), ("m", m)]).input(F32, "m,n").output(F32, "8,40").check(
                |b, views, units| {
                    let (zero, one) = (b.index(0), b.index(1));
                    let row = b.sub(units[0], one);
                    let minus = b.index(-3);
                    // Rows and columns begin before the view.
                    let x = b.load(views[0], &[row, minus], &[1, 40], &[1, 1], &[true, true], pad);
                    let y = b.load(views[0], &[row, zero], &[1, 1], &[1, 1], &[true, true], pad);
                    let y = b.broadcast(y, &[1, 40]);
                    let x = b.elementwise(ADD, &[x, y]);
                    store(b, views[1], x, &[units[0], zero]);
                },
            );
        }
    }
}

#[test]
fn stores_partly_outside() {
    for n in [0, 3, 19, 40] {
        Case::new("5", &[("n", n)]).input(F32, "5,40").output(F32, "4,n").check(|b, views, units| {
            let (zero, minus, one) = (b.index(0), b.index(-2), b.index(1));
            let x = load(b, views[0], &[units[0], zero], &[1, 40]);
            let row = b.sub(units[0], one);
            b.store(views[1], x, &[row, minus], &[1, 1], &[true, true]);
            let y = b.extract(x, &[0, 0], &[1, 1]);
            b.store(views[1], y, &[row, zero], &[1, 1], &[true, true]);
        });
    }
}

#[test]
fn gathers_and_scatters() {
    for index in [I32, I64, U8] {
        Case::new("1", &[])
            .input(F32, "64")
            .input(index, "21")
            .output(F32, "21")
            .output(F32, "64")
            .int_limit(60)
            .check(|b, views, _| {
                let zero = b.index(0);
                let i = load(b, views[1], &[zero], &[21]);
                let limit = b.splat(index, &[21], 0);
                let i = b.elementwise(ScalarOp::Max, &[i, limit]);
                let x = b.gather(views[0], i);
                store(b, views[2], x, &[zero]);
                b.scatter(views[3], x, i);
            });
    }
}

#[test]
fn bytes_of_a_table() {
    for n in [5, 37] {
        let extent = n.to_string();
        Case::new("1", &[]).input(U8, "260").input(U8, &extent).output(U8, &extent).int_limit(256).check(
            |b, views, _| {
                let zero = b.index(0);
                let i = load(b, views[1], &[zero], &[n]);
                let i = b.elementwise(ScalarOp::Cast { to: I32, saturate: true }, &[i]);
                let x = b.gather(views[0], i);
                store(b, views[2], x, &[zero]);
            },
        );
    }
}

#[test]
fn one_element_gathers() {
    Case::new("4", &[])
        .input(F32, "64")
        .input(I64, "4")
        .output(F32, "4,20")
        .output(F32, "64")
        .int_limit(60)
        .check(|b, views, units| {
            let zero = b.index(0);
            let i = load(b, views[1], &[units[0]], &[1]);
            let limit = b.splat(I64, &[1], 0);
            let i = b.elementwise(ScalarOp::Max, &[i, limit]);
            let x = b.gather(views[0], i);
            b.scatter(views[3], x, i);
            let scalar = b.reshape(i, &[]);
            let index = b.to_index(scalar);
            let number = b.from_index(F32, index);
            let number = b.reshape(number, &[1]);
            let x = b.elementwise(ADD, &[x, number]);
            let x = b.reshape(x, &[1, 1]);
            let x = b.broadcast(x, &[1, 20]);
            store(b, views[2], x, &[units[0], zero]);
        });
}

#[test]
fn rows_chosen_by_indexes() {
    // 64-bit scalars beside rows of 32-bit lanes; one index is out of range and padded.
    Case::new("5", &[]).input(I64, "4").input(F32, "60,40").output(F32, "5,40").int_limit(60).check(
        |b, views, units| {
            let zero = b.index(0);
            let i = b.load(views[0], &[units[0]], &[1], &[1], &[true], 59);
            let none = b.splat(I64, &[1], 0);
            let negative = b.elementwise(ScalarOp::Lt, &[i, none]);
            let size = b.index(60);
            let size = b.from_index(I64, size);
            let size = b.reshape(size, &[1]);
            let wrapped = b.elementwise(ADD, &[i, size]);
            let i = b.elementwise(ScalarOp::Select, &[negative, wrapped, i]);
            let i = b.reshape(i, &[]);
            let row = b.to_index(i);
            let x = load(b, views[1], &[row, zero], &[1, 40]);
            store(b, views[2], x, &[units[0], zero]);
        },
    );
}

#[test]
fn updates_in_place() {
    // The second result reads what the first store overwrites.
    Case::new("1", &[])
        .input(F32, "2,40")
        .output(F32, "2,40")
        .output(F32, "2,40")
        .output(F32, "2,40")
        .in_place(0)
        .check(|b, views, _| {
            let zero = b.index(0);
            let x = load(b, views[0], &[zero, zero], &[2, 40]);
            let y = b.elementwise(ADD, &[x, x]);
            store(b, views[3], y, &[zero, zero]);
            let z = b.elementwise(ScalarOp::Neg, &[x]);
            store(b, views[1], z, &[zero, zero]);
        });
    // Every row is summed before it is overwritten.
    Case::new("1", &[]).input(F32, "2,40").output(F32, "2,40").in_place(0).check(|b, views, _| {
        let zero = b.index(0);
        let x = load(b, views[0], &[zero, zero], &[2, 40]);
        let sum = b.reduce(ADD, x, 0);
        let sum = b.broadcast(sum, &[2, 40]);
        let y = b.elementwise(ADD, &[x, sum]);
        store(b, views[1], y, &[zero, zero]);
    });
}

#[test]
fn every_dtype_is_copied() {
    for dtype in DType::COMPUTED {
        Case::new("2", &[])
            .input(dtype, "2,21")
            .output(dtype, "2,21")
            .output(dtype, "2,21")
            .int_limit(8)
            .check(|b, views, units| {
                let zero = b.index(0);
                let x = load(b, views[0], &[units[0], zero], &[1, 21]);
                store(b, views[1], x, &[units[0], zero]);
                let number = b.from_index(dtype, units[0]);
                let number = b.reshape(number, &[1, 1]);
                let number = b.broadcast(number, &[1, 21]);
                let same = b.elementwise(ScalarOp::Eq, &[x, number]);
                let ramp = b.splat(dtype, &[1, 21], 1);
                let chosen = b.elementwise(ScalarOp::Select, &[same, ramp, x]);
                store(b, views[2], chosen, &[units[0], zero]);
            });
    }
}
