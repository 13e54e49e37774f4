//! How a session runs, and the devices that this gives it.

use crate::cuda;
use crate::device::{Device, Host, OwnOrSimulatedCpu, SimulatedCpu, SimulatedGpu};
use std::sync::Arc;
use tegula_package::{MachineExecutor, PortableExecutor, PtxExecutor};

/// How a session runs.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Threads that share a launch, the caller included; 0 counts as 1.
    pub threads: usize,
    /// Runs portable kernels; without one, packages that hold such kernels are refused.
    pub executor: Option<Arc<dyn PortableExecutor>>,
    pub hardware: Hardware,
    /// Devices of the caller's own, found by their instruction sets before those of `hardware`.
    pub devices: Vec<Arc<dyn Device>>,
    /// On a card, results and intermediate values begin as bytes of ones, no numbers: what is never written shows.
    pub poison: bool,
    /// Bytes of memory that a run may take where nothing but the run bounds what its loops carry; a run that needs more ends
    /// with an error. `None`: [`LIMIT_GROWTH`].
    pub limit_growth: Option<u64>,
}

/// 1 GiB.
pub const LIMIT_GROWTH: u64 = 1 << 30;

/// What a package's kernels run on, portable and runtime kernels aside.
#[derive(Clone, Default)]
pub enum Hardware {
    /// This processor; packages for GPUs are refused.
    #[default]
    Own,
    /// A simulator in place of this processor; packages for GPUs are refused.
    SimulatedCpu(Arc<dyn MachineExecutor>),
    /// This processor, and a simulated GPU for kernels that need one.
    SimulatedGpu(Arc<dyn PtxExecutor>),
    /// A device of the caller's own, and this processor; a simulator of it runs code whose instructions it lacks.
    Beside(Arc<dyn Device>, Arc<dyn MachineExecutor>),
    /// This processor, and a card for kernels that need one.
    Cuda(Arc<cuda::Device>),
}

/// The devices of a session.
pub(crate) struct Devices {
    /// Runs portable code, and machine code of its instruction set.
    processor: Arc<dyn Device>,
    /// Searched first.
    others: Vec<Arc<dyn Device>>,
}

impl SessionOptions {
    pub(crate) fn devices(&self) -> Devices {
        let executor = self.executor.clone();
        let mut others = self.devices.clone();
        let processor: Arc<dyn Device> = match &self.hardware {
            Hardware::SimulatedCpu(simulator) => {
                Arc::new(SimulatedCpu { simulator: Arc::clone(simulator), executor })
            }
            Hardware::Beside(_, simulator) => {
                let simulated = SimulatedCpu { simulator: Arc::clone(simulator), executor: executor.clone() };
                Arc::new(OwnOrSimulatedCpu { own: Host { executor }, simulated })
            }
            Hardware::Own | Hardware::SimulatedGpu(_) | Hardware::Cuda(_) => Arc::new(Host { executor }),
        };
        match &self.hardware {
            Hardware::SimulatedGpu(simulator) => {
                others.push(Arc::new(SimulatedGpu { simulator: Arc::clone(simulator) }));
            }
            Hardware::Beside(device, _) => others.push(Arc::clone(device)),
            Hardware::Cuda(card) => others.push(Arc::new(cuda::Card(Arc::clone(card)))),
            Hardware::Own | Hardware::SimulatedCpu(_) => {}
        }
        Devices { processor, others }
    }
}

impl Devices {
    pub(crate) fn processor(&self) -> &Arc<dyn Device> {
        &self.processor
    }

    /// The first that runs an instruction set.
    pub(crate) fn of_isa(&self, isa: &str) -> Option<&Arc<dyn Device>> {
        self.others.iter().chain([&self.processor]).find(|device| device.isa() == isa)
    }
}
