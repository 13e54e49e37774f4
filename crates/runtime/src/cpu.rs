//! Machine code of x86-64: mapped writable, then executable, never both; and the call into it.

use memmap2::Mmap;
use tegula_base::Diagnostic;
use tegula_package::manifest::MachineId;

/// An image of machine code, executable.
pub(crate) struct CodePages {
    map: Mmap,
}

/// The entry point of a kernel.
#[derive(Clone, Copy)]
pub(crate) struct EntryPoint(usize);

impl CodePages {
    /// Errors: the system refuses executable pages.
    pub(crate) fn new(code: &[u8]) -> Result<CodePages, Diagnostic> {
        let refused = |error: std::io::Error| {
            Diagnostic::error("no-executable-memory", "the system allows no executable memory for kernels")
                .note(error.to_string())
                .help("run outside of a sandbox that forbids mprotect(PROT_EXEC)")
        };
        let mut map = memmap2::MmapMut::map_anon(code.len().max(1)).map_err(refused)?;
        map[..code.len()].copy_from_slice(code);
        Ok(CodePages { map: map.make_exec().map_err(refused)? })
    }

    /// `offset` lies inside the code, as `check_program` made sure.
    pub(crate) fn entry(&self, offset: u64) -> EntryPoint {
        EntryPoint(self.map.as_ptr() as usize + offset as usize)
    }
}

impl EntryPoint {
    pub(crate) fn address(self) -> u64 {
        self.0 as u64
    }
}

/// Whether this processor runs code for `machine`, which is of its instruction set. Errors: what is missing.
pub(crate) fn check_machine(machine: &MachineId) -> Result<(), Diagnostic> {
    let class = &machine.class;
    let missing = lacking(&machine.features);
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the package is compiled for machine class {class}; this processor lacks {}",
        missing.join(", ")
    );
    Err(Diagnostic::error("package-machine", message).help(
        "compile the model for a class that this processor has, e.g. `--machine avx2-generic`; `--target sim-x86` runs the \
         package all the same, slowly",
    ))
}

#[cfg(target_arch = "x86_64")]
pub(crate) const HOST_ISA: &str = "x86-64";
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const HOST_ISA: &str = std::env::consts::ARCH;

/// Those of the features that this processor, or the system that keeps its registers, lacks; an unknown name counts as
/// lacking. Whoever asks whether code of a machine class runs here, a test too, asks this with the class's features.
pub fn lacking(features: &[String]) -> Vec<&str> {
    let own = processor_features();
    features.iter().map(String::as_str).filter(|name| !tegula_base::feature::is_among(name, &own)).collect()
}

/// The features that this processor has, of those that machine classes may name.
#[cfg(target_arch = "x86_64")]
pub fn processor_features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($feature:tt)*) => {
            [$(($feature, std::is_x86_feature_detected!($feature)),)*]
        };
    }
    let all = detected!("sse4.2" "popcnt" "lzcnt" "bmi1" "bmi2" "avx" "avx2" "fma" "f16c" "avxvnni" "avx512f"
        "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi" "avx512vbmi2" "avx512vnni"
        "avx512bitalg" "avx512vpopcntdq" "avx512bf16" "avx512fp16" "gfni");
    all.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
pub fn processor_features() -> Vec<&'static str> {
    vec![]
}

/// Runs work units `[begin, end)` of a kernel.
///
/// # Safety
/// `entry` is code that obeys `docs/abi.md` for the argument block at `args`, whose buffers are live, and
/// `scratch` points to the kernel's private memory.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn call(entry: EntryPoint, args: *const u64, scratch: u64, begin: u64, end: u64) {
    type Kernel = unsafe extern "sysv64" fn(*const u64, *mut u8, u64, u64);
    // SAFETY: the caller promises that a kernel of this type starts there.
    unsafe {
        let kernel: Kernel = std::mem::transmute(entry.0);
        kernel(args, scratch as *mut u8, begin, end);
    }
}

/// # Safety
/// Never called: `check_machine` refuses machine code here.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn call(_entry: EntryPoint, _args: *const u64, _scratch: u64, _begin: u64, _end: u64) {
    unreachable!("machine code is refused when the package is loaded");
}
