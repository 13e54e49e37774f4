//! Tiles from a record: whichever are worth measuring compute the same, and what is measured becomes a record.

use crate::model;
use crate::program;

use model::model;
use program::program;
use tegula_base::{DType, Dim, HostTensor};
use tegula_driver::check::check;
use tegula_driver::tune::{Rounds, record_of_others, tune};
use tegula_driver::{CompileOptions, Compiled, PassCx, Tuning, compile, own_or_simulated_cpu};
use tegula_machine::Machine;
use tegula_tensor::{Builder, DotDims, TensorProgram, Window};

/// Enough that each choice of each contraction is met: others than the first are counted round.
const CHOICES: usize = 10;

fn floats(shape: &[usize]) -> HostTensor {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 7919 + 13) % 257) as f32 / 257.0 - 0.5).collect();
    HostTensor::from_elements(shape, &values)
}

fn bytes(dtype: DType, shape: &[usize]) -> HostTensor {
    let count: usize = shape.iter().product();
    let bytes = (0..count).map(|i| (i * 7919 + 13) as u8).collect();
    HostTensor { dtype, shape: shape.to_vec(), bytes }
}

/// Of 3x3, one element around.
fn padded_window() -> Window {
    let one = || vec![Dim::from(1), Dim::from(1)];
    Window { size: vec![3, 3], strides: vec![1, 1], dilations: vec![1, 1], low: one(), high: one() }
}

/// Products of floats and of bytes and a convolution, with rows, columns and steps that no tile divides.
fn contractions() -> (TensorProgram, Vec<HostTensor>) {
    let inputs =
        vec![floats(&[23, 37]), floats(&[1, 5, 11, 13]), bytes(DType::U8, &[23, 39]), floats(&[2, 9, 31])];
    let program = program(|b: &mut Builder| {
        let dims = |b: &mut Builder, i: usize| {
            let shape: Vec<i64> = inputs[i].shape.iter().map(|n| *n as i64).collect();
            b.arg(inputs[i].dtype, shape.as_slice())
        };
        let args = [0, 1, 2, 3].map(|i| dims(b, i));
        let w = b.constant(floats(&[37, 53]))?;
        let product = b.matmul(args[0], w, DType::F32)?;
        let w = b.constant(floats(&[20, 5, 3, 3]))?;
        let conv = b.conv(args[1], w, padded_window(), 1, DType::F32)?;
        let w = b.constant(bytes(DType::I8, &[39, 53]))?;
        let of_bytes = b.matmul(args[2], w, DType::I32)?;
        let turned =
            DotDims { lhs_batch: vec![0], rhs_batch: vec![0], lhs_contract: vec![2], rhs_contract: vec![2] };
        let of_inputs = b.dot(args[3], args[3], turned, DType::F32)?;
        Ok(vec![product, conv, of_bytes, of_inputs])
    });
    (program, inputs)
}

#[test]
fn any_other_tile_computes_the_same() {
    let (program, inputs) = contractions();
    let model = model(&program);
    for class in ["avx2-generic", "avx2-vnni-generic", "avx512-generic", "zen4"] {
        let options = CompileOptions::new(Machine::class(class).unwrap());
        let Compiled { stages, .. } = compile(&model, &options, None, &mut PassCx::new()).unwrap();
        let hardware = own_or_simulated_cpu(&options.machine);
        let mut records: Vec<Tuning> = vec![];
        for choice in 0..CHOICES {
            let record = record_of_others(&stages, &options, choice).unwrap();
            assert_eq!(record.contractions.len(), 4, "{class}");
            let tuned = CompileOptions { tuning: Some(record.clone()), ..options.clone() };
            let report = check(&model, &tuned, &inputs, None, &hardware, &mut PassCx::new()).unwrap();
            assert!(report.is_fine(), "{class}, choice {choice}: {report:?}\n{}", record.print());
            records.push(record);
        }
        assert!(records.windows(2).all(|pair| pair[0] != pair[1]), "{class}: a choice twice");
    }
}

#[test]
fn a_package_has_the_record_s_tiles_and_says_so() {
    let (program, _) = contractions();
    let model = model(&program);
    let options = CompileOptions::new(Machine::class("avx2-generic").unwrap());
    let usual = compile(&model, &options, None, &mut PassCx::new()).unwrap();
    let record = record_of_others(&usual.stages, &options, 0).unwrap();
    // Read back as a user would give it.
    let record = Tuning::parse(&record.print(), "record").unwrap();
    let options = CompileOptions { tuning: Some(record), ..options };
    let mut cx = PassCx::new();
    cx.keep_remarks();
    let tuned = compile(&model, &options, None, &mut cx).unwrap();
    let package = tegula_package::Package::parse(tuned.package.unwrap().to_bytes()).unwrap();
    let said = &package.manifest.about.options;
    assert_eq!(said.keys().filter(|name| name.starts_with("tile.")).count(), 4, "{said:?}");
    let told = cx.remarks.iter().filter(|remark| remark.text.contains("tuning record's"));
    assert_eq!(told.count(), 4, "{:?}", cx.remarks);
}

#[test]
fn records_are_of_their_machine() {
    let (program, _) = contractions();
    let model = model(&program);
    let record = Tuning::of(&Machine::class("zen5").unwrap());
    for class in ["avx2-generic", "h200"] {
        let mut options = CompileOptions::new(Machine::class(class).unwrap());
        options.tuning = Some(record.clone());
        let found = compile(&model, &options, None, &mut PassCx::new()).err().expect("refused");
        assert!(found.to_string().contains("tuning-record"), "{class}: {found}");
    }
    let gpu = CompileOptions::new(Machine::class("h200").unwrap());
    let rounds = Rounds { count: 1, threads: 1 };
    let found = tune(&model, &gpu, rounds, &mut |_| Ok(vec![]), &mut |_| {}).expect_err("refused");
    assert!(found.to_string().contains("not-tuned"), "{found}");
}

/// What is faster depends on the day; what is measured, and that a record has nothing else, does not.
#[test]
fn what_is_measured_is_told() {
    let shape = [64, 256];
    let program = program(|b| {
        let x = b.arg(DType::F32, [64, 256]);
        let w = b.constant(floats(&[256, 192]))?;
        Ok(vec![b.matmul(x, w, DType::F32)?])
    });
    let model = model(&program);
    let options = CompileOptions::new(Machine::class("avx2-generic").unwrap());
    let rounds = Rounds { count: 3, threads: 1 };
    let mut said = vec![];
    let tuned = tune(&model, &options, rounds, &mut |_| Ok(vec![floats(&shape)]), &mut |text| {
        said.push(text.to_string());
    });
    let tuned = tuned.unwrap();
    let [product] = tuned.contractions.as_slice() else { panic!("{:?}", tuned.contractions) };
    assert_eq!(product.title, "1 of 64 x 256 by 256 x 192, f32 by f32 in f32");
    assert!(product.tried.len() > 3 && product.usual_ns > 0.0 && tuned.usual_ns > 0.0);
    assert!(product.tried.iter().all(|tried| tried.share > 0.0));
    assert_eq!(tuned.record.contractions.get(&product.title).copied(), product.tuned);
    if let Some(found) = product.tuned {
        assert!(product.tried.iter().any(|tried| tried.tile() == found.tile()) && found.share < 1.0);
    }
    assert!(said.len() > product.tried.len(), "{said:?}");
}
