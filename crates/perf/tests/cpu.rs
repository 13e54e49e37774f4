//! The model of a core against what can be said by hand: rates of ports, chains of results, places of lines.

use tegula_machine::{Core, Cpu, Machine};
use tegula_perf::cpu::branches::Branch;
use tegula_perf::cpu::caches::{Found, Stride};
use tegula_perf::cpu::pipeline::Pipeline;
use tegula_perf::cpu::sampler::Access;
use tegula_perf::cpu::{Caches, Inst, Level, Register, Sampler, Unit};

fn cpu() -> Cpu {
    Machine::class("zen5").unwrap().cpu().unwrap().clone()
}

fn core() -> Core {
    cpu().core.unwrap()
}

fn inst(unit: Unit, reads: &[u8], write: u8) -> Inst {
    Inst {
        unit,
        bytes: 64,
        reads: reads.iter().map(|n| Register::vector(*n)).collect(),
        address: Default::default(),
        writes: [Register::vector(write)].into_iter().collect(),
        loads: false,
        stores: false,
        accesses: 0,
        branches: false,
    }
}

/// Cycles of an instruction when many of them follow one another.
fn rate(list: &[Inst], found: &[Found]) -> f64 {
    let core = core();
    let mut pipeline = Pipeline::new(&core);
    let turns = 3000;
    for _ in 0..turns {
        list.iter().for_each(|inst| pipeline.run(inst, found, true));
    }
    pipeline.cycle() as f64 / f64::from(turns) / list.len() as f64
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.02 * b
}

#[test]
fn chains_wait_and_ports_share() {
    let chain = inst(Unit::Fma, &[1, 2, 3], 1);
    assert!(close(rate(&[chain], &[]), 4.0));
    // Eight chains keep two units of four cycles busy.
    let chains: Vec<Inst> = (0..8).map(|n| inst(Unit::Fma, &[n, 20, 21], n)).collect();
    assert!(close(rate(&chains, &[]), 0.5));
    let four: Vec<Inst> = chains[..4].to_vec();
    assert!(close(rate(&four, &[]), 1.0));
    // Additions have ports of their own.
    let mixed: Vec<Inst> =
        (0..8).map(|n| inst(if n % 2 == 0 { Unit::Fma } else { Unit::FloatAdd }, &[20], n)).collect();
    assert!(close(rate(&mixed, &[]), 0.25));
}

#[test]
fn loads_are_two_a_cycle_and_lines_cost_their_path() {
    let load = Inst { loads: true, accesses: 1, ..inst(Unit::None, &[], 1) };
    let at = |level, ahead| rate(std::slice::from_ref(&load), &[Found { level, ahead }]);
    assert!(close(at(Level::L1, false), 0.5));
    let core = core();
    for (path, level) in [Level::L2, Level::L3, Level::Dram].into_iter().enumerate() {
        let slowest = core.line[..=path].iter().fold(0.0, |a: f64, b| a.max(*b));
        assert!(close(at(level, true), slowest), "{level:?}");
        // What nobody asked for ahead is no faster, and overlaps with what comes behind.
        assert!(at(level, false) >= 0.98 * slowest, "{level:?}");
    }
    let store = Inst { stores: true, accesses: 1, ..inst(Unit::None, &[1], 2) };
    assert!(close(
        rate(&[Inst { writes: Default::default(), ..store }], &[Found { level: Level::L1, ahead: false }]),
        1.0
    ));
}

#[test]
fn a_chain_of_loads_waits_for_each() {
    let mut load = Inst { loads: true, accesses: 1, ..inst(Unit::None, &[], 1) };
    load.address = [Register::vector(1)].into_iter().collect();
    let core = core();
    let cycles = rate(&[load], &[Found { level: Level::L3, ahead: false }]);
    assert!(cycles >= core.latency[1], "{cycles}");
}

#[test]
fn lines_stay_as_long_as_there_is_room() {
    let (cpu, core) = (cpu(), core());
    let mut caches = Caches::new(&cpu, &core);
    let mut walk = |bytes: u64| {
        let mut levels = [0; 4];
        for turn in 0..3 {
            let mut stride = Stride::default();
            for address in (0..bytes).step_by(64) {
                caches.access(address, 64, &mut stride, |found| {
                    levels[found.level as usize] += usize::from(turn == 2);
                    assert!(found.level == Level::L1 || found.ahead || address < 1024, "{address}");
                });
            }
        }
        let most = (0..4).max_by_key(|level| levels[*level]).unwrap();
        assert_eq!(levels[most] as u64, bytes / 64, "all of {bytes} bytes lie in one level");
        most
    };
    assert_eq!(walk(32 << 10), 0);
    assert_eq!(walk(512 << 10), 1);
    assert_eq!(walk(8 << 20), 2);
    assert_eq!(walk(64 << 20), 3);
}

#[test]
fn an_access_over_two_lines_touches_both() {
    let (cpu, core) = (cpu(), core());
    let mut caches = Caches::new(&cpu, &core);
    let mut lines = 0;
    caches.access(96, 64, &mut Stride::default(), |_| lines += 1);
    assert_eq!(lines, 2);
}

#[test]
fn loops_of_one_length_are_foreseen() {
    let missed = |length: u32| {
        let mut branch = Branch::default();
        let outcomes = (0..40).flat_map(|_| (0..length).map(move |i| i + 1 < length));
        outcomes.filter(|taken| !branch.follow(*taken)).count()
    };
    assert!(missed(4) <= 3, "{}", missed(4));
    assert!(missed(30) <= 3, "{}", missed(30));
    // Too long to remember: one miss an end.
    assert!((39..=82).contains(&missed(100)), "{}", missed(100));
}

#[test]
fn windows_stand_for_the_whole() {
    let (cpu, core) = (cpu(), core());
    let block: Vec<Inst> = (0..8).map(|n| inst(Unit::Fma, &[n, 20, 21], n)).collect();
    let cycles = |turns: usize| {
        let mut caches = Caches::new(&cpu, &core);
        let mut sampler = Sampler::new(&core, &mut caches, 1, 0, true);
        let accesses: [Access; 0] = [];
        for _ in 0..turns {
            sampler.block(0, &block, 0, &accesses, 0, true);
        }
        sampler.finish().cycles
    };
    assert!(close(cycles(100_000), 400_000.0), "{}", cycles(100_000));
}
