//! Which loops of a host program may run at once.

use tegula_base::{DType, Dim};
use tegula_host::{BufferType, HostFunc, HostOp};
use tegula_ir::{PassCx, Value, verify};
use tegula_opt::fork_loops::fork_loops;

struct Source(HostFunc);

impl Source {
    fn new() -> Source {
        Source(HostFunc::new("main"))
    }

    fn buffer(&mut self, kind: HostOp) -> Value {
        let body = self.0.body();
        let op = self.0.push_op(body, kind, &[], [BufferType::home(Dim::from(8))], None);
        self.0.result(op)
    }

    fn alloc(&mut self) -> Value {
        self.buffer(HostOp::Alloc {})
    }

    fn launch(reads: usize) -> HostOp {
        let (written, grid) = (vec![reads], Dim::from(1));
        HostOp::Launch { kernel: 0, name: "k".into(), written, sizes: vec![], grid }
    }

    /// `write` from `reads`, once.
    fn step(&mut self, reads: &[Value], write: Value) {
        let (body, operands) = (self.0.body(), [reads, &[write]].concat());
        self.0.push_op(body, Source::launch(reads.len()), &operands, [], None);
    }

    /// `write` from `reads`, again and again.
    fn repeat(&mut self, trip: Value, reads: &[Value], write: Value) {
        let counter = self.alloc();
        let kind = HostOp::Loop { trip: true, cond: false, counter: true };
        let (body, operands) = (self.0.body(), [reads, &[write]].concat());
        let op = self.0.push_op(body, kind, &[trip, counter], [], None);
        let inside = self.0.regions_of(op)[0];
        self.0.push_op(inside, Source::launch(reads.len()), &operands, [], None);
        self.0.push_op(inside, HostOp::Yield {}, &[], [], None);
    }

    /// The steps of the body after the pass, by name.
    fn forked(mut self, result: Value) -> Vec<&'static str> {
        let body = self.0.body();
        let kind =
            HostOp::Return { names: vec!["y".into()], dtypes: vec![DType::I64], shapes: vec![[1].into()] };
        self.0.push_op(body, kind, &[result], [], None);
        fork_loops(&mut self.0, &mut PassCx::default());
        verify(&self.0).unwrap();
        let again = fork_loops(&mut self.0, &mut PassCx::default());
        assert!(!again.is_yes());
        let steps = self.0.ops_in(body).iter().map(|op| self.0.kind(*op)).filter(|kind| kind.is_step());
        steps.map(tegula_ir::Op::name).collect()
    }
}

fn input() -> HostOp {
    HostOp::Input { index: 0, name: "x".into(), dtype: DType::I64, shape: [1].into() }
}

#[test]
fn loops_without_a_common_buffer_are_branches() {
    let mut s = Source::new();
    let x = s.buffer(input());
    let (a, b, c) = (s.alloc(), s.alloc(), s.alloc());
    // Both read an input; what the second needs is made between them.
    s.repeat(x, &[x], a);
    s.step(&[x], b);
    s.repeat(x, &[x, b], c);
    assert_eq!(s.forked(c), ["launch", "fork"]);
}

#[test]
fn a_third_loop_waits_for_what_it_reads() {
    let mut s = Source::new();
    let x = s.buffer(input());
    let (a, b, c) = (s.alloc(), s.alloc(), s.alloc());
    s.repeat(x, &[], a);
    s.repeat(x, &[], b);
    s.repeat(x, &[a, b], c);
    assert_eq!(s.forked(c), ["fork", "loop"]);
}

#[test]
fn a_loop_stays_before_what_reads_its_result() {
    let mut s = Source::new();
    let x = s.buffer(input());
    let (a, b, c) = (s.alloc(), s.alloc(), s.alloc());
    s.repeat(x, &[], a);
    s.step(&[a], b);
    s.repeat(x, &[], c);
    assert_eq!(s.forked(b), ["loop", "launch", "loop"]);
}

#[test]
fn a_loop_stays_before_what_overwrites_its_operand() {
    let mut s = Source::new();
    let x = s.buffer(input());
    let (a, b, c) = (s.alloc(), s.alloc(), s.alloc());
    s.step(&[x], b);
    s.repeat(x, &[b], a);
    s.step(&[x], b);
    s.repeat(x, &[], c);
    assert_eq!(s.forked(a), ["launch", "loop", "launch", "loop"]);
}

/// A package does not say that a launch only reads a buffer.
#[test]
fn launches_on_one_buffer_are_not_at_once() {
    let mut s = Source::new();
    let x = s.buffer(input());
    let (a, b, c) = (s.alloc(), s.alloc(), s.alloc());
    s.step(&[x], b);
    s.repeat(x, &[b], a);
    s.repeat(x, &[b], c);
    assert_eq!(s.forked(c), ["launch", "loop", "loop"]);
}
