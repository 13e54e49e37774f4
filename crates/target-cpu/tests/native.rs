//! Emitted code against the interpreter: every op alone, then random programs. Code runs on this processor, if it
//! has the instructions, and on the simulator.

use crate::call;
#[path = "native/generate.rs"]
mod generate;
use crate::simulator;

use call::{Guarded, Loaded};
use generate::{Generator, Rng};
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::native::{Code, Templates, compile};
use tegula_target_cpu::schedule::{CpuFunc, CpuOp};
use tegula_target_cpu::tier::{InstructionSet, Tier};
use tegula_testkit::turn::in_turn;

const OUT_BYTES: usize = generate::OUT_BYTES;

/// Runs a kernel `(in, out, sizes...)` in the interpreter.
fn run_portable(func: &CpuFunc, input: &[u8], sizes: &[i64]) -> Vec<u8> {
    let memory = VecMemory::new();
    let (from, to) = (memory.add(input.to_vec()), memory.add(vec![0xa5; OUT_BYTES]));
    let scratch = memory.add(vec![0; 4096]);
    let mut args = vec![0, from, to];
    args.extend(sizes.iter().map(|s| *s as u64));
    let executable = Executable::new(func).unwrap_or_else(|e| panic!("{e}"));
    executable.run(&args, scratch, 0, 3, &memory).unwrap_or_else(|fault| panic!("{fault}"));
    memory.bytes(to)
}

fn run_native(code: &Code, input: &[u8], sizes: &[i64]) -> Option<Vec<u8>> {
    if !call::runs(code) {
        return None;
    }
    let kernel = Loaded::new(&code.bytes);
    let (from, to) = (Guarded::new(input), Guarded::new(&[0xa5; OUT_BYTES]));
    let mut args = vec![from.address(), to.address()];
    args.extend(sizes.iter().map(|s| *s as u64));
    kernel.run(&args, &mut [0; 4096], 0, 3);
    Some(to.bytes().to_vec())
}

fn run_simulated(code: &Code, input: &[u8], sizes: &[i64]) -> Vec<u8> {
    let memory = VecMemory::new();
    let (from, to) = (memory.add(input.to_vec()), memory.add(vec![0xa5; OUT_BYTES]));
    let scratch = memory.add(vec![0; 4096]);
    let mut args = vec![from, to];
    args.extend(sizes.iter().map(|s| *s as u64));
    simulator::simulate(&code.bytes, &args, scratch, 0, 3, &memory);
    memory.bytes(to)
}

/// Compares machine code with the executor; this processor does not run code that it lacks an instruction for.
fn check(name: &str, func: &CpuFunc, sets: &[InstructionSet], input: &[u8], sizes: &[i64]) {
    let expected = run_portable(func, input, sizes);
    for &set in sets {
        let code = compile(func, set).unwrap_or_else(|e| panic!("{e}"));
        let here = run_native(&code, input, sizes).map(|got| ("this processor", got));
        for (place, got) in here.into_iter().chain([("the simulator", run_simulated(&code, input, sizes))]) {
            if let Some(at) = expected.iter().zip(&got).position(|(a, b)| a != b) {
                let from = at / 8 * 8;
                let listing = code.listing(func);
                panic!(
                    "{name} for {set:?} on {place}: output differs at byte {at}: {:02x?} instead of {:02x?}, sizes {sizes:?}\n{listing}",
                    &got[from..from + 8],
                    &expected[from..from + 8]
                );
            }
        }
    }
}

/// Lanes up to what the narrowest tier given holds.
fn sets_of_widths() -> Vec<(u32, Vec<InstructionSet>)> {
    let [narrow, wide] = Tier::ALL.map(InstructionSet::from);
    vec![(32, vec![narrow, InstructionSet { byte_dots: true, ..narrow }, wide]), (64, vec![wide])]
}

#[test]
fn every_op_alone() {
    for (bytes, sets) in sets_of_widths() {
        for case in in_turn(generate::single_ops(bytes)) {
            let input = generate::input(&mut Rng::new(7));
            for sizes in [[0, 3, 7], [1, -5, 2], [100, 1, 64]] {
                check(&case.0, &case.1, &sets, &input, &sizes);
            }
        }
    }
}

/// Whole registers take their halves apart, fewer lanes do not; NaN is one in both.
#[test]
fn powers_of_all_lane_counts() {
    use tegula_base::DType;
    use tegula_ir::ScalarOp;
    use tegula_target_cpu::math::expand;
    use tegula_target_cpu::schedule::{Builder, CompareOp};
    for (bytes, sets) in sets_of_widths() {
        for lanes in [1, 2, 4, 8, 16].into_iter().filter(|lanes| 4 * lanes <= bytes) {
            let mut b = Builder::new("powers");
            let (from, to) = (b.arg(1), b.arg(2));
            for k in 0..8 {
                let at = i64::from(64 * k);
                let (x, y) =
                    (b.load(DType::F32, lanes, from, at), b.load(DType::F32, lanes, from, 1024 + at));
                let power = expand(&mut b, ScalarOp::Pow, &[DType::F32; 2], &[x, y]);
                let is_nan = b.compare(CompareOp::Ne, power, power);
                let nan = b.f32(lanes, f32::NAN);
                let power = b.select(is_nan, nan, power);
                b.store(DType::F32, power, to, at);
            }
            let func = b.finish();
            for seed in 0..50 {
                let mut rng = Rng::new(seed);
                let mut input = generate::input(&mut rng);
                let plain = input.chunks_exact_mut(4).skip(seed as usize % 3).step_by(3);
                let small = |bytes: &mut [u8]| {
                    bytes.copy_from_slice(&(rng.below(4000) as f32 * 0.01 - 5.0).to_le_bytes())
                };
                plain.for_each(small);
                check("powers", &func, &sets, &input, &[]);
            }
        }
    }
}

/// The rounding of `dot_bf16` is the tier's; the executor's is one of them. Factors are small integers, whose
/// sums are exact in any order.
#[test]
fn bf16_dots_of_integers_are_exact() {
    use tegula_base::DType;
    use tegula_target_cpu::schedule::{Builder, Elem, builder::At};
    for tier in Tier::ALL {
        for lanes in [1, 2, 4, 8, 16] {
            if 4 * lanes > tier.vector_bytes() as u32 {
                continue;
            }
            let mut b = Builder::new("dot");
            let (x, y) = (b.arg(1), b.arg(2));
            let acc = b.load(DType::F32, lanes, x, 0);
            let p = b.load_raw(Elem::I32, lanes, At::new(x).disp(64));
            let q = b.load_raw(Elem::I32, lanes, At::new(x).disp(128));
            let d = b.dot_bf16(acc, p, q);
            let d = b.dot_bf16(d, q, q);
            b.store(DType::F32, d, y, 0);
            let mut input = Vec::new();
            input.extend((0..16).flat_map(|i| (i as f32 * 3.0).to_le_bytes()));
            input
                .extend((0..64).flat_map(|i| {
                    ((((i * 7) % 31 - 15) as f32).to_bits() >> 16).to_le_bytes()[..2].to_vec()
                }));
            check(&format!("dot_bf16 {lanes}"), &b.finish(), &[tier.into()], &input, &[]);
        }
    }
}

/// One kernel that adds `dot_bf16` of 16 pairs to 16 sums.
fn bf16_dot() -> CpuFunc {
    use tegula_base::DType;
    use tegula_target_cpu::schedule::{Builder, Elem, builder::At};
    let mut b = Builder::new("dot");
    let (x, y) = (b.arg(1), b.arg(2));
    let acc = b.load(DType::F32, 16, x, 0);
    let p = b.load_raw(Elem::I32, 16, At::new(x).disp(64));
    let q = b.load_raw(Elem::I32, 16, At::new(x).disp(128));
    let d = b.dot_bf16(acc, p, q);
    b.store(DType::F32, d, y, 0);
    b.finish()
}

/// `vdpbf16ps` rounds, orders and flushes as the executor says, for finite numbers of any size.
#[test]
fn bf16_dots_are_those_of_the_instruction() {
    let (func, mut rng) = (bf16_dot(), Rng::new(5));
    for spread in [3, 30, 255] {
        for _ in 0..200 {
            let mut number = |mantissa: u32| -> u32 {
                // Around 1; of the widest spread from denormals to 2^32.
                let exponent = match spread {
                    255 => rng.below(160) as u32,
                    few => 127 - few / 2 + rng.below(few as usize) as u32,
                };
                (rng.below(2) as u32) << 31
                    | exponent << 23
                    | (rng.below(1 << mantissa) as u32) << (23 - mantissa)
            };
            let mut input: Vec<u8> = (0..16).flat_map(|_| number(23).to_le_bytes()).collect();
            input.extend((0..64).flat_map(|_| ((number(7) >> 16) as u16).to_le_bytes()));
            check("dot_bf16", &func, &[Tier::Avx512.into()], &input, &[]);
        }
    }
}

/// The expansions of unary functions: what lowering makes of elementwise chains.
#[test]
fn functions_on_both_tiers() {
    use tegula_ir::ScalarOp;
    use tegula_target_cpu::math::ulp::unary_kernel;
    let mut rng = Rng::new(11);
    let input: Vec<u8> = (0..768)
        .flat_map(|i| {
            let x = match i % 4 {
                0 => f32::from_bits(rng.next() as u32),
                1 => (rng.next() % 2000) as f32 / 100.0 - 10.0,
                2 => (rng.next() % 2000) as f32 / 1000.0 - 1.0,
                _ => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1.0, 88.7, -104.0, 1e-40][i / 4 % 8],
            };
            let x = if x.is_nan() { 1.0 } else { x };
            x.to_le_bytes()
        })
        .collect();
    let ops = [
        ScalarOp::Exp,
        ScalarOp::Log,
        ScalarOp::Tanh,
        ScalarOp::Erf,
        ScalarOp::Sigmoid,
        ScalarOp::Sqrt,
        ScalarOp::Abs,
        ScalarOp::Floor,
    ];
    for tier in Tier::ALL {
        for op in ops {
            let func = unary_kernel(op, (tier.vector_bytes() / 4) as u32);
            let memory = VecMemory::new();
            let (from, to) = (memory.add(input.clone()), memory.add(vec![0; input.len()]));
            let n = (input.len() / 4) as u64 - 3;
            let executable = Executable::new(&func).unwrap_or_else(|e| panic!("{e}"));
            executable.run(&[0, from, to], 0, 0, n, &memory).unwrap_or_else(|e| panic!("{e}"));
            let code = compile(&func, tier).unwrap_or_else(|e| panic!("{e}"));
            let out = memory.add(vec![0; input.len()]);
            simulator::simulate(&code.bytes, &[from, out], 0, 0, n, &memory);
            let (expected, mut results) = (memory.bytes(to), vec![memory.bytes(out)]);
            if call::runs(&code) {
                let (from, out) = (Guarded::new(&input), Guarded::new(&vec![0; input.len()]));
                Loaded::new(&code.bytes).run(&[from.address(), out.address()], &mut [0; 64], 0, n);
                results.push(out.bytes().to_vec());
            }
            for (i, (a, b)) in
                results.iter().flat_map(|got| expected.chunks(4).zip(got.chunks(4)).enumerate())
            {
                let [a, b] = [a, b].map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]]));
                let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(same, "{op:?} on {}: element {i}: {b} instead of {a}", tier.name());
            }
        }
    }
}

#[test]
fn random_programs() {
    let fresh =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let n: u64 = std::env::var("TEGULA_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for (bytes, sets) in sets_of_widths() {
        for seed in (0..n).chain([fresh]) {
            let mut rng = Rng::new(seed);
            let func = Generator::new(&mut rng, bytes).program(seed);
            let input = generate::input(&mut rng);
            let sizes = [rng.below(20) as i64 - 3, rng.below(70) as i64, rng.next() as i64 % 9];
            check(
                &format!("random program, seed {seed}, vectors of {bytes} bytes"),
                &func,
                &sets,
                &input,
                &sizes,
            );
        }
    }
}

/// The function with every constant another, which may change what is selected.
fn with_other_numbers(func: &CpuFunc, by: i64) -> CpuFunc {
    let mut func = func.clone();
    for op in func.walk() {
        match func.kind_mut(op) {
            CpuOp::Const { value } => *value += by,
            CpuOp::VecConst { bits, .. } => *bits ^= by,
            _ => {}
        }
    }
    func
}

/// What is taken over from kernels that are nearly equal changes no byte.
#[test]
fn templates_give_what_a_kernel_gets_alone() {
    let give_the_same = |templates: &Templates, func: &CpuFunc, set: InstructionSet, which: &str| {
        let alone = compile(func, set).unwrap_or_else(|e| panic!("{e}")).bytes;
        let shared = templates.compile(func, set).unwrap_or_else(|e| panic!("{which}: {e}"));
        assert!(alone == shared, "{which}, {set:?}");
    };
    for (bytes, sets) in sets_of_widths() {
        for set in sets {
            let templates = Templates::default();
            for seed in 0..40 {
                let func = Generator::new(&mut Rng::new(seed), bytes).program(seed);
                for by in [0, 1, 2, 64, 1000, 0] {
                    let which = format!("seed {seed}, numbers {by} off");
                    give_the_same(&templates, &with_other_numbers(&func, by), set, &which);
                }
            }
            let (instructions, registers) = templates.counts();
            assert!(0 < registers && registers < instructions, "{registers} for {instructions}");
            // Registers run out while constants wait for their use, which then reads them from memory.
            for at in [0, 64, 128] {
                give_the_same(&templates, &crowded(at), set, &format!("crowded, at {at}"));
                give_the_same(&templates, &crowded_loop(at), set, &format!("a crowded loop, at {at}"));
            }
        }
    }
}

/// Forty sums and as many factors, alive before, in and after a loop, which spends them one by one.
fn crowded_loop(at: i64) -> CpuFunc {
    use tegula_base::DType::F32;
    use tegula_ir::ScalarOp;
    use tegula_target_cpu::math::expand;
    use tegula_target_cpu::schedule::{Builder, LoopLevel};
    let mut b = Builder::new("crowded_loop");
    let (from, to) = (b.arg(1), b.arg(2));
    let mut load = |at: i64| b.load(F32, 8, from, at);
    let (sums, factors): (Vec<_>, Vec<_>) = (0..40).map(|i| (load(32 * i), load(32 * i + at + 64))).unzip();
    let (begin, end) = (b.index(0), b.index(3 + at));
    let sums = b.for_(begin, end, 1, LoopLevel::L1, &sums, |b, _, sums| {
        let pairs = sums.iter().zip(&factors);
        pairs.map(|(sum, factor)| expand(b, ScalarOp::Mul, &[F32; 2], &[*sum, *factor])).collect()
    });
    for (i, (sum, factor)) in sums.into_iter().zip(factors).enumerate() {
        let difference = expand(&mut b, ScalarOp::Sub, &[F32; 2], &[sum, factor]);
        b.store(F32, difference, to, 32 * i as i64 + at);
    }
    b.finish()
}

/// Forty roots and as many constants, alive at once, in straight code; products go to `at` and behind.
fn crowded(at: i64) -> CpuFunc {
    use tegula_base::DType::F32;
    use tegula_ir::ScalarOp;
    use tegula_target_cpu::math::expand;
    use tegula_target_cpu::schedule::Builder;
    let mut b = Builder::new("crowded");
    let (from, to) = (b.arg(1), b.arg(2));
    let parts: Vec<_> = (0..40)
        .map(|i| {
            let x = b.load(F32, 8, from, 32 * i);
            (expand(&mut b, ScalarOp::Sqrt, &[F32], &[x]), b.f32(8, i as f32))
        })
        .collect();
    for (i, (root, constant)) in parts.into_iter().enumerate() {
        let product = expand(&mut b, ScalarOp::Mul, &[F32; 2], &[root, constant]);
        b.store(F32, product, to, 32 * i as i64 + at);
    }
    b.finish()
}
