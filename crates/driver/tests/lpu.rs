//! Models for a streaming chip: what is the chip's, what the host's, and a region whose image is written by hand.

use crate::model::model;
use crate::program::program;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_backend::{
    Claim, Codegen, Contractions, Fused, GraphCodegen, GraphImage, Infeasible, Launches, Layouts, Place,
    Preferences, Target, Targets, cost,
};
use tegula_base::{DType, HostTensor, Shape, Symbols};
use tegula_driver::bound::{Bounded, watch_kernels_at};
use tegula_driver::check::check_compiled;
use tegula_driver::compile::{Compiled, compile_program, compile_tensor};
use tegula_driver::explain::explain;
use tegula_driver::forecast::{Forecast, forecast};
use tegula_driver::lpu::check_images;
use tegula_driver::machine_report::Kernels;
use tegula_driver::target::target;
use tegula_driver::{CompileOptions, PassCx, Precision, session_options, simulated_lpu};
use tegula_ir::{OpId, ScalarOp};
use tegula_machine::Machine;
use tegula_opt::lower_to_host::to_package;
use tegula_package::{About, CostRecord, Package};
use tegula_runtime::Session;
use tegula_tensor::eval::Bindings;
use tegula_tensor::{QuantScheme, TensorFunc, TensorOp, TensorProgram, Window};
use tegula_testkit::null::Null;

fn mini() -> Machine {
    Machine::class("lpu-mini").unwrap()
}

fn options(machine: &str) -> CompileOptions {
    CompileOptions::new(Machine::class(machine).unwrap())
}

/// `max(x + x, 0) - x` of two rows.
fn rectified() -> TensorProgram {
    program(|b| {
        let x = b.arg(DType::F32, [2, 16]);
        let zero = b.splat(DType::F32, [2, 16], 0.0)?;
        let twice = b.emit(TensorOp::Elementwise { f: ScalarOp::Add }, &[x, x])?;
        let positive = b.emit(TensorOp::Elementwise { f: ScalarOp::Max }, &[twice, zero])?;
        Ok(vec![b.emit(TensorOp::Elementwise { f: ScalarOp::Sub }, &[positive, x])?])
    })
}

fn product(dtype: DType, sums: DType) -> TensorProgram {
    program(|b| {
        let (x, w) = (b.arg(dtype, [4, 96]), b.arg(dtype, [96, 8]));
        Ok(vec![b.matmul(x, w, sums)?])
    })
}

fn x() -> HostTensor {
    let elements: Vec<f32> = (0..32).map(|i| (i * 7 % 11) as f32 - 5.0).collect();
    HostTensor::from_elements(&[2, 16], &elements)
}

/// A target for regions of maxima with 0, whose image is the same for all: two rows through one ALU.
struct ByHand {
    machine: Machine,
    preferences: Preferences,
    rows: usize,
}

fn by_hand(rows: usize) -> ByHand {
    ByHand { machine: mini(), preferences: Preferences::default(), rows }
}

impl ByHand {
    /// Row r lies in word r of four slices; it is read in cycle r, is at the ALUs in r + 3, and at the slices in the east in
    /// r + 5.
    fn image(&self) -> String {
        let places = |half: &str, bank: usize| -> String {
            let rows = (0..self.rows).flat_map(|row| (0..4).map(move |part| (row, part)));
            rows.map(|(row, part)| format!(" {half}.mem{part} {bank}:{row}")).collect()
        };
        let (given, taken) = (places("W", 0), places("E", 1));
        let repeat = |steps: &str| format!("repeat {} gap 0 by {steps}", self.rows - 1);
        let mut queues = String::new();
        for (n, part) in ["", ".1", ".2", ".3"].into_iter().enumerate() {
            let next = repeat("1 0 0");
            queues += &format!("queue 0 W.mem{n}\nread 0:0 -> e{n} ; %0[0]{part}\n{next} ; %0[1]\nhalt\n");
            let write = format!("write e{} -> 1:0 ; %1[0]{part} %1[0]{part}", n + 4);
            queues += &format!("queue 0 E.mem{n}\nnop 5\n{write}\n{next} ; %0[1] %0[1]\nhalt\n");
        }
        let next = repeat("0 0 0");
        queues += &format!(
            "queue 0 alu0\nnop 3\nalu max.f32 e0 #0x0 -> e4 ; %0[0] %1[0]\n{next} ; %0[1] %0[1]\nhalt\n"
        );
        format!(
            "machine {}\nvalue 0 \"in0\" node \"relu\"\nvalue 1 \"out0\" node \"relu\"\nchip 0\n\
             input \"in0\" %0 f32 row 16 lanes 16 at{given}\noutput \"out0\" %1 f32 row 16 lanes 16 at{taken}\n\
             program \"region\"\nphase trips 1\n{queues}",
            self.machine.hash()
        )
    }
}

impl Target for ByHand {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn isa(&self) -> &str {
        "lpu"
    }

    fn claims(&self, func: &TensorFunc, op: OpId) -> Claim {
        match func.kind(op) {
            TensorOp::Elementwise { f: ScalarOp::Max } => Claim::Yes,
            _ => Claim::No(Cow::Borrowed("it is no maximum")),
        }
    }

    fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    fn fuses(&self, _: &TensorFunc, _: OpId, _: Place, _: &Symbols) -> Option<Fused> {
        None
    }

    fn layouts(&self, _: &TensorFunc, _: OpId, _: &Symbols) -> Layouts {
        Layouts::default()
    }

    fn cost(&self, func: &TensorFunc, kernel: OpId, launches: &Launches) -> Vec<CostRecord> {
        cost::of_launches(func, kernel, launches, &self.machine)
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Graph(self)
    }
}

impl GraphCodegen for ByHand {
    fn compile(&self, _: &str, _: &TensorProgram) -> Result<GraphImage, Infeasible> {
        let image = tegula_driver::lpu::parse(&self.image()).unwrap();
        Ok(GraphImage {
            bytes: tegula_isa_lpu::encode(&image),
            symbols: vec![],
            memory: vec![],
            timeline: vec![],
            remarks: vec![],
        })
    }
}

/// What the manifest of a package for `lpu-mini` says.
fn about() -> About {
    let empty = program(|b| Ok(vec![b.arg(DType::F32, [1])]));
    let compiled = compile_program(empty, "test", &options("lpu-mini"), None, &mut PassCx::new()).unwrap();
    Package::parse(compiled.package.unwrap().to_bytes()).unwrap().manifest.about
}

fn compiled(program: &TensorProgram, device: &dyn Target) -> Compiled {
    let options = options("lpu-mini");
    let chosen = target(&options).unwrap();
    let targets = Targets::beside(chosen.host(), device);
    let stages = compile_tensor(program.clone(), targets, &options, &mut PassCx::new())
        .unwrap_or_else(|found| panic!("{found}"));
    let package = to_package(stages.host.as_ref().unwrap(), &stages.lifetimes, about(), vec![]);
    Compiled { stages, package: Some(package.unwrap_or_else(|found| panic!("{found}"))), unmet_tiles: 0 }
}

fn run(compiled: &Compiled) -> Result<Vec<HostTensor>, String> {
    let bytes = compiled.package.as_ref().unwrap().to_bytes();
    let session = Session::from_bytes(bytes, session_options(1, simulated_lpu()));
    session.and_then(|session| session.run(&[x()])).map_err(|found| found.to_string())
}

#[test]
fn a_region_runs_on_the_chip_in_the_cycles_of_its_proof() {
    let (program, device) = (rectified(), by_hand(2));
    let compiled = compiled(&program, &device);
    assert_eq!(run(&compiled).unwrap(), tegula_tensor::evaluate(&program, &[x()]).unwrap());
    let package = Package::parse(compiled.package.as_ref().unwrap().to_bytes()).unwrap();
    let forecast = forecast(&package, &BTreeMap::new()).unwrap();
    assert_eq!(forecast.cycles(), Some(7));
    assert_eq!(Kernels::of(&package, &forecast).cycles, Some(7));
    let Forecast { basis, launches, .. } = forecast;
    assert_eq!(basis.machine, "avx2-generic beside lpu-mini");
    let why = "; 1 launches on the chip by the cycles of their proofs, and its host link";
    assert!(basis.why.ends_with(why), "{basis}");
    // 7 cycles at 0.9 GHz, and 128 bytes there and back at 24 GB/s behind 10 us each.
    let chip: Vec<f64> = launches.iter().filter(|launch| launch.cycles.is_some()).map(|l| l.ns).collect();
    let expected = 7.0 / 0.9 + 2.0 * (10_000.0 + 128.0 / 24.0);
    assert!(chip.len() == 1 && (chip[0] - expected).abs() < 1e-6, "{chip:?}");
}

#[test]
fn a_launch_on_the_chip_is_compared_as_any_other() {
    let (program, device) = (rectified(), by_hand(2));
    let compiled = compiled(&program, &device);
    let check = |compiled: &Compiled| {
        check_compiled(compiled, &program, Precision::F32, &[x()], None, &simulated_lpu()).unwrap()
    };
    let report = check(&compiled);
    assert!(report.is_fine(), "{report:?}");
    check_images(compiled.stages.host.as_ref().unwrap(), &mini()).unwrap();
    assert_eq!(report.launches.len(), 3);
    assert!(report.outputs.iter().all(|output| output.as_launched == Some(true)));
}

#[test]
fn buffers_of_other_sizes_are_refused() {
    let device = by_hand(3);
    let compiled = compiled(&rectified(), &device);
    let found = check_images(compiled.stages.host.as_ref().unwrap(), &mini()).unwrap_err().to_string();
    let expected =
        "the image of `region_1` has tensors of [192, 192] bytes, its launch buffers of [128, 128]";
    assert!(found.contains(expected), "{found}");
    let error = run(&compiled).unwrap_err();
    let expected = "input `in0` of the image has 192 bytes, its buffer 128";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_the_chip_does_not_claim_is_the_hosts_and_explained() {
    let program = program(|b| {
        let x = b.arg(DType::F32, [2, 16]);
        Ok(vec![b.emit(TensorOp::Elementwise { f: ScalarOp::Sin }, &[x])?])
    });
    let options = options("lpu-mini");
    let mut cx = PassCx::new();
    let explained = explain(&model(&program), &options, None, &mut cx).unwrap();
    assert_eq!((explained.stories.len(), explained.cycles), (1, None));
    let by_host = |text: &str| text.contains("is computed on the host: ");
    assert!(cx.remarks.iter().any(|remark| by_host(&remark.text)), "{:?}", cx.remarks);
    let compiled = compile_program(program, "test", &options, None, &mut PassCx::new()).unwrap();
    let package = Package::parse(compiled.package.as_ref().unwrap().to_bytes()).unwrap();
    let About { machine, devices, .. } = &package.manifest.about;
    assert_eq!((machine.class.as_str(), machine.isa.as_str()), ("avx2-generic", "x86-64"));
    let [chip] = &devices[..] else { panic!("{devices:?}") };
    assert_eq!((chip.name.as_str(), chip.machine.isa.as_str()), ("lpu-mini", "lpu"));
    assert_eq!(chip.machine.hash, mini().hash());
    assert_eq!(run(&compiled).unwrap().len(), 1);
}

fn refusal(program: TensorProgram, options: &CompileOptions) -> String {
    match compile_program(program, "test", options, None, &mut PassCx::new()) {
        Ok(_) => "compiles".to_string(),
        Err(found) => found.to_string(),
    }
}

#[test]
fn contractions_are_the_chips() {
    let device = by_hand(2);
    let options = options("lpu-mini");
    let chosen = target(&options).unwrap();
    let refusal = |program: TensorProgram, precision: Precision| {
        let contractions = Contractions::Device;
        let targets = Targets { contractions, ..Targets::beside(chosen.host(), &device) };
        let options = CompileOptions { precision, ..options.clone() };
        match compile_tensor(program, targets, &options, &mut PassCx::new()) {
            Ok(_) => panic!("a contraction is left on the host"),
            Err(found) => found.to_string(),
        }
    };
    let floats = product(DType::F32, DType::F32);
    let refused = "error[host-contraction]: `dot` is not computed by `lpu-mini`: it is no maximum";
    let text = refusal(floats.clone(), Precision::F32);
    assert!(text.starts_with(refused), "{text}");
    assert!(
        text.contains("help: `--precision f16` rounds") && text.contains("`f16x2` keeps 21 bits"),
        "{text}"
    );
    let text = refusal(floats, Precision::F16);
    assert!(text.starts_with(refused) && !text.contains("--precision"), "{text}");
    let text = refusal(product(DType::I8, DType::I32), Precision::F32);
    assert!(text.starts_with(refused) && !text.contains("--precision"), "{text}");
    // Those in control flow are told too, by kind.
    let branched = program(|b| {
        let cond = b.arg(DType::Bool, Shape::scalar());
        let (x, w) = (b.arg(DType::F32, [96, 96]), b.arg(DType::F32, [96, 96]));
        let first = b.matmul(x, w, DType::F32)?;
        b.branch(cond, |b| Ok(vec![b.matmul(first, w, DType::F32)?]), |_| Ok(vec![first]))
    });
    let text = refusal(branched, Precision::F32);
    assert!(text.starts_with(refused) && text.contains("note: 2 of `dot`: it is no maximum"), "{text}");
    // Of other devices they are the host's.
    compiled(&product(DType::F32, DType::F32), &device);
}

#[test]
fn precisions_are_of_machines() {
    let refusal = |machine: &str, precision: Precision| {
        refusal(rectified(), &CompileOptions { precision, ..options(machine) })
    };
    for precision in [Precision::F16, Precision::F16x2] {
        let text = refusal("zen5", precision);
        let expected = format!(
            "error[bad-option]: `--precision {precision}` is for streaming chips, and `zen5` is none"
        );
        assert!(text.starts_with(&expected), "{text}");
        assert_eq!(refusal("tsp1", precision), "compiles");
    }
    let text = refusal("tsp1", Precision::Bf16);
    let expected = "error[bad-option]: `--precision bf16` is for processors and GPUs, and `tsp1` is none";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn no_device_stands_beside_a_chip() {
    let text = refusal(rectified(), &CompileOptions { device: Some("null".into()), ..options("tsp1") });
    let expected = "error[bad-option]: device `null` cannot stand beside `tsp1`, a device itself";
    assert!(text.starts_with(expected), "{text}");
}

/// Numbers that `f16` does not have.
fn thirds(shape: [usize; 2]) -> HostTensor {
    let elements: Vec<f32> = (0..shape[0] * shape[1]).map(|i| (i % 17) as f32 / 3.0).collect();
    HostTensor::from_elements(&shape, &elements)
}

#[test]
fn factors_on_the_device_are_judged_as_it_rounds_them() {
    let program = product(DType::F32, DType::F32);
    let rounding = self::program(|b| {
        let mut factor = |shape: [i64; 2]| {
            let wide = b.arg(DType::F32, shape);
            let rounded = b.cast(wide, DType::F16)?;
            b.cast(rounded, DType::F32)
        };
        let (x, w) = (factor([4, 96])?, factor([96, 8])?);
        Ok(vec![b.matmul(x, w, DType::F32)?])
    });
    let chosen = target(&options("lpu-mini")).unwrap();
    let device = Null::new(mini(), None);
    let targets = Targets::beside(chosen.host(), &device);
    let stages = compile_tensor(program.clone(), targets, &options("lpu-mini"), &mut PassCx::new()).unwrap();
    let inputs = [thirds([4, 96]), thirds([96, 8])];
    let expected = |precision: Precision| {
        let mut found = Vec::new();
        let mut watch = |_: OpId, _: &[Arc<HostTensor>], expected: &[Bounded], _: &Bindings| {
            found.push(expected[0].clone());
            Ok(None)
        };
        watch_kernels_at(precision, &stages.tensor, &inputs, &mut watch).unwrap();
        found.pop().unwrap()
    };
    let plain = tegula_tensor::evaluate(&program, &inputs).unwrap();
    assert_eq!(*expected(Precision::F32).value, plain[0]);
    let rounded = tegula_tensor::evaluate(&rounding, &inputs).unwrap();
    assert_ne!(rounded, plain);
    assert_eq!(*expected(Precision::F16).value, rounded[0]);
    // Two halves are the factor but for some 2^-20 of it.
    let (exact, split) = (expected(Precision::F32), expected(Precision::F16x2));
    assert_eq!(split.value, exact.value);
    let largest = plain[0].to_f64().into_iter().fold(0.0, f64::max);
    assert!(split.at(0) > exact.at(0) && split.at(0) < exact.at(0) + largest / 5e5);
}

/// A factor is dequantised before an op of the host, and is multiplied by what comes after it.
#[test]
fn contractions_of_bytes_have_their_dequantisations_beside_them() {
    let program = program(|b| {
        let scheme = |storage: DType| QuantScheme { axis: None, block: None, storage, zero_point: true };
        let x = b.arg(DType::U8, [4, 32]);
        let scale = b.splat(DType::F32, Shape::scalar(), 1.0 / 64.0)?;
        let zero = b.splat_int(DType::U8, Shape::scalar(), 3)?;
        let floats = b.dequantize(&[x, scale, zero], scheme(DType::U8))?;
        let twice = b.add(floats, floats)?;
        let waves = b.elementwise(ScalarOp::Cos, &[twice])?;
        let bytes = b.quantize(&[waves, scale, zero], scheme(DType::U8))?;
        let waves = b.dequantize(&[bytes, scale, zero], scheme(DType::U8))?;
        let columns = b.transpose(floats, &[1, 0])?;
        Ok(vec![b.matmul(waves, columns, DType::F32)?])
    });
    let compiled = compile_program(program.clone(), "test", &options("tsp1"), None, &mut PassCx::new());
    let compiled = compiled.unwrap_or_else(|found| panic!("{found}"));
    let bytes: Vec<u8> = (0..128).map(|i| (i * 37 % 251) as u8).collect();
    let inputs = [HostTensor::from_elements(&[4, 32], &bytes)];
    let report =
        check_compiled(&compiled, &program, Precision::F32, &inputs, None, &simulated_lpu()).unwrap();
    assert!(report.first_wrong().is_none() && report.failure.is_none(), "{report:?}");
}

/// Of dequantised bytes, and as one op: both are contractions of bytes on the chip.
#[test]
fn quantised_convolutions_are_the_chips() {
    let weights: Vec<i8> = (0..216).map(|i| (i * 91 % 253 - 126) as i8).collect();
    let weights = HostTensor::from_elements(&[6, 4, 3, 3], &weights);
    let window = || Window {
        size: vec![3, 3],
        strides: vec![1, 1],
        dilations: vec![1, 1],
        low: vec![1.into(), 1.into()],
        high: vec![1.into(), 1.into()],
    };
    let program_of = |is_one_op: bool| {
        program(|b| {
            let scheme = |storage: DType| QuantScheme { axis: None, block: None, storage, zero_point: true };
            let x = b.arg(DType::U8, [1, 4, 5, 5]);
            let scale = b.splat(DType::F32, Shape::scalar(), 1.0 / 64.0)?;
            let zero = b.splat_int(DType::U8, Shape::scalar(), 7)?;
            let w = b.constant(weights.clone())?;
            let w_zero = b.splat_int(DType::I8, Shape::scalar(), 0)?;
            if is_one_op {
                let kind = TensorOp::QConv { window: Box::new(window()), groups: 1 };
                return Ok(vec![b.emit(kind, &[x, scale, zero, w, scale, w_zero, scale, zero])?]);
            }
            let x = b.dequantize(&[x, scale, zero], scheme(DType::U8))?;
            let w = b.dequantize(&[w, scale, w_zero], scheme(DType::I8))?;
            Ok(vec![b.conv(x, w, window(), 1, DType::F32)?])
        })
    };
    let bytes: Vec<u8> = (0..100).map(|i| (i * 37 % 251) as u8).collect();
    let inputs = [HostTensor::from_elements(&[1, 4, 5, 5], &bytes)];
    for is_one_op in [false, true] {
        let program = program_of(is_one_op);
        let compiled = compile_program(program.clone(), "test", &options("tsp1"), None, &mut PassCx::new());
        let compiled = compiled.unwrap_or_else(|found| panic!("{found}"));
        let report =
            check_compiled(&compiled, &program, Precision::F32, &inputs, None, &simulated_lpu()).unwrap();
        assert!(report.is_fine(), "{report:?}");
    }
}
