//! The call boundary of these tests: places compiled code in executable memory and calls it by the kernel ABI.

#![allow(unsafe_code)]

use memmap2::{Mmap, MmapMut, MmapOptions};
use std::sync::atomic::{AtomicU64, Ordering};
use tegula_package::Function;
use tegula_target_cpu::count::Program;
use tegula_target_cpu::native::Code;

/// A kernel in executable memory.
pub struct Loaded {
    map: Mmap,
}

impl Loaded {
    pub fn new(code: &[u8]) -> Loaded {
        let mut map = MmapMut::map_anon(code.len().max(1)).expect("anonymous memory");
        map[..code.len()].copy_from_slice(code);
        Loaded { map: map.make_exec().expect("executable memory") }
    }

    /// Runs the kernel; `args` holds what follows the function table.
    pub fn run(&self, args: &[u64], scratch: &mut [u8], begin: u64, end: u64) {
        let table = function_table();
        let mut block = vec![table.as_ptr() as u64];
        block.extend_from_slice(args);
        // SAFETY: the bytes are a whole function under the ABI of `docs/abi.md`, from `compile`; the kernels of these
        // tests access only the buffers whose addresses they are given, which outlive the call.
        unsafe {
            let kernel: extern "sysv64" fn(*const u64, *mut u8, u64, u64) =
                std::mem::transmute(self.map.as_ptr());
            kernel(block.as_ptr(), scratch.as_mut_ptr(), begin, end);
        }
    }
}

/// Whether this processor has all instructions of the code.
pub fn runs(code: &Code) -> bool {
    let program = Program::decode(&code.bytes).expect("code that kernels have");
    tegula_runtime::lacking(&Vec::from_iter(program.features)).is_empty()
}

/// A buffer that ends where memory ends: the next byte faults.
pub struct Guarded {
    map: MmapMut,
    start: usize,
    len: usize,
}

impl Guarded {
    pub fn new(bytes: &[u8]) -> Guarded {
        const PAGE: usize = 4096;
        let size = bytes.len().next_multiple_of(PAGE).max(PAGE);
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tegula-guard-{}-{id}", std::process::id()));
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("a temporary file");
        file.set_len(size as u64).expect("room for a temporary file");
        // SAFETY: nobody else opens the file. Pages behind its end fault when touched: that is the guard.
        let mut map = unsafe { MmapOptions::new().len(size + PAGE).map_mut(&file).expect("a mapping") };
        std::fs::remove_file(&path).expect("own file");
        let start = size - bytes.len();
        map[start..size].copy_from_slice(bytes);
        Guarded { map, start, len: bytes.len() }
    }

    pub fn address(&self) -> u64 {
        self.map.as_ptr() as u64 + self.start as u64
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map[self.start..self.start + self.len]
    }
}

extern "sysv64" fn entry<const N: usize>(a: u64, b: u64) -> u64 {
    Function::ALL[N].call(a, b)
}

extern "sysv64" fn absent(_: u64, _: u64) -> u64 {
    0xdead
}

/// The functions that these tests call.
pub const CALLED: [usize; 4] = [0, 1, 8, 9];

fn function_table() -> Vec<u64> {
    let absent: extern "sysv64" fn(u64, u64) -> u64 = absent;
    let mut table = vec![absent as usize as u64; Function::ALL.len()];
    let called: [extern "sysv64" fn(u64, u64) -> u64; 4] = [entry::<0>, entry::<1>, entry::<8>, entry::<9>];
    for (n, function) in CALLED.into_iter().zip(called) {
        table[n] = function as usize as u64;
    }
    table
}
