//! Programs with control flow, computed sizes and recurrence, compiled and evaluated: the same results in machine
//! code, in the interpreter, on one thread and on three, and on a GPU over a driver without a card.

use crate::common;
use crate::model;
use crate::program;
use crate::programs;

use common::{card, hardware};
use model::model;
use program::program;
use programs::{assert_close, check, check_against, options, ramp, session};
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo};
use tegula_driver::{CompileOptions, PassCx, session_options};
use tegula_ir::ScalarOp;
use tegula_machine::Machine;
use tegula_runtime::Session;
use tegula_tensor::{Direction, ScatterKind, TensorOp, evaluate};

#[test]
fn branches_write_one_result() {
    let program = program(|b| {
        let cond = b.arg(DType::Bool, Shape::scalar());
        let x = b.arg(DType::F32, [3, 5]);
        let results = b.branch(
            cond,
            // A value from outside, and one that is read again after it is made.
            |b| {
                let y = b.tanh(x)?;
                let sum = b.add(y, y)?;
                Ok(vec![x, y, sum])
            },
            |b| {
                let y = b.add(x, x)?;
                Ok(vec![y, y, x])
            },
        )?;
        let all = b.add(results[0], results[2])?;
        Ok(vec![results[1], all, results[0]])
    });
    for taken in [true, false] {
        check(&program, &[HostTensor::scalar(taken), ramp(&[3, 5])]);
    }
}

#[test]
fn rounds_swap_what_they_carry() {
    let program = program(|b| {
        let x = b.arg(DType::F32, [4]);
        let y = b.arg(DType::F32, [4]);
        let go = b.scalar_bool(true)?;
        // Swaps both, changes one: every hand-over reads before it writes.
        let results = b.repeat(5, go, &[x, y], 1, |b, _, state| {
            let go = b.scalar_bool(true)?;
            let next = b.add(state[0], state[1])?;
            Ok(vec![go, state[1], next, state[0]])
        })?;
        Ok(results)
    });
    check(&program, &[ramp(&[4]), HostTensor::from_elements(&[4], &[1.0f32, 2.0, 3.0, 4.0])]);
}

#[test]
fn a_condition_ends_the_loop_early_and_leaves_zeros() {
    let program = program(|b| {
        let limit = b.arg(DType::I64, Shape::scalar());
        let x = b.arg(DType::F32, [3]);
        let go = b.scalar_bool(true)?;
        b.repeat(6, go, &[x], 1, |b, round, state| {
            let next = b.add(state[0], state[0])?;
            let go = b.emit(TensorOp::Elementwise { f: ScalarOp::Lt }, &[round, limit])?;
            Ok(vec![go, next, next])
        })
    });
    for limit in [-1i64, 0, 2, 100] {
        check(&program, &[HostTensor::scalar(limit), ramp(&[3])]);
    }
}

#[test]
fn a_loop_may_run_never_or_by_a_symbol() {
    let mut program = program(|b| {
        let n = Dim::symbol("n");
        let x = b.arg(DType::F32, [n.clone(), Dim::from(2)]);
        let start = b.arg(DType::F32, [1, 2]);
        let go = b.scalar_bool(true)?;
        b.repeat(n, go, &[start], 1, |b, round, state| {
            let at = b.reshape(round, [1])?;
            let row = b.gather(x, at, 0)?;
            let next = b.add(state[0], row)?;
            Ok(vec![b.scalar_bool(true)?, next, next])
        })
    });
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    for n in [0, 1, 4] {
        check(&program, &[ramp(&[n, 2]), ramp(&[1, 2])]);
    }
}

#[test]
fn an_lstm_runs_both_ways() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let program = program(|b| {
            let (hidden, input) = (5i64, 3i64);
            let x = b.arg(DType::F32, [4, 2, input]);
            let w = b.arg(DType::F32, [4 * hidden, input]);
            let r = b.arg(DType::F32, [4 * hidden, hidden]);
            let bias = b.arg(DType::F32, [8 * hidden]);
            let h = b.arg(DType::F32, [2, hidden]);
            let c = b.arg(DType::F32, [2, hidden]);
            b.emit_all(TensorOp::Lstm { direction, rounded: false }, &[x, w, r, bias, h, c])
        });
        let shapes: [&[usize]; 6] = [&[4, 2, 3], &[20, 3], &[20, 5], &[40], &[2, 5], &[2, 5]];
        check(&program, &shapes.map(ramp));
    }
}

/// Both directions over one sequence are two loops without a common step, which threads run at once.
#[test]
fn two_directions_are_two_branches() {
    for (is_lstm, gates) in [(true, 4i64), (false, 3)] {
        let mut program = program(|b| {
            let (hidden, input, n) = (5i64, 3i64, Dim::symbol("n"));
            let x = b.arg(DType::F32, [n, Dim::from(2), Dim::from(input)]);
            let h = b.arg(DType::F32, [2, hidden]);
            let mut results = Vec::new();
            for direction in [Direction::Forward, Direction::Reverse] {
                let w = b.arg(DType::F32, [gates * hidden, input]);
                let r = b.arg(DType::F32, [gates * hidden, hidden]);
                let bias = b.arg(DType::F32, [2 * gates * hidden]);
                results.extend(match is_lstm {
                    true => b.lstm(&[x, w, r, bias, h, h], direction)?,
                    false => b.gru(&[x, w, r, bias, h], direction, true)?,
                });
            }
            Ok(results)
        });
        program.symbols.insert("n", SymbolInfo::input(0, 0));
        let g = gates as usize;
        let weights: [Vec<usize>; 3] = [vec![g * 5, 3], vec![g * 5, 5], vec![10 * g]];
        for n in [0usize, 1, 6] {
            let shapes =
                [vec![n, 2, 3], vec![2, 5]].into_iter().chain(weights.iter().cycle().take(6).cloned());
            let inputs: Vec<HostTensor> = shapes.map(|shape| ramp(&shape)).collect();
            check(&program, &inputs);
        }
    }
}

#[test]
fn computed_sizes_cut_what_was_found() {
    let mut program = program(|b| {
        let x = b.arg(DType::F32, [3, 7]);
        let found = b.emit_all(TensorOp::NonZero {}, &[x])?;
        b.bind("count", found[1])?;
        let (starts, steps) = (vec![Dim::from(0), Dim::from(0)], vec![1, 1]);
        let sizes = vec![Dim::from(2), Dim::symbol("count")];
        let cut = b.emit(TensorOp::Slice { starts, sizes, steps }, &[found[0]])?;
        let float = b.cast(cut, DType::F32)?;
        let sum = b.emit(TensorOp::Reduce { f: ScalarOp::Add, axes: vec![1] }, &[float])?;
        Ok(vec![cut, sum, found[1]])
    });
    program.symbols.insert("count", SymbolInfo::data(Dim::from(21)));
    let mut sparse = ramp(&[3, 7]);
    sparse.bytes.chunks_exact_mut(4).step_by(2).for_each(|element| element.fill(0));
    for x in
        [HostTensor::zeros(DType::F32, &[3, 7]), sparse, HostTensor::from_elements(&[3, 7], &[1.0f32; 21])]
    {
        check(&program, &[x]);
    }
}

/// An axis that may be empty, or is, has no place for an index to be clamped to: reads give 0, writes go nowhere.
#[test]
fn an_empty_axis_is_neither_read_nor_written() {
    for extent in [Dim::symbol("n"), Dim::from(0)] {
        let mut program = program(|b| {
            let x = b.arg(DType::F32, [extent.clone(), Dim::from(2)]);
            let at = b.arg(DType::I64, [3]);
            let each = b.arg(DType::I64, [3, 2]);
            let updates = b.arg(DType::F32, [3, 2]);
            let rows = b.gather(x, at, 0)?;
            let scaled = b.add(rows, updates)?;
            let elements = b.emit(TensorOp::GatherElements { axis: 0 }, &[x, each])?;
            let places = b.reshape(at, [3, 1])?;
            let found = b.emit(TensorOp::GatherNd { batch_dims: 0 }, &[x, places])?;
            let kind = ScatterKind::Add;
            let scattered = b.emit(TensorOp::ScatterElements { axis: 0, kind }, &[x, each, updates])?;
            let scattered_nd = b.emit(TensorOp::ScatterNd { kind }, &[x, places, updates])?;
            Ok(vec![scaled, elements, found, scattered, scattered_nd])
        });
        program.symbols.insert("n", SymbolInfo::input(0, 0));
        let at = HostTensor::from_elements(&[3], &[0i64, -1, 2]);
        let each = HostTensor::from_elements(&[3, 2], &[0i64, 0, -1, 1, 1, 0]);
        let updates = ramp(&[3, 2]);
        let inputs = |n: usize| [ramp(&[n, 2]), at.clone(), each.clone(), updates.clone()];
        let (zeros, nothing) =
            (HostTensor::zeros(DType::F32, &[3, 2]), HostTensor::zeros(DType::F32, &[0, 2]));
        let expected = [updates.clone(), zeros.clone(), zeros, nothing.clone(), nothing];
        check_against(&program, &inputs(0), &expected);
        if extent.as_const().is_none() {
            check(&program, &inputs(3));
        }
    }
}

#[test]
fn outputs_may_be_inputs_constants_and_each_other() {
    let program = program(|b| {
        let x = b.arg(DType::F32, [2, 3]);
        let one = b.constant(HostTensor::from_elements(&[2], &[1.0f32, 2.0]))?;
        let y = b.add(x, x)?;
        let flat = b.reshape(y, [6])?;
        Ok(vec![x, one, y, y, flat])
    });
    check(&program, &[ramp(&[2, 3])]);
}

/// Launches in every round are compared on the round's own values.
#[test]
fn check_follows_loops() {
    let mut b = program(|b| {
        let x = b.arg(DType::F32, [2, 3]);
        let go = b.scalar_bool(true)?;
        b.repeat(3, go, &[x], 1, |b, _, state| {
            let next = b.tanh(state[0])?;
            Ok(vec![b.scalar_bool(true)?, next, next])
        })
    });
    b.entry_mut().name = "main".into();
    let model = model(&b);
    for options in options() {
        let report = tegula_driver::check::check(
            &model,
            &options,
            &[ramp(&[2, 3])],
            None,
            &hardware(&options.machine),
            &mut PassCx::new(),
        )
        .unwrap();
        assert!(report.is_fine(), "{report:?}");
        assert!(report.launches.len() >= 3, "{report:?}");
    }
}

#[test]
fn sessions_and_sizes_share_a_card() {
    let program = program(|b| {
        let x = b.arg(DType::F32, [Dim::symbol("n"), Dim::from(7)]);
        let y = b.arg(DType::F32, [7, 9]);
        let product = b.matmul(x, y, DType::F32)?;
        Ok(vec![b.tanh(product)?])
    });
    let mut program = program;
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    let options = CompileOptions::new(Machine::class("h200").unwrap());
    let compiled =
        tegula_driver::compile::compile_program(program.clone(), "test", &options, None, &mut PassCx::new());
    let package = compiled.unwrap_or_else(|found| panic!("{found}")).package.unwrap().to_bytes();
    let sessions =
        [(); 2].map(|()| Session::from_bytes(package.clone(), session_options(1, card())).unwrap());
    std::thread::scope(|scope| {
        for session in &sessions {
            for first in [3, 40] {
                let program = &program;
                scope.spawn(move || {
                    for n in [first, first, first, first + 1, first + 1, first] {
                        let inputs = [ramp(&[n, 7]), ramp(&[7, 9])];
                        let actual = session.run(&inputs).unwrap();
                        assert_close(&actual[0], &evaluate(program, &inputs).unwrap()[0]);
                    }
                });
            }
        }
    });
}

/// A run that was captured at some sizes must not be repeated on memory that other sizes have moved.
#[test]
fn earlier_sizes_come_back() {
    let mut program = program(|b| {
        let x = b.arg(DType::F32, [Dim::symbol("n"), Dim::from(2)]);
        let y = b.tanh(x)?;
        // A kernel of its own, so that something lies in the arena.
        let greatest = b.reduce(ScalarOp::Max, y, &[0], true)?;
        Ok(vec![b.add(y, greatest)?])
    });
    program.symbols.insert("n", SymbolInfo::input(0, 0));
    for options in options() {
        let session = session(&program, &options, 1);
        for rows in [3, 3, 3, 3000, 3, 3, 3, 3000, 3000, 3000, 3] {
            let inputs = [ramp(&[rows, 2])];
            let expected = evaluate(&program, &inputs).unwrap();
            assert_close(&session.run(&inputs).unwrap()[0], &expected[0]);
        }
    }
}
