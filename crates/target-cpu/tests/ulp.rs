//! The vector functions keep their bound: a stride over all `f32` inputs, and every input next to hard places.

use expect_test::expect;
use tegula_ir::ScalarOp;
use tegula_target_cpu::math::ulp::{BOUND, Report, VECTOR_FUNCTIONS, executed, ulp_sweep, unary_kernel};
use tegula_target_cpu::schedule::CpuOp;

/// Odd, so that a sweep meets every pattern of low bits; about 260,000 inputs.
const STRIDE: u32 = 16_381;

fn sweep(op: ScalarOp, start: u32, count: u64, step: u32) -> Report {
    let mut f = executed(op, 16).expect("the kernel is well formed");
    ulp_sweep(op, start, count, step, &mut *f).expect("the kernel stays in its buffers")
}

fn check(report: Report) {
    let Report { op, max_ulp, worst, got, .. } = report;
    assert!(max_ulp <= BOUND, "{op}({worst:e} = {:#x}) = {got:e} is {max_ulp:.2} ulp off", worst.to_bits());
}

#[test]
fn a_stride_over_all_inputs() {
    for op in VECTOR_FUNCTIONS {
        check(sweep(op, 1, (1 << 32) / u64::from(STRIDE), STRIDE));
    }
}

#[test]
fn inputs_next_to_hard_places() {
    // Zero, the smallest normal, 1, multiples of pi/4, ln 2 halves, thresholds of the methods, overflow, infinity.
    let places = [
        0.0,
        1.175_494_4e-38,
        0.173_286_8,
        0.5 * std::f32::consts::LN_2,
        0.65,
        std::f32::consts::FRAC_1_SQRT_2,
        std::f32::consts::FRAC_PI_4,
        1.0,
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::SQRT_2,
        std::f32::consts::PI,
        // Between two pieces of `erf`, and where it ends.
        65.0 / 512.0,
        3.935,
        4.1,
        // Between pieces of `tanh`, narrow ones and wide, and where it ends.
        0.25,
        7.0,
        9.0,
        9.1,
        10.0,
        16.0,
        17.32,
        88.72,
        89.0,
        103.97,
        // Ends of `exp2`.
        126.0,
        127.0,
        128.0,
        1e4,
        1e5,
        3.4e38,
        f32::INFINITY,
    ];
    for op in VECTOR_FUNCTIONS {
        for place in places.into_iter().flat_map(|place: f32| [place, -place]) {
            check(sweep(op, place.to_bits().wrapping_sub(2000), 4000, 1));
        }
    }
}

/// The bound is a measurement's business; prints it: `cargo test --release --test main ulp -- --nocapture`.
#[test]
fn dense_on_the_usual_range() {
    for op in VECTOR_FUNCTIONS {
        for sign in [0, 0x8000_0000] {
            // 2^-6 to 2^7, a million inputs.
            let report = sweep(op, 0x3c80_0000 | sign, 1_000_000, 109);
            println!("{:8} {:.3} ulp at {:e}", op.name(), report.max_ulp, report.worst);
            check(report);
        }
    }
}

#[test]
fn special_values_are_exact() {
    use ScalarOp::*;
    let infinity = f32::INFINITY;
    let mut cases = vec![
        (Exp, 0.0, 1.0),
        (Exp, infinity, infinity),
        (Exp, -infinity, 0.0),
        (Expm1, -infinity, -1.0),
        (Log, 1.0, 0.0),
        (Log, 0.0, -infinity),
        (Log, -0.0, -infinity),
        (Log, infinity, infinity),
        (Log, -1.0, f32::NAN),
        (Log1p, -1.0, -infinity),
        (Log1p, -2.0, f32::NAN),
        (Log1p, infinity, infinity),
        (Tanh, infinity, 1.0),
        (Tanh, -infinity, -1.0),
        (Erf, infinity, 1.0),
        (Erf, -infinity, -1.0),
        (Sigmoid, 0.0, 0.5),
        (Sigmoid, infinity, 1.0),
        (Sigmoid, -infinity, 0.0),
        (Sin, infinity, f32::NAN),
        (Cos, -infinity, f32::NAN),
        (Cos, 0.0, 1.0),
    ];
    cases
        .extend([Expm1, Log1p, Tanh, Erf, Sin].into_iter().flat_map(|op| [(op, 0.0, 0.0), (op, -0.0, -0.0)]));
    cases.extend(VECTOR_FUNCTIONS.map(|op| (op, f32::NAN, f32::NAN)));
    for (op, x, expected) in cases {
        for lanes in [8, 16] {
            let mut y = [7.0];
            executed(op, lanes).expect("well formed")(&[x], &mut y).expect("in bounds");
            let equal = y[0].to_bits() == expected.to_bits() || y[0].is_nan() && f32::is_nan(expected);
            assert!(equal, "{op}({x:?}) is {:?}, not {expected:?}, in {lanes} lanes", y[0]);
        }
    }
}

/// Lane ops a vector, constants and memory aside. Only down.
#[test]
fn costs() {
    let count = |op: ScalarOp| {
        let func = unary_kernel(op, 8);
        let counts = func.walk().into_iter().filter(|op| {
            matches!(
                func.kind(*op),
                CpuOp::Vec { .. }
                    | CpuOp::Compare { .. }
                    | CpuOp::Select {}
                    | CpuOp::Convert { .. }
                    | CpuOp::MaskOp { .. }
            )
        });
        counts.filter(|op| !is_bitcast(func.kind(*op))).count()
    };
    let table: String = VECTOR_FUNCTIONS.iter().map(|op| format!("{op} {}\n", count(*op))).collect();
    expect![[r#"
        exp 15
        exp2 13
        expm1 22
        log 31
        log1p 34
        tanh 28
        sigmoid 22
        erf 26
        sin 26
        cos 25
    "#]]
    .assert_eq(&table);
}

fn is_bitcast(kind: &CpuOp) -> bool {
    use tegula_target_cpu::schedule::ConvertOp;
    matches!(kind, CpuOp::Convert { op: ConvertOp::Bitcast, .. })
}
