//! From a kernel on the schedule level to x86-64 machine code.
//!
//! Before: a checked [`CpuFunc`]. After: position-independent bytes under the kernel ABI (`docs/abi.md`).

use crate::allocate::Allocation;
use crate::isa::Width;
use crate::schedule::CpuFunc;
use crate::tier::InstructionSet;
use crate::{allocate, emit, select};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tegula_base::{Diagnostic, HashMap, fingerprint};

pub use crate::emit::Code;

/// Compiles a kernel for an instruction set, or for the common ground of a tier.
/// Errors: internal only; e.g. a vector wider than the tier's registers, which lowering must not make.
pub fn compile(func: &CpuFunc, set: impl Into<InstructionSet>) -> Result<Code, Diagnostic> {
    let set = set.into();
    let mut mir = select::select(func, set)?;
    let allocation = allocate::allocate(&mut mir, set.tier)?;
    emit::emit(func, &mir, &allocation)
}

/// What was made for kernels before, for those that are nearly equal.
///
/// Kernels that are equal but for the values of constants get the same instructions with constants of their own behind
/// them: each layer of a quantised model has scales and zero points of its own. Those that differ in other numbers too get
/// the same registers: a decoder that is written out step by step has kernels that differ in one extent.
///
/// Every kernel is selected anew, as what is computed with a number depends on the number; registers and encoding, which do
/// not, take longer than selection.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the fingerprint of the machine IR.
    instructions: HashMap<u64, Arc<Template>>,
    /// By that of its skeleton.
    allocations: HashMap<u64, Arc<Allocation>>,
}

#[derive(Debug)]
struct Template {
    instructions: Vec<u8>,
    repeated: Vec<(u32, Width)>,
}

impl Templates {
    /// The bytes of [`compile`]; several threads may ask at once.
    pub fn compile(&self, func: &CpuFunc, set: InstructionSet) -> Result<Vec<u8>, Diagnostic> {
        let mut mir = select::select(func, set)?;
        let form = fingerprint(&(mir.skeleton(), set));
        let whole = fingerprint(&(form, mir.numbers()));
        let known = self.known().instructions.get(&whole).cloned();
        if let Some(known) = known {
            let mut bytes = known.instructions.clone();
            emit::append_constants(&mut bytes, &allocate::constants(mir.pool, &known.repeated));
            return as_compiled(bytes, func, set);
        }
        let known = self.known().allocations.get(&form).cloned();
        let is_new = known.is_none();
        let allocation = match known {
            Some(known) => {
                known.adapt(&mut mir);
                known
            }
            None => Arc::new(allocate::allocate(&mut mir, set.tier)?),
        };
        let code = emit::emit(func, &mir, &allocation)?;
        let instructions = code.bytes[..code.code_bytes].to_vec();
        let template = Template { instructions, repeated: allocation.repeated.clone() };
        let mut known = self.known();
        known.instructions.insert(whole, Arc::new(template));
        if is_new {
            known.allocations.insert(form, allocation);
        }
        drop(known);
        if is_new { Ok(code.bytes) } else { as_compiled(code.bytes, func, set) }
    }

    /// How many instructions and how many registers were found that kernels to come may share.
    pub fn counts(&self) -> (usize, usize) {
        let known = self.known();
        (known.instructions.len(), known.allocations.len())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// In debug builds code that was made from what is known of other kernels is compared with that of the kernel alone.
fn as_compiled(bytes: Vec<u8>, func: &CpuFunc, set: InstructionSet) -> Result<Vec<u8>, Diagnostic> {
    if cfg!(debug_assertions) && bytes != compile(func, set)?.bytes {
        let message = format!("`{}` has other code than the kernel of its form", func.name);
        return Err(Diagnostic::internal(message));
    }
    Ok(bytes)
}
