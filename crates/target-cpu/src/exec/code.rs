//! Schedule functions as the opaque bytes of a package's portable kernel: their MLIR text.

use super::program::Executable;
use crate::schedule::{CpuFunc, CpuOp};
use std::sync::Arc;
use tegula_ir::text::{PrintOptions, parse_program, print_program};
use tegula_ir::{Program, verify};
use tegula_package::{Memory, PortableExecutor, PortableKernel};

/// The bytes that [`decode`] reads back.
pub fn encode(func: &CpuFunc) -> Vec<u8> {
    print_program(&Program::new(func.clone()), &PrintOptions::WHOLE).into_bytes()
}

/// Errors: why these bytes are no kernel.
pub fn decode(code: &[u8]) -> Result<CpuFunc, String> {
    let text = std::str::from_utf8(code).map_err(|_| "a portable kernel is UTF-8 text".to_string())?;
    let mut program = parse_program::<CpuOp>(text, None).map_err(|errors| errors.to_string())?;
    if program.funcs.len() != 1 {
        return Err(format!("a portable kernel is one function, got {}", program.funcs.len()));
    }
    let func = program.funcs.remove(0);
    verify(&func).map_err(|errors| errors.to_string())?;
    Ok(func)
}

/// Runs the portable kernels of packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl PortableExecutor for Portable {
    fn prepare(&self, code: &[u8]) -> Result<Arc<dyn PortableKernel>, String> {
        Ok(Arc::new(Executable::new(&decode(code)?)?))
    }
}

impl PortableKernel for Executable {
    fn run(
        &self,
        args: &[u64],
        scratch: u64,
        memory: &dyn Memory,
        begin: u64,
        end: u64,
    ) -> Result<(), String> {
        Executable::run(self, args, scratch, begin, end, memory).map_err(|fault| fault.to_string())
    }
}
