//! One prediction for one machine, whoever tells it: by the machine's own facts, and on a GPU by the units that its code uses.

use crate::program::program;
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, SymbolInfo};
use tegula_driver::diff::diff;
use tegula_driver::forecast::{TimeModel, forecast};
use tegula_driver::page::page;
use tegula_driver::{CompileOptions, PassCx};
use tegula_machine::Machine;
use tegula_package::Package;
use tegula_tensor::TensorProgram;

fn compiled(program: &TensorProgram, machine: &Machine) -> Package {
    let options = CompileOptions::new(machine.clone());
    let compiled =
        tegula_driver::compile::compile_program(program.clone(), "test", &options, None, &mut PassCx::new());
    let package = compiled.unwrap_or_else(|found| panic!("{found}")).package;
    Package::parse(package.unwrap().to_bytes()).unwrap()
}

fn product(dtype: DType, sums: DType, n: i64) -> TensorProgram {
    program(|b| {
        let (x, w) = (b.arg(dtype, [n, n]), b.arg(dtype, [n, n]));
        Ok(vec![b.matmul(x, w, sums)?])
    })
}

fn ns(package: &Package) -> f64 {
    forecast(package, &BTreeMap::new()).unwrap().ns()
}

#[test]
fn the_machines_own_facts_travel_with_the_package() {
    let (zen5, product) = (Machine::class("zen5").unwrap(), product(DType::F32, DType::F32, 256));
    let class = compiled(&product, &zen5);
    assert_eq!(class.manifest.about.machine.file, None);
    let slow = zen5.with_fact("core_clock", 1e9).unwrap();
    let own = compiled(&product, &slow);
    assert_eq!(own.manifest.about.machine.file.as_deref(), Some(slow.text()));
    assert!(ns(&own) > 3.0 * ns(&class), "{} and {}", ns(&own), ns(&class));
}

#[test]
fn a_fact_without_effect_is_named() {
    let cores = Machine::class("zen3").unwrap().with_fact("cores", 2.0).unwrap();
    let package = compiled(&product(DType::F32, DType::F32, 64), &cores);
    let basis = forecast(&package, &BTreeMap::new()).unwrap().basis;
    assert!(basis.why.ends_with("; `cores` has no effect: a prediction is of one core"), "{basis}");
}

#[test]
fn another_class_of_the_name_is_not_taken_for_it() {
    let program = product(DType::F32, DType::F32, 64);
    let mut package = compiled(&program, &Machine::class("zen5").unwrap());
    package.manifest.about.machine.hash = "0".into();
    let basis = forecast(&package, &BTreeMap::new()).unwrap().basis;
    assert_eq!(
        basis.to_string(),
        "roofline model of one core of zen5: the package was compiled for another `zen5` than this Tegula knows"
    );
}

#[test]
fn the_model_is_told_with_its_reason() {
    let program = product(DType::F32, DType::F32, 64);
    let basis = |class: &str| {
        let package = compiled(&program, &Machine::class(class).unwrap());
        forecast(&package, &BTreeMap::new()).unwrap().basis
    };
    assert_eq!(basis("zen3").to_string(), "core model of one core of zen3: its file describes the cores");
    assert_eq!(
        basis("avx2-generic").to_string(),
        "roofline model of one core of avx2-generic: its file has no `core_*` facts"
    );
    assert_eq!(basis("h200").to_string(), "roofline model of all of h200: a GPU has no model of its cores");
    assert_eq!(basis("h200").model, TimeModel::Roofline);
}

/// At a size that nobody gives, all tell the time at 1, by the same model; the launch of a GPU is in it.
#[test]
fn open_sizes_count_as_one() {
    let mut program = program(|b| {
        let x = b.arg(DType::F32, [Dim::symbol("rows"), Dim::from(64)]);
        Ok(vec![b.add(x, x)?])
    });
    program.symbols.insert("rows", SymbolInfo::input(0, 0));
    for class in ["zen3", "h200"] {
        let package = compiled(&program, &Machine::class(class).unwrap());
        let open = forecast(&package, &BTreeMap::new()).unwrap();
        let given = forecast(&package, &BTreeMap::from([("rows".to_string(), 1)])).unwrap();
        assert_eq!((open.ns(), open.basis), (given.ns(), given.basis), "{class}");
        assert_eq!(Vec::from_iter(open.made_up), ["rows"]);
        assert!(class == "zen3" || given.launches[0].ns >= 1300.0, "{class}: the launch is left out");
    }
}

#[test]
fn diff_and_page_tell_the_forecast() {
    let program = product(DType::F32, DType::F32, 256);
    for class in ["zen5", "avx2-generic", "h200"] {
        let package = compiled(&program, &Machine::class(class).unwrap());
        let time = ns(&package);
        let found = diff([&package, &package], &BTreeMap::new()).unwrap();
        assert_eq!(found.totals[0].ns, time, "{class}");
        let page = page(&package, &BTreeMap::new()).unwrap();
        let told = format!("<dt>predicted</dt><dd>{}</dd>", tegula_driver::human::duration(time));
        assert!(page.contains(&told), "{class}: {told}");
    }
}

/// Each dtype's product has the rate of the instructions in its PTX.
#[test]
fn products_on_a_gpu_have_the_rate_of_their_instructions() {
    let cases = [
        (DType::F32, DType::F32, "fma.rn.f32"),
        (DType::F64, DType::F64, "fma.rn.f64"),
        (DType::I32, DType::I32, "mul.lo.s32"),
        (DType::BF16, DType::F32, "mma"),
        (DType::F16, DType::F32, "mma"),
        (DType::I8, DType::I32, "mma"),
    ];
    let n = 1024_i64;
    for class in ["h200", "a100"] {
        let machine = Machine::class(class).unwrap();
        let gpu = machine.gpu().unwrap();
        for (dtype, sums, instruction) in cases {
            let package = compiled(&product(dtype, sums, n), &machine);
            let kernels = package.program.kernels.iter();
            let texts: Vec<String> =
                kernels.map(|kernel| package.ptx_kernel(&kernel.code).unwrap().text).collect();
            let on_tensor_cores =
                texts.iter().any(|text| text.contains("mma.sync.") || text.contains("wgmma.mma_async."));
            let emitted = texts.iter().any(|text| text.contains(instruction));
            assert!(emitted && on_tensor_cores == (instruction == "mma"), "{class}: {dtype} {instruction}");
            let rate = match (on_tensor_cores, dtype) {
                (true, _) => gpu.tensor.rate(dtype).unwrap(),
                (false, DType::F64) => gpu.flops_f64,
                (false, DType::I32) => gpu.integer_rate,
                (false, _) => gpu.flops_f32,
            };
            let flops = (2 * n * n * n) as f64;
            let compute = 1e9 * flops / (rate * gpu.sustained_clock_hz * f64::from(gpu.sms));
            let expected = compute + gpu.launch_overhead.0;
            let found = ns(&package);
            assert!(
                (found / expected - 1.0).abs() < 0.01,
                "{class}: {dtype} {found} ns, {expected} expected"
            );
        }
    }
}
