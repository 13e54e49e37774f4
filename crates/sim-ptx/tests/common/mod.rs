//! Memory of tests, and launches over it.
#![allow(dead_code)]

use tegula_isa_ptx::modifiers::{StateSpace, WindowSpace};
use tegula_isa_ptx::op::{Cvta, Ld, MovSpecial};
use tegula_isa_ptx::types::{AddressType, MemoryType};
use tegula_isa_ptx::{Address, Base, Entry, EntryBuilder, Operand, ParamType, Reg, Special};
use tegula_package::Memory;
use tegula_sim_ptx::{Counters, Kernel, Launch, Stopped};

pub use tegula_testkit::tiles::Buffers;

/// Runs an entry whose parameters are 64-bit words.
pub fn launch(
    entry: &Entry,
    grid: u32,
    block: u32,
    words: &[u64],
    memory: &Buffers,
) -> Result<Counters, String> {
    let params = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    run(entry, &Launch { grid: [grid, 1, 1], block: [block, 1, 1], params, ..Launch::default() }, memory)
}

pub fn run(entry: &Entry, launch: &Launch, memory: &dyn Memory) -> Result<Counters, String> {
    let kernel = Kernel::new(entry).map_err(|error| error.to_string())?;
    kernel.run(launch, memory).map_err(|stopped| match stopped {
        Stopped::ByCaller => "stopped".to_string(),
        Stopped::Failed(error) => error.to_string(),
    })
}

/// A 64-bit parameter, loaded.
pub fn param(b: &mut EntryBuilder, name: &str) -> Reg {
    let id = b.param(name, ParamType::Scalar(tegula_isa_ptx::types::Scalar::U64));
    let d = b.b64();
    b.emit(Ld {
        space: StateSpace::Param,
        ty: MemoryType::U64,
        d: [d].into_iter().collect(),
        address: id.into(),
        ..Ld::default()
    });
    d
}

pub fn special(b: &mut EntryBuilder, special: Special) -> Reg {
    let d = b.b32();
    b.emit(MovSpecial { ty: AddressType::U32, d, special });
    d
}

pub fn at(base: Reg, offset: i32) -> Address {
    Address { base: Base::Reg(base), offset }
}

pub fn generic(b: &mut EntryBuilder, space: WindowSpace, a: Reg) -> Reg {
    let d = b.b64();
    b.emit(Cvta { space, ty: AddressType::U64, d, a: Operand::Reg(a) });
    d
}

/// Numbers that look random, in -1..1.
pub fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}
