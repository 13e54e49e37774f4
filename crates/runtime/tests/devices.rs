//! Packages for several devices: a toy one beside the processor, reached by transfers; and one that is a package's home.

use crate::common;
use common::*;
use expect_test::{Expect, expect};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor};
use tegula_package::*;
use tegula_runtime::{
    Device, DeviceCode, DeviceKernel, DeviceLaunch, DeviceMemory, Loaded, MemoryBlock, PlainMemory, Session,
    SessionOptions, TensorView,
};

/// Runs images of isa `test`: a list of numbers, which an entry by name folds into each i64 of its operand. Its memory is
/// its own, and counted.
#[derive(Default)]
struct Toy {
    live: Arc<AtomicUsize>,
}

struct ToyKernel {
    image: Vec<u8>,
    entry: String,
}

struct ToyMemory(Arc<AtomicUsize>);

struct ToyBlock {
    block: Arc<dyn MemoryBlock>,
    live: Arc<AtomicUsize>,
}

impl Device for Toy {
    fn isa(&self) -> &str {
        "test"
    }

    fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
        let mut kernels: Vec<Arc<dyn DeviceKernel>> = Vec::new();
        for kernel in &code.kernels {
            let Entry::Name(entry) = kernel.entry else {
                return Err(Diagnostic::error("package-invalid", "the toy wants names").into());
            };
            assert_eq!((kernel.isa, code.machine.class.as_str()), ("test", "toy-class"));
            kernels.push(Arc::new(ToyKernel { image: kernel.bytes.to_vec(), entry: entry.clone() }));
        }
        Ok(Loaded::new(Arc::new(ToyMemory(Arc::clone(&self.live))), kernels))
    }
}

impl DeviceMemory for ToyMemory {
    fn allocate(&self, bytes: usize) -> Result<Arc<dyn MemoryBlock>, Diagnostic> {
        let block = PlainMemory.allocate(bytes)?;
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(ToyBlock { block, live: Arc::clone(&self.0) }))
    }
}

impl MemoryBlock for ToyBlock {
    fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Diagnostic> {
        self.block.read(offset, into)
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Diagnostic> {
        self.block.write(offset, bytes)
    }
}

impl Drop for ToyBlock {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

fn numbers(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|word| i64::from_le_bytes(*word)).collect()
}

impl DeviceKernel for ToyKernel {
    /// The last buffer is the result; the others are operands.
    fn run(&self, launch: &DeviceLaunch<'_>) -> Result<(), String> {
        let (result, operands) = launch.buffers.split_last().ok_or("a launch without a result")?;
        let mut values = numbers(&operands[0].read()?);
        for value in &mut values {
            for number in &self.image {
                *value = match self.entry.as_str() {
                    "add" => *value + i64::from(*number),
                    "multiply" => *value * i64::from(*number),
                    other => return Err(format!("there is no entry `{other}`")),
                };
            }
        }
        for operand in &operands[1..] {
            let more = numbers(&operand.read()?);
            values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
        }
        values.iter_mut().for_each(|value| *value += launch.sizes.iter().sum::<i64>());
        result.write(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
    }
}

const TOY: DeviceId = DeviceId(1);

/// A source with a toy device beside the home, and its kernel.
fn with_toy(image: &[u8], entry: &str) -> (Source, u32) {
    let mut s = Source::default();
    let machine = MachineId {
        class: "toy-class".into(),
        hash: "1".into(),
        isa: "test".into(),
        features: vec![],
        file: None,
    };
    s.devices = vec![PackageDevice { name: "toy".into(), machine }];
    let image = s.package.add_image("test", TOY, image);
    let kernel = s.kernel(entry, KernelCode::Image { image, entry: Entry::Name(entry.into()) });
    (s, kernel)
}

impl Source {
    fn on_toy(&mut self, name: &str, bytes: &str) -> BufferId {
        self.on_toy_at(name, bytes, Place::Arena)
    }

    fn on_toy_at(&mut self, name: &str, bytes: &str, place: Place) -> BufferId {
        let buffer = self.buffer(name, bytes, place);
        self.program.buffers[buffer.index()].device = TOY;
        buffer
    }
}

fn transfer(src: BufferId, dst: BufferId, bytes: &str) -> Step {
    Step::Transfer { src, src_offset: dim("0"), dst, dst_offset: dim("0"), bytes: dim(bytes) }
}

fn options(threads: usize, toy: &Arc<Toy>) -> SessionOptions {
    SessionOptions {
        threads,
        executor: Some(Arc::new(AddExecutor)),
        devices: vec![Arc::clone(toy) as Arc<dyn Device>],
        ..SessionOptions::default()
    }
}

fn session(source: Source, threads: usize, toy: &Arc<Toy>) -> Session {
    Session::from_bytes(source.finish().to_bytes(), options(threads, toy))
        .unwrap_or_else(|found| panic!("{found}"))
}

fn i64s(tensor: &HostTensor) -> Vec<i64> {
    tensor.elements().expect("i64")
}

fn vector(values: &[i64]) -> HostTensor {
    HostTensor::from_elements(&[values.len()], values)
}

fn check(found: Result<impl Sized, Diagnostics>, expected: Expect) {
    expected.assert_eq(&found.err().expect("an error").to_string());
}

/// `y = (x + 1) * 2 * 3 + 10 * k + 7 + 1`: portable code on the host, a region on the toy with a constant of its own and a
/// size, portable code on the host.
fn there_and_back() -> Source {
    let (mut s, region) = with_toy(&[2, 3], "multiply");
    s.input_symbol("n", 0, 0, 0, 1 << 20, 1);
    let (x, y) = (s.input("x", DType::I64, &["n"]), s.output("y", DType::I64, &["n"]));
    let code = s.package.add_portable(&[1]);
    let add = s.kernel("add", code);
    let on_host = s.constant("unused", &vector(&[77; 9]));
    let constant = s.constant("tens", &vector(&[10, 20, 30]));
    s.program.buffers[constant.index()].device = TOY;
    let (a, b) = (s.arena("a", "8*n"), s.arena("b", "8*n"));
    let (sent, made) = (s.on_toy("sent", "8*n"), s.on_toy("made", "8*n"));
    assert_ne!(on_host, constant);
    s.program.steps = vec![
        launch(add, &[buf(x), buf(a)], "n"),
        transfer(a, sent, "8*n"),
        launch(region, &[buf(sent), buf(constant), buf(made), size("7")], "1"),
        transfer(made, b, "8*n"),
        launch(add, &[buf(b), buf(y)], "n"),
    ];
    s
}

#[test]
fn a_region_runs_on_a_device_of_the_callers() {
    let toy = Arc::new(Toy::default());
    for threads in [1, 3] {
        let session = session(there_and_back(), threads, &toy);
        for n in [3usize, 0, 5, 1000, 3] {
            let x: Vec<i64> = (0..n as i64).collect();
            let y = session.run(&[vector(&x)]).unwrap();
            let tens = |i: usize| [10, 20, 30].get(i).copied().unwrap_or(0);
            let expected: Vec<i64> =
                x.iter().enumerate().map(|(i, x)| (x + 1) * 6 + tens(i) + 7 + 1).collect();
            assert_eq!(i64s(&y[0]), expected, "{n} elements");
        }
        let counters = session.counters();
        assert_eq!((counters.regions, counters.portable, counters.machine), (5, 8, 0));
    }
    assert_eq!(toy.live.load(Ordering::Relaxed), 0, "its memory is given back");
}

#[test]
fn threads_share_a_device() {
    let toy = Arc::new(Toy::default());
    let session = session(there_and_back(), 2, &toy);
    std::thread::scope(|scope| {
        for seed in 0..4i64 {
            let session = &session;
            scope.spawn(move || {
                for n in [4usize, 900, 17] {
                    let x: Vec<i64> = (0..n as i64).map(|i| i * seed).collect();
                    let y = session.run(&[vector(&x)]).unwrap();
                    assert_eq!(i64s(&y[0])[3..], x[3..].iter().map(|x| (x + 1) * 6 + 8).collect::<Vec<_>>());
                }
            });
        }
    });
}

/// A state, an alias, a late buffer, a fill, a copy within itself and a loop with its counter, all on the toy.
#[test]
fn every_place_and_step_is_there_on_a_device() {
    let (mut s, add) = with_toy(&[1], "add");
    let k = s.data_symbol("k", None);
    let (x, y) = (s.input("x", DType::I64, &["4"]), s.output("y", DType::I64, &["4"]));
    let last = s.output("last", DType::I64, &["k"]);
    let trip = s.constant("trip", &HostTensor::scalar(3i64));
    let on_toy = s.on_toy("on_toy", "32");
    let sum = s.on_toy_at("sum", "32", Place::State(0));
    let next = s.on_toy("next", "32");
    let counter = s.on_toy("counter", "8");
    let tail = s.on_toy_at("tail", "8", Place::Alias { of: counter, offset: dim("0") });
    let late = s.on_toy("late", "8*k");
    let move_up =
        Step::Copy { src: next, src_offset: dim("0"), dst: next, dst_offset: dim("8"), bytes: dim("24") };
    let copy =
        |src, dst| Step::Copy { src, src_offset: dim("0"), dst, dst_offset: dim("0"), bytes: dim("32") };
    s.program.steps = vec![
        transfer(x, on_toy, "32"),
        Step::Loop {
            trip: Some(trip),
            cond: None,
            counter: Some(counter),
            body: vec![launch(add, &[buf(sum), buf(on_toy), buf(next)], "1"), copy(next, sum)],
        },
        // 2, from the device.
        Step::Bind { symbol: k, from: tail },
        Step::Fill { dst: late, value: 1, bytes: dim("8*k") },
        move_up,
        transfer(next, y, "32"),
        transfer(late, last, "8*k"),
    ];
    let toy = Arc::new(Toy::default());
    let session = session(s, 1, &toy);
    let x = vector(&[1, 2, 3, 4]);
    let mut stream = session.stream();
    let mut outputs = Vec::new();
    for run in 1..4 {
        stream.run_into(&[TensorView::from(&x)], &mut outputs).unwrap();
        // Three rounds a run add x and 1; the first element is there twice, as the copy moved all by one.
        let expected = [1, 1, 2, 3].map(|x| 3 * run * (x + 1));
        assert_eq!(i64s(&outputs[0]), expected, "run {run}");
        assert_eq!(i64s(&outputs[1]), [0x0101_0101_0101_0101; 2]);
    }
    drop(stream);
    drop(session);
    assert_eq!(toy.live.load(Ordering::Relaxed), 0);
}

/// Inputs, outputs, constants and runtime kernels where the home is the caller's device.
#[test]
fn a_device_of_the_callers_may_be_the_home() {
    let mut s = Source { isa: "test".into(), ..Source::default() };
    s.input_symbol("n", 0, 0, 0, 1 << 20, 1);
    let image = s.package.add_image("test", DeviceId::HOME, &[5]);
    let region = s.kernel("region", KernelCode::Image { image, entry: Entry::Name("add".into()) });
    let count = s.native("nonzero_count", &attrs(&[slot("i64", 1)], &[slot("i64", 0)], "{}"));
    let (x, y) = (s.input("x", DType::I64, &["n"]), s.output("y", DType::I64, &["n"]));
    let n = s.output("n", DType::I64, &[]);
    let constant = s.constant("ones", &vector(&[1, 1]));
    s.program.steps = vec![
        launch(region, &[buf(x), buf(constant), buf(y)], "1"),
        launch(count, &[buf(y), buf(n), size("n")], "1"),
    ];
    struct Home(Toy);
    impl Device for Home {
        fn isa(&self) -> &str {
            "test"
        }

        fn load(&self, code: &DeviceCode<'_>) -> Result<Loaded, Diagnostics> {
            let machine = MachineId { class: "toy-class".into(), ..code.machine.clone() };
            self.0.load(&DeviceCode {
                machine: &machine,
                kernels: code.kernels.clone(),
                threads: code.threads,
            })
        }
    }
    let home = Arc::new(Home(Toy::default()));
    let devices = vec![Arc::clone(&home) as Arc<dyn Device>];
    let options = SessionOptions { devices, ..SessionOptions::default() };
    let session = Session::from_bytes(s.finish().to_bytes(), options).unwrap();
    for x in [vec![-6, -5, 3], vec![], vec![7]] {
        let outputs = session.run(&[vector(&x)]).unwrap();
        let y: Vec<i64> = x.iter().enumerate().map(|(i, x)| x + 5 + i64::from(i < 2)).collect();
        assert_eq!(i64s(&outputs[0]), y);
        assert_eq!(i64s(&outputs[1]), [y.iter().filter(|y| **y != 0).count() as i64]);
    }
    drop(session);
    assert_eq!(home.0.live.load(Ordering::Relaxed), 0);
}

#[test]
fn missing_devices_are_named_in_one_error() {
    let (mut s, _) = with_toy(&[1], "add");
    let machine = MachineId { class: "rack-class".into(), isa: "rack".into(), ..MachineId::default() };
    s.devices.push(PackageDevice { name: "rack".into(), machine });
    check(
        Session::from_bytes(s.finish().to_bytes(), SessionOptions::default()),
        expect![[r#"
            error[no-device]: the package holds `test` and `rack` code, which no device of this session runs
            note: device 1 (`toy`) is of machine class toy-class
            note: device 2 (`rack`) is of machine class rack-class
            help: compile the model for machines that are here: `tegula compile --machine ...`"#]],
    );
    let s = Source { isa: isa::PTX.into(), ..Source::default() };
    assert!(
        Session::from_bytes(s.finish().to_bytes(), SessionOptions::default()).is_ok(),
        "it has no kernel"
    );
    let mut s = Source { isa: isa::PTX.into(), ..Source::default() };
    let ptx = PtxKernel { text: ".version 8.0".into(), launch: PtxLaunch::default() };
    let code = s.package.add_ptx(&ptx);
    s.kernel("g", code);
    check(
        Session::from_bytes(s.finish().to_bytes(), SessionOptions::default()),
        expect![[r#"
            error[no-device]: the package needs a GPU (machine class test-class), and no device is chosen
            note: no device of this session runs `ptx` code
            help: `--target cuda` is the first NVIDIA GPU, `--target sim-ptx` simulates one"#]],
    );
}

#[test]
fn what_fails_on_a_device_is_named() {
    let (mut s, region) = with_toy(&[1], "divide");
    let (x, y) = (s.input("x", DType::I64, &["2"]), s.output("y", DType::I64, &["2"]));
    let (sent, made) = (s.on_toy("sent", "16"), s.on_toy("made", "8"));
    s.program.steps =
        vec![transfer(x, sent, "16"), launch(region, &[buf(sent), buf(made)], "1"), transfer(made, y, "8")];
    let toy = Arc::new(Toy::default());
    let x = [vector(&[1, 2])];
    check(
        session(s, 1, &toy).run(&x),
        expect![[r#"
            error[kernel-failed]: there is no entry `divide`
              --> kernel `divide`
              --> node "model/divide""#]],
    );
    let (mut s, region) = with_toy(&[1], "add");
    let _ = s.input("x", DType::I64, &["2"]);
    let (sent, made) = (s.on_toy("sent", "16"), s.on_toy("made", "8"));
    s.program.steps = vec![launch(region, &[buf(sent), buf(made)], "1")];
    check(
        session(s, 1, &toy).run(&x),
        expect![[r#"
            error[kernel-failed]: 16 bytes are written to a buffer that takes 8
              --> kernel `add`
              --> node "model/add""#]],
    );
    let (mut s, _) = with_toy(&[1], "add");
    let (x_in, sent) = (s.input("x", DType::I64, &["2"]), s.on_toy("sent", "8"));
    s.program.steps = vec![transfer(x_in, sent, "16")];
    check(
        session(s, 1, &toy).run(&x),
        expect!["error[package-invalid]: a step touches 16 bytes at 0 of buffer `sent`, which has 8"],
    );
}
