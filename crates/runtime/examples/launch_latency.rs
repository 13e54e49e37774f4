//! Measures what the runtime itself costs: 1000 launches of a kernel that returns at once, per launch.
//! `cargo run --release -p tegula-runtime --example launch_latency [THREADS]`

use std::time::Instant;
use tegula_base::{DType, Dim};
use tegula_package::{
    About, Arg, Buffer, BufferId, DeviceId, HostProgram, Kernel, MachineId, PackageBuilder, Place, Port, Step,
};
use tegula_runtime::{Session, SessionOptions, TensorView};

const LAUNCHES: usize = 1000;
const RUNS: usize = 300;

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut builder = PackageBuilder::new();
    // `ret`
    let code = builder.add_machine_code(&[0xC3]);
    let device = DeviceId::HOME;
    let buffer = |place| Buffer { name: "x".into(), bytes: Dim::from(64), place, device, first: 0, last: 0 };
    let program = HostProgram {
        inputs: vec![Port {
            name: "x".into(),
            dtype: DType::F32,
            shape: vec![Dim::from(16)],
            buffer: BufferId(0),
            alias: None,
            default: None,
        }],
        buffers: vec![buffer(Place::Input(0)), buffer(Place::Arena)],
        kernels: vec![Kernel {
            name: "empty".into(),
            code,
            scratch: Dim::from(0),
            cost: Default::default(),
            source: Default::default(),
        }],
        steps: (0..LAUNCHES)
            .map(|_| Step::Launch {
                kernel: 0,
                args: vec![Arg::Buffer(BufferId(0)), Arg::Buffer(BufferId(1))],
                grid: Dim::from(64),
            })
            .collect(),
        ..HostProgram::default()
    };
    let about =
        About { machine: MachineId { isa: "x86-64".into(), ..MachineId::default() }, ..About::default() };
    let package = builder.finish(about, program).expect("a legal program").to_bytes();
    let options = SessionOptions { threads, ..SessionOptions::default() };
    let session = Session::from_bytes(package, options).expect("a session");
    let bytes = [0u8; 64];
    let input = TensorView { dtype: DType::F32, shape: &[16], bytes: &bytes };
    let mut outputs = Vec::new();
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            session.run_into(&[input], &mut outputs).expect("a run");
            start.elapsed().as_nanos() as f64 / LAUNCHES as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{threads} threads: median {:.0} ns, p90 {:.0} ns a launch",
        times[RUNS / 2],
        times[RUNS * 9 / 10]
    );
}
