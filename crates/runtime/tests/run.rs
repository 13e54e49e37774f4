//! Hand-written host programs, run: every kind of step, place and kernel.

use crate::common;
use common::*;
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, HostTensor};
use tegula_package::*;
use tegula_runtime::{Session, TensorView};

fn i64s(tensor: &HostTensor) -> Vec<i64> {
    tensor.elements().expect("i64")
}

fn vector(values: &[i64]) -> HostTensor {
    HostTensor::from_elements(&[values.len()], values)
}

/// `y = x + 3`: machine code, portable code, machine code, through two arena buffers.
fn add_three() -> Source {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 0, 1 << 20, 1);
    let x = s.input("x", DType::I64, &["n"]);
    let y = s.output("y", DType::I64, &["n"]);
    let (a, b) = (s.arena("a", "8*n"), s.arena("b", "8*n"));
    let code = s.package.add_machine_code(INCREMENT);
    let increment = s.kernel("increment", code);
    let code = s.package.add_portable(&[1]);
    let portable = s.kernel("portable", code);
    s.program.steps = vec![
        launch(increment, &[buf(x), buf(a)], "n"),
        launch(portable, &[buf(a), buf(b)], "n"),
        launch(increment, &[buf(b), buf(y)], "n"),
    ];
    s
}

#[cfg(target_arch = "x86_64")]
#[test]
fn launches_run_on_any_number_of_threads_and_shapes() {
    for threads in [1, 2, 3] {
        let session = add_three().session(threads);
        for n in [0usize, 1, 2, 5, 1000, 4097, 5] {
            let x: Vec<i64> = (0..n as i64).collect();
            let y = session.run(&[vector(&x)]).unwrap();
            assert_eq!(i64s(&y[0]), x.iter().map(|x| x + 3).collect::<Vec<_>>());
        }
        let counters = session.counters();
        assert_eq!((counters.machine, counters.portable), (12, 6));
        assert_eq!(counters.portable_by_name["portable"], 6);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn threads_share_a_session() {
    let session = add_three().session(2);
    std::thread::scope(|scope| {
        for seed in 0..4i64 {
            let session = &session;
            scope.spawn(move || {
                for round in 0..200 {
                    let n = 1 + (seed * 37 + round * 11) % 300;
                    let y = session.run(&[vector(&vec![seed; n as usize])]).unwrap();
                    assert_eq!(i64s(&y[0]), vec![seed + 3; n as usize]);
                }
            });
        }
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn outputs_are_reused_and_profiles_tell_launches() {
    let session = add_three().session(1);
    let x = vector(&[1, 2, 3]);
    let mut outputs = Vec::new();
    let profile = session.run_profiled(&[TensorView::from(&x)], &mut outputs).unwrap();
    let kernels: Vec<u32> = profile.launches.iter().map(|launch| launch.kernel).collect();
    assert_eq!(kernels, [0, 1, 0]);
    assert_eq!(profile.arena_bytes, 128);
    let before = outputs[0].bytes.as_ptr();
    session.run_into(&[TensorView::from(&x)], &mut outputs).unwrap();
    assert_eq!(outputs[0].bytes.as_ptr(), before);
    assert_eq!(i64s(&outputs[0]), [4, 5, 6]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn code_calls_scalar_functions_through_the_table() {
    let mut s = Source::default();
    let x = s.input("x", DType::F64, &["2"]);
    let y = s.output("y", DType::F64, &[]);
    let code = s.package.add_machine_code(POW);
    let pow = s.kernel("pow", code);
    s.program.steps = vec![launch(pow, &[buf(x), buf(y)], "1")];
    let y = s.session(1).run(&[HostTensor::from_elements(&[2], &[2f64, 10.0])]).unwrap();
    assert_eq!(y[0], HostTensor::scalar(1024f64));
}

#[test]
fn a_data_symbol_sizes_what_follows() {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 0, 1000, 1);
    let k = s.data_symbol("k", Some("n"));
    let x = s.input("x", DType::F32, &["n"]);
    let y = s.output("y", DType::I64, &["1", "k"]);
    let twice = s.arena("twice", "16*k");
    s.output_of("twice", DType::I64, &["2", "k"], twice);
    let count = s.arena("count", "8");
    let counter = s.native("nonzero_count", &attrs(&[slot("f32", 1)], &[slot("i64", 0)], "{}"));
    let writer = s.native("nonzero", &attrs(&[slot("f32", 1)], &[slot("i64", 2)], "{}"));
    s.program.steps = vec![
        launch(counter, &[buf(x), buf(count), size("n")], "1"),
        Step::Bind { symbol: k, from: count },
        launch(writer, &[buf(x), buf(y), size("n"), size("1"), size("k")], "k"),
        Step::Copy { src: y, src_offset: dim("0"), dst: twice, dst_offset: dim("0"), bytes: dim("8*k") },
        Step::Copy { src: y, src_offset: dim("0"), dst: twice, dst_offset: dim("8*k"), bytes: dim("8*k") },
    ];
    let session = s.session(1);
    for round in 0..3 {
        let x = [0.0, 1.0, 0.0, round as f32, 5.0];
        let expected: Vec<i64> = (0..5).filter(|i| x[*i as usize] != 0.0).collect();
        let out = session.run(&[HostTensor::from_elements(&[5], &x)]).unwrap();
        assert_eq!(out[0].shape, [1, expected.len()]);
        assert_eq!(i64s(&out[0]), expected);
        assert_eq!(i64s(&out[1]), [&expected[..], &expected[..]].concat());
    }
    let none = session.run(&[HostTensor::from_elements(&[2], &[0f32, 0.0])]).unwrap();
    assert_eq!(none[0].shape, [1, 0]);
    assert_eq!(session.counters().native["nonzero"], 3);
}

#[test]
fn a_capacity_comes_from_the_bound_of_an_unbound_symbol() {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 0, 100, 1);
    let k = s.data_symbol("k", Some("n"));
    let x = s.input("x", DType::I64, &["n"]);
    // Written before `k` is known; `distinct` shows its prefix.
    let values = s.output("distinct", DType::I64, &["k"]);
    let count = s.arena("count", "8");
    let copy =
        Step::Copy { src: x, src_offset: dim("0"), dst: values, dst_offset: dim("0"), bytes: dim("8*n") };
    let unique = s.native("unique_count", &attrs(&[slot("i64", 1)], &[slot("i64", 0)], "{}"));
    s.program.steps = vec![
        copy,
        launch(unique, &[buf(x), buf(count), size("n")], "1"),
        Step::Bind { symbol: k, from: count },
    ];
    let out = s.session(1).run(&[vector(&[4, 5, 5, 5])]).unwrap();
    assert_eq!(i64s(&out[0]), [4, 5]);
}

#[test]
fn an_output_may_have_room_for_more_than_its_shape() {
    let mut s = Source::default();
    let k = s.data_symbol("k", Some("3"));
    let boxes = s.input("boxes", DType::F32, &["1", "3", "4"]);
    let scores = s.input("scores", DType::F32, &["1", "1", "3"]);
    let selected = s.output("selected", DType::I64, &["k", "3"]);
    s.program.buffers[selected.index()].bytes = dim("72");
    let count = s.arena("count", "8");
    let limit = s.constant("limit", &vector(&[9]));
    let threshold = s.constant("threshold", &HostTensor::scalar(0.5f32));
    let slots = [slot("f32", 3), slot("f32", 3), slot("i64", 1), slot("f32", 0), slot("f32", 0)];
    let nms = s.native(
        "non_max_suppression",
        &attrs(&slots, &[slot("i64", 2), slot("i64", 0)], r#"{"center_point_box":false}"#),
    );
    let mut args = [boxes, scores, limit, threshold, threshold, selected, count].map(buf).to_vec();
    args.extend(["1", "3", "4", "1", "1", "3", "1", "3", "3"].map(size));
    s.program.steps = vec![launch(nms, &args, "1"), Step::Bind { symbol: k, from: count }];
    let boxes = [0f32, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.1, 5.0, 5.0, 6.0, 6.0];
    let out = s
        .session(1)
        .run(&[
            HostTensor::from_elements(&[1, 3, 4], &boxes),
            HostTensor::from_elements(&[1, 1, 3], &[0.6f32, 0.9, 0.8]),
        ])
        .unwrap();
    assert_eq!((out[0].shape.as_slice(), i64s(&out[0])), (&[2, 3][..], vec![0, 0, 1, 0, 0, 2]));
}

/// A buffer of computed size that a loop reads in each iteration lives until the loop is over.
#[test]
fn a_late_buffer_from_outside_survives_a_loop() {
    let mut s = Source::default();
    let (n, trip) = (s.input("n", DType::I64, &[]), s.input("trip", DType::I64, &[]));
    let k = s.data_symbol("k", None);
    let outside = s.arena("outside", "8*k");
    let y = s.output("y", DType::I64, &["k"]);
    let inside = s.arena("inside", "8*k");
    let copy =
        |src, dst| Step::Copy { src, src_offset: dim("0"), dst, dst_offset: dim("0"), bytes: dim("8*k") };
    s.program.steps = vec![
        Step::Bind { symbol: k, from: n },
        Step::Fill { dst: outside, value: 1, bytes: dim("8*k") },
        Step::Loop {
            trip: Some(trip),
            cond: None,
            counter: None,
            body: vec![
                copy(outside, inside),
                copy(inside, y),
                Step::Fill { dst: inside, value: 9, bytes: dim("8*k") },
            ],
        },
    ];
    (s.program.buffers[outside.index()].first, s.program.buffers[outside.index()].last) = (1, 3);
    (s.program.buffers[inside.index()].first, s.program.buffers[inside.index()].last) = (3, 5);
    let session = s.session(1);
    for trip in [1i64, 2, 5] {
        let out = session.run(&[HostTensor::scalar(700i64), HostTensor::scalar(trip)]).unwrap();
        assert_eq!(i64s(&out[0]), vec![0x0101_0101_0101_0101; 700]);
    }
}

/// `y = x` incremented `trip` times if `flag`, else 7.
#[cfg(target_arch = "x86_64")]
fn control_flow() -> Session {
    let mut s = Source::default();
    let x = s.input("x", DType::I64, &[]);
    let trip = s.input("trip", DType::I64, &[]);
    let flag = s.input("flag", DType::Bool, &[]);
    let (y, last) = (s.output("y", DType::I64, &[]), s.output("last", DType::I64, &[]));
    let (a, b, counter) = (s.arena("a", "8"), s.arena("b", "8"), s.arena("counter", "8"));
    let seven = s.constant("seven", &HostTensor::scalar(7i64));
    let code = s.package.add_machine_code(INCREMENT);
    let increment = s.kernel("increment", code);
    let copy =
        |src, dst| Step::Copy { src, src_offset: dim("0"), dst, dst_offset: dim("0"), bytes: dim("8") };
    s.program.steps = vec![
        Step::Fill { dst: last, value: 0xFF, bytes: dim("8") },
        Step::If {
            cond: flag,
            then: vec![
                copy(x, a),
                Step::Loop {
                    trip: Some(trip),
                    cond: Some(flag),
                    counter: Some(counter),
                    body: vec![launch(increment, &[buf(a), buf(b)], "1"), copy(b, a), copy(counter, last)],
                },
                copy(a, y),
            ],
            otherwise: vec![copy(seven, y)],
        },
    ];
    s.session(1)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn branches_and_loops_follow_their_conditions() {
    let session = control_flow();
    let run = |x: i64, trip: i64, flag: bool| {
        let out = session
            .run(&[HostTensor::scalar(x), HostTensor::scalar(trip), HostTensor::scalar(flag)])
            .unwrap();
        (i64s(&out[0])[0], i64s(&out[1])[0])
    };
    assert_eq!(run(10, 5, true), (15, 4));
    assert_eq!(run(10, 0, true), (10, -1));
    assert_eq!(run(10, -3, true), (10, -1));
    assert_eq!(run(10, 5, false), (7, -1));
}

/// Two branches count up from `x` and from 100, as often as `trip` says, and note each number at a place of its own.
#[cfg(target_arch = "x86_64")]
fn two_branches(predicted_ns: i64, threads: usize) -> Session {
    let mut s = Source::default();
    let x = s.input("x", DType::I64, &[]);
    let trip = s.input("trip", DType::I64, &[]);
    let hundred = s.constant("hundred", &HostTensor::scalar(100i64));
    let code = s.package.add_machine_code(INCREMENT);
    let increment = s.kernel("increment", code);
    s.program.kernels[increment as usize].cost =
        CostRecord { predicted_ns: Dim::from(predicted_ns), ..CostRecord::default() }.into();
    let copy = |src, dst, to: &str| Step::Copy {
        src,
        src_offset: dim("0"),
        dst,
        dst_offset: dim(to),
        bytes: dim("8"),
    };
    let zero = s.constant("zero", &HostTensor::scalar(0i64));
    let (mut symbols, mut all, mut ends) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for name in ["a", "b"] {
        all.insert(name, s.output(name, DType::I64, &["1000"]));
        ends.insert(name, s.output(&format!("last_{name}"), DType::I64, &[]));
        symbols.insert(name, s.data_symbol(&format!("round_{name}"), None));
    }
    let mut branches = [(x, "a"), (hundred, "b")].into_iter().map(|(from, name)| {
        let all = all[name];
        let [now, next, counter] = ["now", "next", "counter"].map(|name| s.arena(name, "8"));
        let round = symbols[name];
        let body = vec![
            launch(increment, &[buf(now), buf(next)], "1"),
            copy(next, now, "0"),
            Step::Bind { symbol: round, from: counter },
            copy(now, all, &format!("8*round_{name}")),
        ];
        let repeat = Step::Loop { trip: Some(trip), cond: None, counter: Some(counter), body };
        vec![Step::Fill { dst: all, value: 0, bytes: dim("8000") }, copy(from, now, "0"), repeat]
    });
    let (first, second) = (branches.next().unwrap(), branches.next().unwrap());
    drop(branches);
    // Bound before, in a branch, and used behind it.
    let bind = |name: &str| Step::Bind { symbol: symbols[name], from: zero };
    let last = |name: &str| Step::Copy {
        src: all[name],
        src_offset: dim(&format!("8*round_{name}")),
        dst: ends[name],
        dst_offset: dim("0"),
        bytes: dim("8"),
    };
    s.program.steps = vec![bind("a"), bind("b"), Step::Fork { first, second }, last("a"), last("b")];
    s.session(threads)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn branches_give_the_same_on_any_number_of_threads() {
    // Too short to share, worth sharing, and unknown.
    for predicted_ns in [100, 1_000_000, 0] {
        for threads in [1, 2, 5] {
            let session = two_branches(predicted_ns, threads);
            for (runs, trip) in [0i64, 1, 1000, 1000].into_iter().enumerate() {
                let inputs = [HostTensor::scalar(7i64), HostTensor::scalar(trip)];
                let views: Vec<TensorView> = inputs.iter().map(TensorView::from).collect();
                let mut outputs = Vec::new();
                let profile = session.run_profiled(&views, &mut outputs).unwrap();
                for (pair, from) in outputs.chunks(2).zip([7, 100]) {
                    let expected: Vec<i64> =
                        (0..1000).map(|i| if i < trip { from + i + 1 } else { 0 }).collect();
                    assert_eq!(i64s(&pair[0]), expected, "run {runs} on {threads} threads");
                    let last = if trip > 0 { from + trip } else { 0 };
                    assert_eq!(i64s(&pair[1]), [last], "run {runs} on {threads} threads");
                }
                assert_eq!(profile.launches.len() as i64, 2 * trip);
            }
            assert_eq!(session.counters().machine, 4002);
        }
    }
}

/// A symbol out of its range stops one branch, and the run.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_fault_in_a_branch_is_the_runs() {
    let session = two_branches(100, 2);
    for _ in 0..20 {
        let inputs = [HostTensor::scalar(7i64), HostTensor::scalar(1001i64)];
        let found = session.run(&inputs).unwrap_err().to_string();
        assert!(found.contains("touches 8 bytes at 8000 of buffer"), "{found}");
        session.run(&[HostTensor::scalar(7i64), HostTensor::scalar(3i64)]).unwrap();
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_stream_keeps_its_state_and_a_run_does_not() {
    let mut s = Source::default();
    let y = s.output("y", DType::I64, &[]);
    let state = s.buffer("state", "8", Place::State(0));
    let code = s.package.add_machine_code(INCREMENT);
    let increment = s.kernel("increment", code);
    s.program.steps = vec![
        launch(increment, &[buf(state), buf(y)], "1"),
        Step::Copy { src: y, src_offset: dim("0"), dst: state, dst_offset: dim("0"), bytes: dim("8") },
    ];
    let session = s.session(1);
    let mut outputs = Vec::new();
    let mut stream = session.stream();
    for expected in 1..4 {
        stream.run_into(&[], &mut outputs).unwrap();
        assert_eq!(i64s(&outputs[0]), [expected]);
        assert_eq!(i64s(&session.run(&[]).unwrap()[0]), [1]);
    }
    stream.reset();
    stream.run_into(&[], &mut outputs).unwrap();
    assert_eq!(i64s(&outputs[0]), [1]);
}

#[test]
fn outputs_may_be_inputs_constants_and_aliases() {
    let mut s = Source::default();
    s.input_symbol("n", 0, 0, 1, 100, 1);
    let x = s.input("x", DType::I64, &["n"]);
    s.output_of("same", DType::I64, &["n"], x);
    let constant = s.constant("c", &vector(&[1, 2, 3]));
    s.output_of("constant", DType::I64, &["3"], constant);
    let tail = s.buffer("tail", "16", Place::Alias { of: constant, offset: dim("8") });
    s.output_of("tail", DType::I64, &["2"], tail);
    let rest = s.buffer("rest", "8*n - 8", Place::Alias { of: x, offset: dim("8") });
    s.output_of("rest", DType::I64, &["n - 1"], rest);
    let out = s.session(1).run(&[vector(&[7, 8, 9])]).unwrap();
    let values: Vec<Vec<i64>> = out.iter().map(i64s).collect();
    assert_eq!(values, [vec![7, 8, 9], vec![1, 2, 3], vec![2, 3], vec![8, 9]]);
}

/// Appends `x` to an accumulator `trip` times; its size follows a symbol that each iteration binds again.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_late_buffer_grows_in_a_loop_and_keeps_its_content() {
    let mut s = Source::default();
    let x = s.input("x", DType::I64, &[]);
    let trip = s.input("trip", DType::I64, &[]);
    let k = s.data_symbol("k", None);
    let all = s.output("all", DType::I64, &["k"]);
    let (counter, next) = (s.arena("counter", "8"), s.arena("next", "8"));
    let zero = s.constant("zero", &HostTensor::scalar(0i64));
    let code = s.package.add_machine_code(INCREMENT);
    let increment = s.kernel("increment", code);
    s.program.steps = vec![
        Step::Bind { symbol: k, from: zero },
        Step::Loop {
            trip: Some(trip),
            cond: None,
            counter: Some(counter),
            body: vec![
                launch(increment, &[buf(counter), buf(next)], "1"),
                Step::Bind { symbol: k, from: next },
                Step::Copy {
                    src: x,
                    src_offset: dim("0"),
                    dst: all,
                    dst_offset: dim("8*k - 8"),
                    bytes: dim("8"),
                },
                Step::Copy {
                    src: counter,
                    src_offset: dim("0"),
                    dst: all,
                    dst_offset: dim("8*k - 8"),
                    bytes: dim("8"),
                },
            ],
        },
    ];
    let session = s.session(1);
    for trip in [0, 1, 3000] {
        let out = session.run(&[HostTensor::scalar(5i64), HostTensor::scalar(trip)]).unwrap();
        assert_eq!(i64s(&out[0]), (0..trip).collect::<Vec<_>>());
    }
}

#[test]
fn sessions_are_shared_and_sent() {
    fn shared<T: Send + Sync>() {}
    shared::<Session>();
}
