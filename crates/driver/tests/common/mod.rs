//! What tests share of the hardware they run on.
#![allow(dead_code)] // Each test file uses its part.

use tegula_driver::own_or_simulated_cpu;
use tegula_machine::Machine;
use tegula_runtime::Hardware;
use tegula_runtime::cuda::Cuda;

/// The fake driver's GPU for one; else this processor, or the simulator where it lacks instructions.
pub fn hardware(machine: &Machine) -> Hardware {
    if machine.gpu().is_some() { card() } else { own_or_simulated_cpu(machine) }
}

/// The fake driver's GPU; cargo builds its library beside the tests.
pub fn card() -> Hardware {
    let tests = std::env::current_exe().unwrap();
    let name = format!("{}tegula_fake_cuda{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let driver =
        tests.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|file| file.exists());
    let cuda = Cuda::open(driver.as_deref()).unwrap_or_else(|found| panic!("{found}"));
    Hardware::Cuda(cuda.device(0).unwrap_or_else(|found| panic!("{found}")))
}
