//! Steps of decoding on a streaming chip, with caches that come and go: the same tokens as the evaluator's.

use tegula_base::HostTensor;
use tegula_driver::compile::{Compiled, compile_program};
use tegula_driver::{CompileOptions, PassCx, Precision, session_options, simulated_lpu};
use tegula_machine::Machine;
use tegula_runtime::Session;
use tegula_tensor::evaluate;
use tegula_testkit::decoder::Decoder;

const STEPS: usize = 6;
const ROOM: i64 = 24;

fn session(decoder: &Decoder) -> Session {
    let machine = Machine::class("tsp1").unwrap();
    let options =
        CompileOptions { verify: true, precision: Precision::F16x2, ..CompileOptions::new(machine) };
    let program = decoder.step(ROOM).unwrap();
    let compiled = compile_program(program, "step", &options, None, &mut PassCx::default());
    let Compiled { package, .. } = compiled.unwrap_or_else(|found| panic!("{found}"));
    let bytes = package.unwrap().to_bytes();
    Session::from_bytes(bytes, session_options(1, simulated_lpu())).unwrap_or_else(|found| panic!("{found}"))
}

fn number(n: i64) -> HostTensor {
    HostTensor::from_elements(&[1], &[n])
}

#[test]
fn a_chip_decodes_at_places_that_are_data() {
    let decoder = Decoder::TINY;
    let session = session(&decoder);
    let manifest = &session.package().manifest;
    let of_host = manifest.kernels.iter().filter(|kernel| kernel.class != "region");
    let classes: Vec<&str> = of_host.map(|kernel| kernel.class.as_str()).collect();
    assert!(classes.iter().all(|class| *class != "scatter"), "rows are written on the host: {classes:?}");
    let program = decoder.step(ROOM).unwrap();
    let shape = [1, decoder.groups, ROOM, decoder.hidden / decoder.heads].map(|extent| extent as usize);
    let mut caches = vec![HostTensor::zeros(decoder.dtype, &shape); 2 * decoder.layers];
    let mut token = 3;
    for position in 0..STEPS {
        let inputs = [vec![number(token), number(position as i64)], caches].concat();
        let got = session.run(&inputs).unwrap_or_else(|found| panic!("{found}"));
        let want = evaluate(&program, &inputs).unwrap();
        assert_eq!(got[0], want[0], "step {position}");
        for (got, want) in got[1..].iter().zip(&want[1..]) {
            let (got, want) = (got.to_f64(), want.to_f64());
            let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            assert!(got.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-4 * largest), "step {position}");
        }
        token = want[0].to_i64()[0];
        caches = want[2..].to_vec();
    }
}
