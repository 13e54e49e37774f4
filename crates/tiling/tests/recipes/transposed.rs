//! Kernels that move a buffer to another innermost axis, against the evaluator.

use super::CHANNELS_LAST;
use super::support::{Case, check, loads, ops};
use tegula_base::DType::{F32, I32, U8};
use tegula_base::{Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{Builder, Layout};
use tegula_tile::TileOp;

/// Rows become columns in squares of lanes, whole and cut ones, with ops in front and behind.
#[test]
fn transposed_rows() {
    for n in [0, 1, 3, 4, 9, 300] {
        let case = || Case::new("transposed rows").symbol("n", n);
        let rows = [Dim::from(2), Dim::symbol("n"), Dim::from(3), Dim::from(6)];
        check(case().arg(F32, rows.clone()), |b, args| Ok(vec![b.transpose(args[0], &[0, 2, 3, 1])?]));
        check(case().arg(U8, rows.clone()).arg(F32, [1, 3, 6, 1]), |b, args| {
            let transposed = b.transpose(args[0], &[0, 2, 3, 1])?;
            let wide = b.cast(transposed, F32)?;
            Ok(vec![b.elementwise(ScalarOp::Mul, &[wide, args[1]])?])
        });
        check(
            case().arg(F32, [Dim::from(5), Dim::symbol("n")]).arg(F32, [Dim::symbol("n"), Dim::from(5)]),
            |b, args| {
                let transposed = b.transpose(args[0], &[1, 0])?;
                let sum = b.elementwise(ScalarOp::Add, &[transposed, args[1]])?;
                Ok(vec![b.neg(sum)?])
            },
        );
        check(case().arg(F32, [Dim::from(5), Dim::symbol("n"), Dim::from(1)]), |b, args| {
            let bent = b.abs(args[0])?;
            Ok(vec![b.transpose(bent, &[1, 0, 2])?])
        });
    }
}

/// Images whose channels become innermost, or stop being so: enough of them for squares, and too few.
#[test]
fn transposed_images() {
    for channels in [1, 3, 4, 9] {
        for (from, to) in [([0, 1, 2, 3], CHANNELS_LAST), (CHANNELS_LAST, [0, 1, 2, 3])] {
            let [from, to] = [from, to].map(|order| Layout::permuted(&order));
            let case = |dtype| {
                let case = Case::new(&format!("{channels} channels to {to:?}"));
                case.arg(dtype, [2, channels, 3, 10]).layout(from.clone()).result_layout(to.clone())
            };
            check(case(F32), |b, args| Ok(vec![b.abs(args[0])?]));
            check(case(U8).arg(F32, [1, channels, 1, 1]), |b, args| {
                let wide = b.cast(args[0], F32)?;
                Ok(vec![b.elementwise(ScalarOp::Mul, &[wide, args[1]])?])
            });
        }
    }
}

/// Few rows become the innermost axis: whole vectors of them are stored as runs, the rest an element at a time.
#[test]
fn rows_are_woven() {
    for rows in [2, 3, 4, 5] {
        for columns in [3, 4, 9, 12, 32, 45] {
            let case = |name: &str| Case::new(&format!("{name}, {rows} x {columns}"));
            check(case("an image").arg(F32, [2, rows, 3, columns]), |b, x| {
                Ok(vec![b.transpose(x[0], &CHANNELS_LAST)?])
            });
            check(case("bytes").arg(U8, [rows, columns]), |b, x| Ok(vec![b.transpose(x[0], &[1, 0])?]));
            check(case("behind ops").arg(F32, [rows, columns]).arg(F32, [rows, 1]), |b, x| {
                let sum = b.elementwise(ScalarOp::Add, &[x[0], x[1]])?;
                Ok(vec![b.transpose(sum, &[1, 0])?])
            });
            // An axis between the two.
            check(case("apart").arg(F32, [rows, 3, columns]), |b, x| {
                Ok(vec![b.transpose(x[0], &[2, 1, 0])?])
            });
            check(case("with ones").arg(F32, [1, rows, 1, columns, 1]), |b, x| {
                Ok(vec![b.transpose(x[0], &[0, 3, 2, 1, 4])?])
            });
        }
        let open = Case::new("of any length").symbol("n", 21);
        check(open.arg(F32, [Dim::from(rows), Dim::symbol("n")]), |b, x| {
            Ok(vec![b.transpose(x[0], &[1, 0])?])
        });
    }
    let image = |channels: i64| Case::new("an image").arg(F32, [1, channels, 3, 8]);
    let woven = |channels: i64| {
        let shapes = loads(image(channels), |b, x| Ok(vec![b.transpose(x[0], &CHANNELS_LAST)?]));
        shapes.iter().any(|shape| shape.contains(&channels))
    };
    assert!(woven(3) && !woven(5));
}

#[test]
fn squares_are_taken_where_they_can_be() {
    let square = |case: Case, build: &dyn Fn(&mut Builder, &[Value]) -> Result<Vec<Value>, String>| {
        // Neighbours lie across lanes.
        let is_square = |shape: &Vec<i64>| shape.iter().filter(|n| **n == 4).count() == 2;
        loads(case, build).iter().any(|shape| is_square(shape) && shape.last() == Some(&4))
    };
    let case = || Case::new("a square");
    assert!(square(case().arg(F32, [9, 7]), &|b, x| Ok(vec![b.transpose(x[0], &[1, 0])?])));
    // Ops in front, and an innermost axis of one.
    assert!(square(case().arg(F32, [9, 7]).arg(F32, [1, 7]), &|b, x| {
        let sum = b.elementwise(ScalarOp::Add, &[x[1], x[0]])?;
        Ok(vec![b.transpose(sum, &[1, 0])?])
    }));
    assert!(square(case().arg(F32, [9, 7, 1]), &|b, x| Ok(vec![b.transpose(x[0], &[1, 0, 2])?])));
    // The first buffer is too narrow, the second is not.
    assert!(square(case().arg(F32, [7, 9, 2]).arg(F32, [2, 7, 9]), &|b, x| {
        let narrow = b.transpose(x[0], &[2, 1, 0])?;
        let wide = b.transpose(x[1], &[0, 2, 1])?;
        Ok(vec![b.elementwise(ScalarOp::Add, &[narrow, wide])?])
    }));
    // A result that lies otherwise.
    let transposed = || case().result_layout(Layout::permuted(&[1, 0]));
    assert!(square(transposed().arg(F32, [9, 7]), &|b, x| Ok(vec![b.neg(x[0])?])));
    assert!(!square(transposed().arg(F32, [9, 3]), &|b, x| Ok(vec![b.neg(x[0])?])));
    // Axes that are neighbours in both orders are one.
    let channels_last = || case().result_layout(Layout::permuted(&CHANNELS_LAST));
    assert!(square(channels_last().arg(F32, [1, 9, 3, 3]), &|b, x| Ok(vec![b.neg(x[0])?])));
    assert!(!square(case().arg(F32, [9, 3]), &|b, x| Ok(vec![b.transpose(x[0], &[1, 0])?])));
    // The result lies otherwise than what it is made of.
    let image =
        |channels: i64| case().arg(F32, [1, channels, 3, 9]).result_layout(Layout::permuted(&CHANNELS_LAST));
    assert!(square(image(7), &|b, x| Ok(vec![b.abs(x[0])?])));
    assert!(!square(image(3), &|b, x| Ok(vec![b.abs(x[0])?])));
    // A row that is looked up begins at one place; several rows' elements have one each.
    assert!(!square(case().arg(F32, [9, 7]).arg(F32, [20, 9]).indices([7], 20), &|b, x| {
        let transposed = b.transpose(x[0], &[1, 0])?;
        let found = b.gather(x[1], x[2], 0)?;
        Ok(vec![b.elementwise(ScalarOp::Add, &[transposed, found])?])
    }));
}

/// Axes of one element stand where they are through a kernel, or move.
#[test]
fn axes_of_one_element() {
    for n in [1, 5, 40] {
        let case = || Case::new("axes of one").symbol("n", n);
        let shape = [Dim::from(1), Dim::from(6), Dim::from(1), Dim::symbol("n"), Dim::from(1)];
        check(case().arg(F32, shape.clone()), |b, x| Ok(vec![b.transpose(x[0], &[0, 3, 2, 1, 4])?]));
        check(case().arg(F32, shape.clone()), |b, x| Ok(vec![b.transpose(x[0], &[2, 3, 0, 1, 4])?]));
        check(case().arg(F32, shape.clone()), |b, x| {
            let part = b.slice_axis(x[0], 1, 2, 3)?;
            let transposed = b.transpose(part, &[0, 3, 2, 1, 4])?;
            Ok(vec![b.abs(transposed)?])
        });
        check(case().arg(F32, shape.clone()), |b, x| {
            let fill = b.splat(F32, Shape::scalar(), 7.0)?;
            let low = [0, 1, 0, 0, 0].map(Dim::from);
            let high = [0, 2, 0, 3, 0].map(Dim::from);
            Ok(vec![b.pad(x[0], &low, &high, fill)?])
        });
        check(case().arg(F32, shape.clone()).arg(F32, shape.clone()), |b, x| {
            let transposed = b.transpose(x[1], &[0, 1, 4, 3, 2])?;
            Ok(vec![b.concat(&[x[0], transposed], 1)?])
        });
    }
    // Neighbours lie across lanes, though axes of one element stand behind theirs.
    let across_lanes = |build: &dyn Fn(&mut Builder, &[Value]) -> Result<Vec<Value>, String>| {
        let case = Case::new("lanes").arg(F32, [1, 6, 1, 9, 1]);
        let shapes = loads(case, build);
        !shapes.is_empty() && shapes.iter().all(|shape| shape.last().is_some_and(|n| n % 4 == 0))
    };
    assert!(across_lanes(&|b, x| Ok(vec![b.transpose(x[0], &[0, 3, 2, 1, 4])?])));
    assert!(across_lanes(&|b, x| {
        let part = b.slice_axis(x[0], 1, 2, 3)?;
        Ok(vec![b.abs(part)?])
    }));
    assert!(across_lanes(&|b, x| {
        let fill = b.splat(F32, Shape::scalar(), 7.0)?;
        let (low, high) = ([0, 1, 0, 0, 0].map(Dim::from), [0, 2, 0, 3, 0].map(Dim::from));
        Ok(vec![b.pad(x[0], &low, &high, fill)?])
    }));
    let all_ones = Case::new("nothing but ones").arg(F32, [1, 1, 1]);
    check(all_ones, |b, x| Ok(vec![b.transpose(x[0], &[2, 1, 0])?]));
}

#[test]
fn orders_change() {
    for shape in [[2, 9, 3, 5], [1, 9, 3, 5], [2, 5, 1, 7], [2, 1, 3, 5], [3, 4, 1, 1]] {
        let [batch, channels, ..] = shape;
        let case = |name: &str| Case::new(name).result_layout(Layout::permuted(&CHANNELS_LAST));
        check(case("as a whole").arg(F32, shape), |b, x| Ok(vec![b.neg(x[0])?]));
        let case = case("with channels and images beside it").arg(F32, shape);
        check(case.arg(F32, [1, channels, 1, 1]).arg(F32, [batch, 1, 1, 1]), |b, x| {
            let sum = b.elementwise(ScalarOp::Add, &[x[0], x[1]])?;
            Ok(vec![b.elementwise(ScalarOp::Mul, &[sum, x[2]])?])
        });
        let both = Case::new("of two orders").arg(F32, shape).arg(F32, shape);
        check(both.layout(Layout::permuted(&CHANNELS_LAST)), |b, x| {
            Ok(vec![b.elementwise(ScalarOp::Add, &[x[0], x[1]])?])
        });
    }
}

/// Rows, columns and images of them, whose last panel is whole, short by vectors, and short within one.
#[test]
fn results_in_panels() {
    for (rows, columns) in [(6, 16), (9, 12), (40, 21), (1, 3)] {
        let panels = Layout::panels(&[1, 0], 1, 8);
        let case = |name: &str| Case::new(name).result_layout(panels.clone());
        check(case("as it lies").arg(F32, [rows, columns]), |b, x| Ok(vec![b.neg(x[0])?]));
        check(case("transposed").arg(F32, [columns, rows]), |b, x| Ok(vec![b.transpose(x[0], &[1, 0])?]));
        let batched = Case::new("batched").result_layout(Layout::panels(&[0, 2, 1], 2, 8));
        check(batched.arg(F32, [3, columns, rows]).arg(F32, [3, 1, columns]), |b, x| {
            let transposed = b.transpose(x[0], &[0, 2, 1])?;
            Ok(vec![b.elementwise(ScalarOp::Add, &[transposed, x[1]])?])
        });
    }
    let open = Case::new("open").symbol("n", 21).result_layout(Layout::panels(&[1, 0], 1, 8));
    check(open.arg(F32, [Dim::from(5), Dim::symbol("n")]), |b, x| Ok(vec![b.neg(x[0])?]));
}

/// What is transposed and lies as before is stored as it was loaded, whatever is computed in between.
#[test]
fn transposes_that_move_nothing_meet() {
    let case = || {
        let case = Case::new("a cast behind a transpose").arg(U8, [2, 3, 5, 4]);
        case.result_layout(Layout::permuted(&CHANNELS_LAST))
    };
    let wide = |b: &mut Builder, x: &[Value]| {
        let transposed = b.transpose(x[0], &[0, 3, 1, 2])?;
        let wide = b.cast(transposed, I32)?;
        Ok(vec![b.with_number(ScalarOp::Add, wide, 7.0)?])
    };
    check(case(), wide);
    assert!(!ops(case(), wide).iter().any(|op| matches!(op, TileOp::Transpose { .. })));
    // Of two operands one is transposed; of two transposes they differ.
    let case = || case().arg(I32, [2, 4, 3, 5]).arg(I32, [3, 2, 5, 4]);
    check(case(), |b, x| {
        let transposed = b.transpose(x[0], &[0, 3, 1, 2])?;
        let wide = b.cast(transposed, I32)?;
        let sum = b.add(wide, x[1])?;
        let other = b.transpose(x[2], &[1, 3, 0, 2])?;
        Ok(vec![b.add(sum, other)?])
    });
}
