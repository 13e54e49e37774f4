//! Compiles a region and compares what computes it: simulated words, the stream executor, the evaluator.

use std::collections::BTreeMap;
use tegula_base::{DType, HostTensor};
use tegula_ir::parse_program;
use tegula_isa_lpu::{decode, encode, verify};
use tegula_machine::Machine;
use tegula_sim_lpu::Rack;
use tegula_target_lpu::FloatFactors;
use tegula_target_lpu::compile::compile;
use tegula_target_lpu::flow::execute::execute;
use tegula_tensor::{TensorOp, TensorProgram, evaluate};

/// A region of one function: `args` and `result` are types, `ops` lines of text that end with `%y`.
pub fn region(args: &[&str], ops: &str, result: &str) -> TensorProgram {
    region_with(args, ops, result, &[])
}

/// As [`region`], with constants `const0`, `const1` and so on.
pub fn region_with(args: &[&str], ops: &str, result: &str, constants: &[&HostTensor]) -> TensorProgram {
    let names: Vec<String> = (0..args.len()).map(|i| format!("\"x{i}\"")).collect();
    let typed: Vec<String> = args.iter().enumerate().map(|(i, ty)| format!("%x{i}: {ty}")).collect();
    let blob = |(i, tensor): (usize, &&HostTensor)| {
        let hex: String = tensor.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        format!("const{i}: \"0x40000000{hex}\"")
    };
    let blobs: Vec<String> = constants.iter().enumerate().map(blob).collect();
    let resources = match blobs.is_empty() {
        true => String::new(),
        false => format!(
            "\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{}\n    }}\n  }}\n#-}}\n",
            blobs.join(",\n")
        ),
    };
    let text = format!(
        "\"builtin.module\"() ({{\n\"tgn.func\"() <{{sym_name = \"main\", arg_names = [{}], result_names = [\"y\"]}}> ({{\n\
         ^bb0({}):\n{ops}\n\"tgn.return\"(%y) : ({result}) -> ()\n}}) : () -> ()\n}}) : () -> ()\n{resources}",
        names.join(", "),
        typed.join(", ")
    );
    parse_program::<TensorOp>(&text, None).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Numbers between -2 and 2 that repeat late.
pub fn floats(shape: &[usize], seed: u32) -> HostTensor {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    let count: usize = shape.iter().product();
    HostTensor::from_elements(shape, &(0..count).map(|_| next()).collect::<Vec<f32>>())
}

/// What a run gave.
pub struct Run {
    pub cycles: u64,
    pub results: Vec<HostTensor>,
}

/// Compiles for a machine, verifies, simulates; predicted cycles are those simulated, and bytes those of the executor.
pub fn run(program: &TensorProgram, machine: &str, inputs: &[HostTensor]) -> Run {
    run_at(FloatFactors::F16, program, machine, inputs)
}

/// As [`run`], with what factors of `f32` become.
pub fn run_at(factors: FloatFactors, program: &TensorProgram, machine: &str, inputs: &[HostTensor]) -> Run {
    let machine = Machine::class(machine).unwrap();
    let lpu = machine.lpu().unwrap();
    let compiled = compile(program, &machine, lpu, factors).unwrap_or_else(|found| panic!("{found:?}"));
    let image = decode(&encode(&compiled.image)).unwrap_or_else(|error| panic!("{error}"));
    let proof = verify(&image, &machine).unwrap_or_else(|faults| panic!("{faults}\n{}", compiled.flows));
    let mut rack = Rack::load(image, &machine).unwrap();
    let named = compiled.flows.inputs.iter().zip(inputs);
    let given: BTreeMap<String, &[u8]> =
        named.map(|(port, tensor)| (port.name.clone(), &tensor.bytes[..])).collect();
    let outcome = rack.run("region", &given).unwrap_or_else(|error| panic!("{error}\n{}", compiled.flows));
    assert_eq!(outcome.cycles as u64, proof.programs[0].cycles);
    let lanes = compiled.flows.lanes as usize;
    let vectors: Vec<Vec<Vec<u32>>> = compiled
        .flows
        .inputs
        .iter()
        .zip(inputs)
        .map(|(port, tensor)| split(tensor, port.row as usize, lanes))
        .collect();
    let executed = execute(&compiled.flows, lpu.vector(), &vectors);
    let shapes = evaluate(program, inputs).unwrap();
    let mut results = Vec::new();
    for ((port, vectors), shape) in compiled.flows.outputs.iter().zip(&executed).zip(&shapes) {
        let bytes = joined(vectors, lanes, port.row as usize, shape.dtype.size());
        assert!(
            bytes == outcome.outputs[&port.name],
            "{} differs from the executor\n{}",
            port.name,
            compiled.flows
        );
        results.push(HostTensor { bytes, ..shape.clone() });
    }
    Run { cycles: proof.programs[0].cycles, results }
}

fn split(tensor: &HostTensor, row: usize, lanes: usize) -> Vec<Vec<u32>> {
    let width = tensor.dtype.size();
    let words: Vec<u32> = tensor
        .bytes
        .chunks(width)
        .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        .collect();
    words.chunks(row).flat_map(|row| row.chunks(lanes).map(<[u32]>::to_vec)).collect()
}

fn joined(vectors: &[Vec<u32>], lanes: usize, row: usize, width: usize) -> Vec<u8> {
    let chunks = row.div_ceil(lanes);
    let mut bytes = Vec::new();
    for (i, vector) in vectors.iter().enumerate() {
        let count = lanes.min(row - i % chunks * lanes);
        vector[..count].iter().for_each(|word| bytes.extend(&word.to_le_bytes()[..width]));
    }
    bytes
}

/// Runs a region and compares it with the evaluator; `tolerance` is relative to the largest result.
pub fn check(program: &TensorProgram, machine: &str, inputs: &[HostTensor], tolerance: f64) -> u64 {
    check_at(FloatFactors::F16, program, machine, inputs, tolerance)
}

/// As [`check`], with what factors of `f32` become.
pub fn check_at(
    factors: FloatFactors,
    program: &TensorProgram,
    machine: &str,
    inputs: &[HostTensor],
    tolerance: f64,
) -> u64 {
    let run = run_at(factors, program, machine, inputs);
    let wanted = evaluate(program, inputs).unwrap();
    for (got, wanted) in run.results.iter().zip(&wanted) {
        let (got, reference) = (got.to_f64(), wanted.to_f64());
        let largest = reference.iter().fold(1e-30, |most: f64, x| most.max(x.abs()));
        for (i, (a, b)) in got.iter().zip(&reference).enumerate() {
            let near = (a - b).abs() <= tolerance * largest || a.is_nan() && b.is_nan();
            assert!(near, "element {i}: {a}, the evaluator {b} ({})", wanted.dtype == DType::F32);
        }
    }
    run.cycles
}
