//! Recipes against the evaluator: each kernel runs on the tile executor with odd sizes, tails, borders and layouts.

#[path = "recipes/means.rs"]
mod means;
#[path = "recipes/sums.rs"]
mod sums;
use crate::support;
#[path = "recipes/transposed.rs"]
mod transposed;

use support::{Case, check, loads};
use tegula_base::DType::{BF16, F8E4M3FN, F16, F32, I8, I32, I64, U8};
use tegula_base::Dim;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::layout::Physical;
use tegula_tensor::{Builder, DotDims, KernelClass, Layout, PoolKind, ScatterKind, TensorOp, Window};
use tegula_testkit::turn::in_turn;

fn dims(lhs_k: usize, rhs_k: usize, batch: usize) -> DotDims {
    let lead: Vec<usize> = (0..batch).collect();
    DotDims { lhs_batch: lead.clone(), rhs_batch: lead, lhs_contract: vec![lhs_k], rhs_contract: vec![rhs_k] }
}

fn window(size: &[i64], strides: &[i64], dilations: &[i64], low: &[i64], high: &[i64]) -> Window {
    Window {
        size: size.to_vec(),
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
        low: low.iter().map(|n| Dim::from(*n)).collect(),
        high: high.iter().map(|n| Dim::from(*n)).collect(),
    }
}

#[test]
fn elementwise_with_broadcasts() {
    for shape in [[3, 5], [1, 1], [2, 64], [7, 1]] {
        let case = Case::new("add rows").arg(F32, shape).arg(F32, [1, shape[1]]);
        check(case, |b, args| {
            let sum = b.elementwise(ScalarOp::Add, &[args[0], args[1]])?;
            b.exp(sum).map(|value| vec![value])
        });
    }
}

#[test]
fn symbolic_rows() {
    for n in [0, 1, 3, 17, 40] {
        let case = Case::new("symbolic").symbol("n", n).arg(F32, [Dim::from(3), Dim::symbol("n")]);
        check(case, |b, args| {
            let x = b.neg(args[0])?;
            Ok(vec![b.abs(x)?])
        });
    }
}

#[test]
fn some_rows_are_reduced_together() {
    let together = |shape: [i64; 2], axis: usize| {
        let case = Case::new("sums").class(KernelClass::Reduce).arg(F32, shape);
        let shapes = loads(case, |b, x| Ok(vec![b.reduce(ScalarOp::Add, x[0], &[axis], true)?]));
        shapes.iter().map(|shape| shape[0]).max().unwrap_or(0)
    };
    // Three at most, as many as divide the rows and stay in registers.
    assert_eq!(together([6, 37], 1), 3);
    assert_eq!(together([4, 37], 1), 2);
    assert_eq!(together([7, 37], 1), 1);
    assert_eq!(together([6, 5], 1), 2);
    assert_eq!(together([6, 4], 1), 3);
    assert_eq!(together([6, 16], 1), 1);
    assert_eq!(together([6, 37], 0), 1);
}

#[test]
fn movement() {
    check(Case::new("transpose").arg(F32, [5, 7]), |b, args| Ok(vec![b.transpose(args[0], &[1, 0])?]));
    check(Case::new("split heads").arg(F32, [2, 5, 12]), |b, args| {
        let split = b.reshape(args[0], [2, 5, 3, 4])?;
        Ok(vec![b.transpose(split, &[0, 2, 1, 3])?])
    });
    check(Case::new("reverse slice").arg(F32, [4, 9]), |b, args| {
        let starts = [Dim::from(3), Dim::from(1)];
        Ok(vec![b.slice(args[0], &starts, &[Dim::from(4), Dim::from(4)], &[-1, 2])?])
    });
    check(Case::new("pad").arg(F32, [3, 6]), |b, args| {
        let fill = b.scalar_f32(2.5)?;
        let (low, high) = ([Dim::from(1), Dim::from(2)], [Dim::from(0), Dim::from(3)]);
        Ok(vec![b.pad(args[0], &low, &high, fill)?])
    });
    check(Case::new("iota plus").arg(I64, [3, 11]), |b, args| {
        let iota = b.iota(I64, [3, 11], 1)?;
        Ok(vec![b.elementwise(ScalarOp::Add, &[args[0], iota])?])
    });
}

#[test]
fn concatenation() {
    for axis in [0, 1, 2] {
        let mut shapes = [[2, 3, 5], [2, 3, 5]];
        shapes[1][axis] = 9;
        let case = Case::new("concat").class(KernelClass::Map).arg(F32, shapes[0]).arg(F32, shapes[1]);
        check(case, |b, args| Ok(vec![b.concat(args, axis)?]));
    }
    // Rows of a length that only the run knows, along the joined axis and beside it; and rows too long for a unit.
    for axis in [0, 1] {
        let mut shapes = [[Dim::from(7), Dim::symbol("n")], [Dim::from(7), Dim::symbol("n")]];
        shapes[1][axis] = if axis == 0 { Dim::from(2) } else { Dim::symbol("m") };
        let case = Case::new("concat of symbolic").symbol("n", 19).symbol("m", 5).class(KernelClass::Map);
        let [a, b] = shapes;
        check(case.arg(F32, a).arg(F32, b), |b, args| Ok(vec![b.concat(args, axis)?]));
    }
    let case = Case::new("concat of long rows").class(KernelClass::Map).arg(F32, [2, 9000]).arg(F32, [2, 70]);
    check(case, |b, args| Ok(vec![b.concat(args, 1)?]));
}

#[test]
fn gathers() {
    check(Case::new("rows").arg(F32, [6, 9]).indices([2, 3], 6), |b, args| {
        Ok(vec![b.gather(args[0], args[1], 0)?])
    });
    check(Case::new("columns").arg(F32, [6, 9]).indices([4], 9), |b, args| {
        Ok(vec![b.gather(args[0], args[1], 1)?])
    });
    check(Case::new("elements").arg(F32, [6, 9]).indices([6, 5], 9), |b, args| {
        Ok(vec![b.gather_elements(args[0], args[1], 1)?])
    });
    check(Case::new("nd").arg(F32, [6, 5, 3]).indices([4, 2], 5), |b, args| {
        Ok(vec![b.gather_nd(args[0], args[1], 0)?])
    });
}

#[test]
fn scatters() {
    for kind in [ScatterKind::Set, ScatterKind::Add, ScatterKind::Max] {
        let case = Case::new("elements").class(KernelClass::Scatter).arg(F32, [5, 6]).indices([3, 4], 5);
        check(case.arg(F32, [3, 4]), |b, args| {
            Ok(vec![b.scatter_elements(args[0], args[1], args[2], 0, kind)?])
        });
        let case =
            Case::new("nd").class(KernelClass::Scatter).arg(F32, [5, 6]).indices([3, 1], 5).arg(F32, [3, 6]);
        check(case, |b, args| Ok(vec![b.scatter_nd(args[0], args[1], args[2], kind)?]));
    }
}

#[test]
fn reductions() {
    for axes in [vec![0], vec![1], vec![2], vec![0, 1], vec![1, 2], vec![0, 2], vec![0, 1, 2]] {
        for shape in [[3, 4, 5], [2, 3, 37], [1, 2, 16]] {
            let case =
                Case::new(&format!("sum {axes:?} of {shape:?}")).class(KernelClass::Reduce).arg(F32, shape);
            check(case, |b, args| {
                let square = b.mul(args[0], args[0])?;
                Ok(vec![b.reduce(ScalarOp::Add, square, &axes, true)?])
            });
        }
    }
    let case = Case::new("max of symbolic").symbol("n", 19).class(KernelClass::Reduce);
    check(case.arg(F32, [Dim::from(3), Dim::symbol("n")]), |b, args| {
        Ok(vec![b.reduce(ScalarOp::Max, args[0], &[1], true)?])
    });
}

/// Masks of all kinds, tails of rows and keys, heads that share keys, rows of one block that are several heads, results
/// that lie by heads and by rows.
#[test]
fn attention() {
    // Of 40 queries and 7 keys most rows see none: they are NaN on both sides.
    attention_of(&[(1, 1), (1, 21), (3, 8), (5, 19), (37, 37), (40, 7)]);
}

/// A test of its own: cores that would be idle take one each.
#[test]
fn attention_of_many_keys() {
    attention_of(&[(33, 70)]);
}

/// Numbers of queries and keys.
fn attention_of(sizes: &[(i64, i64)]) {
    struct Mask {
        causal: bool,
        window: i64,
        softcap: f64,
        /// Extents of what is added before the keys; 0 is the number of queries.
        added: Option<[i64; 3]>,
    }
    let plain = Mask { causal: false, window: 0, softcap: 0.0, added: None };
    let masks = [
        Mask { ..plain },
        Mask { causal: true, ..plain },
        Mask { causal: true, window: 5, ..plain },
        Mask { window: 3, ..plain },
        Mask { softcap: 2.0, ..plain },
        Mask { added: Some([1, 1, 1]), ..plain },
        Mask { added: Some([2, 4, 0]), causal: true, ..plain },
        Mask { added: Some([1, 4, 0]), window: 9, softcap: 3.0, ..plain },
    ];
    let all = sizes.iter().flat_map(|size| masks.iter().map(move |mask| (size, mask)));
    for (&(l, s), mask) in in_turn(all) {
        for (heads, d, e, known) in [(2, 16, 16, true), (4, 5, 20, false), (1, 3, 3, true)] {
            let name = format!(
                "{l} queries, {s} keys, {heads} heads of keys, {d} to {e}, causal {}, window {}, added {:?}",
                mask.causal, mask.window, mask.added
            );
            let dim = |name: &str, n: i64| if known { Dim::from(n) } else { Dim::symbol(name) };
            let (l_dim, s_dim) = (dim("l", l), dim("s", s));
            let four = |heads: i64, rows: &Dim, d: i64| [2.into(), heads.into(), rows.clone(), d.into()];
            let mut case = Case::new(&name).symbol("l", l).symbol("s", s).class(KernelClass::Attention);
            case = case.arg(F32, four(4, &l_dim, d));
            case = case.arg(F32, four(heads, &s_dim, d)).arg(F32, four(heads, &s_dim, e));
            if let Some([b, h, rows]) = mask.added {
                let rows = if rows == 0 { l_dim.clone() } else { Dim::from(rows) };
                case = case.arg(F32, [b.into(), h.into(), rows, s_dim.clone()]);
            }
            let rows_before_heads = case.clone().result_layout(Layout::permuted(&[0, 2, 1, 3]));
            for case in [case, rows_before_heads] {
                check(case, |b, args| {
                    let scale = 1.0 / (d as f64).sqrt();
                    Ok(vec![b.attention(args, scale, mask.causal, mask.window, mask.softcap)?])
                });
            }
        }
    }
}

#[test]
fn attention_without_keys() {
    let no_keys = Case::new("no keys").symbol("s", 0).class(KernelClass::Attention);
    let keys = || [Dim::from(1), Dim::from(2), Dim::symbol("s"), Dim::from(4)];
    check(no_keys.arg(F32, [1, 2, 3, 4]).arg(F32, keys()).arg(F32, keys()), |b, args| {
        Ok(vec![b.attention(args, 0.5, false, 0, 0.0)?])
    });
}

/// Keys and values in pages of a pool: several to a block, several blocks to a page, one key each; heads inside of pages,
/// outside of them, or none; values that are a part of the keys; blocks that end beyond the last page.
#[test]
fn attention_in_pages() {
    for (page, heads_first, heads) in [
        (4, false, 2),
        (4, true, 2),
        (8, false, 1),
        (16, true, 2),
        (16, false, 2),
        (1, false, 2),
        (1, true, 1),
    ] {
        for (pages, known) in [(1, true), (3, false), (7, true), (11, false)] {
            for (l, causal) in [(1, false), (5, true)] {
                let name =
                    format!("{pages} pages of {page}, {heads} heads, first {heads_first}, {l} queries");
                let (p, pool) = match known {
                    true => (Dim::from(pages), Dim::from(9)),
                    false => (Dim::symbol("p"), Dim::symbol("pool")),
                };
                let (h, n) = (Dim::from(heads), Dim::from(page));
                let lies = if heads_first {
                    [pool, h.clone(), n.clone(), 6.into()]
                } else {
                    [pool, n.clone(), h.clone(), 6.into()]
                };
                // Blocks of keys that are cut anywhere take pages from a gather of their own.
                let case = Case::new(&name).padded().symbol("p", pages).symbol("pool", 9);
                let case = case.class(KernelClass::Attention);
                let case = case.arg(F32, [2, 4, l, 6]).indices([2.into(), p], 9);
                let case = case.arg(F32, lies.clone()).arg(F32, lies);
                check(case, |b, args| {
                    let s = b.shape(args[1])[1].clone() * n.clone();
                    let paged = |b: &mut Builder, pool: Value| {
                        let own = b.gather(pool, args[1], 0)?;
                        match heads_first {
                            true => {
                                let own = b.transpose(own, &[0, 2, 1, 3, 4])?;
                                b.reshape(own, [2.into(), h.clone(), s.clone(), 6.into()])
                            }
                            false => {
                                let own = b.reshape(own, [2.into(), s.clone(), h.clone(), 6.into()])?;
                                b.transpose(own, &[0, 2, 1, 3])
                            }
                        }
                    };
                    let (k, v) = (paged(b, args[2])?, paged(b, args[3])?);
                    let v = if causal { b.slice_axis(k, 3, Dim::from(1), Dim::from(4))? } else { v };
                    Ok(vec![b.attention(&[args[0], k, v], 0.4, causal, 0, 0.0)?])
                });
            }
        }
    }
}

#[test]
fn softmax_rows() {
    for (axis, shape) in [(1, [3, 10]), (1, [3, 37]), (0, [5, 6]), (1, [6, 5]), (1, [12, 37]), (1, [8, 4])] {
        let case = Case::new("softmax").class(KernelClass::Rows).arg(F32, shape);
        check(case, |b, args| {
            let max = b.reduce(ScalarOp::Max, args[0], &[axis], true)?;
            let shifted = b.elementwise(ScalarOp::Sub, &[args[0], max])?;
            let exp = b.exp(shifted)?;
            let sum = b.reduce(ScalarOp::Add, exp, &[axis], true)?;
            Ok(vec![b.elementwise(ScalarOp::Div, &[exp, sum])?])
        });
    }
}

/// A costly row that is a result, and is reduced twice: the second pass reads what the first one stored.
#[test]
fn rows_that_are_results() {
    for shape in [[3, 10], [3, 16], [3, 37]] {
        let case = Case::new("extremes").class(KernelClass::Rows).arg(F32, shape);
        check(case, |b, args| {
            let bent = b.tanh(args[0])?;
            let (most, least) =
                (b.reduce(ScalarOp::Max, bent, &[1], true)?, b.reduce(ScalarOp::Min, bent, &[1], true)?);
            let range = b.sub(most, least)?;
            let above = b.sub(bent, least)?;
            Ok(vec![most, bent, range, above])
        });
    }
}

#[test]
fn scans() {
    for (axis, exclusive, reverse) in [(0, false, false), (1, true, false), (1, false, true), (0, true, true)]
    {
        let case = Case::new("scan").class(KernelClass::Scan).arg(F32, [4, 7]);
        check(case, |b, args| Ok(vec![b.scan(ScalarOp::Add, args[0], axis, exclusive, reverse)?]));
    }
}

/// 14 rows are 4 tiles, which a block of at most 3 does not hold, and 27 are 7: blocks of unequal numbers, or a short one.
#[test]
fn dots() {
    for (m, n, k) in [(4, 8, 4), (1, 1, 1), (7, 13, 5), (9, 16, 3), (5, 8, 0), (14, 9, 5), (27, 9, 5)] {
        let case =
            Case::new("dot").class(KernelClass::Dot).arg(F32, [m, k]).arg(F32, [k, n]).arg(F32, [1, n]);
        check(case, |b, args| {
            let dot = b.dot(args[0], args[1], dims(1, 0, 0), F32)?;
            let sum = b.elementwise(ScalarOp::Add, &[dot, args[2]])?;
            Ok(vec![b.tanh(sum)?])
        });
    }
    check(
        Case::new("batched").class(KernelClass::Dot).arg(F32, [2, 3, 5, 4]).arg(F32, [2, 3, 4, 9]),
        |b, args| Ok(vec![b.dot(args[0], args[1], dims(3, 2, 2), F32)?]),
    );
    check(
        Case::new("both transposed").class(KernelClass::Dot).arg(F32, [4, 6]).arg(F32, [9, 4]),
        |b, args| Ok(vec![b.dot(args[0], args[1], dims(0, 1, 0), F32)?]),
    );
    for m in [0, 1, 11, 14, 27] {
        let case = Case::new("symbolic rows").symbol("m", m).class(KernelClass::Dot);
        check(case.arg(F32, [Dim::symbol("m"), Dim::from(6)]).arg(F32, [6, 10]), |b, args| {
            Ok(vec![b.dot(args[0], args[1], dims(1, 0, 0), F32)?])
        });
    }
}

#[test]
fn packed_dots() {
    let panels = Layout::panels(&[1, 0], 1, 8);
    let case = Case::new("panels").class(KernelClass::Dot).arg(F32, [7, 6]);
    check(case.arg(F32, [6, 13]).layout(panels), |b, args| {
        Ok(vec![b.dot(args[0], args[1], dims(1, 0, 0), F32)?])
    });
    let case = Case::new("bytes").class(KernelClass::Dot).arg(U8, [5, 8]).arg(I8, [8, 11]);
    check(case, |b, args| Ok(vec![b.dot(args[0], args[1], dims(1, 0, 0), I32)?]));
}

/// Panels of columns in k-groups of four.
fn groups_of_bytes(n: usize, between: &[usize], k: usize) -> Layout {
    let mut dims = vec![Physical::Outer { axis: n, tile: 8 }];
    dims.extend(between.iter().map(|axis| Physical::Axis(*axis)));
    dims.extend([
        Physical::Outer { axis: k, tile: 4 },
        Physical::Inner { axis: n, tile: 8 },
        Physical::Inner { axis: k, tile: 4 },
    ]);
    Layout(dims)
}

#[test]
fn groups_of_bytes_that_are_not_full() {
    for k in 1..=40 {
        for (m, n) in [(1, 3), (5, 11), (9, 8)] {
            let case = Case::new(&format!("{m} x {k} x {n}")).class(KernelClass::Dot).arg(U8, [m, k]);
            check(case.arg(I8, [k, n]).layout(groups_of_bytes(1, &[], 0)), |b, args| {
                Ok(vec![b.dot(args[0], args[1], dims(1, 0, 0), I32)?])
            });
        }
    }
    let window = window(&[3, 2], &[2, 1], &[1, 1], &[1, 0], &[1, 1]);
    for channels in 1..=9 {
        let case = Case::new(&format!("{channels} channels")).class(KernelClass::Conv);
        let case = case.arg(U8, [2, channels, 5, 7]).layout(Layout::permuted(&CHANNELS_LAST));
        let case = case.arg(I8, [10, channels, 3, 2]).layout(groups_of_bytes(0, &[2, 3], 1));
        check(case.result_layout(Layout::permuted(&CHANNELS_LAST)), |b, args| {
            Ok(vec![b.conv(args[0], args[1], window.clone(), 1, I32)?])
        });
    }
}

const CHANNELS_LAST: [usize; 4] = [0, 2, 3, 1];

#[test]
fn convolutions() {
    let windows = [
        window(&[3, 3], &[1, 1], &[1, 1], &[1, 1], &[1, 1]),
        window(&[1, 1], &[1, 1], &[1, 1], &[0, 0], &[0, 0]),
        window(&[3, 2], &[2, 2], &[1, 1], &[0, 1], &[1, 0]),
        window(&[3, 3], &[1, 1], &[2, 2], &[2, 2], &[2, 2]),
        window(&[5, 5], &[3, 3], &[1, 1], &[2, 2], &[2, 2]),
    ];
    for window in windows {
        for groups in [1, 2] {
            for last in [false, true] {
                let [kh, kw] = [window.size[0], window.size[1]];
                let layout =
                    |case: Case| if last { case.layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
                let case = Case::new(&format!("{window:?} groups {groups} channels last {last}"));
                let case = layout(case.class(KernelClass::Conv).arg(F32, [2, 6, 7, 9]));
                let mut case = case.arg(F32, [10, 6 / groups, kh, kw]);
                if last && groups == 1 {
                    case = case.layout(Layout::panels(&[0, 2, 3, 1], 0, 8));
                }
                let case = case.arg(F32, [1, 10, 1, 1]);
                let case = if last { case.result_layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
                check(case, |b, args| {
                    let conv = b.conv(args[0], args[1], window.clone(), groups, F32)?;
                    let sum = b.elementwise(ScalarOp::Add, &[conv, args[2]])?;
                    Ok(vec![b.abs(sum)?])
                });
            }
        }
    }
}

#[test]
fn depthwise_convolutions() {
    for last in [false, true] {
        let window = window(&[3, 3], &[2, 1], &[1, 1], &[1, 1], &[1, 1]);
        let case = Case::new("depthwise").class(KernelClass::Conv).arg(F32, [1, 6, 7, 9]);
        let case = if last { case.layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
        let case = case.arg(F32, [6, 1, 3, 3]);
        let case = if last { case.layout(Layout::permuted(&[2, 3, 1, 0])) } else { case };
        let case = if last { case.result_layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
        check(case, |b, args| Ok(vec![b.conv(args[0], args[1], window.clone(), 6, F32)?]));
    }
}

#[test]
fn convolution_along_one_axis() {
    let window = window(&[5], &[1], &[1], &[0], &[0]);
    let case = Case::new("conv 1d").class(KernelClass::Conv).arg(F32, [2, 3, 20]).arg(F32, [4, 3, 5]);
    check(case, |b, args| Ok(vec![b.conv(args[0], args[1], window.clone(), 1, F32)?]));
}

#[test]
fn pools() {
    let kinds = [PoolKind::Max, PoolKind::Sum, PoolKind::Average, PoolKind::AverageInside];
    for kind in kinds {
        for last in [false, true] {
            for window in [
                window(&[3, 3], &[2, 2], &[1, 1], &[1, 1], &[1, 1]),
                window(&[2, 2], &[1, 2], &[2, 1], &[0, 0], &[0, 1]),
            ] {
                let case = Case::new(&format!("{kind:?} {window:?} {last}")).class(KernelClass::Pool);
                let case = case.arg(F32, [2, 5, 7, 8]);
                let case = if last { case.layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
                let case = if last { case.result_layout(Layout::permuted(&CHANNELS_LAST)) } else { case };
                check(case, |b, args| Ok(vec![b.pool(kind, args[0], window.clone())?]));
            }
        }
    }
    for column_major in [false, true] {
        let window = Box::new(window(&[2, 2], &[2, 1], &[1, 1], &[0, 1], &[0, 0]));
        let case = Case::new("indices").class(KernelClass::Pool).arg(F32, [1, 3, 6, 7]);
        check(case, |b, args| {
            b.emit_all(TensorOp::MaxPoolIndices { window: window.clone(), column_major }, &[args[0]])
        });
    }
}

#[test]
fn groups_keep_to_their_channels() {
    // 9 channels a group are a whole tile of 8 and a rest, which must not reach into the next group.
    let case = Case::new("grouped").class(KernelClass::Conv).arg(F32, [1, 6, 11]).arg(F32, [27, 2, 3]);
    check(case, |b, args| {
        Ok(vec![b.conv(args[0], args[1], window(&[3], &[1], &[1], &[1], &[1]), 3, F32)?])
    });
    // Packed groups are one panel each, or two.
    for columns in [8, 16] {
        let case = Case::new("packed groups").class(KernelClass::Conv).arg(F32, [2, 6, 11]);
        let case = case.arg(F32, [3 * columns, 2, 3]).layout(Layout::panels(&[0, 2, 1], 0, 8));
        check(case.arg(F32, [1, 3 * columns, 1]), |b, args| {
            let conv = b.conv(args[0], args[1], window(&[3], &[1], &[1], &[1], &[1]), 3, F32)?;
            Ok(vec![b.elementwise(ScalarOp::Add, &[conv, args[2]])?])
        });
    }
}

#[test]
fn sums_of_narrow_floats_round_once() {
    for (shape, axes) in [([3, 40], vec![1]), ([40, 3], vec![0]), ([7, 9], vec![0, 1]), ([2, 300], vec![1])] {
        let case = Case::new("narrow sum").class(KernelClass::Reduce).arg(F32, shape);
        check(case, |b, args| {
            let narrow = b.cast(args[0], F16)?;
            let sum = b.reduce(ScalarOp::Add, narrow, &axes, true)?;
            Ok(vec![b.cast(sum, F32)?])
        });
    }
}

#[test]
fn rows_of_unknown_length_before_units() {
    let shape = || [Dim::from(1), Dim::from(9), Dim::symbol("n"), Dim::from(1)];
    for n in [1, 3, 5, 20] {
        let case = Case::new("row of pairs").class(KernelClass::Reduce).symbol("n", n).arg(I64, shape());
        check(case, |b, args| {
            let place = b.iota(I64, b.shape(args[0]), 2)?;
            let sum = b.add(args[0], place)?;
            Ok(vec![b.reduce(ScalarOp::Max, sum, &[2], true)?])
        });
    }
}

#[test]
fn maxima_with_indices_order_nan_and_zeros() {
    // Random bytes are NaN now and then.
    let case = Case::new("max with indices").class(KernelClass::Pool).arg(F16, [2, 3, 50]);
    check(case, |b, args| {
        let window = Box::new(window(&[3], &[1], &[1], &[1], &[1]));
        b.emit_all(TensorOp::MaxPoolIndices { window, column_major: false }, &[args[0]])
    });
}

#[test]
fn averages_of_integers_do_not_wrap() {
    let case = Case::new("average").class(KernelClass::Pool).arg(I8, [1, 3, 40]);
    check(case, |b, args| {
        let window = window(&[4], &[1], &[1], &[0], &[0]);
        Ok(vec![b.pool(PoolKind::Average, args[0], window)?])
    });
}

/// Steps of k are 2, columns 8 and rows 4 a tile: groups are longer, shorter and as long.
#[test]
fn weights_in_few_bits() {
    for [m, n, k, group] in [[5, 11, 24, 4], [1, 8, 8, 2], [9, 3, 40, 8], [4, 16, 16, 16]] {
        let groups = k / group;
        let case = Case::new("8 bits").class(KernelClass::Dot).padded();
        let case = case.arg(BF16, [m, k]).arg(I8, [n, k]).arg(BF16, [n, groups]).arg(F32, [1, n]);
        check(case, |b, args| {
            let wide = b.cast(args[1], F32)?;
            let scale = b.reshape(args[2], [n, groups, 1])?;
            let scale = b.broadcast(scale, [n, groups, group])?;
            let scale = b.reshape(scale, [n, k])?;
            let scale = b.cast(scale, F32)?;
            let w = b.mul(wide, scale)?;
            let w = b.cast(w, BF16)?;
            let y = b.dot(args[0], w, dims(1, 1, 0), F32)?;
            Ok(vec![b.add(y, args[3])?])
        });
        let case = Case::new("4 bits").class(KernelClass::Dot).padded();
        let case = case.arg(BF16, [m, k]).arg(U8, [n, k / 2]).arg(BF16, [n, groups, 1]);
        check(case, |b, args| {
            let bytes = b.reshape(args[1], [n, k / 2, 1])?;
            let place = b.iota(U8, [1, 1, 2], 2)?;
            let shift = b.with_number(ScalarOp::Mul, place, 4.0)?;
            let halves = b.elementwise(ScalarOp::ShiftRight, &[bytes, shift])?;
            let halves = b.with_number(ScalarOp::And, halves, 15.0)?;
            let numbers = b.reshape(halves, [n, groups, group])?;
            let wide = b.cast(numbers, BF16)?;
            let centred = b.with_number(ScalarOp::Sub, wide, 8.0)?;
            let scaled = b.mul(centred, args[2])?;
            let w = b.reshape(scaled, [n, k])?;
            Ok(vec![b.dot(args[0], w, dims(1, 1, 0), F32)?])
        });
    }
}

#[test]
fn bytes_with_a_scale_a_block() {
    for [m, n, k, rows, steps] in [[5, 16, 24, 8, 4], [3, 8, 8, 4, 2], [1, 32, 16, 16, 8], [9, 6, 8, 2, 8]] {
        let (blocks, row_blocks) = (k / steps, n / rows);
        let case = Case::new("block scales").class(KernelClass::Dot).padded();
        let case = case.arg(F8E4M3FN, [m, k]).arg(F8E4M3FN, [n, k]);
        let case = case.arg(F32, [m, blocks, 1]).arg(F32, [row_blocks, 1, blocks, 1]);
        check(case, |b, args| {
            let x = b.cast(args[0], F32)?;
            let x = b.reshape(x, [m, blocks, steps])?;
            let x = b.mul(x, args[2])?;
            let x = b.reshape(x, [m, k])?;
            let w = b.cast(args[1], F32)?;
            let w = b.reshape(w, [row_blocks, rows, blocks, steps])?;
            let w = b.mul(w, args[3])?;
            let w = b.reshape(w, [n, k])?;
            Ok(vec![b.dot(x, w, dims(1, 1, 0), F32)?])
        });
    }
}
