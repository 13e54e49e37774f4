//! What untrusted packages may cost: loading and binding take time in proportion to the file, a run can be stopped, and
//! what is too large is an error. Each package here was once a way to hang or to end the process.

use crate::common;
use common::*;
use std::sync::mpsc;
use std::time::Duration;
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_package::*;
use tegula_runtime::Session;

/// Runs until it is stopped from another thread.
fn stopped(session: &Session, inputs: &[HostTensor]) -> Diagnostics {
    std::thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        scope.spawn(move || {
            while end.recv_timeout(Duration::from_millis(20)) == Err(mpsc::RecvTimeoutError::Timeout) {
                session.stop();
            }
        });
        let result = session.run(inputs);
        drop(ended);
        result.expect_err("an endless run")
    })
}

#[test]
fn a_run_without_end_can_be_stopped_and_the_next_one_runs() {
    let mut s = Source::default();
    let trip = s.input("trip", DType::I64, &[]);
    let out = s.output("out", DType::I64, &["1"]);
    s.program.steps = vec![
        Step::Fill { dst: out, value: 0, bytes: dim("8") },
        Step::Loop { trip: Some(trip), cond: None, counter: None, body: vec![] },
    ];
    let session = s.session(1);
    let found = stopped(&session, &[HostTensor::scalar(i64::MAX)]);
    assert_eq!(found.to_string(), "error[run-stopped]: the run was stopped");
    assert!(session.run(&[HostTensor::scalar(3i64)]).is_ok());
}

/// Each symbol's bound names the one before twice: a walk of the tree would take 2^60 steps, and 20,000 symbols deep it
/// would exhaust the stack.
#[test]
fn chained_bounds_are_walked_once() {
    let mut s = Source::default();
    let mut name = "n0".to_string();
    s.data_symbol(&name, Some("1"));
    for i in 1..20_000 {
        let upper = format!("min(2*{name}, {name} + 1)");
        name = format!("n{i}");
        s.data_symbol(&name, Some(&upper));
    }
    let late = s.arena("late", &name);
    s.program.steps = vec![Step::Fill { dst: late, value: 0, bytes: dim("1") }];
    s.output_of("out", DType::U8, &["1"], late);
    assert_eq!(s.session(1).run(&[]).unwrap()[0].bytes, [0]);
}

/// 100,000 aliases of one buffer, each of them written.
#[test]
fn many_aliases_are_placed_in_one_walk() {
    let mut s = Source::default();
    let all = s.arena("all", "100000");
    for i in 0..100_000 {
        let part = s.buffer("part", "1", Place::Alias { of: all, offset: i.into() });
        s.program.steps.push(Step::Fill { dst: part, value: (i % 251) as u8, bytes: dim("1") });
    }
    s.output_of("out", DType::U8, &["100000"], all);
    let out = s.session(1).run(&[]).unwrap();
    assert!(out[0].bytes.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8));
}

/// Kernels of one code are read once, however many they are.
#[test]
fn shared_portable_code_is_read_once() {
    let mut s = Source::default();
    let code = s.package.add_portable(&[7; 1 << 16]);
    for _ in 0..20_000 {
        s.kernel("k", code.clone());
    }
    let found = Session::from_bytes(
        s.finish().to_bytes(),
        tegula_runtime::SessionOptions {
            threads: 1,
            executor: Some(std::sync::Arc::new(AddExecutor)),
            ..Default::default()
        },
    );
    // It is no kernel, which is said for each.
    assert_eq!(found.err().expect("an error").0.len(), 20_000);
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    for bytes in ["4000000000000000000", "9223372036854775807"] {
        let mut s = Source::default();
        let huge = s.arena("huge", bytes);
        s.program.steps = vec![Step::Fill { dst: huge, value: 1, bytes: dim("1") }];
        let found = s.session(1).run(&[]).expect_err("no memory").to_string();
        assert!(found.starts_with("error[out-of-memory]"), "{found}");
    }
    let mut s = Source::default();
    s.output("out", DType::F32, &["2000000000", "2000000000", "2000000000"]);
    let found = s.session(1).run(&[]).expect_err("no memory").to_string();
    assert!(found.starts_with("error["), "{found}");
}

/// An alias with a place of its own and a size that is computed: its end is checked before a kernel gets its address.
#[test]
fn an_alias_behind_its_memory_is_refused() {
    for (offset, bytes) in [("8", "1"), ("9223372036854775807", "k"), ("9", "k")] {
        let mut s = Source::default();
        s.data_symbol("k", Some("4"));
        let all = s.arena("all", "8");
        let part = s.buffer("part", bytes, Place::Alias { of: all, offset: dim(offset) });
        s.output_of("out", DType::U8, &[bytes], part);
        let found = s.session(1).run(&[]).expect_err("outside").to_string();
        assert!(found.contains("whose memory it shares"), "{found}");
    }
}

/// Extents whose product is 0 though most of them are huge: nothing is walked that has no elements.
#[test]
fn natives_do_not_walk_what_is_empty() {
    let huge = "1000000000";
    let one = |dtype: &str, rank| slot(dtype, rank);
    // Lanes without elements.
    let mut s = Source::default();
    let attrs = attrs(&[one("f32", 3)], &[one("f32", 3), one("i64", 3)], r#"{"axis":1,"largest":true}"#);
    let topk = s.native("topk", &attrs);
    let x = s.arena("x", "0");
    let (values, indices) = (s.arena("values", "0"), s.arena("indices", "0"));
    let shape = [size(huge), size("0"), size(huge)];
    let args = [&[buf(x), buf(values), buf(indices)][..], &shape, &shape, &shape].concat();
    s.program.steps = vec![launch(topk, &args, "1")];
    assert!(s.session(1).run(&[]).is_ok());

    // Slices without elements, on both sides of the axis.
    for shape in [["0", huge, huge], [huge, huge, "0"]] {
        let mut s = Source::default();
        let count =
            s.native("unique_count", &common::attrs(&[one("f32", 3)], &[one("i64", 0)], r#"{"axis":1}"#));
        let x = s.arena("x", "0");
        let n = s.output("n", DType::I64, &[]);
        let args = [&[buf(x), buf(n)][..], &shape.map(size)].concat();
        s.program.steps = vec![launch(count, &args, "1")];
        assert_eq!(s.session(1).run(&[]).unwrap()[0].elements::<i64>().unwrap(), [1]);
    }

    // Extents whose product overflows beside a 0.
    let mut s = Source::default();
    let count = s.native("nonzero_count", &common::attrs(&[one("f32", 5)], &[one("i64", 0)], "null"));
    let x = s.arena("x", "0");
    let n = s.output("n", DType::I64, &[]);
    let args = [&[buf(x), buf(n)][..], &[huge, huge, huge, huge, "0"].map(size)].concat();
    s.program.steps = vec![launch(count, &args, "1")];
    let found = s.session(1).run(&[]).expect_err("too large").to_string();
    assert!(found.contains("kernel-failed"), "{found}");
}
