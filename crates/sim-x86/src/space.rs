//! Addresses: the launch's buffers, and beside them what only the call has: code, argument block, functions, stack.

use crate::problem::{Problem, Run};
use tegula_package::{Function, Memory};

/// Own areas lie where no buffer of a process does: in the upper half of the address space.
const OWN: u64 = 0xffff_8000_0000_0000;
pub const CODE: u64 = OWN + (1 << 40);
pub const ARGS: u64 = OWN + (2 << 40);
const TABLE: u64 = OWN + (3 << 40);
const FUNCTIONS: u64 = OWN + (4 << 40);
const STACK: u64 = OWN + (5 << 40);
/// Where a kernel returns to.
pub const CALLER: u64 = OWN + (6 << 40);
/// Of a thread; kernels' frames have some KB.
const STACK_BYTES: usize = 64 << 10;

const RUBBISH: u8 = 0xa5;

/// Function `i` of the table begins at `FUNCTIONS + 16 i`.
const FUNCTION_STRIDE: u64 = 16;

pub struct Space<'a> {
    memory: &'a dyn Memory,
    code: &'a [u8],
    /// The argument block as bytes; word 0 is the table here.
    args: Vec<u8>,
    stack: Vec<u8>,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

impl<'a> Space<'a> {
    pub fn new(memory: &'a dyn Memory, code: &'a [u8], words: &[u64]) -> Space<'a> {
        let block = std::iter::once(TABLE).chain(words.iter().skip(1).copied());
        let args = block.flat_map(u64::to_le_bytes).collect();
        Space { memory, code, args, stack: vec![RUBBISH; STACK_BYTES], bytes_read: 0, bytes_written: 0 }
    }

    /// The stack's end, a multiple of 16.
    pub fn stack_top(&self) -> u64 {
        STACK + STACK_BYTES as u64
    }

    /// Errors: some byte is in no buffer of the launch and no area of the call.
    pub fn read(&mut self, address: u64, into: &mut [u8]) -> Run<()> {
        self.bytes_read += into.len() as u64;
        if address < OWN {
            return Ok(self.memory.read(address, into)?);
        }
        if (TABLE..FUNCTIONS).contains(&address) {
            let entry = (address - TABLE) / 8;
            if into.len() == 8 && address.is_multiple_of(8) && entry < Function::ALL.len() as u64 {
                into.copy_from_slice(&(FUNCTIONS + FUNCTION_STRIDE * entry).to_le_bytes());
                return Ok(());
            }
        }
        let areas = [(CODE, self.code), (ARGS, &self.args[..]), (STACK, &self.stack[..])];
        let from = areas
            .into_iter()
            .find_map(|(start, bytes)| part(start, bytes.len(), address, into.len()).map(|at| &bytes[at..]));
        let from = from.ok_or_else(|| outside(address, into.len()))?;
        into.copy_from_slice(&from[..into.len()]);
        Ok(())
    }

    /// Errors: as [`Space::read`]; an area that is only read.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Run<()> {
        self.bytes_written += bytes.len() as u64;
        if address < OWN {
            return Ok(self.memory.write(address, bytes)?);
        }
        let at = part(STACK, self.stack.len(), address, bytes.len()).ok_or_else(|| match address {
            CODE..STACK => only_read(address, bytes.len()),
            _ => outside(address, bytes.len()),
        })?;
        self.stack[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// What lies below the stack pointer is a called function's to change.
    pub fn after_call(&mut self, stack_pointer: u64) {
        let used = stack_pointer.saturating_sub(STACK).min(STACK_BYTES as u64) as usize;
        self.stack[..used].fill(RUBBISH);
    }

    pub fn is_stopped(&self) -> bool {
        self.memory.is_stopped()
    }

    /// The function that begins at an address.
    pub fn function(address: u64) -> Option<Function> {
        let from = address.checked_sub(FUNCTIONS)?;
        let number = usize::try_from(from / FUNCTION_STRIDE).ok()?;
        Function::ALL.get(number).copied().filter(|_| from.is_multiple_of(FUNCTION_STRIDE))
    }
}

/// Where an access lies in an area.
fn part(start: u64, area: usize, address: u64, len: usize) -> Option<usize> {
    let from = usize::try_from(address.checked_sub(start)?).ok()?;
    (from.checked_add(len)? <= area).then_some(from)
}

fn outside(address: u64, len: usize) -> Problem {
    Problem::new(format!("access to {len} bytes at {address:#x}, outside of {}", area(address)))
}

fn only_read(address: u64, len: usize) -> Problem {
    Problem::new(format!(
        "writes {len} bytes at {address:#x}, to {}, not the launch's buffers",
        area(address)
    ))
}

fn area(address: u64) -> &'static str {
    match address {
        CODE..ARGS => "the code and its constants",
        ARGS..TABLE => "the argument block",
        TABLE..FUNCTIONS => "the entries of the function table",
        STACK..CALLER => "the stack",
        _ => "the launch's buffers",
    }
}
