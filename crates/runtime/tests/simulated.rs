//! Machine code on a simulator in place of the processor: beside portable kernels, and where it breaks a rule.

use crate::common;
use common::*;
use expect_test::{Expect, expect};
use std::sync::Arc;
use tegula_base::{DType, HostTensor};
use tegula_package::{Entry, ImageId, KernelCode};
use tegula_runtime::{Hardware, Session, SessionOptions};
use tegula_sim_x86::Simulator;

/// `mov r8,[rdi+8]; mov r9,[rdi+16]; mov rax,[r8]; add rax,1; mov [r9],rax; ret`.
const ADD_ONE: &[u8] = &[
    0x4c, 0x8b, 0x47, 0x08, 0x4c, 0x8b, 0x4f, 0x10, 0x49, 0x8b, 0x00, 0x48, 0x83, 0xc0, 0x01, 0x49, 0x89,
    0x01, 0xc3,
];
/// `mov r8,[rdi+8]; mov rax,[r8+8]; ret`.
const READ_PAST: &[u8] = &[0x4c, 0x8b, 0x47, 0x08, 0x49, 0x8b, 0x40, 0x08, 0xc3];
/// `cpuid; ret`.
const UNKNOWN: &[u8] = &[0x0f, 0xa2, 0xc3];

fn session(source: Source) -> Result<Session, String> {
    let options = SessionOptions {
        executor: Some(Arc::new(AddExecutor)),
        hardware: Hardware::SimulatedCpu(Arc::new(Simulator)),
        ..SessionOptions::default()
    };
    Session::from_bytes(source.finish().to_bytes(), options).map_err(|found| found.to_string())
}

/// `y = kernel(x)`, of one element.
fn one_kernel(code: &[u8]) -> Source {
    let mut s = Source::default();
    let (x, y) = (s.input("x", DType::I64, &[]), s.output("y", DType::I64, &[]));
    let code = s.package.add_machine_code(code);
    let kernel = s.kernel("kernel", code);
    s.program.steps = vec![launch(kernel, &[buf(x), buf(y)], "1")];
    // No processor runs it.
    s.features = vec!["warp9".into()];
    s
}

#[test]
fn simulated_and_portable_kernels_stand_in_one_package() {
    let mut s = one_kernel(ADD_ONE);
    let (x, y) = (s.program.inputs[0].buffer, s.program.outputs[0].buffer);
    let (a, b) = (s.arena("a", "8"), s.arena("b", "8"));
    let portable = s.package.add_portable(&[1]);
    let at = |image| KernelCode::Image { image: ImageId(image), entry: Entry::Range { offset: 0, len: 1 } };
    assert_eq!(portable, at(1));
    assert!(matches!(
        s.program.kernels[0].code,
        KernelCode::Image { image: ImageId(0), entry: Entry::Range { offset: 0, .. } }
    ));
    let portable = s.kernel("portable", portable);
    s.program.steps = vec![
        launch(0, &[buf(x), buf(a)], "1"),
        launch(portable, &[buf(a), buf(b)], "1"),
        launch(0, &[buf(b), buf(y)], "1"),
    ];
    let session = session(s).unwrap();
    assert_eq!(session.run(&[HostTensor::scalar(4i64)]).unwrap(), [HostTensor::scalar(7i64)]);
    let counters = session.counters();
    assert_eq!((counters.machine, counters.portable), (2, 1));
}

/// Addresses differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + "0x" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

fn check(found: String, expected: Expect) {
    expected.assert_eq(&without_addresses(&found));
}

#[test]
fn what_leaves_its_buffer_is_named() {
    let session = session(one_kernel(READ_PAST)).unwrap();
    let error = session.run(&[HostTensor::scalar(4i64)]).expect_err("an error").to_string();
    check(
        error,
        expect![[r#"
        error[kernel-failed]: kernel `kernel`: `mov rax,[r8+8]` at byte 0x of the code: access to 8 bytes at 0x, outside of the launch's buffers
          --> node "model/kernel""#]],
    );
}

#[test]
fn what_is_not_simulated_is_refused_at_load() {
    check(
        session(one_kernel(UNKNOWN)).err().expect("an error"),
        expect![[r#"
        error[not-simulated]: the machine code of kernel `kernel` cannot be simulated
        note: `cpuid` at byte 0x of the code: is not simulated"#]],
    );
}
