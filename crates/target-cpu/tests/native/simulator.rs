//! Runs compiled code on `sim-x86`, which has every instruction of every tier and refuses what leaves its buffers.

use tegula_package::Memory;
use tegula_sim_x86::{Call, Counters, Kernel, Stopped};

/// Does the units; `args` holds what follows the function table. Panics: the code breaks a rule of the kernel ABI.
pub fn simulate(
    code: &[u8],
    args: &[u64],
    scratch: u64,
    begin: u64,
    end: u64,
    memory: &dyn Memory,
) -> Counters {
    let words: Vec<u64> = std::iter::once(0).chain(args.iter().copied()).collect();
    let kernel = Kernel::new(code).unwrap_or_else(|problem| panic!("simulated: {problem}"));
    match kernel.run(&Call { words: &words, scratch, begin, end }, memory) {
        Ok(counters) => counters,
        Err(Stopped::Failed(problem)) => panic!("simulated: {problem}"),
        Err(Stopped::ByCaller) => unreachable!("nobody stops the run"),
    }
}
