//! A package's kernels, ready to run: code mapped, portable code prepared, native kernels found.

use crate::cpu::{self, CodePages, Entry};
use crate::cuda::{Device, Function};
use crate::native::{self, Native};
use crate::session::{Hardware, SessionOptions};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{Kernel, KernelCode, MachineId, Package, PortableKernel};

/// Alignment of buffers that kernels for GPUs may count on, bytes (`docs/abi.md`).
const GPU_ALIGN: u64 = 64;

pub(crate) struct Kernels {
    /// In the order of the program's kernels.
    pub(crate) list: Vec<Prepared>,
    /// Alignment that kernels expect of inputs and outputs beyond that of their elements, bytes.
    pub(crate) align: u64,
    /// Every kernel runs on a card.
    pub(crate) all_on_card: bool,
    /// What the card's compiler did that costs time.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Keeps the code mapped.
    _pages: Option<CodePages>,
}

pub(crate) enum Prepared {
    Machine(Entry),
    Portable(Arc<dyn PortableKernel>),
    Card(Function),
    Native(Native),
}

impl Kernels {
    /// Errors: machine code for another machine, portable code without an executor, kernels for a GPU without one,
    /// unknown natives; all of them.
    pub(crate) fn new(package: &Package, options: &SessionOptions) -> Result<Kernels, Diagnostics> {
        let kernels = &package.program.kernels;
        let has_machine_code = kernels.iter().any(|k| matches!(k.code, KernelCode::Machine { .. }));
        let machine = &package.manifest.about.machine;
        let pages = match &options.hardware {
            _ if !has_machine_code => None,
            Hardware::SimulatedCpu(simulator) => {
                check_simulated(machine, simulator.isa())?;
                None
            }
            Hardware::Own | Hardware::SimulatedGpu(_) | Hardware::Cuda(_) => {
                cpu::check_machine(machine)?;
                Some(CodePages::new(package.code())?)
            }
        };
        let has_ptx = kernels.iter().any(|k| matches!(k.code, KernelCode::Ptx { .. }));
        let mut functions = match &options.hardware {
            Hardware::Own | Hardware::SimulatedCpu(_) if has_ptx => return Err(no_gpu(package).into()),
            Hardware::Cuda(card) if has_ptx => load_functions(package, card, options.threads)?,
            _ => HashMap::new(),
        };
        let warnings = spills(package, &functions);
        let mut found = Diagnostics::default();
        let mut list = Vec::with_capacity(kernels.len());
        // Code that kernels share is read once.
        let mut interpreted: HashMap<(bool, Range<*const u8>), Arc<dyn PortableKernel>> = HashMap::new();
        for kernel in kernels {
            let prepared = match &kernel.code {
                KernelCode::Machine { offset, .. } if let Some(pages) = &pages => {
                    Ok(Prepared::Machine(pages.entry(*offset)))
                }
                KernelCode::Machine { .. } | KernelCode::Portable { .. } => {
                    let is_portable = matches!(kernel.code, KernelCode::Portable { .. });
                    let code = (is_portable, package.kernel_code(&kernel.code).as_ptr_range());
                    match interpreted.get(&code) {
                        Some(kernel) => Ok(Prepared::Portable(Arc::clone(kernel))),
                        None => prepare_interpreted(package, kernel, options).map(|kernel| {
                            interpreted.insert(code, Arc::clone(&kernel));
                            Prepared::Portable(kernel)
                        }),
                    }
                }
                KernelCode::Ptx { .. } => match functions.remove(&list.len()) {
                    Some(function) => Ok(Prepared::Card(function)),
                    None => prepare_ptx(package, kernel, options).map(Prepared::Portable),
                },
                KernelCode::Native { name, attrs } => native::prepare(name, attrs).map(Prepared::Native),
            };
            match prepared {
                Ok(prepared) => list.push(prepared),
                Err(diagnostic) => found.push(diagnostic),
            }
        }
        let align = if has_ptx { GPU_ALIGN } else { 1 };
        let all_on_card = list.iter().all(|kernel| matches!(kernel, Prepared::Card(_)));
        found.into_result(Kernels { list, align, all_on_card, warnings, _pages: pages })
    }
}

/// Where machine code lies in this process, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    pub address: u64,
    pub bytes: u64,
    /// Those that share the code, by their place in the program.
    pub kernels: Vec<usize>,
}

impl Kernels {
    /// By address; none of what a simulator, an executor or a card runs.
    pub(crate) fn places(&self, package: &Package) -> Vec<CodePlace> {
        let mut places = BTreeMap::<u64, CodePlace>::new();
        for (i, (kernel, prepared)) in package.program.kernels.iter().zip(&self.list).enumerate() {
            if let (KernelCode::Machine { len, .. }, Prepared::Machine(entry)) = (&kernel.code, prepared) {
                let address = entry.address();
                let new = || CodePlace { address, bytes: *len, kernels: vec![] };
                places.entry(address).or_insert_with(new).kernels.push(i);
            }
        }
        places.into_values().collect()
    }
}

/// Machine code for the simulator, or portable code.
fn prepare_interpreted(
    package: &Package,
    kernel: &Kernel,
    options: &SessionOptions,
) -> Result<Arc<dyn PortableKernel>, Diagnostic> {
    let (name, code) = (&kernel.name, package.kernel_code(&kernel.code));
    if let (KernelCode::Machine { .. }, Hardware::SimulatedCpu(simulator)) = (&kernel.code, &options.hardware)
    {
        return simulator.prepare(code).map_err(|reason| {
            let message = format!("the machine code of kernel `{name}` cannot be simulated");
            Diagnostic::error("not-simulated", message).note(reason)
        });
    }
    let Some(executor) = &options.executor else {
        return Err(Diagnostic::error(
            "no-portable-executor",
            format!("kernel `{name}` is portable code, and this program was built without its executor"),
        ));
    };
    executor.prepare(code).map_err(|reason| {
        Diagnostic::error("package-invalid", format!("the portable code of kernel `{name}` cannot be read"))
            .note(reason)
    })
}

/// Errors: the package's code is of another instruction set than the simulator's.
fn check_simulated(machine: &MachineId, isa: &str) -> Result<(), Diagnostic> {
    if machine.isa == isa {
        return Ok(());
    }
    let message = format!(
        "the package holds {} code (machine class {}), the simulator runs {isa}",
        machine.isa, machine.class
    );
    Err(Diagnostic::error("package-machine", message))
}

fn prepare_ptx(
    package: &Package,
    kernel: &Kernel,
    options: &SessionOptions,
) -> Result<Arc<dyn PortableKernel>, Diagnostic> {
    match (&options.hardware, package.ptx_kernel(&kernel.code)) {
        (Hardware::SimulatedGpu(executor), Some(ptx)) => executor.prepare(&ptx).map_err(|reason| {
            let message = format!("the PTX of kernel `{}` cannot be run", kernel.name);
            Diagnostic::error("package-invalid", message).note(reason)
        }),
        _ => Err(no_gpu(package)),
    }
}

/// The package's kernels for GPUs, by their numbers, compiled by `threads` threads.
/// Errors: code for another card; all that its compiler refuses.
fn load_functions(
    package: &Package,
    card: &Arc<Device>,
    threads: usize,
) -> Result<HashMap<usize, Function>, Diagnostics> {
    let machine = &package.manifest.about.machine;
    if let Some(target) = machine.features.iter().find(|target| !card.runs(target)) {
        let facts = card.facts();
        let (major, minor) = facts.capability;
        let message = format!("the package is for {target} (machine class {})", machine.class);
        return Err(Diagnostic::error("package-machine", message)
            .note(format!("{} has compute capability {major}.{minor}", facts.name))
            .into());
    }
    let kernels = &package.program.kernels;
    let wanted: Vec<usize> =
        (0..kernels.len()).filter(|i| matches!(kernels[*i].code, KernelCode::Ptx { .. })).collect();
    let load = |index: usize| {
        let kernel = &kernels[index];
        let ptx = package.ptx_kernel(&kernel.code).ok_or_else(|| Diagnostic::internal("no PTX"))?;
        Function::load(card, &ptx).map_err(|error| error.at(format!("kernel `{}`", kernel.name)))
    };
    let share = wanted.len().div_ceil(threads.max(1)).max(1);
    let results: Vec<(usize, Result<Function, Diagnostic>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = wanted
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().map(|i| (*i, load(*i))).collect::<Vec<_>>()))
            .collect();
        let lost = |_| vec![(0, Err(Diagnostic::internal("a thread that loads kernels panicked")))];
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(lost)).collect()
    });
    let mut found = Diagnostics::default();
    let mut functions = HashMap::new();
    for (index, result) in results {
        match result {
            Ok(function) => drop(functions.insert(index, function)),
            Err(error) => found.push(error),
        }
    }
    found.into_result(functions)
}

/// A warning for each kernel whose values do not all have registers.
fn spills(package: &Package, functions: &HashMap<usize, Function>) -> Vec<Diagnostic> {
    let kernels = package.program.kernels.iter().enumerate();
    let spilled = kernels.filter_map(|(index, kernel)| {
        let function = functions.get(&index).filter(|function| function.local_bytes > 0)?;
        let message = format!(
            "kernel `{}` keeps {} bytes a thread in memory beside its {} registers",
            kernel.name, function.local_bytes, function.registers
        );
        Some(Diagnostic::warning("gpu-spills", message))
    });
    spilled.collect()
}

/// One error for all of the package's kernels.
fn no_gpu(package: &Package) -> Diagnostic {
    let class = &package.manifest.about.machine.class;
    Diagnostic::error(
        "no-device",
        format!("the package is for a GPU (machine class {class}), and none is given"),
    )
    .help("`--target cuda` runs its kernels, `--target sim-ptx` interprets them")
}
