//! Runs a tile kernel by the tile level's executor, by the schedule level's, and as machine code on the simulator and,
//! where it can, on the processor, for every register width; compares all buffers. Machine code runs on buffers that
//! end where memory ends, and runs as many instructions as `count` says.

// Each test file uses its part of this.
#![allow(dead_code)]

use crate::call::{CALLED, Guarded, Loaded, runs};
use crate::simulator::simulate;
use tegula_base::Symbols;
use tegula_ir::Value;
use tegula_target_cpu::count::{Call, Program, tally};
use tegula_target_cpu::exec::{Executable, VecMemory};
use tegula_target_cpu::lower::{Registers, Schedule, lower};
use tegula_target_cpu::native::{Code, compile};
use tegula_target_cpu::schedule::{CpuOp, calls};
use tegula_target_cpu::tier::Tier;
use tegula_tile::{TileBuilder, TileKernel};

pub use tegula_testkit::tiles::Case;

/// What a kernel is checked by.
pub trait Check {
    /// Runs the kernel every way; panics where results differ.
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value]));
    fn check_kernel(&self, kernel: &TileKernel);
}

impl Check for Case {
    fn check(&self, build: impl FnOnce(&mut TileBuilder, &[Value], &[Value])) {
        self.check_kernel(&self.kernel(build));
    }

    fn check_kernel(&self, kernel: &TileKernel) {
        if let Err(errors) = tegula_ir::verify(&kernel.func) {
            panic!("{errors}");
        }
        let start = self.buffers();
        let buffer_of = self.buffer_of();
        let expected = self.expected(kernel, &start).unwrap();
        for tier in Tier::ALL {
            let bits = tier.vector_bytes() as u32 * 8;
            let schedule = lower("kernel", kernel, Registers::whole(bits), &Symbols::default());
            let text = || {
                let program = tegula_ir::Program::new(schedule.func.clone());
                tegula_ir::print_program(&program, &tegula_ir::PrintOptions::default())
            };
            if let Err(errors) = tegula_ir::verify(&schedule.func) {
                panic!("{errors}\n{}", text());
            }
            let memory = VecMemory::new();
            let addresses: Vec<u64> = start.iter().map(|bytes| memory.add(bytes.clone())).collect();
            let mut args = vec![0];
            args.extend(buffer_of.iter().map(|buffer| addresses[*buffer]));
            args.extend(schedule.sizes.iter().map(|dim| self.eval(dim).unwrap() as u64));
            let scratch = memory.add(vec![0xa5; self.eval(&schedule.scratch).unwrap() as usize]);
            let units = self.eval(&schedule.units).unwrap() as u64;
            let code = Executable::new(&schedule.func).unwrap();
            // Two ranges, as threads would.
            for (begin, end) in [(units / 2, units), (0, units / 2)] {
                if let Err(fault) = code.run(&args, scratch, begin, end, &memory) {
                    panic!("{bits} bits: {fault}\n{}", text());
                }
            }
            for i in 0..buffer_of.len() {
                let got = memory.bytes(addresses[buffer_of[i]]);
                if let Err(error) = self.compare(i, &expected[buffer_of[i]], &got) {
                    panic!("{error}: {bits} bits\n{}", text());
                }
            }
            let code = compile(&schedule.func, tier).unwrap();
            let mut results =
                vec![("the simulator", run_simulated(self, &schedule, &code, &start, &buffer_of))];
            if runs(&code) && !needs_absent_function(&schedule) {
                results.push(("this processor", run_native(self, &schedule, &code, &start, &buffer_of)));
            }
            for (place, got) in results {
                for i in 0..buffer_of.len() {
                    if let Err(error) = self.compare(i, &expected[buffer_of[i]], &got[buffer_of[i]]) {
                        let listing = code.listing(&schedule.func);
                        panic!("{error}: machine code for {} on {place}\n{}\n{listing}", tier.name(), text());
                    }
                }
            }
        }
    }
}

fn run_native(
    case: &Case,
    schedule: &Schedule,
    code: &Code,
    start: &[Vec<u8>],
    buffer_of: &[usize],
) -> Vec<Vec<u8>> {
    let kernel = Loaded::new(&code.bytes);
    let buffers: Vec<Guarded> = start.iter().map(|bytes| Guarded::new(bytes)).collect();
    let mut args: Vec<u64> = buffer_of.iter().map(|buffer| buffers[*buffer].address()).collect();
    args.extend(schedule.sizes.iter().map(|dim| case.eval(dim).unwrap() as u64));
    let mut scratch = vec![0xa5; case.eval(&schedule.scratch).unwrap() as usize + 64];
    let aligned = scratch.as_ptr().align_offset(64);
    let units = case.eval(&schedule.units).unwrap() as u64;
    kernel.run(&args, &mut scratch[aligned..], units / 2, units);
    kernel.run(&args, &mut scratch[aligned..], 0, units / 2);
    buffers.iter().map(|buffer| buffer.bytes().to_vec()).collect()
}

fn run_simulated(
    case: &Case,
    schedule: &Schedule,
    code: &Code,
    start: &[Vec<u8>],
    buffer_of: &[usize],
) -> Vec<Vec<u8>> {
    let memory = VecMemory::new();
    let buffers: Vec<u64> = start.iter().map(|bytes| memory.add(bytes.clone())).collect();
    let mut args: Vec<u64> = buffer_of.iter().map(|buffer| buffers[*buffer]).collect();
    args.extend(schedule.sizes.iter().map(|dim| case.eval(dim).unwrap() as u64));
    let scratch = memory.add(vec![0xa5; case.eval(&schedule.scratch).unwrap() as usize]);
    let units = case.eval(&schedule.units).unwrap() as u64;
    let program = Program::decode(&code.bytes).unwrap();
    let words: Vec<u64> = std::iter::once(0).chain(args.iter().copied()).collect();
    for (begin, end) in [(units / 2, units), (0, units / 2)] {
        let run = simulate(&code.bytes, &args, scratch, begin, end, &memory);
        // What ratchets and predictions count without running the code.
        let counted = tally(&program, &Call { words: &words, scratch, begin, end }).unwrap();
        assert_eq!(run.instructions, counted.instructions, "units {begin} to {end}");
    }
    buffers.iter().map(|buffer| memory.bytes(*buffer)).collect()
}

/// Whether a kernel calls what the test's function table leaves out.
fn needs_absent_function(schedule: &Schedule) -> bool {
    schedule.func.walk().into_iter().any(|op| match schedule.func.kind(op) {
        CpuOp::Call { function } => {
            calls::function(function).is_none_or(|function| !CALLED.contains(&(function.number() as usize)))
        }
        _ => false,
    })
}
