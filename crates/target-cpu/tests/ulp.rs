//! The vector functions keep their bound: a stride over all `f32` inputs, and every input next to hard places.

use tegula_ir::ScalarOp;
use tegula_target_cpu::math::ulp::{BOUND, Report, VECTOR_FUNCTIONS, executed, ulp_sweep};

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
        3.93,
        9.1,
        16.0,
        17.32,
        88.72,
        89.0,
        103.97,
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

/// The bound is a measurement's business; prints it: `cargo test --release --test ulp -- --nocapture`.
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
