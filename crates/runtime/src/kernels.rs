//! A package's kernels, ready to run: each device of the package gets one of the session, which loads its images;
//! runtime kernels are found by their names.

use crate::cpu::CodePages;
use crate::device::{Device, DeviceCode, KernelImage, Loaded, Prepared};
use crate::native;
use crate::options::{Devices, SessionOptions};
use crate::queue::Queues;
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_package::{DeviceId, Entry, KernelCode, Package, isa};

pub(crate) struct Kernels {
    /// In the order of the program's kernels.
    pub(crate) list: Vec<Prepared>,
    /// By the package's devices.
    pub(crate) queues: Vec<Arc<dyn Queues>>,
    /// Alignment that kernels expect of inputs and outputs beyond that of their elements, bytes.
    pub(crate) align: u64,
    /// The home is the only device, and every kernel is its queue's.
    pub(crate) all_queued: bool,
    /// What cost time or will.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Keeps the code mapped.
    _pages: Vec<CodePages>,
}

impl Kernels {
    /// Errors: an instruction set that no device of the session runs; else what devices refuse and unknown runtime
    /// kernels, all of them.
    pub(crate) fn new(package: &Package, options: &SessionOptions) -> Result<Kernels, Diagnostics> {
        let devices = matching(package, &options.devices())?;
        let mut found = Diagnostics::default();
        let kernels = &package.program.kernels;
        let mut list: Vec<Option<Prepared>> = kernels.iter().map(|_| None).collect();
        let (mut queues, mut warnings, mut pages, mut align) = (Vec::new(), Vec::new(), Vec::new(), 1);
        for (number, device) in devices.iter().enumerate() {
            let (numbers, loaded) = match load(package, DeviceId(number as u32), &**device, options.threads) {
                Ok(loaded) => loaded,
                Err(Diagnostics(errors)) => {
                    errors.into_iter().for_each(|error| found.push(error));
                    continue;
                }
            };
            for (number, kernel) in numbers.into_iter().zip(loaded.kernels) {
                list[number] = Some(kernel);
            }
            if number == 0 {
                align = loaded.align;
            }
            queues.push(loaded.queues);
            warnings.extend(loaded.warnings);
            pages.extend(loaded.pages);
        }
        for (kernel, prepared) in kernels.iter().zip(&mut list) {
            if let KernelCode::Native { name, attrs } = &kernel.code {
                match native::prepare(name, attrs) {
                    Ok(native) => *prepared = Some(Prepared::Native(native)),
                    Err(diagnostic) => found.push(diagnostic),
                }
            }
        }
        found.into_result(())?;
        let list: Option<Vec<Prepared>> = list.into_iter().collect();
        let list = list.ok_or_else(|| Diagnostic::internal("a kernel is of no device"))?;
        let all_queued = queues.len() == 1 && list.iter().all(|kernel| matches!(kernel, Prepared::Queued(_)));
        Ok(Kernels { list, queues, align, all_queued, warnings, _pages: pages })
    }

    /// Whether inputs, outputs and most else are in this process's memory.
    pub(crate) fn home_is_local(&self) -> bool {
        self.queues.first().is_none_or(|home| home.is_local())
    }
}

/// The session's device for each of the package's: of its instruction set, or this processor for a home that has portable
/// code at most. Errors: the instruction sets that no device runs, in one.
fn matching(package: &Package, devices: &Devices) -> Result<Vec<Arc<dyn Device>>, Diagnostic> {
    let about = &package.manifest.about;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for number in 0..about.device_count() as u32 {
        let device = DeviceId(number);
        let images = package.program.images.iter().filter(|image| image.device == device);
        let is_bound = device != DeviceId::HOME || images.into_iter().any(|image| image.isa != isa::PORTABLE);
        let isa = about.machine_of(device).map_or("", |machine| machine.isa.as_str());
        let device_of_isa = if is_bound { devices.of_isa(isa) } else { Some(devices.processor()) };
        match device_of_isa {
            Some(device) => found.push(Arc::clone(device)),
            None => missing.push(device),
        }
    }
    if missing.is_empty() { Ok(found) } else { Err(no_device(package, &missing)) }
}

fn no_device(package: &Package, missing: &[DeviceId]) -> Diagnostic {
    let about = &package.manifest.about;
    let machine = |device: DeviceId| about.machine_of(device).cloned().unwrap_or_default();
    if let [DeviceId::HOME] = missing
        && machine(DeviceId::HOME).isa == isa::PTX
    {
        let class = machine(DeviceId::HOME).class;
        let message = format!("the package needs a GPU (machine class {class}), and no device is chosen");
        return Diagnostic::error("no-device", message)
            .note("no device of this session runs `ptx` code")
            .help("`--target cuda` is the first NVIDIA GPU, `--target sim-ptx` simulates one");
    }
    let isas: Vec<String> = missing.iter().map(|device| format!("`{}`", machine(*device).isa)).collect();
    let message =
        format!("the package holds {} code, which no device of this session runs", isas.join(" and "));
    let error = missing.iter().fold(Diagnostic::error("no-device", message), |error, device| {
        error.note(format!("{} is of machine class {}", about.device_name(*device), machine(*device).class))
    });
    if missing.iter().all(|device| machine(*device).isa == isa::LPU) {
        return error.help("`--target sim-lpu` simulates a streaming chip");
    }
    error.help("compile the model for machines that are here: `tegula compile --machine ...`")
}

/// What a device makes of its images, and its kernels' numbers in the program. Errors: the device's.
fn load(
    package: &Package,
    number: DeviceId,
    device: &dyn Device,
    threads: usize,
) -> Result<(Vec<usize>, Loaded), Diagnostics> {
    let (numbers, kernels) = images(package, number);
    let machine = package.manifest.about.machine_of(number);
    let machine = machine.ok_or_else(|| Diagnostic::internal("a device has no machine"))?;
    let loaded = device.load(&DeviceCode { machine, kernels, threads })?;
    if loaded.kernels.len() != numbers.len() {
        let (given, made) = (numbers.len(), loaded.kernels.len());
        let message = format!("the device for `{}` made {made} of {given} kernels", device.isa());
        return Err(Diagnostic::error("device-failed", message).into());
    }
    Ok((numbers, loaded))
}

/// A device's kernels: their numbers in the program, and where they are.
fn images(package: &Package, device: DeviceId) -> (Vec<usize>, Vec<KernelImage<'_>>) {
    let program = &package.program;
    let kernels = program.kernels.iter().enumerate().filter_map(|(number, kernel)| match &kernel.code {
        KernelCode::Image { image: id, entry } => {
            let image = program.image(&kernel.code).filter(|image| image.device == device)?;
            let (name, isa, bytes) = (kernel.name.as_str(), image.isa.as_str(), package.image_bytes(image));
            Some((number, KernelImage { name, image: *id, isa, bytes, entry }))
        }
        KernelCode::Native { .. } => None,
    });
    kernels.unzip()
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
    /// By address; none of what a simulator, an executor or a device beside the processor runs.
    pub(crate) fn places(&self, package: &Package) -> Vec<CodePlace> {
        let mut places = BTreeMap::<u64, CodePlace>::new();
        for (i, (kernel, prepared)) in package.program.kernels.iter().zip(&self.list).enumerate() {
            if let (KernelCode::Image { entry: Entry::Range { len, .. }, .. }, Prepared::Machine(entry)) =
                (&kernel.code, prepared)
            {
                let address = entry.address();
                let new = || CodePlace { address, bytes: *len, kernels: vec![] };
                places.entry(address).or_insert_with(new).kernels.push(i);
            }
        }
        places.into_values().collect()
    }
}
