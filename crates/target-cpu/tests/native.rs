//! Emitted code against the portable executor: every op alone, then random programs.

#[path = "native/call.rs"]
mod call;
#[path = "native/generate.rs"]
mod generate;

use call::{Guarded, Loaded};
use generate::{Generator, Rng};
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::native::{Tier, compile};
use tegula_target_cpu::schedule::CpuFunc;

const OUT_BYTES: usize = generate::OUT_BYTES;

/// Runs a kernel `(in, out, sizes...)` in the portable executor.
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

fn run_native(func: &CpuFunc, tier: Tier, input: &[u8], sizes: &[i64]) -> Vec<u8> {
    let code = compile(func, tier).unwrap_or_else(|e| panic!("{e}"));
    let kernel = Loaded::new(&code);
    let (from, to) = (Guarded::new(input), Guarded::new(&[0xa5; OUT_BYTES]));
    let mut args = vec![from.address(), to.address()];
    args.extend(sizes.iter().map(|s| *s as u64));
    kernel.run(&args, &mut [0; 4096], 0, 3);
    to.bytes().to_vec()
}

fn check(name: &str, func: &CpuFunc, tiers: &[Tier], input: &[u8], sizes: &[i64]) {
    let expected = run_portable(func, input, sizes);
    for &tier in tiers {
        if std::env::var_os("TEGULA_TRACE").is_some() {
            let listing = compile(func, tier).map(|code| code.listing(func)).unwrap_or_default();
            std::fs::write("/tmp/last_case.txt", format!("{name} {tier:?} {sizes:?}\n{listing}")).unwrap();
        }
        let got = run_native(func, tier, input, sizes);
        if let Some(at) = expected.iter().zip(&got).position(|(a, b)| a != b) {
            let from = at / 8 * 8;
            let listing = compile(func, tier).map(|code| code.listing(func)).unwrap_or_default();
            panic!(
                "{name} on {}: output differs at byte {at}: {:02x?} instead of {:02x?}, sizes {sizes:?}\n{listing}",
                tier.name(),
                &got[from..from + 8],
                &expected[from..from + 8]
            );
        }
    }
}

/// Lanes up to what the narrowest tier given holds.
fn tier_sets() -> Vec<(u32, Vec<Tier>)> {
    let tiers = call::tiers();
    let wide: Vec<Tier> = tiers.iter().copied().filter(|tier| *tier == Tier::Avx512).collect();
    [(32, tiers), (64, wide)].into_iter().filter(|(_, tiers)| !tiers.is_empty()).collect()
}

#[test]
fn every_op_alone() {
    for (bytes, tiers) in tier_sets() {
        for case in generate::single_ops(bytes) {
            let input = generate::input(&mut Rng::new(7));
            for sizes in [[0, 3, 7], [1, -5, 2], [100, 1, 64]] {
                check(&case.0, &case.1, &tiers, &input, &sizes);
            }
        }
    }
}

#[test]
fn random_programs() {
    let fresh = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let n: u64 = std::env::var("TEGULA_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for (bytes, tiers) in tier_sets() {
        for seed in (0..n).chain([fresh]) {
            let mut rng = Rng::new(seed);
            let func = Generator::new(&mut rng, bytes).program(seed);
            let input = generate::input(&mut rng);
            let sizes = [rng.below(20) as i64 - 3, rng.below(70) as i64, rng.next() as i64 % 9];
            check(&format!("random program, seed {seed}, vectors of {bytes} bytes"), &func, &tiers, &input, &sizes);
        }
    }
}
