//! Steps of decoding into a cache that stays where it is: the same tokens as the evaluator's, in machine code, in the
//! interpreter, and on a GPU over a driver without a card, where a step is one graph.

use crate::common;

use common::{card, hardware};
use tegula_base::{DType, HostTensor};
use tegula_driver::{CompileOptions, Compiled, Form, PassCx, session_options};
use tegula_ir::Value;
use tegula_machine::Machine;
use tegula_runtime::{Hardware, Session, TensorView};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, ScatterKind, TensorFunc, TensorProgram, evaluate};
use tegula_testkit::decoder::Decoder;

const STEPS: usize = 16;
const ROOM: i64 = 24;

fn session(decoder: &Decoder, options: CompileOptions) -> Session {
    let options = CompileOptions { aliases: decoder.aliases(), verify: true, ..options };
    let program = decoder.step(ROOM).unwrap();
    let compiled =
        tegula_driver::compile::compile_program(program, "step", &options, None, &mut PassCx::default());
    let Compiled { package, .. } = compiled.unwrap_or_else(|found| panic!("{found}"));
    let bytes = package.unwrap().to_bytes();
    Session::from_bytes(bytes, session_options(2, hardware(&options.machine)))
        .unwrap_or_else(|found| panic!("{found}"))
}

fn number(n: i64) -> HostTensor {
    HostTensor::from_elements(&[1], &[n])
}

fn empty_caches(decoder: &Decoder) -> Vec<HostTensor> {
    let shape = [1, decoder.groups, ROOM, decoder.hidden / decoder.heads].map(|extent| extent as usize);
    vec![HostTensor::zeros(decoder.dtype, &shape); 2 * decoder.layers]
}

/// Token, logits and caches after each step, by the evaluator.
fn expected(decoder: &Decoder, program: &TensorProgram) -> Vec<Vec<HostTensor>> {
    let mut caches = empty_caches(decoder);
    let mut token = 3;
    (0..STEPS)
        .map(|position| {
            let inputs = [vec![number(token), number(position as i64)], caches.clone()].concat();
            let results = evaluate(program, &inputs).unwrap();
            token = results[0].to_i64()[0];
            caches = results[2..].to_vec();
            results
        })
        .collect()
}

fn close(got: &HostTensor, want: &HostTensor) {
    assert_eq!((got.dtype, &got.shape), (want.dtype, &want.shape));
    for (got, want) in got.to_f64().iter().zip(want.to_f64()) {
        assert!((got - want).abs() <= 2e-3 * want.abs().max(1.0), "{got} is not {want}");
    }
}

/// Decodes with the cache where it is, after a first step that was given all; then once more with all given.
fn decode(decoder: &Decoder, session: &Session) {
    let expected = expected(decoder, &decoder.step(ROOM).unwrap());
    let mut stream = session.stream();
    let mut outputs = Vec::new();
    let mut token = 3;
    for (position, want) in expected.iter().enumerate() {
        let given = [number(token), number(position as i64)];
        let views: Vec<TensorView> = given.iter().map(TensorView::from).collect();
        if position == 0 {
            assert!(stream.update(&views, &mut outputs).unwrap_err().to_string().contains("no run before"));
            let caches = empty_caches(decoder);
            let all: Vec<TensorView> =
                views.iter().copied().chain(caches.iter().map(TensorView::from)).collect();
            stream.run_into(&all, &mut outputs).unwrap_or_else(|found| panic!("{found}"));
            outputs.iter().zip(want).skip(1).for_each(|(got, want)| close(got, want));
        } else {
            stream.update(&views, &mut outputs).unwrap_or_else(|found| panic!("{found}"));
            close(&outputs[1], &want[1]);
        }
        token = outputs[0].to_i64()[0];
        assert_eq!(token, want[0].to_i64()[0], "step {position}");
    }
    // Without a stream the caches come and go.
    let last = STEPS - 1;
    let before = &expected[last - 1];
    let inputs = [vec![number(before[0].to_i64()[0]), number(last as i64)], before[2..].to_vec()].concat();
    let results = session.run(&inputs).unwrap_or_else(|found| panic!("{found}"));
    results.iter().zip(&expected[last]).skip(1).for_each(|(got, want)| close(got, want));
}

#[test]
fn machine_code_decodes_in_place() {
    for name in ["avx2-generic", "avx512-generic"] {
        let machine = Machine::class(name).unwrap();
        let options = CompileOptions::new(machine);
        let portable = CompileOptions { form: Form::Portable, ..options.clone() };
        for options in [options, portable] {
            decode(&Decoder::TINY, &session(&Decoder::TINY, options));
        }
    }
}

#[test]
fn a_step_on_a_card_is_one_graph() {
    let decoder = Decoder::TINY;
    let session = session(&decoder, CompileOptions::new(Machine::class("h200").unwrap()));
    let program = &session.package().program;
    let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let updates = names.iter().filter(|name| name.starts_with("update")).count();
    assert_eq!(updates, 2 * decoder.layers, "{names:?}");
    // Nothing but launches.
    let launches = program.steps.iter().filter(|step| matches!(step, tegula_package::Step::Launch { .. }));
    assert_eq!(launches.count(), program.steps.len());
    decode(&decoder, &session);
    let counters = session.counters();
    // The first run of the stream names its steps; the second is captured; and one run stood alone.
    let graphs = counters.graphs;
    assert_eq!((graphs.captured, graphs.made, graphs.launched), (1, 1, STEPS as u64 - 1));
    assert_eq!(counters.gpu, (program.steps.len() * (STEPS + 1)) as u64);
}

/// `(x: f32[5,8], places: i64[3,1], rows: f32[3,8])` with x scattered into, aliased to the result `y`, and what `more`
/// makes of x and y.
fn scattered(more: impl FnOnce(&mut Builder, Value, Value) -> Built<Value>) -> TensorProgram {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let x = b.arg(DType::F32, [5, 8]);
    let (places, rows) = (b.arg(DType::I64, [3, 1]), b.arg(DType::F32, [3, 8]));
    let y = b.scatter_nd(x, places, rows, ScatterKind::Set).unwrap();
    let other = more(&mut b, x, y).unwrap();
    b.ret(&[y, other]).unwrap();
    program.consts = consts;
    let func = program.entry_mut();
    func.arg_names = ["x", "places", "rows"].map(str::to_string).to_vec();
    func.result_names = ["y", "other"].map(str::to_string).to_vec();
    program
}

/// The program with `y` in the memory of `x`, and how many kernels write there in place.
fn aliased(program: &TensorProgram, class: &str) -> (Session, usize) {
    let options = CompileOptions {
        aliases: vec![("x".into(), "y".into())],
        ..CompileOptions::new(Machine::class(class).unwrap())
    };
    let program = program.clone();
    let compiled =
        tegula_driver::compile::compile_program(program, "m", &options, None, &mut PassCx::default());
    let package = compiled.unwrap_or_else(|found| panic!("{found}")).package.unwrap();
    let gpu = if class == "h200" { card() } else { Hardware::Own };
    let session = Session::from_bytes(package.to_bytes(), session_options(1, gpu)).unwrap();
    let kernels = &session.package().program.kernels;
    let updates = kernels.iter().filter(|kernel| kernel.name.starts_with("update")).count();
    (session, updates)
}

#[test]
fn an_alias_holds_where_nothing_can_be_done_in_place() {
    // Only the first reads x before it changes.
    type More = fn(&mut Builder, Value, Value) -> Built<Value>;
    let cases: [(More, usize); 3] =
        [(|b, x, _| b.neg(x), 1), (|b, x, y| b.add(x, y), 0), (|_, x, _| Ok(x), 0)];
    for (more, updates) in cases {
        let program = scattered(more);
        let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
        let inputs = [
            HostTensor::from_elements(&[5, 8], &x),
            HostTensor::from_elements(&[3, 1], &[4i64, 1, 4]),
            HostTensor::from_elements(&[3, 8], &x.iter().map(|x| 100.0 + x).collect::<Vec<f32>>()[..24]),
        ];
        let expected = evaluate(&program, &inputs).unwrap();
        for class in ["avx2-generic", "h200"] {
            let (session, count) = aliased(&program, class);
            assert!(count <= updates, "{class}: {count} updates");
            assert_eq!(session.run(&inputs).unwrap(), expected, "{class}");
        }
    }
}

#[test]
fn updates_out_of_the_data_are_read_before_they_are_written_over() {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    let mut consts = std::mem::take(&mut program.consts);
    let mut b = Builder::new(program.entry_mut(), &mut consts);
    let (x, places) = (b.arg(DType::F32, [4, 1, 8]), b.arg(DType::I64, [4, 2]));
    let rows = b.reshape(x, [4, 8]).unwrap();
    let y = b.scatter_nd(x, places, rows, ScatterKind::Set).unwrap();
    b.ret(&[y]).unwrap();
    program.consts = consts;
    let func = program.entry_mut();
    func.arg_names = ["x", "places"].map(str::to_string).to_vec();
    func.result_names = vec!["y".to_string()];
    let inputs = [
        HostTensor::from_elements(&[4, 1, 8], &(0..32).map(|i| i as f32).collect::<Vec<f32>>()),
        HostTensor::from_elements(&[4, 2], &[1i64, 0, 2, 0, 3, 0, 0, 0]),
    ];
    let expected = evaluate(&program, &inputs).unwrap();
    for class in ["avx2-generic", "h200"] {
        let (session, updates) = aliased(&program, class);
        assert_eq!(updates, 0, "{class}");
        assert_eq!(session.run(&inputs).unwrap(), expected, "{class}");
    }
}

#[test]
fn aliases_that_cannot_be_are_refused() {
    let refusal = |input: &str, output: &str| {
        let aliases = vec![(input.to_string(), output.to_string())];
        let options = CompileOptions { aliases, ..CompileOptions::new(Machine::class("h200").unwrap()) };
        let program = scattered(|b, x, _| b.slice_axis(x, 0, 0, 2));
        let compiled =
            tegula_driver::compile::compile_program(program, "m", &options, None, &mut PassCx::default());
        compiled.err().map(|found| found.to_string()).unwrap_or_default()
    };
    assert!(refusal("z", "y").contains("the model has no input `z`"), "{}", refusal("z", "y"));
    assert!(refusal("x", "z").contains("the model has no output `z`"));
    assert!(refusal("x", "other").contains("one memory holds both only where they are equal"));
    assert_eq!(refusal("x", "y"), "");
}
